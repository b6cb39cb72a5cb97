"""Both runtimes of a shim."""

from shim_phone.conftest import shim_runtime

__all__ = ["shim_runtime"]
