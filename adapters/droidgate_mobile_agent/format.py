"""The commands of MobileAgent as `droidgate_mappings.formats.format` knows them: read, and never written."""

from __future__ import annotations

from typing import Final

from droidgate_mappings.formats.format import Format
from droidgate_mobile_agent.command_tables import TABLES
from droidgate_mobile_agent.read import built_in, detect, read_file

FORMAT: Final = Format(
    tables=TABLES,
    detect=detect,
    read_file=read_file,
    built_in=built_in,
    endings=(".json",),
)
