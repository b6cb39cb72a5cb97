"""The device's shell: a POSIX-like command language."""
