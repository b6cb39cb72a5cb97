"""An independent look at what a reader made of an output: does the value say what the text says?

`explains(family, value, case)` writes the value back in the form in which Android prints it (typed from the
same sources as the golden files, sharing nothing with the readers) and compares that with the text. A reader
that skips what it does not know, takes a piece of a broken line, or guesses, gives a value whose text is not
the text that was read.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from gateway.devices.golden_outputs import Case

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


def _paths(value: Any, case: Case) -> bool:
    return [f"package:{item}" for item in value] == _lines(case.stdout)


def _components(value: Any, case: Case) -> bool:
    if not value:
        return len(_lines(case.stdout)) == 1 and case.stdout.strip().startswith("No ")
    shortened = [re.sub(r"^([^/]+)/\1(?=\.)", r"\1/", item) for item in value]
    read = [re.sub(r"^([^/]+)/\1(?=\.)", r"\1/", line) for line in _lines(case.stdout)]
    return shortened == read


def _help(value: Any, case: Case) -> bool:
    if not value:
        said = case.stdout + case.stderr
        return "No shell command implementation." in said or "Can't find service: app_function" in said
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


def _number(value: Any, case: Case) -> bool:
    return [int(line) for line in _lines(case.stdout)] == [value]


def _call(value: Any, case: Case) -> bool:
    inside = ", ".join(f"{name}={item}" for name, item in value.items())
    plain = case.stdout.replace("\r\n", "\n")
    return plain == f"Result: Bundle[{{{inside}}}]\n" or (not value and plain == "Result: null\n")


def _properties(value: Any, case: Case) -> bool:
    written = "".join(f"[{name}]: [{item}]\n" for name, item in value.items())
    return written == case.stdout.replace("\r\n", "\n")


def _session(value: Any, case: Case) -> bool:
    return case.stdout.strip() == f"Success: created install session [{value}]" and case.exit_status == 0


def _success(value: Any, case: Case) -> bool:
    said = re.fullmatch(r"Success(: streamed \d+ bytes)?", case.stdout.strip())
    return value is None and case.exit_status == 0 and said is not None


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
    "pm path": _paths,
    "cmd package query-": _components,
    "cmd app_function help": _help,
    "cmd app_function list-app-functions": _listing,
    "cmd app_function execute-app-function": _execution,
    "am broadcast": _broadcast,
    "am start-activity -W": _activity,
    "am get-current-user": _number,
    "content call": _call,
    "getprop": _properties,
    "pm install-create": _session,
    "pm install-commit": _success,
    "pm uninstall": _success,
    "host:devices-l": _devices,
}
