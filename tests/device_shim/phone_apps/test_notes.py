"""The AppFunctions of the notes apps: results, codes, and what stays."""

from typing import Any

import pytest

from device_shim.phone_apps.small_phone import SmallPhone
from droidgate_phone.apps.notes import NotesApp
from droidgate_phone.apps.plain_notes import PlainNotesApp
from droidgate_phone.java.app_values import AppFunctionError

PACKAGE = "dev.droidgate.sample.notes"
LEGACY = "dev.droidgate.sample.notes.legacy"
VALUE = "androidAppfunctionsReturnValue"
NOON = {
    "year": [2026], "month": [2], "dayOfMonth": [28], "hour": [12], "minute": [0], "second": [0],
    "nanoOfSecond": [1],
}  # fmt: skip


@pytest.fixture
def phone() -> SmallPhone:
    phone = SmallPhone()
    phone.install(NotesApp, PlainNotesApp)
    return phone


def run(phone: SmallPhone, name: str, **parameters: Any) -> dict[str, Any]:
    """Run a function in a process of its own."""
    service = phone.app_functions(PACKAGE)
    return dict(service.on_execute(f"{PACKAGE}.NotesService#{name}", parameters))


def only(result: dict[str, Any]) -> Any:
    (value,) = result[VALUE]
    return value


def refused(phone: SmallPhone, name: str, **parameters: Any) -> tuple[int, str]:
    with pytest.raises(AppFunctionError) as caught:
        run(phone, name, **parameters)
    return caught.value.code, caught.value.message


def test_a_note_is_kept_as_it_was_sent(phone: SmallPhone) -> None:
    sent = {"title": ["Shopping"], "content": ["bread and butter"], "labels": [], "priority": ["HIGH"]}
    reminder = {"schemaType": [f"{PACKAGE}.Reminder$AtTime"], "time": [NOON]}
    created = only(run(phone, "createNote", **sent, reminder=[reminder]))
    assert created == {
        **sent,
        "noteId": ["note-1"],
        "state": ["ACTIVE"],
        "checklist": [],
        "reminder": [{"time": [NOON]}],
        "createdAt": [{
            "year": [2026], "month": [2], "dayOfMonth": [14], "hour": [10], "minute": [30], "second": [0],
            "nanoOfSecond": [0],
        }],
        "wordCount": [4],
    }  # fmt: skip
    assert only(run(phone, "getNote", noteId=["note-1"])) == created
    assert run(phone, "getNote", noteId=["note-2"]) == {}


def test_a_reminder_is_one_of_two(phone: SmallPhone) -> None:
    near = {"schemaType": ["dev.droidgate.sample.notes.Reminder$AtPlace"], "place": ["home"]}
    with_radius = {**near, "radiusMeters": [50]}
    note = only(run(phone, "createNote", title=["a"], reminder=[with_radius]))
    assert note["reminder"] == [{"place": ["home"], "radiusMeters": [50.0]}]
    error = '"reminder.radiusMeters" must be a number from 50.0 to 5000.0'
    nearer = {**near, "radiusMeters": [49.9]}
    assert refused(phone, "createNote", title=["a"], reminder=[nearer]) == (1001, error)
    kinds = [f"{PACKAGE}.Reminder${name}" for name in ("AtPlace", "AtTime")]
    error = f'"reminder" must have the schema type {" or ".join(kinds)}'
    assert refused(phone, "createNote", title=["a"], reminder=[{"place": ["home"]}]) == (1001, error)


def nested(levels: int) -> dict[str, Any]:
    item: dict[str, Any] = {"text": ["last"], "done": [True]}
    for level in range(levels - 1):
        item = {"text": [f"level {level}"], "done": [False], "children": [item]}
    return item


def test_checklists_nest_five_levels_deep_and_hold_200_items(phone: SmallPhone) -> None:
    def add(items: list[dict[str, Any]], note: str = "note-1") -> tuple[int, str]:
        return refused(phone, "addChecklistItems", noteId=[note], items=items)

    run(phone, "createNote", title=["list"])
    note = only(run(phone, "addChecklistItems", noteId=["note-1"], items=[nested(5)]))
    (item,) = note["checklist"]
    for _ in range(4):
        (item,) = item["children"]
    assert item == {"text": ["last"], "done": [True], "children": []}
    assert add([nested(6)]) == (1001, f'"items{".children" * 5}" is more than 5 levels deep')
    many = [{"text": ["x"], "done": [False]}] * 50
    for _ in range(3):
        run(phone, "addChecklistItems", noteId=["note-1"], items=many)
    assert add(many) == (1501, "A note has room for 200 checklist items")
    assert add([])[0] == 1001
    assert add(many, "note-9") == (1500, 'Unknown note "note-9"')


def test_states_change_and_archived_notes_are_found_only_by_name(phone: SmallPhone) -> None:
    for title in ("one", "two", "three"):
        run(phone, "createNote", title=[title], labels=["x", title])
    assert run(phone, "archiveNote", noteId=["note-2"]) == {}
    assert only(run(phone, "setNoteState", noteId=["note-3"], state=["PINNED"]))["state"] == ["PINNED"]
    assert [note["noteId"] for note in run(phone, "findNotes")[VALUE]] == [["note-3"], ["note-1"]]
    archived = run(phone, "findNotes", query=[{"state": ["ARCHIVED"]}])[VALUE]
    assert [note["title"] for note in archived] == [["two"]]
    assert len(run(phone, "findNotes", query=[{"text": ["T"]}], limit=[1])[VALUE]) == 1
    assert len(run(phone, "findNotes", query=[{"label": ["x"], "text": ["T"]}])[VALUE]) == 2
    assert run(phone, "findNotes", query=[{"createdAfter": [NOON]}])[VALUE] == []
    error = '"state" must be one of [ACTIVE, PINNED, ARCHIVED]'
    assert refused(phone, "setNoteState", noteId=["note-1"], state=["GONE"]) == (1001, error)


def test_deleted_notes_are_gone_and_their_numbers_not_used_again(phone: SmallPhone) -> None:
    run(phone, "createNote", title=["a"])
    assert run(phone, "deleteNote", noteId=["note-1"]) == {VALUE: [True]}
    assert run(phone, "deleteNote", noteId=["note-1"]) == {VALUE: [False]}
    assert only(run(phone, "createNote", title=["b"]))["noteId"] == ["note-2"]


def test_statistics_count_words_of_all_notes(phone: SmallPhone) -> None:
    assert only(run(phone, "summarizeNotes"))["averageWords"] == [0.0]
    run(phone, "createNote", title=["two words"], content=["and\nthree\tmore"], labels=["b", "a"])
    run(phone, "createNote", title=["one"], labels=["a"])
    counts = {"total": [2], "archived": [0], "words": [6], "averageWords": [3.0]}
    assert only(run(phone, "summarizeNotes")) == {**counts, "labels": ["a", "b"]}


@pytest.mark.parametrize(("parameters", "message"), [
    ({}, '"title" must be one text'),
    ({"title": ["a", "b"]}, '"title" must be one text'),
    ({"title": [5]}, '"title" must be one text'),
    ({"title": [""]}, '"title" must have 1 to 120 characters'),
    ({"title": ["x" * 121]}, '"title" must have 1 to 120 characters'),
    ({"title": ["a"], "labels": ["x"] * 11}, '"labels" must be a list of at most 10 texts'),
    ({"title": ["a"], "priority": ["high"]}, '"priority" must be one of [LOW, NORMAL, HIGH]'),
    ({"title": ["a"], "reminder": ["x"]}, '"reminder" must be an object'),
    ({"title": ["a"], "reminder": [{"schemaType": ["dev.droidgate.sample.notes.Reminder$AtTime"],
         "time": [{**NOON, "dayOfMonth": [29]}]}]},
        '"reminder.time" names a day that does not exist'),
], ids=lambda value: str(value)[:60])  # fmt: skip
def test_arguments_of_another_type_are_refused(
    phone: SmallPhone, parameters: dict[str, Any], message: str
) -> None:
    assert refused(phone, "createNote", **parameters) == (1001, message)
    assert phone.files.get(PACKAGE, {}) == {}


def test_a_function_that_is_not_there_has_its_own_code(phone: SmallPhone) -> None:
    assert refused(phone, "burnNote")[0] == 1003
    with pytest.raises(AppFunctionError) as caught:
        phone.app_functions(PACKAGE).on_execute("createNote", {"title": ["a"]})
    assert caught.value.code == 1003


def test_a_damaged_store_is_reported_as_the_app_s_own_fault(phone: SmallPhone) -> None:
    run(phone, "createNote", title=["a"])
    for damaged in (b"{", b"[]", b'{"nextNumber": 1}', b'{"nextNumber": 1, "notes": [{}]}'):
        phone.files[PACKAGE]["notes.json"] = damaged
        assert refused(phone, "summarizeNotes") == (3000, "The notes could not be read or written")


def test_the_legacy_app_numbers_its_notes_and_has_one_function(phone: SmallPhone) -> None:
    service, note = phone.app_functions(LEGACY), {"title": ["a"], "content": [""]}
    first = service.on_execute("createNote", note)
    assert first == {"noteId": ["note-1"], "message": ['Noted "a" with priority 3.']}
    again = phone.app_functions(LEGACY).on_execute("createNote", {**note, "priority": [5]})
    assert again == {"noteId": ["note-2"], "message": ['Noted "a" with priority 5.']}
    for function, parameters, code in (
        ("createNote", {"title": ["a"]}, 1001),
        ("createNote", {**note, "priority": [6]}, 1001),
        ("getNote", {}, 1003),
    ):
        with pytest.raises(AppFunctionError) as caught:
            service.on_execute(function, parameters)
        assert caught.value.code == code


def test_notes_written_on_the_screen_are_found_by_the_functions(phone: SmallPhone) -> None:
    activity = phone.activity(PACKAGE, f"{PACKAGE}.MainActivity")
    activity.on_click("create_note")
    view = activity.view()
    assert view is not None
    assert '"title" must have 1 to 120 characters' in [node.text for node in view.walk()]
    activity.on_text("title", "from the screen")
    activity.on_click("create_note")
    assert [note["title"] for note in run(phone, "findNotes")[VALUE]] == [["from the screen"]]
