"""Commands for scans, catalogs and coverage reports."""
