"""Which capabilities of which apps do the same, and which use cases they serve (docs/matching.md)."""
