"""Packages that only some commands need: imported when they are used, and missed in one sentence."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from droidgate.model.errors import UsageError


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
        raise UsageError(message, hint=f"pip install 'droidgate[{extra}]'") from None
