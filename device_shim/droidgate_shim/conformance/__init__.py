"""The conformance vectors of the shim's engines: reading them, and what they cover."""
