"""Both runtimes of a shim, for the attackers that are apps of a phone."""

from device_shim.shim_phone.conftest import shim_runtime

__all__ = ["shim_runtime"]
