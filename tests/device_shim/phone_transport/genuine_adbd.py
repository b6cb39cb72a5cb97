"""Android's own adbd, with the virtual phone's shell and packages behind it."""

import contextlib
import ctypes
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from device_shim.phone_transport.adb_host import DeviceHost
from droidgate_phone.common.streams import read_to_end
from droidgate_phone.phone import VirtualPhone
from droidgate_phone.shell import run_shell
from droidgate_phone.system import AndroidSystem
from requirements_of_tests import require
from waiting import wait_until

PORT = 6565
SERIAL = f"127.0.0.1:{PORT}"
CLONE_NEWNET = 0x40000000
Result = TypeVar("Result")


@dataclass(frozen=True)
class Pipe:
    """A file that a command reads or writes."""

    number: int

    def read(self, limit: int = -1) -> bytes:
        return os.read(self.number, limit) if limit >= 0 else read_to_end(self)

    def write(self, data: bytes) -> None:
        unwritten = memoryview(data)
        while unwritten:
            unwritten = unwritten[os.write(self.number, unwritten) :]


@dataclass(frozen=True)
class Pipes:
    input: Pipe
    output: Pipe
    error: Pipe


@dataclass
class GenuineAdbd:
    """adbd that runs, reached only from its own network.

    Attributes:
        process: What made the network.
        system: The Android behind its shell.
        environment: Of programs that work with it.
        network: Its network, kept open, as an adb server outlives adbd in it.
    """

    process: subprocess.Popen[bytes]
    system: AndroidSystem
    environment: dict[str, str]
    network: int = -1

    def run(
        self, *command: str | Path, input: bytes = b"", seconds: float = 60
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a program of the computer in the network of adbd."""
        return subprocess.run(
            ["nsenter", f"--net=/proc/self/fd/{self.network}", *command],
            env=self.environment,
            pass_fds=[self.network],
            input=input,
            capture_output=True,
            timeout=seconds,
            check=False,
        )

    def connect(self) -> DeviceHost:
        """Return a connection to adbd, which asks for no key."""
        return self._inside(lambda: DeviceHost(PORT))

    def _inside(self, action: Callable[[], Result]) -> Result:
        """Do something in adbd's network; a socket stays in the one that it was made in."""
        library = ctypes.CDLL(None, use_errno=True)
        own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        assert library.setns(self.network, CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
        try:
            return action()
        finally:
            assert library.setns(own, CLONE_NEWNET) == 0
            os.close(own)

    def is_listening(self) -> bool:
        # Until `unshare` has made it, the process is in the network of the computer.
        self.network = os.open(f"/proc/{self.process.pid}/ns/net", os.O_RDONLY)
        with contextlib.suppress(OSError):
            self.connect().socket.close()
            return True
        os.close(self.network)
        return False

    def root(self) -> Path:
        """Return the tree of files that adbd sees."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return Path(f"/proc/{children.split()[0]}/root")

    def copy_packages(self) -> None:
        """Give adbd the files of the phone's packages, which it has to be able to read."""
        for package in self.system.packages.all():
            folder = self.root() / package.code_folder.lstrip("/")
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in package.apks.items():
                if not (folder / name).exists():
                    (folder / name).write_bytes(content)

    def serve(self, listener: socket.socket) -> None:
        """Run the commands of adbd's shells until the listener is closed."""
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve_one, args=[connection], daemon=True).start()

    def _serve_one(self, connection: socket.socket) -> None:
        with connection:
            _, numbers, _, _ = socket.recv_fds(connection, 1, 3)
            received = b"".join(iter(lambda: connection.recv(65536), b""))
            terminal, _, command = os.fsdecode(received).partition("\0")
            streams = Pipes(*map(Pipe, numbers))
            try:
                status = run_shell(self.system, command or "sh", streams, environment={"TERM": terminal})
                self.copy_packages()
            except BrokenPipeError:
                return
            finally:
                for number in numbers:
                    os.close(number)
            with contextlib.suppress(OSError):
                connection.sendall(b"%d" % status)


@contextlib.contextmanager
def start_adbd(folder: Path, phone: VirtualPhone, place: Path) -> Iterator[GenuineAdbd]:
    """Start adbd, in an empty folder, with an adb that is connected; end both with all that they started."""
    (place / "root").mkdir()
    environment = {
        name: text for name, text in os.environ.items() if not name.startswith(("ANDROID_", "DROIDGATE_"))
    }
    environment |= {"HOME": str(place), "TMPDIR": str(place), "ADB_LIBUSB": "0"}
    path = str(place / "shell")
    with socket.socket(socket.AF_UNIX) as listener, (place / "log").open("wb") as log:
        listener.bind(path)
        listener.listen()
        script = Path(__file__).with_name("adbd_root.py")
        inside: list[str | Path] = [sys.executable, script, folder, path, str(PORT), place / "root"]
        process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--net", "--kill-child", *inside],
            stdout=log,
            stderr=log,
        )
        adbd = GenuineAdbd(process, phone.system, environment)
        threading.Thread(target=adbd.serve, args=[listener], daemon=True).start()
        try:
            wait_until(adbd.is_listening)
            adbd.copy_packages()
            try:
                connected = adbd.run(require("adb"), "connect", SERIAL).stdout
                assert connected == f"connected to {SERIAL}\n".encode()
                yield adbd
            finally:
                adbd.run(require("adb"), "kill-server")
                os.close(adbd.network)
        finally:
            process.kill()
            process.wait()
            listener.shutdown(socket.SHUT_RDWR)
