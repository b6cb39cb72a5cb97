"""Defaults of options from a file."""
