"""Policies, capabilities whose names are refused, and what a user is asked before a call."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from droidgate.calls.approvals import MAX_ARGUMENTS, ApprovalRequest, refuse_unshowable, shown_arguments
from droidgate.calls.pins import PinState
from droidgate.calls.policy import FILE_NAME, Decision, Policy
from droidgate.calls.subjects import (
    CallEffect,
    CallSubject,
    CapabilityKey,
    Pin,
    glob_matches,
    literal_pattern,
    named_items,
)
from droidgate.calls.targets import hidden_in_id, refused_names
from droidgate.cli.calls.terminal_approval import ask_on_terminal
from droidgate.serving.elicitation import question_of
from droidgate_mappings.model.capability import Capability, Effects
from droidgate_mappings.model.errors import DroidgateError, InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.text_safety import hidden_characters
from gateway.calls import log_writers
from gateway.cli.program_runs import Terminal

SUBJECT = replace(log_writers.SUBJECT, effect=CallEffect.UNKNOWN)


def policy_of(folder: Path, text: str) -> Policy:
    """Return the policy of a file."""
    (folder / FILE_NAME).write_text(text, encoding="utf-8")
    return Policy.load(folder)


def problems_of(folder: Path, text: str) -> list[str]:
    """Return the errors of a file without its path."""
    with pytest.raises(InputError) as caught:
        policy_of(folder, text)
    errors = (caught.value, *caught.value.others)
    return [DroidgateError.__str__(error).replace(f"{folder}/", "") for error in errors]


@pytest.mark.parametrize(
    ("effect", "kind"), [(CallEffect.READS, "allow"), (CallEffect.WRITES, "ask"), (CallEffect.UNKNOWN, "ask")]
)
def test_without_a_file_only_reading_is_allowed(tmp_path: Path, effect: CallEffect, kind: str) -> None:
    decision = Policy.load(tmp_path).decide(replace(SUBJECT, effect=effect))
    assert (decision.kind, decision.rule) == (kind, "default")


@pytest.mark.parametrize("condition", [
    'device = "emulator-*"', "user = [0]", 'package = "com.example.*"', 'component = "*Tools"',
    'protocol = "mmcp"', 'capability = "create????"', 'effect = "unknown"', 'effect = ["writes", "unknown"]',
    'client = ["mcp:*", "cli"]',
])  # fmt: skip
def test_a_rule_decides_where_its_condition_is_true(tmp_path: Path, condition: str) -> None:
    decision = policy_of(tmp_path, f'[[rule]]\ndecision = "deny"\n{condition}\n').decide(SUBJECT)
    assert (decision.kind, decision.rule) == ("deny", f"rule 1 of {tmp_path / FILE_NAME}")


@pytest.mark.parametrize("condition", [
    'device = "emulator"', "user = [10]", 'package = "com.example"', 'component = "Tools"',
    'protocol = "mobile-mcp"', 'capability = "reateNote"', 'effect = "reads"', 'client = "mcp:*"',
    'package = "com.example.*"\ncapability = "other"',
])  # fmt: skip
def test_a_rule_decides_nothing_where_one_condition_does_not_hold(tmp_path: Path, condition: str) -> None:
    decision = policy_of(tmp_path, f'[[rule]]\ndecision = "deny"\n{condition}\n').decide(SUBJECT)
    assert (decision.kind, decision.rule) == ("ask", "default")


@pytest.mark.parametrize("first", ["allow", "ask", "deny"])
@pytest.mark.parametrize("second", ["allow", "ask", "deny"])
def test_deny_is_stronger_than_ask_and_that_than_allow(tmp_path: Path, first: str, second: str) -> None:
    rules = "".join(f'[[rule]]\ndecision = "{kind}"\ncapability = "*"\n' for kind in (first, second))
    strongest = next(kind for kind in ("deny", "ask", "allow") if kind in {first, second})
    assert policy_of(tmp_path, rules).decide(SUBJECT).kind == strongest


_FUNCTION = "com.example.notes.Service#deleteNote"


@pytest.mark.parametrize(("pattern", "identifier", "allows", "denies"), [
    ("deleteNote", "deleteNote", True, True),
    ("deleteNote", _FUNCTION, True, True),
    ("Service#deleteNote", _FUNCTION, True, True),
    ("notes.deleteNote", _FUNCTION, True, True),
    ("example.notes/deleteNote", _FUNCTION, False, True),
    ("com.example.notes/deleteNote", _FUNCTION, True, True),
    (f"com.example.notes/{_FUNCTION}", _FUNCTION, True, True),
    (f"com.example.notes/com.example.notes.Tools/{_FUNCTION}", _FUNCTION, True, True),
    ("com.example.*/*", _FUNCTION, True, True),
    ("*deleteNote", _FUNCTION, True, True),
    ("*", _FUNCTION, True, True),
    ("delete*", _FUNCTION, False, True),
    ("notes.delete*", _FUNCTION, False, True),
    ("*.notes/delete*", _FUNCTION, False, True),
    ("DELETENOTE", _FUNCTION, False, True),
    ("Com.Example.Notes/deletenote", _FUNCTION, False, True),
    ("notes_deleteNote", _FUNCTION, True, True),
    ("Notes_Delete*", _FUNCTION, False, True),
    ("emulator-5554_notes_deleteNote", _FUNCTION, True, True),
    ("notes_deleteNote_0a1b2c3d", _FUNCTION, False, True),
    (f"notes_{'x' * 49}_0a1b2c3d", "x" * 90, False, True),
    (" deleteNote", _FUNCTION, False, True),
    ("notes_deleteNote\\t", _FUNCTION, False, True),
    ("eteNote", _FUNCTION, False, False),
    ("otes_deleteNote", _FUNCTION, False, False),
    ("other.deleteNote", _FUNCTION, False, False),
    ("deleteNote", "undeleteNote", False, False),
    ("deleteNote", "deleteNotes", False, False),
    ("deleteNote", "deleteNote.undo", False, False),
])  # fmt: skip
def test_a_rule_names_capabilities_as_call_does_and_a_denial_is_taken_widely(
    tmp_path: Path, pattern: str, identifier: str, *, allows: bool, denies: bool
) -> None:
    subject = replace(SUBJECT, capability=identifier)

    def decided(kind: str) -> str:
        rule = f'[[rule]]\ndecision = "{kind}"\ncapability = "{pattern}"\n'
        return policy_of(tmp_path, rule).decide(subject).kind

    assert (decided("allow") == "allow", decided("deny") == "deny") == (allows, denies)
    everything = '[[rule]]\ndecision = "allow"\ncapability = "*"\n[[rule]]\ndecision = "deny"\n'
    both = policy_of(tmp_path, f'{everything}capability = "{pattern}"\n').decide(subject).kind
    assert both == ("deny" if denies else "allow")


def test_a_statement_that_capabilities_write_is_taken_widely(tmp_path: Path) -> None:
    def effect(word: str) -> CallEffect:
        policy = policy_of(tmp_path, f'[[effect]]\ncapability = "GET*"\nis = "{word}"\n')
        return effect_of(policy, read_only=None)

    assert (effect("reads"), effect("writes")) == (CallEffect.UNKNOWN, CallEffect.WRITES)


def test_rules_that_match_nothing_that_is_installed_are_named(tmp_path: Path) -> None:
    policy = policy_of(
        tmp_path,
        '[[rule]]\ndecision = "deny"\ncapability = "deletNote"\n'
        '[[rule]]\ndecision = "deny"\ncapability = "deleteNote"\n'
        '[[rule]]\ndecision = "allow"\npackage = "com.exmple.*"\n'
        '[[rule]]\ndecision = "deny"\ncapability = "wipe"\ndevice = "another-phone"\n'
        '[[rule]]\ndecision = "deny"\ncapability = "wipe"\nuser = [10]\n'
        '[[rule]]\ndecision = "deny"\nclient = "mcp:x"\n'
        '[[rule]]\ndecision = "deny"\ncapability = ["deleteNote", "deletNote", "wipe"]\n'
        '[[effect]]\ncapability = "getNotes"\nis = "reads"\n',
    )
    assert policy.has_rules
    key = replace(SUBJECT, capability=_FUNCTION).key
    end = f"of {tmp_path / FILE_NAME} matches no capability that is installed"
    assert policy.unmatched([("emulator-5554", key)]) == (
        f"rule 1 (decision = \"deny\") {end}; did you mean 'deleteNote'?",
        f'rule 3 (decision = "allow") {end}',
        f"capability 'deletNote' in rule 7 (decision = \"deny\") {end}; did you mean 'deleteNote'?",
        f"capability 'wipe' in rule 7 (decision = \"deny\") {end}",
        f"effect 1 (is = \"reads\") {end}; did you mean 'deleteNote'?",
    )
    assert policy.unmatched([]) == ()
    assert not Policy().has_rules


def test_each_of_many_clients_gets_its_own_decision_and_few_are_cached(tmp_path: Path) -> None:
    policy = policy_of(tmp_path, '[[rule]]\ndecision = "deny"\nclient = "mcp:*5"\n')
    with patch("droidgate.calls.policy._MOST_DECISIONS", 10):
        for number in [*range(40), *range(40)]:
            decision = policy.decide(replace(SUBJECT, client=f"mcp:{number}"))
            assert decision.kind == ("deny" if number % 10 == 5 else "ask")
            assert len(policy._decisions) <= 10


@pytest.mark.parametrize(("pattern", "value", "expected"), [
    ("*", "", True),
    ("*", "a/b.c\nd", True),
    ("?", "", False),
    ("a?c", "abc", True),
    ("a?c", "a\u00e9c", True),
    ("[a]", "a", False),
    ("[a]", "[a]", True),
    ("[!a]", "b", False),
    ("a.c", "abc", False),
    ("A", "a", False),
    ("a", "a\n", False),
    ("*a*b*", "xxaxxbxx", True),
    ("a[*]", "a*", True),
    ("a[*]", "ab", False),
    ("[?]", "?", True),
    ("[?]", "x", False),
    ("[[]*[*]", "[x*", True),
])  # fmt: skip
def test_a_pattern_has_two_special_characters_and_matches_it_all(
    pattern: str, value: str, *, expected: bool
) -> None:
    assert glob_matches(pattern, value) is expected


@pytest.mark.parametrize("identifier", ["*", "?", "a*", "[*]", "[a]", "[[]", "[", "]", "a/b", "[!a]"])
def test_the_command_that_approves_a_capability_approves_no_other(identifier: str) -> None:
    subject = CallSubject(
        "emulator-5554", 0, "com.example", "com.example.A", "mmcp", identifier, CallEffect.UNKNOWN, "cli"
    )
    others = ("x", "a", "ab", "aa", "[x]", "[*]", "*?", "b", "", f"b.{identifier}", f"b/{identifier}")
    every = (subject, *(replace(subject, capability=other) for other in others if other != identifier))
    assert named_items([literal_pattern(subject.key)], every) == (subject,)


def effect_of(policy: Policy, *, read_only: bool | None) -> CallEffect:
    """Return the effect of a capability with a hint."""
    hints = None if read_only is None else Effects(read_only=read_only)
    key = CapabilityKey(0, "com.example.notes", "com.example.notes.Tools", "mcp", "getNote")
    return policy.effect_of(Capability(id="getNote", effects=hints), key, serial="emulator-5554")


@pytest.mark.parametrize(("believed", "read_only", "effect"), [
    ("com.other", True, CallEffect.UNKNOWN),
    ("com.other", False, CallEffect.UNKNOWN),
    ("com.example.*", None, CallEffect.UNKNOWN),
    ("com.example.*", True, CallEffect.READS),
    ("com.example.*", False, CallEffect.WRITES),
])  # fmt: skip
def test_hints_of_named_packages_alone_are_believed(
    tmp_path: Path, believed: str, *, read_only: bool | None, effect: CallEffect
) -> None:
    policy = policy_of(tmp_path, f'believe_hints_of = ["com.another", "{believed}"]\n')
    assert effect_of(policy, read_only=read_only) is effect


def test_the_users_word_on_effects_counts_more_than_hints_and_writes_more_than_reads(tmp_path: Path) -> None:
    reads = '[[effect]]\ncapability = "get*"\nis = "reads"\n'
    policy = policy_of(tmp_path, 'believe_hints_of = "*"\n' + reads)
    assert effect_of(policy, read_only=False) is CallEffect.READS
    policy = policy_of(tmp_path, reads + '[[effect]]\npackage = "com.example.notes"\nis = "writes"\n')
    assert effect_of(policy, read_only=True) is CallEffect.WRITES


def test_each_mistake_in_a_file_is_named_with_its_line(tmp_path: Path) -> None:
    text = (
        "# mine\n"
        "[[rule]]\n"
        'decision = "deny"\n'
        'pakage = "com.example"\n'
        "\n"
        "[[rule]]\n"
        'reason = """\n'
        '[[rule]]\n"""\n'
        'decision = "alow"\n'
        'capability = "*"\n'
        "[[rule]]\n"
        'decision = "ask"\n'
    )
    assert problems_of(tmp_path, text) == [
        (
            'policy.toml:4: unknown key "pakage"\n'
            "hint: did you mean 'package'? known: device, user, package, component, protocol, capability, "
            "decision, effect, client, reason"
        ),
        (
            "policy.toml:10: rule 2, decision: \"alow\" is not 'deny', 'ask' or 'allow'\n"
            'hint: did you mean "allow"?'
        ),
        'policy.toml:12: rule 3: no condition; write capability = "*" for all capabilities',
    ]


@pytest.mark.parametrize(("text", "problem"), [
    ("rules = []\n", 'policy.toml:1: unknown key "rules"'),
    ('[[rule]]\ndecision = "deny"\ncapability = ""\n', "policy.toml:3: rule 1, capability"),
    ('[[rule]]\ndecision = "deny"\ncapability = 3\n', "policy.toml:3: rule 1, capability"),
    ('[[rule]]\ndecision = "deny"\neffect = "read"\n', 'policy.toml:3: rule 1, effect 1: "read" is not '),
    ('[[rule]]\ndecision = "ask"\nprotocol = "mcp?"\n', "policy.toml:3: rule 1, protocol: unknown"),
    (
        '[[rule]]\ndecision = "deny"\nclient = ["mcp:GOOSE", "goose"]\n',
        "policy.toml:3: rule 1, client: no client is called 'goose'; did you mean 'mcp:goose'?",
    ),
    (
        '[[rule]]\ndecision = "allow"\nclient = "mcp:Goose"\n',
        "policy.toml:3: rule 1, client: no client is called 'mcp:Goose'; did you mean 'mcp:goose'?",
    ),
    ('[[rule]]\ncapability = "a"\n', 'policy.toml:1: rule 1: the key "decision" is missing'),
    ('[[effect]]\ncapability = "a"\nis = "unknown"\n', "policy.toml:3: effect 1, is"),
    ('[[effect]]\ncapability = "a"\neffect_is = "reads"\n', "policy.toml"),
    ("[[rule]]\ndecision =\n", "policy.toml:2:11: not TOML: invalid value"),
    ("a = {", "policy.toml: not TOML"),
    ("a = " + "[" * 3000 + "\n", "policy.toml"),
], ids=lambda text: text[:60])  # fmt: skip
def test_a_file_with_a_mistake_is_an_error(tmp_path: Path, text: str, problem: str) -> None:
    assert problems_of(tmp_path, text)[0].startswith(problem)


def test_a_file_that_is_not_utf_8_is_an_error(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"# a\n# \xff\n")
    with pytest.raises(InputError, match=r"policy\.toml:2: the file is not UTF-8"):
        Policy.load(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs owners of files")
@pytest.mark.parametrize("mode", [0o620, 0o602], ids=oct)
def test_a_policy_that_others_may_write_is_an_error(tmp_path: Path, mode: int) -> None:
    (tmp_path / FILE_NAME).touch()
    (tmp_path / FILE_NAME).chmod(mode)
    with pytest.raises(InputError, match="other users of this computer may write the file"):
        Policy.load(tmp_path)


def test_a_policy_may_be_a_link_to_a_file_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('[[rule]]\ndecision = "deny"\nclient = "*"\n', encoding="utf-8")
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / FILE_NAME).symlink_to(tmp_path / "mine.toml")
    assert Policy.load(tmp_path / "config").decide(SUBJECT).kind == "deny"


def test_no_policy_is_read_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for name in (FILE_NAME, "droidgate.toml"):
        (tmp_path / name).write_text('[[rule]]\ndecision = "allow"\nclient = "*"\n', encoding="utf-8")
    assert Policy.load().decide(SUBJECT).kind == "ask"


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "fifo"])
def test_a_policy_that_is_not_a_file_is_an_error(tmp_path: Path, make: object) -> None:
    assert callable(make)
    make(tmp_path / FILE_NAME)
    with pytest.raises(DroidgateError, match="it is not a regular file"):
        Policy.load(tmp_path)


def key_of(capability: str, package: str = "com.example.notes", component: str = "Tools") -> CapabilityKey:
    """Return a capability."""
    return CapabilityKey(0, package, component, "mmcp", capability)


ALIKE = {
    "another case of a letter": (key_of("createNote"), key_of("CreateNote")),
    "another sign between words": (key_of("create_note"), key_of("create-note")),
    "a ligature": (key_of("ﬁnd"), key_of("find")),
    "a Cyrillic letter": (key_of("pay"), key_of("p\u0430y")),
    "a digit for a letter": (key_of("sendMoney"), key_of("sendM0ney")),
    "a digit in the name of the package": (key_of("pay"), key_of("pay", package="com.examp1e.notes")),
    "another component as well": (key_of("pay"), key_of("Pay", component="Other")),
    "a capital in the name of the package": (key_of("pay"), key_of("pay", package="com.Example.notes")),
}  # fmt: skip


@pytest.mark.parametrize(("first", "second"), ALIKE.values(), ids=ALIKE)
def test_of_two_names_that_look_alike_both_are_refused(first: CapabilityKey, second: CapabilityKey) -> None:
    refused = refused_names([first, key_of("other"), second])
    assert refused == {
        first: f"its name looks like {second.package}/{second.capability}",
        second: f"its name looks like {first.package}/{first.capability}",
    }
    assert refused_names([second, key_of("other"), first]) == refused


NOT_ALIKE = {
    "one id of two apps": (key_of("pay"), key_of("pay", package="com.example.bank")),
    "one id of two components": (key_of("pay"), key_of("pay", component="Other")),
    "a longer name": (key_of("createNote"), key_of("createNotes")),
    "another name": (key_of("save"), key_of("send")),
}  # fmt: skip


@pytest.mark.parametrize(("first", "second"), NOT_ALIKE.values(), ids=NOT_ALIKE)
def test_other_names_and_equal_ids_of_two_apps_are_not_refused(
    first: CapabilityKey, second: CapabilityKey
) -> None:
    assert refused_names([first, second]) == {}


def test_an_id_that_is_declared_twice_is_refused() -> None:
    assert refused_names([key_of("pay"), key_of("pay")]) == {key_of("pay"): "its app declares this id twice"}


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\t", "\n", "\x1b", "\U000e0041", "\ufe0f", "\ud800"])
def test_an_id_with_a_hidden_character_is_refused(hidden: str) -> None:
    unsafe = key_of(f"pay{hidden}")
    assert refused_names([unsafe]) == {unsafe: f"its id has a hidden character: U+{ord(hidden):04X}"}


@pytest.mark.slow
def test_every_character_that_texts_are_marked_for_is_refused_in_an_id() -> None:
    for code in range(sys.maxunicode + 1):
        if hidden_characters(chr(code)):
            assert hidden_in_id(chr(code)) == f"U+{code:04X}"


PAY = CallSubject("S", 0, "com.bank", "com.bank.A", "mmcp", "pay", CallEffect.WRITES, "cli")
MANY = {f"name_{number}": "x" * 500 for number in range(200)}
LONG = "x" * 5000


def request_of(arguments: Mapping[str, Json], *, is_asked_anew: bool = False) -> ApprovalRequest:
    pin = Pin(PAY.key, "ab" * 32, "cd" * 32)
    decision, state = Decision("ask", "default", "why"), PinState("new")
    return ApprovalRequest(
        PAY, Capability(id="pay"), arguments, pin, state, decision, is_asked_anew=is_asked_anew
    )


def asked_on_terminal(
    arguments: Mapping[str, Json], typed: str = "n\n", *, width: int = 100, is_asked_anew: bool = False
) -> tuple[str, bool, bool]:
    """Return what the terminal showed, and whether the call was allowed, once or always."""
    terminal = Terminal()
    with (
        patch("sys.stdin", Terminal(typed)),
        patch("sys.stderr", terminal),
        patch.dict("os.environ", {"COLUMNS": str(width), "NO_COLOR": "1"}),
        patch("droidgate.cli.calls.terminal_approval._forget_typed"),
    ):
        answer = ask_on_terminal(request_of(arguments, is_asked_anew=is_asked_anew))
    return terminal.getvalue(), answer.allowed, answer.remember


# Arguments, and the lines that show them; None where only the number of the lines matters.
SHOWN: dict[str, tuple[dict[str, Json], list[str]]] = {
    "a text and a number": ({"to": "me", "amount": 5}, ['to (2): "me"', "amount (1): 5"]),
    "null, a list and an empty text":
        ({"a": None, "b": [1, {"c": True}], "d": ""}, ["a (4): null", 'b (14): [1,{"c":true}]', 'd (0): ""']),
    "a long text is cut": (
        {"aaa": LONG, "amount": 5, "to": "me"},
        [f'aaa (5,000): "{"x" * 200}"... (cut)', "amount (1): 5", 'to (2): "me"'],
    ),
    "a long text in an object is cut": (
        {"order": {"pad": LONG, "amount": 5}},
        [f'order (5,021): {{"pad":"{"x" * 200}"...,"amount":5}} (cut)'],
    ),
    "a long list is cut": ({"list": [7] * 900}, [f"list (1,801): [{'7,' * 499}7... (cut)"]),
    "a line break is escaped": ({"a": "x\n- amount (1): 5"}, ['a (17): "x\\n- amount (1): 5"']),
    "a name that looks like a line is quoted": ({'a (2): "b"\n- c': 1}, ['"a (2): \\"b\\"\\n- c" (1): 1']),
    "spaces that could hide something are escaped":
        ({"a": "x" + " " * 3 + "y\u3000z"}, ['a (7): "x \\u0020\\u0020y\\u3000z"']),
    "hidden characters are escaped":
        ({"a": "\u202e\u2028\u200b\x85\x1b[2J"}, ['a (8): "\\u202e\\u2028\\u200b\\u0085\\u001b[2J"']),
    "hidden names are quoted":
        ({"\u202eto": 1, "": 2, "a b": 3}, ['"\\u202eto" (1): 1', '"" (1): 2', '"a b" (1): 3']),
    "a long name is cut": ({"n" * 300: 1}, [f'"{"n" * 80}"... (a name of 300 characters) (1): 1']),
    "a deep text is cut": (
        {"deep": {"a": {"a": {"a": LONG}}}, "to": 1},
        [f'deep (5,020): {{"a":{{"a":{{"a":"{"x" * 200}"...}}}}}} (cut)', "to (1): 1"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "lines"), SHOWN.values(), ids=SHOWN)
@pytest.mark.parametrize("width", [40, 100])
def test_each_argument_is_a_line_in_both_questions(
    arguments: dict[str, Json], lines: list[str], width: int
) -> None:
    is_cut = any("(cut)" in line or "a name of" in line for line in lines)
    question = question_of(request_of(arguments), "Client")
    after = question.message.partition("each with its length):\n")[2]
    assert after.split("\n") == [*(f"- {line}" for line in lines), "Text of the app: none"]
    choices = [choice["const"] for choice in question.schema["properties"]["approve"]["oneOf"]]
    assert choices == (["once"] if is_cut else ["once", "always"])

    text, allowed, remember = asked_on_terminal(arguments, "a\n", width=width)
    begun = [line for line in text.split("\n") if line.startswith("  -")]
    assert len(begun) == len(lines)
    assert all(line.startswith((" " * 8, "  -")) for line in text.partition("length\n")[2].split("\n")[:-1])
    assert re.sub(r"\s", "", "".join(f"-{line}" for line in lines)) in re.sub(r"\s", "", text)
    assert ("always" in text) is not is_cut
    assert (allowed, remember) == (not is_cut, not is_cut)


def test_a_long_answer_of_once_is_possible_where_something_was_cut() -> None:
    assert asked_on_terminal({"a": LONG}, "y\n")[1:] == (True, False)


def test_two_hundred_arguments_are_all_shown() -> None:
    message = question_of(request_of(MANY), "Client").message
    text = asked_on_terminal(MANY)[0]
    for name in MANY:
        assert f'\n- {name} (500): "xxxx' in message
        assert f"\n  - {name} (500):" in text
    assert len(message) < 60_000


def test_more_arguments_than_a_question_shows_are_refused() -> None:
    many: dict[str, Json] = {str(number): number for number in range(MAX_ARGUMENTS + 1)}
    refusal = refuse_unshowable(request_of(many))
    assert refusal is not None
    assert (refusal.allowed, refusal.message) == (
        False,
        "the call has 1,001 arguments, and a question shows 1,000",
    )
    many.popitem()
    assert refuse_unshowable(request_of(many)) is None
    assert len(shown_arguments(many).lines) == MAX_ARGUMENTS


def test_a_value_as_deep_as_an_argument_may_be_is_shown() -> None:
    value: Json = 1
    for _ in range(400):
        value = [value]
    (line,) = shown_arguments({"a": value}).lines
    assert line == f"a (801): {'[' * 400}1{']' * 400}"


def test_both_questions_say_that_the_app_was_replaced() -> None:
    words = "the app was replaced after you answered, so you are asked again"
    assert f"Attention: {words}.\n" in question_of(request_of({}, is_asked_anew=True), "C").message
    assert f"  attention: {words}\n" in asked_on_terminal({}, is_asked_anew=True)[0]


@pytest.mark.parametrize(
    "client", ["x" * 500, "a\nArguments: none", "\u202ea"], ids=lambda client: client[:20]
)
def test_a_client_cannot_write_more_than_its_name(client: str) -> None:
    first, second, *_ = question_of(request_of({}), client).message.split("\n")
    assert first.endswith(" wants to call pay")
    assert len(first) < 120
    assert second.startswith("of the app com.bank on S, signed by abababababababab.")
