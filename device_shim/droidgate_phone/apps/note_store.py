"""The notes of the notes app: as kept, as sent and as stored (`Note.java`, `NoteStore.java`)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Final

from droidgate_mappings.model.json_values import Json
from droidgate_phone.app_api.behaviour import AppFiles
from droidgate_phone.apps.document_arguments import Arguments, DateTime

STATES: Final = ("ACTIVE", "PINNED", "ARCHIVED")
PRIORITIES: Final = ("LOW", "NORMAL", "HIGH")
MOST_NOTES: Final = 1000

_AT_PLACE: Final = "dev.droidgate.sample.notes.Reminder$AtPlace"
_AT_TIME: Final = "dev.droidgate.sample.notes.Reminder$AtTime"
_FILE: Final = "notes.json"
_MOST_LEVELS: Final = 5
_MOST_ITEMS: Final = 50
_LONGEST_ITEM: Final = 200
_LONGEST_PLACE: Final = 100
_RADIUS: Final = (50.0, 5000.0)


@dataclass(frozen=True, slots=True)
class ChecklistItem:
    """One line of a checklist, with the lines below it."""

    text: str
    is_done: bool
    children: tuple[ChecklistItem, ...] = ()

    def document(self) -> dict[str, Json]:
        """Return it as a document."""
        children = [child.document() for child in self.children]
        return {"text": [self.text], "done": [self.is_done], "children": children}

    def count(self) -> int:
        """Return how many lines these are."""
        return 1 + sum(child.count() for child in self.children)

    def stored(self) -> Json:
        """Return it as it is stored."""
        return [self.text, self.is_done, [child.stored() for child in self.children]]

    @classmethod
    def from_stored(cls, stored: Json) -> ChecklistItem:
        """Return a stored line."""
        text, is_done, children = stored
        return cls(text, is_done, tuple(map(cls.from_stored, children)))


def read_checklist(arguments: Arguments, name: str, level: int = 1) -> list[ChecklistItem]:
    """Return the lines that a caller sent.

    Raises:
        AppFunctionError: they are not of the declared type, or more than five levels deep.
    """
    items = []
    for object_ in arguments.objects(name, _MOST_ITEMS):
        if level > _MOST_LEVELS:
            arguments.refuse(name, f"is more than {_MOST_LEVELS} levels deep")
        children = read_checklist(object_, "children", level + 1) if object_.has("children") else []
        items.append(
            ChecklistItem(object_.text("text", 1, _LONGEST_ITEM), object_.flag("done"), tuple(children))
        )
    return items


@dataclass(frozen=True, slots=True)
class Reminder:
    """A reminder: at a time, or near a place."""

    time: DateTime | None = None
    place: str = ""
    radius_meters: float = 0.0

    @classmethod
    def from_arguments(cls, arguments: Arguments, name: str) -> Reminder | None:
        """Return the reminder that a caller sent; its schema type says which of the two it is.

        Raises:
            AppFunctionError: it is neither.
        """
        if not arguments.has(name):
            return None
        given = arguments.object(name)
        if given.schema_type() == _AT_TIME:
            return cls(given.date_time("time"))
        if given.schema_type() != _AT_PLACE:
            arguments.refuse(name, f"must have the schema type {_AT_PLACE} or {_AT_TIME}")
        return cls(None, given.text("place", 1, _LONGEST_PLACE), given.number("radiusMeters", *_RADIUS))

    def document(self) -> dict[str, Json]:
        """Return it as a document."""
        if self.time is not None:
            return {"time": [self.time.document()]}
        return {"place": [self.place], "radiusMeters": [self.radius_meters]}

    def stored(self) -> Json:
        """Return it as it is stored."""
        return (
            _numbers(self.time) if self.time is not None else {"place": self.place, "r": self.radius_meters}
        )

    @classmethod
    def from_stored(cls, stored: Json) -> Reminder:
        """Return a stored reminder."""
        if isinstance(stored, list):
            return cls(DateTime(*stored))
        return cls(None, stored["place"], stored["r"])


@dataclass(slots=True)
class Note:
    """One note."""

    note_id: str
    title: str
    content: str
    priority: str
    labels: list[str]
    reminder: Reminder | None
    created_at: DateTime
    state: str = "ACTIVE"
    checklist: list[ChecklistItem] = field(default_factory=list)

    def word_count(self) -> int:
        """Return how many words title and content have, with the blanks of `StringTokenizer` between."""
        return sum(len(re.findall("[^ \t\n\r\f]+", text)) for text in (self.title, self.content))

    def document(self) -> dict[str, Json]:
        """Return it as a document."""
        return {
            "noteId": [self.note_id],
            "title": [self.title],
            "content": [self.content],
            "state": [self.state],
            "priority": [self.priority],
            "labels": list(self.labels),
            "checklist": [item.document() for item in self.checklist],
            **({"reminder": [self.reminder.document()]} if self.reminder is not None else {}),
            "createdAt": [self.created_at.document()],
            "wordCount": [self.word_count()],
        }

    def stored(self) -> Json:
        """Return it as it is stored."""
        return {
            "noteId": self.note_id,
            "title": self.title,
            "content": self.content,
            "state": self.state,
            "priority": self.priority,
            "labels": self.labels,
            "checklist": [item.stored() for item in self.checklist],
            "reminder": self.reminder.stored() if self.reminder is not None else None,
            "createdAt": _numbers(self.created_at),
        }

    @classmethod
    def from_stored(cls, stored: Json) -> Note:
        """Return a stored note."""
        reminder = stored["reminder"]
        return cls(
            stored["noteId"],
            stored["title"],
            stored["content"],
            stored["priority"],
            stored["labels"],
            None if reminder is None else Reminder.from_stored(reminder),
            DateTime(*stored["createdAt"]),
            stored["state"],
            [ChecklistItem.from_stored(item) for item in stored["checklist"]],
        )


class NoteStore:
    """All notes in one file, oldest first; read before each call, written after each that changes something.

    Attributes:
        notes: The notes.
    """

    def __init__(self, files: AppFiles) -> None:
        """Read what is stored.

        Raises:
            ValueError: the file is damaged.
        """
        self._files = files
        self.notes: list[Note] = []
        self._next_number = 1
        content = files.read(_FILE)
        if content is None:
            return
        try:
            stored = json.loads(content)
            self._next_number = stored["nextNumber"]
            self.notes = [Note.from_stored(item) for item in stored["notes"]]
        except (KeyError, TypeError, IndexError) as error:
            raise ValueError(_FILE) from error

    def new_note_id(self) -> str:
        """Return an identifier that no note had before."""
        self._next_number += 1
        return f"note-{self._next_number - 1}"

    def is_full(self) -> bool:
        """Return whether another note would exceed the limit."""
        return len(self.notes) >= MOST_NOTES

    def find(self, note_id: str) -> Note | None:
        """Return a note, None where there is none of this identifier."""
        return next((note for note in self.notes if note.note_id == note_id), None)

    def save(self) -> None:
        """Write all notes."""
        stored = {"nextNumber": self._next_number, "notes": [note.stored() for note in self.notes]}
        self._files.write(_FILE, json.dumps(stored).encode("ascii"))


def _numbers(time: DateTime) -> list[int]:
    return [time.year, time.month, time.day, time.hour, time.minute, time.second, time.nano]
