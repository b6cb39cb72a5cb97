"""The AppFunctions format."""
