"""Phones on the wire, and a private adb server."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from device_shim.phone_transport.adb_host import host_key, public_key_line
from device_shim.phone_transport.small_userland import SmallUserland
from droidgate_phone.common.event_log import EventLog
from droidgate_phone.common.faults import Faults
from droidgate_phone.phone import VirtualPhone, start_phone
from droidgate_phone.transport.adb_keys import AuthorizedKeys
from droidgate_phone.transport.phone_wire import PhoneWire
from requirements_of_tests import require


@dataclass
class WiredPhone:
    """A phone with a small userland, its adbd and an adb server."""

    wire: PhoneWire
    userland: SmallUserland
    log: EventLog

    @property
    def port(self) -> int:
        return self.wire.port

    @property
    def server_port(self) -> int:
        assert self.wire.server_port is not None
        return self.wire.server_port

    @property
    def serial(self) -> str:
        return self.wire.serial


StartPhone = Callable[..., WiredPhone]


@pytest.fixture(scope="session")
def adb_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home folder of the tests' adb."""
    return tmp_path_factory.mktemp("adb-home")


@pytest.fixture(scope="session")
def adb_keys(adb_home: Path) -> tuple[Path, ...]:
    """The public keys of the tests' own hosts, and of their adb when it has started."""
    own = adb_home / "tests.pub"
    own.write_bytes(public_key_line(host_key()))
    return own, adb_home / ".android" / "adbkey.pub"


@pytest.fixture
def start_wired(adb_keys: tuple[Path, ...]) -> Iterator[StartPhone]:
    """Start phones that are stopped at the end; nothing of them may be left running."""
    phones = []

    def start(*, faults: Faults | None = None, sdk: int = 36) -> WiredPhone:
        userland, log = SmallUserland(sdk=sdk), EventLog()
        wire = PhoneWire(
            userland.userland(),
            keys=AuthorizedKeys(adb_keys),
            log=log,
            faults=lambda: faults or Faults(),
            port=0,
            server_port=0,
        )
        phones.append(WiredPhone(wire, userland, log))
        return phones[-1]

    yield start
    for phone in phones:
        phone.wire.close()
        assert phone.log.of_kind("left-running") == []


@pytest.fixture
def phone(start_wired: StartPhone) -> WiredPhone:
    return start_wired()


@pytest.fixture(scope="module")
def phone_for_properties(adb_keys: tuple[Path, ...]) -> Iterator[WiredPhone]:
    """A phone that lives on from example to example."""
    userland, log = SmallUserland(), EventLog()
    with PhoneWire(userland.userland(), keys=AuthorizedKeys(adb_keys), log=log, server_port=0) as wire:
        yield WiredPhone(wire, userland, log)
    assert log.of_kind("left-running") == []


@dataclass(frozen=True)
class StockAdb:
    """The real adb, with a server and a home of its own."""

    program: Path
    port: int
    environment: dict[str, str]

    def run(
        self, *arguments: str | bytes, input: bytes = b"", seconds: float = 60
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [self.program, *arguments],
            env=self.environment,
            input=input,
            capture_output=True,
            timeout=seconds,
            check=False,
        )

    def on(
        self, serial: str, *arguments: str | bytes, input: bytes = b"", seconds: float = 60
    ) -> subprocess.CompletedProcess[bytes]:
        return self.run("-s", serial, *arguments, input=input, seconds=seconds)

    def connect(self, serial: str) -> None:
        run = self.run("connect", serial)
        assert run.stdout == f"connected to {serial}\n".encode(), run


@pytest.fixture(scope="module")
def android(stock_adb: StockAdb, adb_keys: tuple[Path, ...]) -> Iterator[VirtualPhone]:
    """A whole phone without apps, connected to the real adb."""
    with start_phone(apps=False, server_port=0, adb_keys=adb_keys) as phone:
        stock_adb.connect(phone.serial)
        yield phone
        stock_adb.run("disconnect", phone.serial)
    assert phone.log.of_kind("left-running") == []


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def stock_adb(adb_home: Path) -> Iterator[StockAdb]:
    program, home = require("adb"), adb_home
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANDROID_")}
    environment |= {
        "ANDROID_ADB_SERVER_PORT": str(port),
        "HOME": str(home),
        "ANDROID_USER_HOME": str(home),
        "TMPDIR": str(home),
        # Without it adb looks for USB devices for three seconds before it answers.
        "ADB_LIBUSB": "0",
    }
    adb = StockAdb(program, port, environment)
    adb.run("start-server")
    yield adb
    adb.run("kill-server")
