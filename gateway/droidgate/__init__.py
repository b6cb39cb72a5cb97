"""One gateway between Android's agent-tool protocols."""
