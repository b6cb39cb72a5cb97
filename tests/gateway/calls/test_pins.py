"""Pins: what is approved, what a change is, and files that cannot be trusted."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from droidgate.calls.declared_capabilities import DeclaredCapability, compare_pin
from droidgate.calls.pins import FILE_NAME, PinStore
from droidgate.calls.subjects import Pin, key_of, matches_capability, pin_of
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Provider, State
from droidgate_mappings.model.errors import InputError, UsageError, WriteError
from droidgate_mappings.model.types import ObjectType, Property, ScalarType
from droidgate_mcp.format import FORMAT
from strategies import random_provider
from titled_rows import titled

SIGNER = "ab" * 32
NOTES = Provider(
    protocol="mmcp",
    package="com.example.notes",
    component=".Tools",
    capabilities=(
        Capability(
            id="createNote",
            description="Create a note",
            input=ObjectType(
                properties={
                    "title": Property(type=ScalarType(kind="string"), required=True),
                    "body": Property(type=ScalarType(kind="string")),
                }
            ),
        ),
        Capability(id="listNotes"),
    ),
)


def pin(provider: Provider = NOTES, capability: str = "createNote", *, signer: str = SIGNER) -> Pin:
    """Return a pin."""
    return pin_of(provider, capability, user=0, signer=signer)


def with_capability(**changes: Any) -> Provider:
    """Return the provider with another declaration of its first capability."""
    first, *others = NOTES.capabilities
    return NOTES.model_copy(update={"capabilities": (first.model_copy(update=changes), *others)})


def of_capabilities(start: int, end: int) -> Provider:
    """Return the provider with some of its capabilities."""
    return NOTES.model_copy(update={"capabilities": NOTES.capabilities[start:end]})


def test_a_capability_is_new_then_approved_then_changed(tmp_path: Path) -> None:
    store = PinStore(tmp_path)
    assert store.check(pin()).kind == "new"
    record = store.approve(pin(), NOTES)
    assert store.check(pin()).kind == "approved"
    changed = with_capability(description="Create a note, and send it to me")
    state = PinStore(tmp_path).check(pin(changed))
    assert (state.kind, state.record) == ("changed", record)
    store.approve(pin(changed), changed)
    assert store.check(pin(changed)).kind == "approved"
    assert store.check(pin()).kind == "changed"
    assert len(store.list()) == 1


OTHERS = {
    "another id": pin(capability="listNotes"),
    "another app": pin(NOTES.model_copy(update={"package": "com.example.other"})),
    "another component": pin(NOTES.model_copy(update={"component": ".Other"})),
    "another protocol": pin(NOTES.model_copy(update={"protocol": "mobile-mcp"})),
    "another user": pin_of(NOTES, "createNote", user=10, signer=SIGNER),
}  # fmt: skip


@titled("other", OTHERS)
def test_an_approval_is_for_no_other_capability(tmp_path: Path, other: Pin) -> None:
    store = PinStore(tmp_path)
    store.approve(pin(), NOTES)
    assert store.check(other).kind == "new"


def test_the_app_of_another_signer_needs_a_new_approval(tmp_path: Path) -> None:
    store = PinStore(tmp_path)
    store.approve(pin(), NOTES)
    assert store.check(pin(signer="cd" * 32)).kind == "changed"
    assert store.check(pin(signer=SIGNER.upper())).kind == "approved"


SAME = {
    "a capability that is switched off": with_capability(state=State(enabled=False, indexed=True)),
    "a component with its whole name": NOTES.model_copy(update={"component": "com.example.notes.Tools"}),
    "another order of capabilities": NOTES.model_copy(update={"capabilities": NOTES.capabilities[::-1]}),
    "fewer capabilities": of_capabilities(0, 1),
    "another order of parameters":
        with_capability(
            input=ObjectType(properties=dict(reversed(NOTES.capabilities[0].input.properties.items())))  # type: ignore[union-attr]
        ),
}  # fmt: skip


@titled("same", SAME)
def test_state_order_and_other_capabilities_are_not_pinned(same: Provider) -> None:
    assert pin(same) == pin()


def test_an_approval_may_be_for_some_clients_only(tmp_path: Path) -> None:
    store = PinStore(tmp_path)
    store.approve(pin(), NOTES, client="mcp:claude*")
    assert store.check(pin(), client="mcp:claude-code").kind == "approved"
    assert store.check(pin(), client="cli").kind == "new"
    store.approve(pin(), NOTES, client="cli")
    assert {record.client for record in store.list()} == {"cli", "mcp:claude*"}
    assert store.check(pin(), client="cli").kind == "approved"


_KNOWN_CLIENTS = "known: cli, and mcp:NAME for each MCP client"


@pytest.mark.parametrize(("pattern", "hint"), [
    ("goose", "did you mean 'mcp:goose'? "), ("claude*", "did you mean 'mcp:claude*'? "),
    ("mcp:Claude Code", "did you mean 'mcp:claude-code'? "), ("CLI", "did you mean 'cli'? "),
    ("mcp:", ""), ("*:", ""), ("c*", None), ("m?p:*", None), ("mcp:goose", None), ("*goose", None),
])  # fmt: skip
def test_a_pattern_that_no_client_matches_approves_nothing(
    tmp_path: Path, pattern: str, hint: str | None
) -> None:
    store = PinStore(tmp_path)
    problem = None
    try:
        store.approve(pin(), NOTES, client=pattern)
    except UsageError as error:
        problem = error.hint
    assert problem == (None if hint is None else f"{hint}{_KNOWN_CLIENTS}")
    assert len(store.list()) == (problem is None)


def test_pins_are_removed_by_their_names(tmp_path: Path) -> None:
    store = PinStore(tmp_path)
    for capability in ("createNote", "listNotes"):
        store.approve(pin(capability=capability), NOTES)
    assert store.remove(["com.other/*"]) == ()
    assert [record.capability for record in store.remove(["create*"])] == ["createNote"]
    assert [record.capability for record in store.list()] == ["listNotes"]


@pytest.mark.parametrize(("pattern", "matches"), [
    ("createNote", True),
    ("create*", True),
    ("com.example.notes/createNote", True),
    ("com.example.*/*", True),
    ("com.example.notes/com.example.notes.Tools/createNote", True),
    ("com.example.notes/*.Other/createNote", False),
    ("com.example/createNote", False),
    ("notes/createNote", True),
    ("notes.createNote", True),
    ("notes_createNote", True),
    ("emulator-5554_notes_createNote", True),
    ("notes_createNote_7a3de221", True),
    ("notes_createNote_7a3de222", False),
    ("example.notes/createNote", False),
    ("notes/*", False),
    ("Note", False),
    ("", False),
])  # fmt: skip
def test_what_is_allowed_or_approved_is_named_as_a_call_names_it(pattern: str, *, matches: bool) -> None:
    assert matches_capability(pattern, pin().key, serial="emulator-5554") is matches


def test_the_file_is_the_users_alone(tmp_path: Path) -> None:
    PinStore(tmp_path / "config").approve(pin(), NOTES)
    assert (tmp_path / "config" / FILE_NAME).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "config").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(("damage", "message"), [
    pytest.param(lambda _: b"", "the file of pins is damaged", id="an empty file"),
    pytest.param(lambda data: data[:-10], "the file of pins is damaged", id="a file that is cut"),
    pytest.param(lambda data: b"\xff" + data, "the file of pins is not UTF-8", id="bytes that are not text"),
    pytest.param(lambda _: b"[]", "the file of pins is damaged", id="a list"),
    pytest.param(lambda data: data.replace(b'"version":1', b'"version":2'), "the file of pins is damaged",
        id="another version"),
    pytest.param(lambda data: data.replace(b'"pins"', b'"pines"'), "the file of pins is damaged",
        id="another member"),
    pytest.param(lambda data: data.replace(b"Create a note", b"Send my notes"),
        "is not that of its declaration", id="another description"),
    pytest.param(lambda data: data.replace(b'"signer":"ab', b'"signer":"cd'),
        "is not that of its declaration", id="another signer"),
    pytest.param(lambda data: data.replace(b'"user":0', b'"user":10'), "is not that of its declaration",
        id="another user"),
    pytest.param(lambda data: data.replace(b'"capability":"createNote"', b'"capability":"x"'),
        "is not that of its", id="another capability"),
])  # fmt: skip
def test_a_damaged_file_approves_nothing_and_is_an_error(tmp_path: Path, damage: Any, message: str) -> None:
    store = PinStore(tmp_path)
    store.approve(pin(), NOTES)
    before = store.path.read_bytes()
    store.path.write_bytes(damage(before))
    for use in (
        lambda: PinStore(tmp_path).check(pin()),
        lambda: store.check(pin()),
        lambda: store.approve(pin(capability="listNotes"), NOTES),
        lambda: store.remove(["*"]),
    ):
        with pytest.raises(InputError, match=message) as caught:
            use()
        assert caught.value.hint == "look at the file; to approve everything anew, move it away"
    assert store.path.read_bytes() == damage(before)


def test_a_file_that_others_may_write_is_an_error(tmp_path: Path) -> None:
    store = PinStore(tmp_path)
    store.approve(pin(), NOTES)
    store.path.chmod(0o666)
    with pytest.raises(InputError, match="other users of this computer may write the file"):
        store.check(pin())


@pytest.mark.parametrize("name", [FILE_NAME, "pins.lock"])
def test_a_link_in_the_place_of_a_file_of_pins_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "victim").write_bytes(b"mine")
    (tmp_path / name).symlink_to(tmp_path / "victim")
    with pytest.raises((InputError, WriteError)):
        PinStore(tmp_path).approve(pin(), NOTES)
    assert (tmp_path / "victim").read_bytes() == b"mine"


def test_a_pin_of_another_declaration_is_refused(tmp_path: Path) -> None:
    store = PinStore(tmp_path)
    with pytest.raises(InputError, match="is not that of its declaration"):
        store.approve(pin(), with_capability(description="Other"))
    assert store.list() == ()


def _approve_many(folder: Path, start: int) -> None:
    store = PinStore(folder)
    for number in range(start, start + 10):
        provider = NOTES.model_copy(update={"package": f"com.example.app{number}"})
        store.approve(pin(provider), provider)


def test_several_processes_approve_at_the_same_time(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_approve_many, args=(tmp_path, 10 * number)) for number in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert {record.package for record in PinStore(tmp_path).list()} == {
        f"com.example.app{number}" for number in range(40)
    }


def test_every_generated_declaration_is_approved_as_it_is(tmp_path: Path) -> None:
    count = 0
    for seed in range(60):
        provider = random_provider(Random(seed))
        store = PinStore(tmp_path / str(seed))
        for capability in provider.capabilities:
            store.approve(pin(provider, capability.id), provider)
            count += 1
        again = PinStore(tmp_path / str(seed))
        assert len(again.list()) == len(provider.capabilities)
        for capability in provider.capabilities:
            assert again.check(pin(provider, capability.id)).kind == "approved"
    assert count > 50


def _points(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of each value inside a declaration."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _points(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _points(item, (*path, number))
    else:
        yield path


def _changed(value: Any, draw: Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        at = draw.randrange(len(value) + 1)
        return value[:at] + draw.choice("aZ \u200b\u0430.") + value[at:]
    return "was null" if value is None else None


TOOL = {
    "name": "createNote",
    "title": "Create",
    "description": "Create a note",
    "inputSchema": {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "The title", "maxLength": 80, "x-own": {"a": [1, 2]}},
            "kind": {"enum": ["work", "home", 3], "default": "work"},
            "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}, "minItems": 1},
            "nested": {"type": "object", "properties": {"deep": {"type": "integer", "minimum": 0}}},
        },
        "required": ["title", "kind"],
        "additionalProperties": False,
        "$defs": {"tag": {"type": "string", "pattern": "^[a-z]+$"}},
    },
    "outputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
    "annotations": {"readOnlyHint": False, "destructiveHint": True, "title": "Create"},
}


def _pin_of(tool: Any) -> Pin | None:
    """Return the pin of an MCP tool, None where it cannot be read any more."""
    data = json.dumps({"tools": [tool]}).encode()
    try:
        [provider] = FORMAT.read_file(SourceFile("tools.json", data), ReadingContext()).providers
    except InputError:
        return None
    declared = provider.model_copy(update={"package": "com.example.notes", "component": ".Tools"})
    return pin_of(declared, declared.capabilities[0].id, user=0, signer=SIGNER)


def _with_change(tool: Any, path: tuple[Any, ...], draw: Random) -> Any:
    changed = json.loads(json.dumps(tool))
    inside = changed
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = _changed(inside[path[-1]], draw)
    return changed


def _reordered(value: Any, draw: Random) -> Any:
    """Return a JSON text's value with its members, and what JSON Schema gives no order, in another order."""
    if isinstance(value, list):
        return [_reordered(item, draw) for item in value]
    if not isinstance(value, dict):
        return value
    members = [(key, _reordered(item, draw)) for key, item in value.items()]
    draw.shuffle(members)
    for key, item in members:
        if key == "required":
            draw.shuffle(item)
    return dict(members)


@pytest.mark.parametrize("count", [300, pytest.param(2_000, marks=pytest.mark.slow)], ids="{} changes".format)
def test_every_change_of_one_point_of_a_declaration_is_seen(count: int) -> None:
    draw = Random(3)
    approved = _pin_of(TOOL)
    assert approved is not None
    points = list(_points(TOOL))
    unseen = [
        (path, changed)
        for path in (draw.choice(points) for _ in range(count))
        if _pin_of(changed := _with_change(TOOL, path, draw)) == approved
    ]
    assert unseen == []


@pytest.mark.parametrize("count", [300, pytest.param(2_000, marks=pytest.mark.slow)], ids="{} orders".format)
def test_no_other_order_without_a_meaning_is_a_change(count: int) -> None:
    draw = Random(4)
    approved = _pin_of(TOOL)
    assert approved is not None
    assert all(_pin_of(_reordered(TOOL, draw)) == approved for _ in range(count))


@titled(("declared", "signer", "state", "codes"), {
    "the same": (NOTES, SIGNER, "unchanged", []),
    "another capability is removed": (of_capabilities(0, 1), SIGNER, "unchanged", []),
    "another description": (with_capability(description="Other"), SIGNER, "changed", ["text-changed"]),
    "another key": (NOTES, "cd" * 32, "other-signer", []),
    "what cannot be approved": (NOTES, None, "changed", []),
    "the capability is removed": (of_capabilities(1, 2), SIGNER, "missing", None),
})  # fmt: skip
def test_an_approval_is_compared_with_what_a_phone_declares(
    tmp_path: Path, declared: Provider, signer: str | None, state: str, codes: list[str] | None
) -> None:
    record = PinStore(tmp_path).approve(pin(), NOTES)
    now = [
        DeclaredCapability(
            declared,
            capability,
            key_of(declared, capability.id, user=0),
            None if signer is None else pin(declared, capability.id, signer=signer),
        )
        for capability in declared.capabilities
    ]
    difference = compare_pin(record, now)
    changes = difference.comparison and [change.code for change in difference.comparison.all_changes()]
    assert (difference.record, difference.state, changes) == (record, state, codes)
