"""Garbled outputs: a typed error, or a value that says what the garbled text says; never anything else.

Each golden output is changed at random places: cut off, lines lost, doubled or swapped, bytes flipped, words
replaced, quotes and brackets put in, text of another command put behind, another exit status. The reader may
then refuse (one error of the DeviceError tree, with a short printable excerpt), or give a value. A value is
held against the changed text by `explained_outputs`, which writes it back as Android would print it: what the
reader left out, made up or misread is a difference. What this cannot see is text that another Android could
have printed, such as a list that ends early at a line's end: there the exit status and the connection tell.

That the check can fail is shown on careless readers below.
"""

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from droidgate.devices.device_errors import EXCERPT_CHARACTERS, DeviceOutputError
from droidgate_mappings.model.errors import DeviceError
from gateway.devices.golden_outputs import Case, all_cases, family_of, read_case

NOTICES = ("Invalid user ID: ", "Invalid timeout duration: ")
EXECUTION_NOTICES = (
    *NOTICES,
    "Sent PendingIntent",
    "No PendingIntent",
    "App function executed successfully.",
)


def explains(family: str, value: Any, case: Case) -> bool:
    return EXPLANATIONS[family](value, case)


def _lines(text: str) -> list[str]:
    return [line for line in text.replace("\r\n", "\n").split("\n") if line]


def _packages(value: Any, case: Case) -> bool:
    written = {f"package:{item['path']}={item['name']} versionCode:{item['version_code']}" for item in value}
    read = [line.rpartition(" uid:") for line in _lines(case.stdout)]
    uids = {item["uid"] for item in value}
    is_whole = all(
        re.fullmatch(r"\d+(,\d+)*", tail) and int(tail.split(",")[0]) in uids for _, _, tail in read
    )
    return is_whole and len(value) == len(read) and {_same_number(head) for head, _, _ in read} == written


def _same_number(line: str) -> str:
    head, mark, digits = line.rpartition(":")
    return f"{head}{mark}{int(digits)}"


def _components(value: Any, case: Case) -> bool:
    if not value:
        return len(_lines(case.stdout)) == 1 and case.stdout.strip().startswith("No ")
    shortened = [re.sub(r"^([^/]+)/\1(?=\.)", r"\1/", item) for item in value]
    read = [re.sub(r"^([^/]+)/\1(?=\.)", r"\1/", line) for line in _lines(case.stdout)]
    return shortened == read


def _help(value: Any, case: Case) -> bool:
    if not value:
        output = case.stdout + case.stderr
        return "No shell command implementation." in output or "Can't find service: app_function" in output
    groups: dict[str, set[str]] = {}
    name = ""
    for line in _lines(case.stdout)[1:]:
        is_command = line[2] != " "
        name = line.split()[0] if is_command else name
        words = set(re.split(r"[\s\[\]:]+", line)) if is_command else {line.split()[0]}
        groups.setdefault(name, set()).update(word for word in words if word.startswith("--"))
    return bool({word: sorted(options) for word, options in groups.items()} == value)


def _listing(value: Any, case: Case) -> bool:
    plain = "\n".join(line for line in case.stdout.split("\n") if not line.startswith(NOTICES))
    expected = []
    for package, elements in json.loads(plain).items():
        for element in elements:
            rest = {name.removesuffix(f"-{package}"): item for name, item in element.items()}
            runtime = rest.pop("AppFunctionRuntimeMetadata", None)
            inner = f"AppFunctionRuntimeMetadata-{package}"
            runtime = runtime.get(inner, runtime) if runtime is not None else None
            [(kind, document)] = rest.items()
            expected.append({"package": package, "type": kind, "document": document, "runtime": runtime})
    return bool(value == expected)


def _execution(value: Any, case: Case) -> bool:
    plain = "\n".join(line for line in case.stdout.split("\n") if not line.startswith(EXECUTION_NOTICES))
    try:
        read = json.loads(plain)
    except ValueError:
        read = None
    is_result = case.exit_status == 0 and isinstance(read, dict | list)
    if value["document"] is None:
        # Duplicate keys and control characters are refused too: that errs on the safe side.
        return value["token"] is not None and (not is_result or value["token"] == "malformed_response")
    if isinstance(read, list):
        read = {"androidAppfunctionsReturnValue": read} if read else {}
    return is_result and bool(read == value["document"])


def _broadcast(value: Any, case: Case) -> bool:
    text = f"Broadcast completed: result={value['result']}"
    text += "" if value["data"] is None else f', data="{value["data"]}"'
    text += "" if value["extras"] is None else f", extras: {value['extras']}"
    first, _, rest = case.stdout.replace("\r\n", "\n").partition("\n")
    rest = re.sub(r"^(Broadcast completed: result=-?)0+(?=\d)", r"\1", rest).replace("result=-0", "result=0")
    return first.startswith("Broadcasting: Intent {") and rest == f"{text}\n"


def _activity(value: Any, case: Case) -> bool:
    lines = _lines(case.stdout)
    expected = [f"Status: {value['status']}"]
    expected += [] if value["activity"] is None else [f"Activity: {value['activity']}"]
    expected += [] if value["warning"] is None else [f"Warning: {value['warning']}"]
    reported = [line for line in lines if line.startswith(("Status: ", "Activity: ", "Warning: "))]
    times = [int(line.split()[1]) for line in lines if line.startswith("TotalTime: ")]
    is_same_time = times == ([] if value["milliseconds"] is None else [value["milliseconds"]])
    has_errors = any(line.startswith("Error") for line in lines) or bool(case.exit_status)
    return (
        sorted(reported) == sorted(expected) and is_same_time and not has_errors and lines[-1] == "Complete"
    )


def _service(value: Any, case: Case) -> bool:
    output = _lines(case.stderr)
    if not case.stdout.startswith("Starting service: Intent {") or len(_lines(case.stdout)) != 1:
        return False
    if value["outcome"] == "started":
        return not output and case.exit_status == 0
    words = {
        "Not found; no service started.": "not-found",
        "Requires permission ": "needs-permission",
        "app is in background uid": "background",
    }
    outcome = next((item for start, item in words.items() if value["text"].startswith(start)), "refused")
    if outcome == "not-found" and value["text"] != "Not found; no service started.":
        outcome = "refused"
    return output[0].strip() == f"Error: {value['text']}" and outcome == value["outcome"]


def _call(value: Any, case: Case) -> bool:
    inside = ", ".join(f"{name}={item}" for name, item in value.items())
    plain = case.stdout.replace("\r\n", "\n")
    return plain == f"Result: Bundle[{{{inside}}}]\n" or (not value and plain == "Result: null\n")


def _success(value: Any, case: Case) -> bool:
    output = re.fullmatch(r"Success(: streamed \d+ bytes)?", case.stdout.strip())
    return value is None and case.exit_status == 0 and output is not None


def _devices(value: Any, case: Case) -> bool:
    lines = [line for line in case.stdout.replace("\r\n", "\n").split("\n") if line.strip()]
    if len(lines) != len(value):
        return False
    for line, (serial, state, transport, model) in zip(lines, value, strict=True):
        rest = line.removeprefix(serial).lstrip(" \t")
        is_transport = transport is None or line.endswith(f"transport_id:{transport:d}") or "_id:0" in line
        is_model = model is None or f"model:{model}" in line
        if not line.startswith(serial) or not rest.startswith(state) or not is_transport or not is_model:
            return False
    return True


EXPLANATIONS: dict[str, Callable[[Any, Case], bool]] = {
    "pm list packages": _packages,
    "pm path": lambda value, case: [f"package:{item}" for item in value] == _lines(case.stdout),
    "cmd package query-": _components,
    "cmd app_function help": _help,
    "cmd app_function list-app-functions": _listing,
    "cmd app_function execute-app-function": _execution,
    "am broadcast": _broadcast,
    "am start-activity -W": _activity,
    "am startservice": _service,
    "am start-foreground-service": _service,
    "am get-current-user": lambda value, case: [int(line) for line in _lines(case.stdout)] == [value],
    "content call": _call,
    "getprop": lambda value, case: (
        "".join(f"[{name}]: [{item}]\n" for name, item in value.items()) == case.stdout.replace("\r\n", "\n")
    ),
    "pm install-create": lambda value, case: (
        case.stdout.strip() == f"Success: created install session [{value}]" and case.exit_status == 0
    ),
    "pm install-commit": _success,
    "pm uninstall": _success,
    "host:devices-l": _devices,
}


CASES = all_cases()
MUTATIONS_EACH = 100
SPLICES = (
    '"', "'", "{", "}", "[", "]", "=", ",", "/", "\n", "\r", "\x1b[31m", "\0", "\u202e", "null", "-1",
    "Error: ",
)  # fmt: skip
TAILS = ("Killed\n", "Success\n", "true\n", "{}\n", "cmd: Can't find service: package\n", "Complete\n")

Mutation = Callable[[Random, str], str]


def _lose_line(random: Random, lines: list[str]) -> None:
    del lines[random.randrange(len(lines))]


def _double_line(random: Random, lines: list[str]) -> None:
    lines.insert(random.randrange(len(lines) + 1), random.choice(lines))


def _of_lines(change: Callable[[Random, list[str]], None]) -> Mutation:
    def mutation(random: Random, text: str) -> str:
        lines = text.splitlines(keepends=True)
        change(random, lines)
        return "".join(lines)

    return mutation


def _flip(random: Random, text: str) -> str:
    raw = bytearray(text.encode())
    raw[random.randrange(len(raw))] ^= 1 << random.randrange(8)
    return raw.decode("utf-8", "backslashreplace")


def _replace(random: Random, text: str, most: int, least: int, new: str) -> str:
    """Put a text in place of `least` to `most` characters somewhere in another."""
    at = random.randrange(len(text) + (most == 0))
    return text[:at] + new + text[at + random.randint(least, most) :]


def _swap_words(random: Random, text: str) -> str:
    words = re.split(r"(\W)", text)
    first, second = random.randrange(len(words)), random.randrange(len(words))
    words[first], words[second] = words[second], words[first]
    return "".join(words)


MUTATIONS: tuple[Mutation, ...] = (
    lambda random, text: text[: random.randrange(len(text) + 1)],
    lambda random, text: text[random.randrange(len(text) + 1) :],
    _of_lines(_lose_line),
    _of_lines(_double_line),
    _of_lines(lambda random, lines: random.shuffle(lines)),
    _flip,
    lambda random, text: _replace(random, text, 0, 0, random.choice(SPLICES)),
    lambda random, text: _replace(random, text, 8, 1, ""),
    _swap_words,
    lambda random, text: text + random.choice(TAILS),
)


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


def refusals(case: Case, random: Random, tries: int) -> int:
    """Read garbled forms of an output, and return how many are refused; fail at a value that is made up."""
    refused = 0
    for _ in range(tries):
        garbled = mutate(random, case)
        try:
            value = read_case(garbled)
        except DeviceError as error:
            refused += 1
            _assert_is_tame(error)
            continue
        refused += isinstance(value, dict) and value.get("token") is not None
        assert explains(family_of(case), value, garbled), (garbled.stdout, garbled.stderr, value)
    return refused


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_garbled_output_is_refused_or_says_what_is_read(case: Case) -> None:
    assert len(CASES) * MUTATIONS_EACH >= 5000
    # Most changes are seen; a reader that takes anything would not get here.
    assert refusals(case, Random(f"{case}"), MUTATIONS_EACH) > MUTATIONS_EACH // 10


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_hundred_thousand_garbled_outputs_are_refused_or_say_what_is_read(case: Case) -> None:
    refusals(case, Random(), 100_000)


def _assert_is_tame(error: DeviceError) -> None:
    assert error.message.isprintable()
    assert error.place is None or error.place.isprintable()
    if isinstance(error, DeviceOutputError):
        assert len(error.excerpt) <= 10 * EXCERPT_CHARACTERS
        assert error.command


@pytest.mark.parametrize("case", [case for case in CASES if case.error is None], ids=str)
def test_the_golden_outputs_themselves_are_explained(case: Case) -> None:
    assert explains(family_of(case), case.parsed, case)


def test_the_check_sees_a_reader_that_skips_what_it_does_not_know() -> None:
    def careless(text: str) -> list[dict[str, object]]:
        rows = re.findall(r"^package:(.*)=(\S+) versionCode:(\d+) uid:(\d+)", text, re.MULTILINE)
        return [
            {"path": path, "name": name, "version_code": int(version), "uid": int(uid)}
            for path, name, version, uid in rows
        ]

    case = next(item for item in CASES if item.name.startswith("system and updated"))
    assert explains("pm list packages", careless(case.stdout), case)
    assert _is_caught(case, lambda garbled: explains("pm list packages", careless(garbled.stdout), garbled))


def test_the_check_sees_a_reader_that_guesses_where_data_ends() -> None:
    def careless(text: str) -> dict[str, object]:
        match = re.search(r'result=(-?\d+)(?:, data="([^"]*)")?', text)
        result, data = (int(match[1]), match[2]) if match else (0, None)
        return {"result": result, "data": data, "extras": None}

    case = next(item for item in CASES if item.name == "a receiver's result and data")
    assert not explains("am broadcast", careless(case.stdout), case)


def _is_caught(case: Case, check: Callable[[Case], bool]) -> bool:
    random = Random(1)
    return not all(check(mutate(random, case)) for _ in range(MUTATIONS_EACH))
