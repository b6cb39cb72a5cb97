"""Catalogs of scans: their tables, how they are opened, and what they hold of providers."""
