"""The files that the indexer reads of one application, read and parsed once for all releases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from droidgate_android.app_search.events import Event, read_events
from droidgate_mappings.formats.application import Application, TextFile, find_elsewhere

_KEPT_CHARACTERS: Final = 4 << 20
"""Of an application's files together; what is beyond is read again for each release."""


class AppFiles:
    """Reads an application's files, and keeps them while they are few.

    Args:
        application: Whose files.
    """

    def __init__(self, application: Application) -> None:
        self._resources = application.resources
        self._files: dict[tuple[str, str], TextFile | None] = {}
        self._elsewhere: dict[str, str | None] = {}
        self._kept: set[str] = set()
        self._events: dict[str, Sequence[Event]] = {}
        self._left = _KEPT_CHARACTERS

    def asset(self, name: str) -> TextFile | None:
        """Return an asset, None where there is none.

        Raises:
            InputError: it cannot be read.
        """
        return self._file("asset", name, self._resources.read_asset)

    def resource(self, reference: str) -> TextFile | None:
        """Return the file behind `@xml/name`, None where there is none.

        Raises:
            InputError: it cannot be read.
        """
        return self._file("resource", reference, self._resources.read_file)

    def elsewhere(self, name: str) -> str | None:
        """Return where a file is that is not where it is named (`find_elsewhere`)."""
        if name not in self._elsewhere:
            self._elsewhere[name] = find_elsewhere(self._resources, name)
        return self._elsewhere[name]

    def _file(self, kind: str, name: str, read: Callable[[str], TextFile | None]) -> TextFile | None:
        if (kind, name) in self._files:
            return self._files[kind, name]
        file = read(name)
        if file is None:
            self._files[kind, name] = None
        elif len(file.text) <= self._left:
            self._left -= len(file.text)
            self._files[kind, name] = file
            self._kept.add(file.place.path)
        return file

    def events(self, file: TextFile) -> Sequence[Event]:
        """Return the steps of a file of documents.

        Raises:
            IndexerError: `malformed-xml`.
        """
        path = file.place.path
        events = self._events.get(path)
        if events is None:
            events = read_events("\ufeff" + file.text if file.has_mark else file.text)
            if path in self._kept:
                self._events[path] = events
        return events
