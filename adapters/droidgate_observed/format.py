"""The observed protocols as `droidgate_mappings.formats.format` knows them: one format that is only read, a
dialect each.
"""

from __future__ import annotations

from typing import Final

from droidgate_mappings.formats.format import Format
from droidgate_observed.constants import TABLES
from droidgate_observed.discovery import LOOKS_FOR, call_routes, what_would_find
from droidgate_observed.read import detect, read_application, read_file

FORMAT: Final = Format(
    tables=TABLES,
    detect=detect,
    read_file=read_file,
    read_application=read_application,
    looks_for=LOOKS_FOR,
    call_routes=call_routes,
    what_would_find=what_would_find,
    endings=(".json",),
)
