"""Commands for the log of calls."""
