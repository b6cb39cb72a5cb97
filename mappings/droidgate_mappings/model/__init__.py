"""The capability model: providers, capabilities, type schemas, findings, names."""
