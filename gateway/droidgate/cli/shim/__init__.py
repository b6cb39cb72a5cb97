"""Commands for shims on a device."""
