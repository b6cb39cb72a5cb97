"""Patterns of paths against the phone's files."""

from __future__ import annotations

import contextlib
import posixpath

from droidgate_phone.files import VirtualFileError
from droidgate_phone.shell.patterns import Pattern, PatternPart, is_pattern
from droidgate_phone.shell.state import ShellState


def expand_path_pattern(parts: list[PatternPart], state: ShellState) -> list[str]:
    """Return the paths that fit, sorted; none where nothing does."""
    components = _components(parts)
    found = [""]
    for index, component in enumerate(components):
        last = index == len(components) - 1
        text = "".join(one for one, _ in component)
        if not is_pattern(component):
            found = [base + text for base in found]
            if last and text:
                found = [path for path in found if _names_something(state, path)]
        else:
            pattern = Pattern(component)
            found = [
                base + name
                for base in found
                for name in _names(state, base, hidden=text.startswith("."))
                if pattern.matches(name)
            ]
        if not last:
            found = [path + "/" for path in found if index == 0 or _is_directory(state, path)]
        state.run.demand_fields(len(found))
    return sorted(found)


def _components(parts: list[PatternPart]) -> list[list[PatternPart]]:
    components: list[list[PatternPart]] = [[]]
    for text, active in parts:
        first, *others = text.split("/")
        components[-1].append((first, active))
        components.extend([(other, active)] for other in others)
    return components


def _names(state: ShellState, base: str, *, hidden: bool) -> list[str]:
    with contextlib.suppress(VirtualFileError):
        names = state.system.files.list(state.path(base or "."), uid=state.uid)
        if hidden:
            return [".", "..", *names]
        return [name for name in names if not name.startswith(".")]
    return []


def _names_something(state: ShellState, path: str) -> bool:
    with contextlib.suppress(VirtualFileError):
        state.system.files.lstat(posixpath.join(state.directory, path), uid=state.uid)
        return True
    return False


def _is_directory(state: ShellState, path: str) -> bool:
    with contextlib.suppress(VirtualFileError):
        return state.system.files.stat(state.path(path), uid=state.uid).is_directory
    return False
