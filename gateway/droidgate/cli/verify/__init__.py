"""The command that checks a live tool app."""
