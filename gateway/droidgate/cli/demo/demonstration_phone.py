"""The phone of the demo: virtual, with an adb server and a home folder of its own."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from droidgate.devices.adb_client import AdbClient, ServerAddress, find_adb
from droidgate.devices.app_installation import install_apks, uninstall
from droidgate.devices.device import Device, connect_device
from droidgate.devices.device_errors import ServerUnreachableError
from droidgate_mappings.model.errors import DeviceError
from droidgate_mappings.records import dataclass
from droidgate_phone.phone import VirtualPhone, start_phone

_LOOPBACK: Final = "127.0.0.1"
_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class PrivateAdb:
    """The adb program with a server that nobody else uses.

    Attributes:
        program: Its path.
        address: Its server's Unix socket, in a folder of this user; a TCP port is open to all local users.
        folder: The home folder that it sees, so that it leaves no key in the user's.
    """

    program: str
    address: ServerAddress
    folder: Path

    @property
    def key_file(self) -> Path:
        """The public key that its server writes when it starts."""
        return self.folder / ".android" / "adbkey.pub"

    def run(self, *arguments: str) -> str:
        """Run it and return what it printed.

        Raises:
            DeviceError: it cannot be run, does not end in time, or fails.
        """
        command = f"{self.program} {' '.join(arguments)}"
        try:
            ended = subprocess.run(  # noqa: S603
                [self.program, "-L", self.address.as_own, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=self._environment(),
                timeout=_SECONDS,
                check=False,
            )
        except OSError as error:
            raise DeviceError(f"{command}: {error.strerror or error}") from None
        except subprocess.TimeoutExpired:
            raise DeviceError(f"{command} did not end within {_SECONDS} s") from None
        output = ended.stdout.decode("utf-8", "replace").strip()
        if ended.returncode != 0:
            raise DeviceError(f"{command} ended with status {ended.returncode}: {output or 'no output'}")
        return output

    def _environment(self) -> Mapping[str, str]:
        inherited_variables = {
            name: value for name, value in os.environ.items() if not name.startswith(("ANDROID_", "ADB_"))
        }
        home = str(self.folder)
        return {
            **inherited_variables,
            "HOME": home,
            "USERPROFILE": home,
            "ANDROID_USER_HOME": home,
            # Its log is in the folder for temporary files.
            "TMPDIR": home,
            # A second server would take real phones from the first, and ask their owner for leave.
            "ADB_USB": "0",
            "ADB_EMU": "0",
            "ADB_MDNS": "0",
        }


@dataclass(frozen=True, slots=True)
class DemonstrationPhone:
    """A phone that runs, reached as a real one would be.

    Attributes:
        phone: The phone.
        device: What droidgate sees of it, over adb.
        adb: The adb program, None on a machine that has none; the phone then acts as its server.
    """

    phone: VirtualPhone
    device: Device
    adb: PrivateAdb | None

    def install(self, apk: Path) -> str:
        """Install an APK and return the command that did it, as a user would type it.

        Raises:
            DeviceError: the phone refuses it.
        """
        if self.adb is None:
            install_apks(self.device, {"base.apk": apk.read_bytes()}, grant=True)
            return f"pm install {apk.name}"
        self.adb.run("-s", self.phone.serial, "install", "-r", "-g", str(apk))
        return f"adb -s {self.phone.serial} install -r -g {apk.name}"

    def uninstall(self, package: str) -> None:
        """Remove an app.

        Raises:
            DeviceError: the phone refuses it.
        """
        uninstall(self.device, package)


@contextlib.contextmanager
def demonstration_phone(folder: Path) -> Iterator[DemonstrationPhone]:
    """Start a phone without apps, and what is needed to reach it; end both.

    Args:
        folder: What adb sees as its home.
    """
    program = _find_program()
    if program is None:
        with start_phone(apps=False, server_port=0) as phone:
            address = ServerAddress(_LOOPBACK, phone.server_port or 0)
            yield DemonstrationPhone(phone, connect_device(phone.serial, server=AdbClient(address)), None)
        return
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        # A folder of its own, readable by the user only; the path of a Unix socket has to be short.
        private = stack.enter_context(tempfile.TemporaryDirectory(prefix="droidgate-adb-"))
        adb = PrivateAdb(program, own_address(Path(private, "server")), folder.absolute())
        phone = stack.enter_context(start_phone(apps=False, adb_keys=(adb.key_file,)))
        try:
            adb.run("connect", phone.serial)
            server = AdbClient(adb.address)
            yield DemonstrationPhone(phone, connect_device(phone.serial, server=server), adb)
        finally:
            with contextlib.suppress(DeviceError):
                adb.run("kill-server")


def own_address(path: Path) -> ServerAddress:
    """Return the address of a socket, or of a free port on Windows, where adb has no other."""
    if sys.platform != "win32":
        return ServerAddress("", 0, str(path))
    with socket.create_server((_LOOPBACK, 0)) as listening:
        return ServerAddress(_LOOPBACK, listening.getsockname()[1])


def _find_program() -> str | None:
    try:
        return find_adb()
    except ServerUnreachableError:
        return None
