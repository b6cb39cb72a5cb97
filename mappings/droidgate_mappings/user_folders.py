"""Where droidgate keeps what is the user's: keys, caches, and what runs in the background.

`DROIDGATE_HOME` puts all of it below one folder, as tests and the demo do.
"""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

HOME_VARIABLE = "DROIDGATE_HOME"


def configuration_folder() -> Path:
    """Return the folder for keys and settings; it may not exist yet."""
    return _below_home("config") or platformdirs.user_config_path("droidgate", appauthor=False)


def cache_folder() -> Path:
    """Return the folder for what can be made again; it may not exist yet."""
    return _below_home("cache") or platformdirs.user_cache_path("droidgate", appauthor=False)


def state_folder() -> Path:
    """Return the folder for what running programs exchange; it may not exist yet."""
    return _below_home("state") or platformdirs.user_state_path("droidgate", appauthor=False)


def _below_home(name: str) -> Path | None:
    home = os.environ.get(HOME_VARIABLE)
    return Path(home).expanduser().absolute() / name if home else None
