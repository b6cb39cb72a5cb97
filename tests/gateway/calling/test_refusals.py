"""Names that can be taken for others: hidden characters, duplicates and look-alikes."""

from __future__ import annotations

import sys
from random import Random

import pytest

from droidgate.calls.subjects import CapabilityKey
from droidgate.calls.targets import hidden_in_id, refused_names
from droidgate_mappings.text_safety import hidden_characters


def key(capability: str, package: str = "com.example.notes", component: str = "Tools") -> CapabilityKey:
    """Return a capability."""
    return CapabilityKey(0, package, component, "mmcp", capability)


@pytest.mark.parametrize(("first", "second"), [
    (key("createNote"), key("CreateNote")),
    (key("create_note"), key("create-note")),
    (key("ﬁnd"), key("find")),
    (key("pay"), key("p\u0430y")),
    (key("sendMoney"), key("sendM0ney")),
    (key("pay"), key("pay", package="com.examp1e.notes")),
    (key("pay"), key("Pay", component="Other")),
    (key("pay"), key("pay", package="com.Example.notes")),
])  # fmt: skip
def test_of_two_names_that_look_alike_both_are_refused(first: CapabilityKey, second: CapabilityKey) -> None:
    refused = refused_names([first, key("other"), second])
    assert refused == {
        first: f"its name looks like {second.package}/{second.capability}",
        second: f"its name looks like {first.package}/{first.capability}",
    }
    assert refused_names([second, key("other"), first]) == refused


@pytest.mark.parametrize(("first", "second"), [
    (key("pay"), key("pay", package="com.example.bank")),
    (key("pay"), key("pay", component="Other")),
    (key("createNote"), key("createNotes")),
    (key("save"), key("send")),
])  # fmt: skip
def test_names_that_are_not_alike_and_equal_ids_of_two_apps_are_not_refused(
    first: CapabilityKey, second: CapabilityKey
) -> None:
    assert refused_names([first, second]) == {}


def test_an_id_that_is_declared_twice_is_refused() -> None:
    assert refused_names([key("pay"), key("pay")]) == {key("pay"): "its app declares this id twice"}


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\t", "\n", "\x1b", "\U000e0041", "\ufe0f", "\ud800"])
def test_an_id_with_a_hidden_character_is_refused(hidden: str) -> None:
    unsafe = key(f"pay{hidden}")
    assert refused_names([unsafe]) == {unsafe: f"its id has a hidden character: U+{ord(hidden):04X}"}


@pytest.mark.slow
def test_every_character_that_texts_are_marked_for_is_refused_in_an_id() -> None:
    for code in range(sys.maxunicode + 1):
        if hidden_characters(chr(code)):
            assert hidden_in_id(chr(code)) == f"U+{code:04X}"


def test_planted_look_alikes_are_found_among_many_names() -> None:
    draw = Random(5)
    for _ in range(50):
        verbs = ("get", "set", "find", "play")
        ids = {f"{draw.choice(verbs)}Thing{draw.randrange(10**6)}" for _ in range(30)}
        keys = [key(name) for name in sorted(ids)]
        victim = draw.choice(keys)
        twin = key(victim.capability.replace("T", "\u0422"))
        assert refused_names(keys) == {}
        assert set(refused_names([*keys, twin])) == {victim, twin}
