"""Kotlin sources that declare AppFunctions, read without running anything.

Jetpack's compiler makes the functions files of an app from these sources. Most apps keep only the sources in
their tree, so the same declarations are read from them (docs/reference/formats/appfunctions-kotlin.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from droidgate_mappings.formats.format import Reading, SourceFile
from droidgate_mappings.formats.leniency import ReadingContext


def may_declare(data: bytes) -> bool:
    """Return whether a Kotlin file may declare app functions, or classes that travel as their data.

    It looks for two words, so that a file without them is never parsed. A file for which this is false may
    still define types and constants that other files use.
    """
    return b"AppFunction" in data and b"appfunctions" in data


def read_sources(
    files: Sequence[SourceFile], libraries: Sequence[SourceFile], context: ReadingContext
) -> Reading:
    """Return what Jetpack's compiler would declare for the Kotlin files of an application.

    Args:
        files: Every Kotlin file whose functions the application has: its own, and those of modules that it
            aggregates. Files that declare nothing are parsed only if a type of theirs is used.
        libraries: Kotlin files of other modules, for their types only.
        context: Takes what is not understood, each with file and line.

    Returns:
        One provider for each service entry point, one for the functions outside of entry points, and one for
        each file of functions of the application. `Provider.component` is the generated service class of an
        entry point, else None; `Provider.package` is None. A problem is a file, class or function that the
        compiler refuses too, or that uses a class that no given file declares; the others are read.

    Raises:
        InputError: the context is strict, and there is a finding or a problem.
    """
    if not any(may_declare(file.data) for file in files):
        return Reading()
    reading: Reading = import_module("droidgate_appfunctions.kotlin.kotlin_sources").read_sources(
        files, context, libraries
    )
    return reading
