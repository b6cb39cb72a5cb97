"""What the protocols say differently, as tables."""
