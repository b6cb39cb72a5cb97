"""The AppFunctions format as `droidgate.formats` knows it."""

from __future__ import annotations

from typing import Final

from droidgate.formats import Format
from droidgate_appfunctions.constants import TABLES
from droidgate_appfunctions.handlers import write_handlers
from droidgate_appfunctions.lint import lint_application, lint_file
from droidgate_appfunctions.read import detect, read_application, read_file
from droidgate_appfunctions.write import write

FORMAT: Final = Format(
    tables=TABLES,
    detect=detect,
    read_file=read_file,
    read_application=read_application,
    write=write,
    lint_file=lint_file,
    lint_application=lint_application,
    write_handlers=write_handlers,
)
