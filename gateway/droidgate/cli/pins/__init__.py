"""Commands for what the user has approved."""
