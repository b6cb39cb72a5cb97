"""The tool lists of model vendors as `droidgate_mappings.formats.format` knows them."""

from __future__ import annotations

from typing import Final

from droidgate_function_calling.read import detect, read_file
from droidgate_function_calling.vendor_shapes import TABLES
from droidgate_mappings.formats.format import Format, lazily

FORMAT: Final = Format(
    tables=TABLES,
    detect=detect,
    read_file=read_file,
    write=lazily("droidgate_function_calling.write:write"),
    lint_file=lazily("droidgate_function_calling.lint:lint_file"),
    read_call=lazily("droidgate_function_calling.calls:read_call"),
    endings=(".json",),
)
