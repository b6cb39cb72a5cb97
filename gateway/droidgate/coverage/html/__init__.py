"""A coverage report as one HTML page that needs no network (docs/reference/coverage.md)."""
