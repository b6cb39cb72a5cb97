"""Why an agent can or cannot call a capability: the gates in between, of a phone or of any other source."""
