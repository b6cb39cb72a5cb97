"""Which files are catalogs. To see that a source is none loads no class of their rows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from droidgate_android.projects.project_files import read_start
from droidgate_mappings.model.errors import InputError

CATALOG_FILE: Final = "catalog.json"
LOG_FILE: Final = "scan.jsonl"
"""The log of a scan in its catalog's folder, while the scan has not ended."""

_START_LENGTH: Final = 256
_START: Final = re.compile(rb'\s{0,16}\{\s{0,16}"schema"\s{0,16}:\s{0,16}"droidgate\.catalog/')


def catalog_folder(source: str) -> Path | None:
    """Return the folder of the catalog that a path names: it, or the `catalog.json` in it; else None.

    A `catalog.json` of another program, or of none, is not a catalog's.
    """
    path = Path(source)
    file = path if path.name == CATALOG_FILE else path / CATALOG_FILE
    try:
        is_catalog = _START.match(read_start(str(file), _START_LENGTH)) is not None
    except InputError:
        return None
    return file.parent if is_catalog else None
