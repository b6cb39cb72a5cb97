"""The golden outputs in tests/gateway/device_outputs, and how each is read.

A case: name, command (as typed after `adb shell`), source (where its text comes from); and `parsed` (JSON
text of what the reader gives) or `error` (the class of the error). Without them, `exit_status` is 0, and
`stdout` and `stderr` are empty. `sdk`: releases of the virtual phone for which it holds. `inferred`: from
source code, seen by nobody. `apps`: what has to be installed for it. `compare = "json"`: objects have no
order. Random parts of paths and uids are masked before text is compared.
"""

import dataclasses
import json
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from droidgate.devices import (
    activities,
    app_installation,
    content,
    packages,
    properties,
    service_shells,
)
from droidgate.devices.device_errors import DeviceOutputError
from droidgate.devices.device_list import read_devices
from droidgate_appfunctions.listing_reader import read_printed_documents
from droidgate_appfunctions.shell_calls import read_shell_output

FOLDER = Path(__file__).resolve().parent.parent / "device_outputs"
USUAL = {"exit_status": 0, "stdout": "", "stderr": ""}


@dataclass(frozen=True)
class Case:
    file: str
    name: str
    command: str
    exit_status: int
    stdout: str
    stderr: str
    source: str
    parsed: Any
    error: str | None

    def __str__(self) -> str:
        return f"{self.file}: {self.name}"

    def altered(self, stdout: str, stderr: str, exit_status: int) -> "Case":
        return dataclasses.replace(self, stdout=stdout, stderr=stderr, exit_status=exit_status)


def all_cases() -> list[Case]:
    return list(_read_cases())


def written_cases() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the cases as they are written, with what is usual, after the stem of their file."""
    for path in sorted(FOLDER.glob("*.toml")):
        for case in tomllib.loads(path.read_text(encoding="utf-8"))["cases"]:
            yield path.stem, {**USUAL, **case}


def _read_cases() -> Iterator[Case]:
    for file, raw in written_cases():
        yield Case(
            file=file,
            name=raw["name"],
            command=raw["command"],
            exit_status=raw["exit_status"],
            stdout=raw["stdout"],
            stderr=raw["stderr"],
            source=raw["source"],
            parsed=json.loads(raw["parsed"]) if "parsed" in raw else None,
            error=raw.get("error"),
        )


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _components(case: Case) -> Any:
    kind = case.command.split()[2].removeprefix("query-")
    return packages.read_components(kind, case.stdout, case.exit_status, case.stderr)  # type: ignore[arg-type]


def _help(case: Case) -> Any:
    service, title = service_shells.SERVICE, service_shells.TITLE
    shell = service_shells.read_help(service, title, case.stdout, case.exit_status, case.stderr)
    return {name: sorted(options) for name, options in shell.commands.items()}


def _listing(case: Case) -> Any:
    command = "cmd app_function list-app-functions"
    listed = service_shells.read_output(
        command, read_printed_documents, case.stdout, case.exit_status, case.stderr
    )
    for fault in listed.faults.values():
        raise DeviceOutputError(command, fault)
    return _plain(listed.documents)


def _execution(case: Case) -> Any:
    outcome = read_shell_output(case.stdout, case.exit_status)
    return {"document": outcome.document, "token": outcome.token, "code": outcome.code}


def _devices(case: Case) -> Any:
    return [
        [device.serial, device.state, device.transport, device.model] for device in read_devices(case.stdout)
    ]


def _tokens(case: Case) -> Any:
    return content.read_call(case.stdout, case.exit_status, case.stderr).tokens()


def _plain_reader(read: Callable[[str, int, str], Any]) -> Callable[[Case], Any]:
    return lambda case: _plain(read(case.stdout, case.exit_status, case.stderr))


READERS: dict[str, Callable[[Case], Any]] = {
    "pm list packages": _plain_reader(packages.read_packages),
    "pm path": _plain_reader(packages.read_paths),
    "cmd package query-": _components,
    "cmd app_function help": _help,
    "cmd app_function list-app-functions": _listing,
    "cmd app_function execute-app-function": _execution,
    "am broadcast": _plain_reader(activities.read_broadcast),
    "am start-activity -W": _plain_reader(activities.read_activity_start),
    "am get-current-user": _plain_reader(properties.read_current_user),
    "content call": _tokens,
    "getprop": _plain_reader(properties.read_properties),
    "pm install-create": _plain_reader(app_installation.read_session),
    "pm install-commit": _plain_reader(app_installation.read_success),
    "pm uninstall": _plain_reader(app_installation.read_success),
    "host:devices-l": _devices,
}


def family_of(case: Case) -> str:
    return next(prefix for prefix in READERS if case.command.startswith(prefix))


def read_case(case: Case) -> Any:
    return READERS[family_of(case)](case)
