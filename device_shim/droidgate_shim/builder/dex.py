"""The code of every shim: `classes.dex`, made from `device_shim/android` and kept next to this module."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

DEX_NAME: Final = "classes.dex"


@cache
def shim_dex() -> bytes | None:
    """Return the shim's code; None in a checkout where it has not been made."""
    file = files(__package__).joinpath(DEX_NAME)
    return file.read_bytes() if file.is_file() else None
