"""Commands that read, check, compare, convert and place descriptors."""
