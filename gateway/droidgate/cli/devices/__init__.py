"""Commands for connected devices."""
