"""What a command for a device's shell looks like when `droidgate.devices.quoting` has built it.

Written from POSIX and without that module: a word is of characters that mean nothing to a shell, or in single
quotes, where nothing means anything.
"""

import re

_WORD = r"""(?:[A-Za-z0-9_@%+=:,./-]+|'[^']*'(?:"'"'[^']*')*)"""
_COMMAND = f"{_WORD}(?: {_WORD})*"
_GUARDED = (
    f"{_COMMAND} </dev/null 2>/dev/null [|] grep -Fxq -- {_WORD} && exec {_COMMAND} </dev/null; "
    "printf %s droidgate-[0-9a-f]{32} >&2; exit 1"
)
_BUILT = re.compile(f"{_COMMAND}(?:; {_COMMAND})*|{_GUARDED}")

SERVICE = "shell,v2,raw:"
"""What droidgate asks a device for; the real adb program adds a terminal, older clients no version."""


def is_built(command: str) -> bool:
    """Return whether every argument of a command is quoted, and nothing else is left to the shell."""
    return _BUILT.fullmatch(command) is not None


def not_built(services: list[str]) -> list[str]:
    """Return the commands among the services of a device that were not built by the quoting functions."""
    commands = (service.removeprefix(SERVICE) for service in services if service.startswith(SERVICE))
    return [command for command in commands if not is_built(command)]
