"""Making shims: from what other apps declare to signed APKs (shim.md 1), in pure Python."""
