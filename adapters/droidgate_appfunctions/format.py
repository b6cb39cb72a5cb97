"""The AppFunctions format as `droidgate_mappings.formats.format` knows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from droidgate_appfunctions.discovery import LISTING, LOOKS_FOR, call_routes
from droidgate_appfunctions.file_constants import TABLES, assets_of_code
from droidgate_appfunctions.kotlin import may_declare, read_sources
from droidgate_appfunctions.read import detect, read_application, read_file
from droidgate_mappings.formats.format import CodeReader, Format, Reading, SourceFile, lazily
from droidgate_mappings.formats.leniency import ReadingContext


def _read_code(
    files: Sequence[SourceFile], libraries: Sequence[SourceFile], context: ReadingContext
) -> Reading:
    return read_sources(files, context, libraries=libraries)


FORMAT: Final = Format(
    tables=TABLES,
    detect=detect,
    read_file=read_file,
    read_application=read_application,
    write=lazily("droidgate_appfunctions.write:write"),
    find_losses=lazily("droidgate_appfunctions.write:find_losses"),
    lint_file=lazily("droidgate_appfunctions.lint:lint_file"),
    lint_application=lazily("droidgate_appfunctions.lint:lint_application"),
    write_handlers=lazily("droidgate_appfunctions.handlers:write_handlers"),
    looks_for=LOOKS_FOR,
    listing=LISTING,
    read_installed=lazily("droidgate_appfunctions.installed:read_installed"),
    call_routes=call_routes,
    shell_calls=lazily("droidgate_appfunctions.shell_calls:AppFunctionShellCalls"),
    shim_frontends={TABLES.id: lazily("droidgate_appfunctions.shim_frontend:advertise")},
    shim_backend=lazily("droidgate_appfunctions.shim_backend:AppFunctionBackend"),
    code=CodeReader(
        (".kt",),
        may_declare,
        _read_code,
        assets_of_code,
        lazily("droidgate_appfunctions.lint:lint_source_code"),
    ),
    endings=(".xml", ".json"),
)
