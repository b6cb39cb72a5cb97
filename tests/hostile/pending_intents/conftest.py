"""Both runtimes of a shim."""

from device_shim.shim_phone.conftest import shim_runtime

__all__ = ["shim_runtime"]
