"""The version of droidgate; a look into the metadata of the package takes five times a start of Python."""

from typing import Final

VERSION: Final = "0.1.0"
