"""Files of a call: those that arguments name are put where the app can read them, those that a result names
are fetched.

Every app may read its own folder of the shared storage, and the shell may write there. A file goes through
the shell's standard input: a push to `Android/data` fails on some releases, where adb cannot set the file's
owner (`remote fchown failed`, Android 11 on a Pixel 5).
"""

from __future__ import annotations

import contextlib
import io
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from droidgate.calls.call_links import CallLink, CommandWords
from droidgate.calls.targets import CallTarget
from droidgate.computer.missing_files import hint_of_missing
from droidgate.devices.device import TRANSFER_SECONDS, Device, failure_of
from droidgate.devices.device_errors import OutputLimitError, TransferError
from droidgate.devices.quoting import check_package, quote_argument
from droidgate_android.projects.project_files import check_regular
from droidgate_mappings.model.capability import type_behind
from droidgate_mappings.model.errors import DeviceError, InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json, pointer_token
from droidgate_mappings.model.types import ObjectType, ScalarType
from droidgate_mappings.records import dataclass
from droidgate_mappings.values.failures import Failure, call_error

FILE_NOT_FETCHED: Final = finding_code(
    "call-file-not-fetched", "A file that a result names was not fetched", module=__name__
)

MAX_FETCHED_BYTES: Final = 256 * 1024 * 1024
MAX_FETCHED_FILES: Final = 100
MAX_READ_BYTES: Final = 8 * 1024 * 1024
MAX_READ_FILES: Final = 20

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")
_SHARED: Final = re.compile(r"/(?:sdcard|storage/emulated/\d{1,4})/[^\x00-\x1f]{1,1000}")
_LONGEST_NAME: Final = 100


@dataclass(frozen=True, slots=True)
class PlacedFile:
    """A file that a call takes along.

    Attributes:
        argument: The argument that gets its path.
        source: The file on this computer.
        path: Where the app finds it, for the time of the call.
    """

    argument: str
    source: Path
    path: str


def plan_files(files: Mapping[str, Path], target: CallTarget) -> tuple[PlacedFile, ...]:
    """Return where the files of a call go.

    Args:
        files: Argument -> file on this computer.
        target: What is called.

    Raises:
        InputError: a file cannot be read.
        CallError: an argument does not take a path, or the phone cannot give the app a file.
    """
    if not files:
        return ()
    if target.user != 0:
        text = f"files cannot be put where an app of user {target.user} reads them; adb writes for user 0"
        raise call_error(Failure("unavailable", text))
    declared = type_behind(target.capability.input, target.provider.definitions)
    fields = declared.properties if isinstance(declared, ObjectType) else {}
    folder = (
        f"/sdcard/Android/data/{check_package(target.app.package)}/files/droidgate-{secrets.token_hex(8)}"
    )
    placed: list[PlacedFile] = []
    for argument, source in files.items():
        type_ = (
            type_behind(fields[argument].type, target.provider.definitions) if argument in fields else None
        )
        if type_ is not None and not (isinstance(type_, ScalarType) and type_.kind == "string"):
            text = f"/{pointer_token(argument)}: it is not a text, so it cannot be the path of a file"
            raise call_error(Failure("invalid_argument", text), pointer=f"/{pointer_token(argument)}")
        check_regular(source)
        if not source.exists():
            raise InputError("no such file", place=str(source), hint=hint_of_missing(source))
        placed.append(PlacedFile(argument, source, f"{folder}/{len(placed)}-{_safe_name(source.name)}"))
    return tuple(placed)


@contextlib.contextmanager
def placed_files(files: Sequence[PlacedFile], link: CallLink, device: Device) -> Iterator[None]:
    """Put files where the app can read them, and remove them at the end.

    Args:
        files: From `plan_files`.
        link: The call.
        device: A handle that the call's cancel does not end, for the removal.

    Raises:
        InputError: a file cannot be read.
        DeviceError: the phone fails, or cannot write there.
    """
    if not files:
        yield
        return
    make, *send, remove = placing_commands(files)
    try:
        with link.hop("send files", make, *send):
            link.device.check(make)
            for command, file in zip(send, files, strict=True):
                _send(command, file, link.device)
        yield
    finally:
        with contextlib.suppress(DeviceError):
            device.run(remove)


def placing_commands(files: Sequence[PlacedFile]) -> tuple[CommandWords, ...]:
    """Return what is run for the files of a call: it makes their folder, writes each, and removes the folder.

    Those in the middle read the files from standard input, in their order. The last one runs after the call.
    There are none without files.
    """
    if not files:
        return ()
    folder = str(PurePosixPath(files[0].path).parent)
    writes = (("sh", "-c", f"cat >{quote_argument(file.path)}") for file in files)
    return (("mkdir", "-p", folder), *writes, ("rm", "-rf", folder))


def _send(command: CommandWords, file: PlacedFile, device: Device) -> None:
    try:
        with file.source.open("rb") as data:
            result = device.run(command, stdin=data, deadline=TRANSFER_SECONDS)
    except OSError as error:
        raise InputError(error.strerror or str(error), place=str(file.source)) from None
    if result.exit_status != 0:
        raise failure_of(command, result)


@dataclass(frozen=True, slots=True)
class FetchedFiles:
    """The copies of files that a result names.

    Attributes:
        copies: On this computer.
        findings: Why others were not fetched.
    """

    copies: tuple[Path, ...]
    findings: tuple[Finding, ...]


def fetch_files(value: Json, folder: Path, device: Device) -> FetchedFiles:
    """Copy the files of the shared storage that a result names into a folder.

    The call was made, so that nothing here is an error: its result must not be lost with a file.

    Args:
        value: The result; every text in it that is a path below `/sdcard` or `/storage/emulated` counts.
        folder: Made where it is missing. No file in it is replaced.
        device: The phone.
    """
    paths = list(dict.fromkeys(paths_in(value)))
    copies: list[Path] = []
    problems: list[str] = []
    for path in paths[:MAX_FETCHED_FILES]:
        try:
            _check_on_phone(path, device, MAX_FETCHED_BYTES)
            copies.append(_copy(path, folder, device))
        except DeviceError as error:
            problems.append(f"{path} is not fetched: {error.message}")
        except OSError as error:
            problems.append(f"{path} is not fetched: {error.strerror} ({error.filename or folder})")
    problems += _left_over(paths, MAX_FETCHED_FILES)
    findings = (
        Finding(code=FILE_NOT_FETCHED, level=Level.WARNING, pointer="", message=text) for text in problems
    )
    return FetchedFiles(tuple(copies), tuple(findings))


def _copy(path: str, folder: Path, device: Device) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    copy = _free_name(folder, _safe_name(PurePosixPath(path).name))
    sink = copy.open("xb")
    try:
        with sink:
            device.pull(path, sink, limit=MAX_FETCHED_BYTES)
    except BaseException:
        # Half a file would be taken for the file.
        copy.unlink(missing_ok=True)
        raise
    return copy


def _check_on_phone(path: str, device: Device, most: int) -> None:
    """Check that a path of the phone is a file of bounded size.

    Raises:
        DeviceError: it is not a file, or larger; or the device cannot be reached.
    """
    status = device.status(path)
    if status is None or not status.is_file:
        raise TransferError("it is not a file on the phone")
    if status.size > most:
        raise OutputLimitError(f"its {status.size:,} bytes are too many")


def _left_over(paths: Sequence[str], most: int) -> list[str]:
    return [f"only the first {most} files are fetched; {len(paths) - most} left out"] * (len(paths) > most)


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that a result names.

    Attributes:
        path: Its path on the phone, as the result has it.
        data: Its bytes.
    """

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class FileReading:
    """The files that a result names.

    Attributes:
        files: Those that were read.
        problems: Why the others were not, a sentence each without a period.
    """

    files: tuple[ReadFile, ...] = ()
    problems: tuple[str, ...] = ()


def read_files(value: Json, target: CallTarget, device: Device) -> FileReading:
    """Read the files that a result names, if they are in the app's own folders of the shared storage.

    Other files are left out: an app that may not read them itself could name them, and get their
    content from a model.

    Args:
        value: The result.
        target: What returned it.
        device: The phone.
    """
    paths = list(dict.fromkeys(paths_in(value)))
    files: list[ReadFile] = []
    problems: list[str] = []
    room = 2 * MAX_READ_BYTES
    for path in paths[:MAX_READ_FILES]:
        sink = io.BytesIO()
        most = min(MAX_READ_BYTES, room)
        try:
            if not _is_own(path, target):
                raise TransferError("it is not in a folder of the app itself")
            _check_on_phone(path, device, most)
            room -= device.pull(path, sink, limit=most)
            files.append(ReadFile(path, sink.getvalue()))
        except DeviceError as error:
            problems.append(f"{path} is not fetched: {error.message}")
    problems += _left_over(paths, MAX_READ_FILES)
    return FileReading(tuple(files), tuple(problems))


def _is_own(path: str, target: CallTarget) -> bool:
    roots = (f"/storage/emulated/{target.user}", *(["/sdcard"] if target.user == 0 else []))
    return any(
        path.startswith(f"{root}/Android/{kind}/{target.app.package}/")
        for root in roots
        for kind in ("data", "media")
    )


def paths_in(value: Json) -> Iterator[str]:
    """Yield the paths on the phone that a result names."""
    if isinstance(value, str):
        if _SHARED.fullmatch(value) and ".." not in PurePosixPath(value).parts:
            yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from paths_in(member)
    elif isinstance(value, list):
        for item in value:
            yield from paths_in(item)


def _safe_name(name: str) -> str:
    """Return a file name that every shell and file system takes literally."""
    return _UNSAFE.sub("_", name)[-_LONGEST_NAME:].lstrip(".-") or "file"


def _free_name(folder: Path, name: str) -> Path:
    path, number = folder / name, 1
    while path.exists():
        path = folder / f"{number}-{name}"
        number += 1
    return path
