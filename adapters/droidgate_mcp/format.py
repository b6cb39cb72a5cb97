"""The MCP format as `droidgate.formats` knows it."""

from __future__ import annotations

from typing import Final

from droidgate.formats import Format
from droidgate_mcp.lint import lint_file
from droidgate_mcp.read import detect, read_application, read_file
from droidgate_mcp.tables import TABLES
from droidgate_mcp.write import write

FORMAT: Final = Format(
    tables=TABLES,
    detect=detect,
    read_file=read_file,
    read_application=read_application,
    write=write,
    lint_file=lint_file,
)
