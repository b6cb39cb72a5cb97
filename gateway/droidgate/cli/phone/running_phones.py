"""Which virtual phones run: one small file for each, in the user's state folder.

A file alone proves nothing: its process may have been killed. A phone runs where its process lives and its
own adb server still shows it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from droidgate.computer.private_files import unwritable
from droidgate.devices.adb_client import AdbClient, ServerAddress
from droidgate.devices.device_errors import DeadlineError, NoDeviceError, ServerUnreachableError
from droidgate_android.projects.project_files import read_project_file
from droidgate_mappings.model.errors import DeviceError, InputError
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.json_text import parse_json
from droidgate_mappings.user_folders import state_folder
from droidgate_phone.transport.local_users import can_be_known


@dataclass(frozen=True, slots=True)
class RunningPhone:
    """A virtual phone that is running.

    Attributes:
        serial: Its name in `adb devices`.
        sdk: Its Android release.
        port: The port that adb connects to.
        server_port: The port where it answers as an adb server.
        pid: Its process.
    """

    serial: str
    sdk: str
    port: int
    server_port: int
    pid: int

    @property
    def path(self) -> Path:
        """Its file."""
        return phones_folder() / f"{self.port}.json"

    @property
    def server(self) -> AdbClient:
        """The phone's own adb server."""
        return AdbClient(ServerAddress("127.0.0.1", self.server_port))


def phones_folder() -> Path:
    """Return the folder of the files; it may not exist yet."""
    return state_folder() / "phones"


def record_phone(phone: RunningPhone) -> None:
    """Write a phone's file, readable by the user only."""
    partial = phone.path.with_suffix(".new")
    try:
        phone.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial.write_text(json.dumps(asdict(phone)) + "\n", encoding="utf-8")
        partial.replace(phone.path)
    except OSError as error:
        raise unwritable(phone.path, error) from None


def forget_phone(phone: RunningPhone) -> None:
    """Remove a phone's file, where it is still this phone's."""
    if _read(phone.path) == phone:
        phone.path.unlink(missing_ok=True)


def running_phones() -> list[RunningPhone]:
    """Return the phones that run, by port; files of those that do not are removed."""
    phones = []
    for path in sorted(phones_folder().glob("*.json")):
        phone = _read(path)
        try:
            if phone is not None and phone.path == path and is_running(phone):
                phones.append(phone)
            else:
                path.unlink(missing_ok=True)
        except DeadlineError:
            # It lives, and may answer when the machine has less to do.
            continue
    return sorted(phones, key=lambda phone: phone.port)


def find_phone(port: int | None) -> RunningPhone:
    """Return the phone of a port, or the only one.

    Raises:
        DeviceError: there is none, or there are several and no port was given.
    """
    phones = running_phones()
    chosen = [phone for phone in phones if port in {None, phone.port}]
    ports = ", ".join(str(phone.port) for phone in phones)
    if not phones:
        raise DeviceError("no virtual phone runs", hint="start one with `droidgate phone start`")
    if not chosen:
        raise DeviceError(f"no virtual phone runs on port {port}", hint=f"there are phones on {ports}")
    if len(chosen) > 1:
        raise DeviceError("several virtual phones run", hint=f"choose one with --port: {ports}")
    return chosen[0]


def way_to_running_phone(error: DeviceError) -> str | None:
    """Return how to reach the virtual phone that the error is about; None if there is none.

    Args:
        error: Why a device was not reached.
    """
    if not isinstance(error, NoDeviceError | ServerUnreachableError):
        return None
    is_any = isinstance(error, ServerUnreachableError) or error.place is None
    meant = [phone for phone in running_phones() if is_any or error.place == phone.serial]
    return f"a virtual phone runs: {way_to(meant[0])}" if meant else None


def way_to(phone: RunningPhone) -> str:
    """Return what to type to reach a phone: through its adb server, or through the user's."""
    return f"set ANDROID_ADB_SERVER_PORT={phone.server_port}, or run: adb connect {phone.serial}"


def is_running(phone: RunningPhone) -> bool:
    """Return whether the phone's process lives and its server shows it.

    Raises:
        DeadlineError: its server takes the question, and does not answer in time.
    """
    if not process_lives(phone.pid):
        return False
    server = phone.server
    try:
        # Asked first, since a list of devices would start a server where none is.
        server.version()
        return any(device.serial == phone.serial for device in server.devices())
    except DeadlineError:
        raise
    except DeviceError:
        # Where the system does not report who connects, the phone's server serves nobody, its user included.
        return not can_be_known()


def process_lives(pid: int) -> bool:
    """Return whether there is a process of this number."""
    if sys.platform == "win32":
        # There, signal 0 is Ctrl-C.
        listed = subprocess.run(  # noqa: S603
            ["tasklist", "/nh", "/fo", "csv", "/fi", f"PID eq {pid}"],  # noqa: S607
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return f'"{pid}"'.encode() in listed.stdout
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return not _is_defunct(pid)


def _is_defunct(pid: int) -> bool:
    """Return whether a process has ended and waits for a parent to notice; in some containers none does."""
    try:
        content = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return content.rpartition(b")")[2].split()[:1] == [b"Z"]


def _read(path: Path) -> RunningPhone | None:
    """Return what a file says; None where it is gone or says something else."""
    try:
        content = parse_json(read_project_file(path, root=None), path=path.name)
        phone = RunningPhone(**content)
    except (InputError, TypeError):
        return None
    numbers = (phone.port, phone.server_port, phone.pid)
    texts = (phone.serial, phone.sdk)
    fits = all(type(number) is int and number > 0 for number in numbers) and all(
        type(text) is str for text in texts
    )
    return phone if fits else None
