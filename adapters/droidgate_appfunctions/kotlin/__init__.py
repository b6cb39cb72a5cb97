"""Kotlin sources that declare AppFunctions, read without running anything.

Jetpack's compiler makes the functions files of an app from these sources. Most apps keep only the sources in
their tree, so the same declarations are read from them (docs/reference/formats/appfunctions-kotlin.md).
"""


def may_declare(data: bytes) -> bool:
    """Return whether a Kotlin file may declare app functions, or classes that travel as their data.

    It looks for two words, so that a file without them is never parsed. A file for which this is false may
    still define types and constants that other files use.
    """
    return b"AppFunction" in data and b"appfunctions" in data
