"""Garbled outputs: a typed error, or a value that says what the garbled text says; never anything else.

Each golden output is changed at random places: cut off, lines lost, doubled or swapped, bytes flipped, words
replaced, quotes and brackets put in, text of another command put behind, another exit status. The reader may
then refuse (one error of the DeviceError tree, with a short printable excerpt), or give a value. A value is
held against the changed text by `explained_outputs`, which writes it back as Android would print it: what the
reader left out, made up or misread is a difference. What this cannot see is text that another Android could
have printed, such as a list that ends early at a line's end: there the exit status and the connection tell.

That the check can fail is shown on careless readers below.
"""

import re
from collections.abc import Callable
from random import Random

import pytest

from droidgate.devices.device_errors import EXCERPT_CHARACTERS, DeviceOutputError
from droidgate_mappings.model.errors import DeviceError
from gateway.devices.explained_outputs import explains
from gateway.devices.golden_outputs import Case, all_cases, family_of, read_case

CASES = all_cases()
MUTATIONS_EACH = 100
SPLICES = (
    '"', "'", "{", "}", "[", "]", "=", ",", "/", "\n", "\r", "\x1b[31m", "\0", "\u202e", "null", "-1",
    "Error: ",
)  # fmt: skip
TAILS = ("Killed\n", "Success\n", "true\n", "{}\n", "cmd: Can't find service: package\n", "Complete\n")

Mutation = Callable[[Random, str], str]


def _cut(random: Random, text: str) -> str:
    return text[: random.randrange(len(text) + 1)]


def _cut_front(random: Random, text: str) -> str:
    return text[random.randrange(len(text) + 1) :]


def _lose_line(random: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    del lines[random.randrange(len(lines))]
    return "".join(lines)


def _double_line(random: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    lines.insert(random.randrange(len(lines) + 1), random.choice(lines))
    return "".join(lines)


def _swap_lines(random: Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    random.shuffle(lines)
    return "".join(lines)


def _flip(random: Random, text: str) -> str:
    raw = bytearray(text.encode())
    raw[random.randrange(len(raw))] ^= 1 << random.randrange(8)
    return raw.decode("utf-8", "backslashreplace")


def _splice(random: Random, text: str) -> str:
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice(SPLICES) + text[at:]


def _lose_piece(random: Random, text: str) -> str:
    at = random.randrange(len(text))
    return text[:at] + text[at + random.randint(1, 8) :]


def _swap_words(random: Random, text: str) -> str:
    words = re.split(r"(\W)", text)
    first, second = random.randrange(len(words)), random.randrange(len(words))
    words[first], words[second] = words[second], words[first]
    return "".join(words)


def _append(random: Random, text: str) -> str:
    return text + random.choice(TAILS)


MUTATIONS: tuple[Mutation, ...] = (
    _cut, _cut_front, _lose_line, _double_line, _swap_lines, _flip, _splice, _lose_piece, _swap_words,
    _append,
)  # fmt: skip


def mutate(random: Random, case: Case) -> Case:
    """Return the case with its output, its error text or its status changed."""
    which = random.randrange(12)
    if which == 0:
        return case.altered(case.stdout, case.stderr, random.randint(0, 255))
    mutation = random.choice(MUTATIONS)
    if case.stderr and (which == 1 or not case.stdout):
        return case.altered(case.stdout, mutation(random, case.stderr), case.exit_status)
    if not case.stdout:
        return case.altered(random.choice(TAILS), case.stderr, case.exit_status)
    return case.altered(mutation(random, case.stdout), case.stderr, case.exit_status)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_garbled_output_is_refused_or_says_what_is_read(case: Case) -> None:
    random = Random(f"{case}")
    refused = 0
    for _ in range(MUTATIONS_EACH):
        garbled = mutate(random, case)
        try:
            value = read_case(garbled)
        except DeviceError as error:
            refused += 1
            _assert_is_tame(error)
            continue
        refused += isinstance(value, dict) and value.get("token") is not None
        assert explains(family_of(case), value, garbled), (garbled.stdout, garbled.stderr, value)
    # Most changes are seen; a reader that takes anything would not get here.
    assert refused > MUTATIONS_EACH // 10


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_hundred_thousand_garbled_outputs_are_refused_or_say_what_is_read(case: Case) -> None:
    random = Random()
    for _ in range(100_000):
        garbled = mutate(random, case)
        try:
            value = read_case(garbled)
        except DeviceError as error:
            _assert_is_tame(error)
            continue
        assert explains(family_of(case), value, garbled), (garbled.stdout, garbled.stderr, value)


def _assert_is_tame(error: DeviceError) -> None:
    assert error.message.isprintable()
    assert error.place is None or error.place.isprintable()
    if isinstance(error, DeviceOutputError):
        assert len(error.excerpt) <= 10 * EXCERPT_CHARACTERS
        assert error.command


def test_there_are_enough_mutations() -> None:
    assert len(CASES) * MUTATIONS_EACH >= 5000


@pytest.mark.parametrize("case", [case for case in CASES if case.error is None], ids=str)
def test_the_golden_outputs_themselves_are_explained(case: Case) -> None:
    assert explains(family_of(case), case.parsed, case)


def test_the_check_sees_a_reader_that_skips_what_it_does_not_know() -> None:
    def careless(text: str) -> list[dict[str, object]]:
        found = re.findall(r"^package:(.*)=(\S+) versionCode:(\d+) uid:(\d+)", text, re.MULTILINE)
        return [
            {"path": path, "name": name, "version_code": int(version), "uid": int(uid)}
            for path, name, version, uid in found
        ]

    case = next(item for item in CASES if item.name.startswith("system and updated"))
    assert explains("pm list packages", careless(case.stdout), case)
    assert _is_caught(case, lambda garbled: explains("pm list packages", careless(garbled.stdout), garbled))


def test_the_check_sees_a_reader_that_guesses_where_data_ends() -> None:
    def careless(text: str) -> dict[str, object]:
        found = re.search(r'result=(-?\d+)(?:, data="([^"]*)")?', text)
        result, data = (int(found[1]), found[2]) if found else (0, None)
        return {"result": result, "data": data, "extras": None}

    case = next(item for item in CASES if item.name == "a receiver's result and data")
    assert not explains("am broadcast", careless(case.stdout), case)


def _is_caught(case: Case, check: Callable[[Case], bool]) -> bool:
    random = Random(1)
    return not all(check(mutate(random, case)) for _ in range(MUTATIONS_EACH))
