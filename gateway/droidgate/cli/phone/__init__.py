"""Commands for virtual phones."""
