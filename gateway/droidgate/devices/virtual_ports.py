"""Ports at which virtual phones of this user have answered as an adb server.

A virtual phone that has stopped leaves `ANDROID_ADB_SERVER_PORT` behind in terminals. A real adb server that
is started there would list the user's real phones under a variable that was meant for the virtual one.
"""

from __future__ import annotations

from pathlib import Path

from droidgate_mappings.user_folders import state_folder


def remember_port(port: int) -> None:
    """Keep the port of a virtual phone's adb server."""
    path = _file(port)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)


def is_remembered(port: int) -> bool:
    """Return whether a virtual phone has answered at a port."""
    return _file(port).is_file()


def _file(port: int) -> Path:
    return state_folder() / "virtual-ports" / str(port)
