"""`SharedPreferences` of an app: texts and sets of texts by key, which survive its process.

Kept as JSON rather than in Android's own XML, which has no room for half characters.
"""

from __future__ import annotations

import json
from typing import Any

from droidgate_phone.system.behaviour import PrivateFiles


class Preferences:
    """One preferences file.

    Attributes:
        strings: Texts by key.
        sets: Sets of texts by key.
    """

    def __init__(self, files: PrivateFiles, name: str) -> None:
        self._files = files
        self._path = f"{name}.preferences.json"
        stored: dict[str, Any] = _parsed(files.read(self._path))
        self.strings: dict[str, str] = stored.get("strings", {})
        self.sets = {key: frozenset(texts) for key, texts in stored.get("sets", {}).items()}

    def save(self) -> None:
        """Write everything, as `Editor.commit`."""
        sets = {key: sorted(texts) for key, texts in self.sets.items()}
        self._files.write(self._path, json.dumps({"strings": self.strings, "sets": sets}).encode("ascii"))


def _parsed(content: bytes | None) -> dict[str, Any]:
    if content is None:
        return {}
    try:
        preferences = json.loads(content)
    except ValueError:
        # Android too begins anew when the file cannot be read.
        return {}
    return preferences if isinstance(preferences, dict) else {}
