"""Calling capabilities from the command line."""
