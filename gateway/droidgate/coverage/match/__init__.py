"""Which capabilities do the same, and which use cases they serve (docs/internals/matching.md)."""
