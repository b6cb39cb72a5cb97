"""Names of tools, whatever apps declare and in whatever order they come and go."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, strategies as st

from droidgate.serving import tool_names as names_module
from droidgate.serving.tool_names import FILE_NAME, NamedCapability, ToolNames, new_names

ALLOWED = re.compile("[A-Za-z][A-Za-z0-9_-]{0,63}")
PHONE = "serial"


def capability(package: str, identifier: str, component: str = "") -> NamedCapability:
    return NamedCapability(f"{package}/{component}/{identifier}", package, identifier)


def new(*capabilities: NamedCapability) -> list[str]:
    """Return the names of capabilities that come together."""
    named = new_names({each.digest: each for each in capabilities}, {})
    return [named[each.digest] for each in capabilities]


def test_a_name_is_the_end_of_the_package_and_of_the_id() -> None:
    note = capability("com.example.notes", "com.example.notes.NotesService#createNote")
    assert new(note, capability("a.b", "x/y")) == ["notes_createNote", "b_y"]


def test_equal_names_that_come_together_each_get_a_suffix_of_their_own() -> None:
    first, second = new(capability("com.one.notes", "create"), capability("com.two.notes", "create"))
    assert first != second
    assert re.fullmatch("notes_create_[0-9a-f]{8}", first)
    assert re.fullmatch("notes_create_[0-9a-f]{8}", second)


def test_names_that_differ_in_case_only_get_suffixes() -> None:
    names = new(capability("a.notes", "create"), capability("a.notes", "Create"))
    assert len({name.lower() for name in names}) == 2
    assert all(re.search("_[0-9a-f]{8}$", name) for name in names)


@given(st.lists(st.tuples(st.text(max_size=90), st.text(max_size=90)), max_size=8, unique=True))
def test_names_are_safe_and_no_two_alike_whatever_apps_declare(pairs: list[tuple[str, str]]) -> None:
    names = new(*(capability(package, name, str(at)) for at, (package, name) in enumerate(pairs)))
    assert all(ALLOWED.fullmatch(name) for name in names)
    assert len({name.lower() for name in names}) == len(pairs)


@given(
    st.permutations([("a.notes", "create"), ("b.notes", "create"), ("a.notes", "Create"), ("c", "ü" * 80)])
)
def test_names_do_not_depend_on_the_order(pairs: list[tuple[str, str]]) -> None:
    def named(ordered: Iterable[tuple[str, str]]) -> dict[str, str]:
        return new_names({each.digest: each for each in (capability(*pair) for pair in ordered)}, {})

    assert named(pairs) == named(sorted(pairs))


# Many want one name, and one is named like the name with a suffix that another gets.
RIVALS = [
    *(
        capability(package, identifier)
        for package in ("a.app", "b.app")
        for identifier in ("run", "Run", "x")
    ),
    capability("c.app", f"run_{capability('a.app', 'run').digest[:8]}"),
    capability("d.app", f"run_{capability('b.app', 'run').digest[:8]}"),
    capability("e.app", "rün"),
]


@given(st.lists(st.tuples(st.sets(st.sampled_from(RIVALS)), st.integers(0, 2)), max_size=8))
def test_no_name_ever_changes_and_none_is_given_to_another_capability(
    looks: list[tuple[set[NamedCapability], int]],
) -> None:
    with TemporaryDirectory() as folder:
        servers = [ToolNames(Path(folder)) for _ in range(3)]
        first_given: dict[str, str] = {}
        for installed, server in looks:
            if server == 2:
                # One that has just been started.
                servers[2] = ToolNames(Path(folder))
            for key, name in servers[server].assign(PHONE, installed).items():
                assert first_given.setdefault(key, name) == name
        lowered = [name.lower() for name in first_given.values()]
        assert len(set(lowered)) == len(lowered)
        assert all(map(ALLOWED.fullmatch, first_given.values()))


def test_a_later_app_with_an_equal_name_leaves_the_earlier_name_as_it_is(tmp_path: Path) -> None:
    early, late = capability("com.one.notes", "create"), capability("com.evil.notes", "create")
    assert ToolNames(tmp_path).assign(PHONE, [early]) == {early.key: "notes_create"}
    both = ToolNames(tmp_path).assign(PHONE, [late, early])
    assert both[early.key] == "notes_create"
    assert re.fullmatch("notes_create_[0-9a-f]{8}", both[late.key])
    # The earlier one is gone now; its name is not free.
    assert ToolNames(tmp_path).assign(PHONE, [late]) == {late.key: both[late.key]}


def test_each_phone_has_names_of_its_own(tmp_path: Path) -> None:
    names = ToolNames(tmp_path)
    first, other = capability("a.notes", "create"), capability("b.notes", "create")
    assert names.assign("one", [first]) == {first.key: "notes_create"}
    assert names.assign("other", [other]) == {other.key: "notes_create"}


@pytest.mark.parametrize("text", [
    "{",
    '{"version": 2}',
    '{"namespaces": {"serial": {"x": "notes_create"}}}',
    json.dumps({"namespaces": {PHONE: {"0" * 64: "a b"}}}),
    json.dumps({"namespaces": {PHONE: {"0" * 64: "same", "1" * 64: "Same"}}}),
])  # fmt: skip
def test_a_damaged_file_is_left_as_it_is_and_names_hold_while_the_server_runs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    path = tmp_path / FILE_NAME
    path.write_text(text)
    names = ToolNames(tmp_path)
    early, late = capability("a.notes", "create"), capability("b.notes", "create")
    assert names.assign(PHONE, [early]) == {early.key: "notes_create"}
    assert "names of tools are not kept" in caplog.text
    assert path.read_text() == text
    path.unlink()
    assert names.assign(PHONE, [early, late])[early.key] == "notes_create"
    assert ToolNames(tmp_path).assign(PHONE, [early]) == {early.key: "notes_create"}


def test_the_file_has_a_limit_and_names_above_it_are_stable_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(names_module, "MAX_KEPT", 3)
    every = [capability("a.app", f"run{number}") for number in range(6)]
    first = ToolNames(tmp_path).assign(PHONE, every)
    size = (tmp_path / FILE_NAME).stat().st_size
    assert sum(re.search("_[0-9a-f]{16}$", name) is not None for name in first.values()) == 3
    assert ToolNames(tmp_path).assign(PHONE, every[::-1]) == first
    assert (tmp_path / FILE_NAME).stat().st_size == size
