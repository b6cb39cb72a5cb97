"""Defaults from a file or the environment, and `droidgate config`."""
