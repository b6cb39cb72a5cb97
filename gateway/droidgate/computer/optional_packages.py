"""Packages that only some commands need: imported when they are used, and missed in one sentence."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from shlex import quote
from typing import Any, Final
from urllib.parse import unquote

from droidgate_mappings.model.errors import UsageError

_FILE_URL: Final = "file://"


def need(module: str, extra: str) -> Any:
    """Import a package of an extra.

    Args:
        module: The package, such as `duckdb`.
        extra: The extra of droidgate that installs it, such as `coverage`.

    Raises:
        UsageError: it is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        message = f"this needs the package {package}, which is not installed"
        raise UsageError(message, hint=install_command(extra)) from None


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this installation of droidgate.

    Packages that were not installed from an index say where they came from (PEP 610).
    """
    name = "droidgate"
    try:
        origin = json.loads(distribution(name).read_text("direct_url.json") or "null")
        url = str(origin["url"])
        is_editable = bool(origin.get("dir_info", {}).get("editable"))
    except (PackageNotFoundError, ValueError, TypeError, KeyError, AttributeError):
        return f"pip install {quote(f'{name}[{extra}]')}"
    if is_editable and url.startswith(_FILE_URL):
        return f"pip install -e {quote(f'{unquote(url.removeprefix(_FILE_URL))}[{extra}]')}"
    return f"pip install {quote(f'{name}[{extra}] @ {url}')}"
