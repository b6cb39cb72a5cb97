"""Commands for the agent app on a phone."""
