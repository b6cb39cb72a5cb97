"""Policies: rules, statements about effects, and mistakes in the file."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from droidgate.calls.policy import FILE_NAME, Policy
from droidgate.calls.subjects import (
    CallEffect,
    CallSubject,
    CapabilityKey,
    NamePattern,
    glob_matches,
    literal_pattern,
)
from droidgate_mappings.model.capability import Capability, Effects
from droidgate_mappings.model.errors import DroidgateError, InputError

SUBJECT = CallSubject(
    serial="emulator-5554",
    user=0,
    package="com.example.notes",
    component="com.example.notes.Tools",
    protocol="mmcp",
    capability="createNote",
    effect=CallEffect.UNKNOWN,
    client="cli",
)


def policy_of(folder: Path, text: str) -> Policy:
    """Return the policy of a file."""
    (folder / FILE_NAME).write_text(text, encoding="utf-8")
    return Policy.load(folder)


def problems_of(folder: Path, text: str) -> list[str]:
    """Return the errors of a file without its path."""
    with pytest.raises(InputError) as caught:
        policy_of(folder, text)
    return [str(error).replace(f"{folder}/", "") for error in (caught.value, *caught.value.others)]


def with_effect(effect: CallEffect) -> CallSubject:
    """Return the subject with another effect."""
    return CallSubject(**{**{name: getattr(SUBJECT, name) for name in SUBJECT.__slots__}, "effect": effect})


@pytest.mark.parametrize(
    ("effect", "kind"), [(CallEffect.READS, "allow"), (CallEffect.WRITES, "ask"), (CallEffect.UNKNOWN, "ask")]
)
def test_without_a_file_only_capabilities_that_read_are_allowed(
    tmp_path: Path, effect: CallEffect, kind: str
) -> None:
    decision = Policy.load(tmp_path).decide(with_effect(effect))
    assert (decision.kind, decision.rule) == (kind, "default")


@pytest.mark.parametrize("condition", [
    'device = "emulator-*"', "user = [0]", 'package = "com.example.*"', 'component = "*Tools"',
    'protocol = "mmcp"', 'capability = "create????"', 'effect = "unknown"', 'effect = ["writes", "unknown"]',
    'client = ["serve:*", "cli"]',
])  # fmt: skip
def test_a_rule_decides_where_its_condition_holds(tmp_path: Path, condition: str) -> None:
    decision = policy_of(tmp_path, f'[[rule]]\ndecision = "deny"\n{condition}\n').decide(SUBJECT)
    assert (decision.kind, decision.rule) == ("deny", f"rule 1 of {tmp_path / FILE_NAME}")


@pytest.mark.parametrize("condition", [
    'device = "emulator"', "user = [10]", 'package = "com.example"', 'component = "Tools"', 'protocol = "mm"',
    'capability = "reateNote"', 'effect = "reads"', 'client = "serve:*"',
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
    ("example.notes/deleteNote", _FUNCTION, True, True),
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
    ("eteNote", _FUNCTION, False, False),
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
        '[[effect]]\ncapability = "getNotes"\nis = "reads"\n',
    )
    assert policy.has_rules
    key = replace(SUBJECT, capability=_FUNCTION).key
    end = f"of {tmp_path / FILE_NAME} matches no capability that is installed"
    assert policy.unmatched([("emulator-5554", key)]) == (
        f'rule 1 (decision = "deny") {end}',
        f'rule 3 (decision = "allow") {end}',
        f'effect 1 (is = "reads") {end}',
    )
    assert policy.unmatched([]) == ()
    assert not Policy().has_rules


def test_the_reason_of_a_rule_is_that_of_the_decision(tmp_path: Path) -> None:
    policy = policy_of(tmp_path, '[[rule]]\ndecision = "deny"\nclient = "*"\nreason = "not at work"\n')
    assert policy.decide(SUBJECT).reason == "not at work"


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
def test_a_pattern_has_two_special_characters_and_matches_the_whole_value(
    pattern: str, value: str, *, expected: bool
) -> None:
    assert glob_matches(pattern, value) is expected


@pytest.mark.parametrize("identifier", ["*", "?", "a*", "[*]", "[a]", "[[]", "[", "]", "a/b", "[!a]"])
def test_the_command_that_approves_a_capability_approves_no_other(identifier: str) -> None:
    subject = CallSubject(
        "emulator-5554", 0, "com.example", "com.example.A", "mmcp", identifier, CallEffect.UNKNOWN, "cli"
    )
    pattern = NamePattern.parse(literal_pattern(subject))
    assert pattern.matches(subject)
    others = ("x", "a", "ab", "aa", "[x]", "*?", "b", "")
    assert not any(
        pattern.matches(replace(subject, capability=other)) for other in others if other != identifier
    )


def effect_of(policy: Policy, *, read_only: bool | None) -> CallEffect:
    """Return the effect of a capability with a hint."""
    hints = None if read_only is None else Effects(read_only=read_only)
    key = CapabilityKey(0, "com.example.notes", "com.example.notes.Tools", "mcp", "getNote")
    return policy.effect_of(Capability(id="getNote", effects=hints), key, serial="emulator-5554")


@pytest.mark.parametrize("read_only", [None, True, False])
def test_neither_names_nor_hints_say_what_a_call_does_unless_the_user_says_so(
    tmp_path: Path, *, read_only: bool | None
) -> None:
    policy = policy_of(tmp_path, 'believe_hints_of = "com.example.other"\n')
    assert effect_of(policy, read_only=read_only) is CallEffect.UNKNOWN


@pytest.mark.parametrize(
    ("read_only", "effect"),
    [(None, CallEffect.UNKNOWN), (True, CallEffect.READS), (False, CallEffect.WRITES)],
)
def test_hints_of_packages_that_the_user_names_are_believed(
    tmp_path: Path, *, read_only: bool | None, effect: CallEffect
) -> None:
    policy = policy_of(tmp_path, 'believe_hints_of = ["com.other", "com.example.*"]\n')
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
    ('[[rule]]\ncapability = "a"\n', "policy.toml:1: rule 1: field required"),
    ('[[effect]]\ncapability = "a"\nis = "unknown"\n', "policy.toml:3: effect 1, is"),
    ('[[effect]]\ncapability = "a"\neffect_is = "reads"\n', "policy.toml"),
    ("[[rule]]\ndecision =\n", "policy.toml:2:11: not TOML: invalid value"),
    ("a = {", "policy.toml: not TOML"),
    ("a = " + "[" * 3000 + "\n", "policy.toml"),
])  # fmt: skip
def test_a_file_with_a_mistake_is_an_error(tmp_path: Path, text: str, problem: str) -> None:
    assert problems_of(tmp_path, text)[0].startswith(problem)


def test_the_keys_that_an_error_lists_are_those_of_the_file(tmp_path: Path) -> None:
    problem = problems_of(tmp_path, '[[effect]]\ncapability = "a"\nis = "reads"\nfor = "all"\n')[0]
    assert problem.endswith("capability, is")


def test_a_file_that_is_not_utf_8_is_an_error(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"# a\n# \xff\n")
    with pytest.raises(InputError, match=r"policy\.toml:2: the file is not UTF-8"):
        Policy.load(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs owners of files")
@pytest.mark.parametrize("mode", [0o620, 0o602])
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


def test_a_policy_is_never_read_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
