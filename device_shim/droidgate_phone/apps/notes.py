"""The notes app: AppFunctions over one store of notes, and a screen for it (`NoteFunctions.java`,
`Note.java`, `NoteStore.java`).
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field
from typing import Final

from droidgate_mappings.model.json_values import Json
from droidgate_phone.apps.document_arguments import Arguments, DateTime
from droidgate_phone.java.app_values import AppFunctionError, View
from droidgate_phone.java.java_text import units_of
from droidgate_phone.system.behaviour import Activity, App, AppFunctionService, Context, PrivateFiles

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
            AppFunctionError: the schema type is neither of the two.
        """
        if not arguments.has(name):
            return None
        reminder = arguments.object(name)
        if reminder.schema_type() == _AT_TIME:
            return cls(reminder.date_time("time"))
        if reminder.schema_type() != _AT_PLACE:
            arguments.refuse(name, f"must have the schema type {_AT_PLACE} or {_AT_TIME}")
        return cls(None, reminder.text("place", 1, _LONGEST_PLACE), reminder.number("radiusMeters", *_RADIUS))

    def document(self) -> dict[str, Json]:
        """Return it as a document."""
        if self.time is not None:
            return {"time": [self.time.document()]}
        return {"place": [self.place], "radiusMeters": [self.radius_meters]}

    def stored(self) -> Json:
        """Return it as it is stored."""
        return (
            list(astuple(self.time))
            if self.time is not None
            else {"place": self.place, "r": self.radius_meters}
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
            "createdAt": list(astuple(self.created_at)),
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

    def __init__(self, files: PrivateFiles) -> None:
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


RETURN_VALUE: Final = "androidAppfunctionsReturnValue"
ERROR_FUNCTION_NOT_FOUND: Final = 1003
ERROR_RESOURCE_NOT_FOUND: Final = 1500
ERROR_LIMIT_EXCEEDED: Final = 1501
ERROR_APP_UNKNOWN_ERROR: Final = 3000

_PACKAGE: Final = "dev.droidgate.sample.notes"
_PREFIX: Final = f"{_PACKAGE}.NotesService#"
_LONGEST_ID: Final = 40
_LONGEST_TITLE: Final = 120
_LONGEST_CONTENT: Final = 20_000
_MOST_LABELS: Final = 10
_LONGEST_LABEL: Final = 30
_MOST_CHECKLIST: Final = 200
_MOST_FOUND: Final = 100
_USUALLY_FOUND: Final = 20

_Document = Mapping[str, Json]


def current_time(context: Context) -> DateTime:
    """Return the time in UTC, the phone's time zone."""
    now = dt.datetime.fromtimestamp(context.now(), dt.UTC)
    return DateTime(now.year, now.month, now.day, now.hour, now.minute, now.second, now.microsecond * 1000)


class NoteFunctions:
    """The functions themselves: arguments in, a result document out."""

    def __init__(self, store: NoteStore, now: DateTime) -> None:
        self._store = store
        self._now = now

    def find(self, name: str) -> Callable[[Arguments], _Document] | None:
        """Return a function, None where there is none of this name."""
        functions: dict[str, Callable[[Arguments], _Document]] = {
            "addChecklistItems": self._add_checklist_items,
            "archiveNote": self._archive_note,
            "createNote": self._create_note,
            "deleteNote": self._delete_note,
            "findNotes": self._find_notes,
            "getNote": self._get_note,
            "setNoteState": self._set_note_state,
            "summarizeNotes": self._summarize_notes,
        }
        return functions.get(name)

    def _add_checklist_items(self, arguments: Arguments) -> _Document:
        note = self._note_in(arguments)
        items = read_checklist(arguments, "items")
        if not items:
            arguments.refuse("items", "must hold at least one item")
        if sum(item.count() for item in (*note.checklist, *items)) > _MOST_CHECKLIST:
            raise AppFunctionError(
                ERROR_LIMIT_EXCEEDED, f"A note has room for {_MOST_CHECKLIST} checklist items"
            )
        note.checklist.extend(items)
        self._store.save()
        return _value(note.document())

    def _archive_note(self, arguments: Arguments) -> _Document:
        self._set_state(arguments, "ARCHIVED")
        return {}

    def _create_note(self, arguments: Arguments) -> _Document:
        title = arguments.text("title", 1, _LONGEST_TITLE)
        content = arguments.text_or("content", 0, _LONGEST_CONTENT, "") or ""
        priority = arguments.constant_or("priority", PRIORITIES, "NORMAL") or "NORMAL"
        labels = arguments.texts("labels", _MOST_LABELS, _LONGEST_LABEL)
        reminder = Reminder.from_arguments(arguments, "reminder")
        if self._store.is_full():
            raise AppFunctionError(ERROR_LIMIT_EXCEEDED, f"There is room for {MOST_NOTES} notes only")
        note = Note(self._store.new_note_id(), title, content, priority, labels, reminder, self._now)
        self._store.notes.append(note)
        self._store.save()
        return _value(note.document())

    def _delete_note(self, arguments: Arguments) -> _Document:
        note = self._store.find(arguments.text("noteId", 1, _LONGEST_ID))
        if note is not None:
            self._store.notes.remove(note)
            self._store.save()
        return {RETURN_VALUE: [note is not None]}

    def _find_notes(self, arguments: Arguments) -> _Document:
        limit = arguments.whole_or("limit", 1, _MOST_FOUND, _USUALLY_FOUND)
        matches = _query_in(arguments)
        documents = [note.document() for note in reversed(self._store.notes) if matches(note)]
        return _value(*documents[:limit])

    def _get_note(self, arguments: Arguments) -> _Document:
        note = self._store.find(arguments.text("noteId", 1, _LONGEST_ID))
        return {} if note is None else _value(note.document())

    def _set_note_state(self, arguments: Arguments) -> _Document:
        state = arguments.constant("state", STATES)
        return _value(self._set_state(arguments, state).document())

    def _summarize_notes(self, arguments: Arguments) -> _Document:
        del arguments
        notes = self._store.notes
        words = sum(note.word_count() for note in notes)
        return _value(
            {
                "total": [len(notes)],
                "archived": [sum(note.state == "ARCHIVED" for note in notes)],
                "words": [words],
                "averageWords": [words / len(notes) if notes else 0.0],
                "labels": sorted({label for note in notes for label in note.labels}, key=units_of),
            }
        )

    def _set_state(self, arguments: Arguments, state: str) -> Note:
        note = self._note_in(arguments)
        note.state = state
        self._store.save()
        return note

    def _note_in(self, arguments: Arguments) -> Note:
        note_id = arguments.text("noteId", 1, _LONGEST_ID)
        note = self._store.find(note_id)
        if note is None:
            raise AppFunctionError(ERROR_RESOURCE_NOT_FOUND, f'Unknown note "{note_id}"')
        return note


def _query_in(arguments: Arguments) -> Callable[[Note], bool]:
    if not arguments.has("query"):
        return lambda note: note.state != "ARCHIVED"
    query = arguments.object("query")
    text = query.text_or("text", 1, _LONGEST_TITLE, None)
    label = query.text_or("label", 1, _LONGEST_LABEL, None)
    state = query.constant_or("state", STATES, None)
    after = query.date_time("createdAfter") if query.has("createdAfter") else None
    return lambda note: (
        (text is None or text.lower() in f"{note.title}\n{note.content}".lower())
        and (label is None or label in note.labels)
        and (state is None or note.state == state)
        and (after is None or note.created_at > after)
    )


def _value(*documents: _Document) -> _Document:
    return {RETURN_VALUE: list(documents)}


class NotesService(AppFunctionService):
    """Runs the functions that `assets/notes_service.xml` declares."""

    def on_execute(self, function_id: str, parameters: Mapping[str, Json]) -> Mapping[str, Json]:
        """Execute one of them."""
        name = function_id.removeprefix(_PREFIX) if function_id.startswith(_PREFIX) else ""
        try:
            store = NoteStore(self.context.files)
        except ValueError:
            message = "The notes could not be read or written"
            raise AppFunctionError(ERROR_APP_UNKNOWN_ERROR, message) from None
        function = NoteFunctions(store, current_time(self.context)).find(name)
        if function is None:
            raise AppFunctionError(ERROR_FUNCTION_NOT_FOUND, f'This app has no function "{function_id}"')
        return function(Arguments(parameters))


class MainActivity(Activity):
    """The notes for the person who holds the phone, newest first, and a way to write one."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._title = ""
        self._problem = ""

    def on_text(self, view_id: str, text: str) -> None:
        """Take the heading of a note."""
        if view_id == "title":
            self._title = text

    def on_click(self, view_id: str) -> None:
        """Write the note that was typed."""
        create = NoteFunctions(NoteStore(self.context.files), current_time(self.context)).find("createNote")
        if view_id != "create_note" or create is None:
            return
        try:
            create(Arguments({"title": [self._title]}))
        except AppFunctionError as error:
            self._problem = error.message
        else:
            self._title = self._problem = ""

    def view(self) -> View:
        """Return the input and the notes."""
        notes = NoteStore(self.context.files).notes
        listed = tuple(View("text", text=f"{note.title}\n{note.content}".strip()) for note in reversed(notes))
        empty = (View("text", text=self._text("no_notes")),)
        children = (
            View("input", "title", self._title, hint=self._text("new_title")),
            View("button", "create_note", self._text("create_note")),
            View("text", "problem", self._problem),
            View("list", "notes", children=listed or empty),
        )
        return View("column", children=children)

    def _text(self, name: str) -> str:
        return self.context.read_string_resource(f"@string/{name}") or ""


class NotesApp(App):
    """Behaviour of the notes app."""

    PACKAGE = _PACKAGE
    ACTIVITIES = {f"{_PACKAGE}.MainActivity": MainActivity}
    APP_FUNCTION_SERVICES = {f"{_PACKAGE}.NotesService": NotesService}
