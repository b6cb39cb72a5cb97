"""Making shims: from what other apps declare to signed APKs (docs/shim.md 1), in pure Python."""
