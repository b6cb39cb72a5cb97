"""Where descriptors come from."""
