"""A server or device that keeps the protocol's form and lies: sizes, names, features, and time."""

import contextlib
import io
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from droidgate.devices.adb_client import ServerAddress
from droidgate.devices.device import Device
from droidgate.devices.device_errors import DeadlineError, DeviceOutputError, ProtocolError
from droidgate.devices.packages import InstalledPackage, list_packages, package_paths
from droidgate.devices.properties import read_properties
from droidgate.devices.remote_apk import open_remote_apk
from droidgate_android.apk.archive import Archive
from droidgate_mappings.model.errors import DeviceError, DroidgateError
from gateway.devices.conftest import StartServer, client, device_on
from gateway.devices.fake_adb_server import SERIAL, Answer, Fault, block, packet, sends

FILE = 0o100644
PACKAGE = InstalledPackage("com.example.app", "/data/app/base.apk", 7, 10_001)
# xterm's title and clear, a carriage return, a bell, a right-to-left override, an 8-bit control sequence.
ESCAPES = ["\x1b[2J", "\x1b]0;owned\x07", "\r", "\x07", "\u202e", "\x9b31m"]


def drips(data: bytes, seconds: float = 0.05) -> Fault:
    """Send a byte at a time for as long as somebody listens: no single read is late."""

    def fault(connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                for number in data:
                    connection.sendall(bytes([number]))
                    time.sleep(seconds)

    return fault


def status(size: int, mode: int = FILE, modified: int = 1) -> bytes:
    return b"STA2" + struct.pack("<IQQIIIIQqqq", 0, 0, 0, mode, 1, 0, 0, size, 0, modified, 0)


def answers_a_request(data: bytes) -> Fault:
    """Read one request of a sync session, then send these bytes."""

    def fault(connection: socket.socket) -> None:
        connection.sendall(b"OKAY")
        connection.recv(4096)
        connection.sendall(data)
        while connection.recv(4096):
            pass

    return fault


@pytest.mark.parametrize(
    ("service", "data"),
    [
        ("host:tport", b"OKAY"),
        ("shell", b"OKAY" + packet(1, b"x" * 1000)),
        ("sync:", b"OKAYDATA\x00\x40\x00\x00" + bytes(16_384)),
    ],
)
def test_a_slow_drip_ends_at_the_deadline_of_the_whole(
    start_server: StartServer, service: str, data: bytes
) -> None:
    server = start_server()
    device = device_on(server)
    device.run(["true"])
    server.faults[service] = drips(data)
    actions: dict[str, Callable[[], object]] = {
        "sync:": lambda: device.pull("/x", io.BytesIO(), limit=1 << 20, deadline=0.4)
    }
    with pytest.raises(DeadlineError):
        actions.get(service, lambda: device.run(["true"], deadline=0.4))()


@pytest.mark.parametrize("size", [1 << 62, (1 << 64) - 1, 1 << 40])
def test_a_file_whose_size_is_a_lie_costs_no_memory(
    start_server: StartServer, size: int, tmp_path: Path
) -> None:
    server = start_server(shell=lambda *_: Answer(b"PK\x05\x06", b"0+1 records in\n"))
    device = device_on(server)
    device.run(["true"])
    server.faults["sync:"] = answers_a_request(status(size))
    source = open_remote_apk(device, PACKAGE, root=tmp_path)
    with pytest.raises(DroidgateError):
        Archive(source)
    assert source.bytes_read <= 1 << 20
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) <= 1 << 20


@pytest.mark.parametrize("path", ["/data/app/../../../x.apk", "/../../x", "/data/app/\\..\\x"])
@pytest.mark.parametrize("package", ["com.example.app", "com.example.other"])
def test_what_is_kept_of_a_file_stays_below_the_cache(
    start_server: StartServer, tmp_path: Path, path: str, package: str
) -> None:
    root = tmp_path / "cache" / "below"
    device = device_on(start_server(files={path: bytes(100)}, shell=lambda *_: Answer(bytes(100))))
    source = open_remote_apk(device, InstalledPackage(package, path, 7, 10_001), root=root)
    assert source.read(0, 100) == bytes(100)
    kept = [item for item in tmp_path.rglob("*") if item.is_file()]
    assert kept
    assert all(item.resolve().is_relative_to(root.resolve()) and ".." not in item.parts for item in kept)


@pytest.mark.parametrize(
    "name", ["../../x", "..", "a/b", "com.example.app;reboot", "-r", "$(reboot)", "a\0b"]
)
def test_a_package_whose_name_is_none_is_not_listed(start_server: StartServer, name: str) -> None:
    line = f"package:/data/app/base.apk={name} versionCode:7 uid:10001\n"
    device = device_on(start_server(shell=lambda *_: Answer(line.encode())))
    with pytest.raises(DeviceOutputError):
        list_packages(device)


@pytest.mark.parametrize("escape", ESCAPES)
def test_escape_sequences_of_a_device_reach_no_terminal(start_server: StartServer, escape: str) -> None:
    listed = f"{SERIAL} device product:{escape} model:{escape} transport_id:7\n"
    actions: list[Callable[[], object]] = [
        client(start_server(listed=listed)).devices,
        client(start_server(faults={"host:devices": sends(b"FAIL" + block(f"no {escape}"))})).devices,
        lambda: read_properties(f"[ro.product.model]: [{escape}]\n[{escape}]: [x]\n"),
    ]
    device = device_on(start_server(shell=lambda *_: Answer(f"{escape}\n".encode(), escape.encode(), 1)))
    actions += [lambda: package_paths(device, "com.example.app"), lambda: device.check(["getprop"])]
    for action in actions:
        try:
            seen = repr(action())
        except DeviceError as error:
            seen = f"{error.message} {error.hint or ''} {error.place or ''}"
        assert seen.isprintable()


def test_a_device_that_has_not_the_features_it_claims_is_one_error(start_server: StartServer) -> None:
    server = start_server(features="shell_v2,stat_v2,ls_v2")
    device = device_on(server)
    device.run(["true"])
    server.faults["sync:"] = answers_a_request(b"STAT" + struct.pack("<III", FILE, 1, 1) + bytes(100))
    with pytest.raises(ProtocolError):
        device.status("/x")


@pytest.fixture
def broken(start_server: StartServer) -> Device:
    """Return a device that was used before; its server answers as a test says."""
    device = device_on(start_server())
    device.run(["true"])
    return device


PIECES = st.binary(max_size=60) | st.sampled_from([
    b"OKAY", b"FAIL", b"FAIL0004", b"DATA", b"DONE", b"STA2", b"\x01\x04\0\0\0abcd", b"\x03\x01\0\0\0\0",
    bytes(68),
])  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(service=st.sampled_from(["host:tport", "shell", "sync:"]), pieces=st.lists(PIECES, max_size=6))
def test_any_bytes_of_a_server_are_an_answer_or_a_typed_error(
    broken: Device, start_server: StartServer, service: str, pieces: list[bytes]
) -> None:
    with start_server(
        faults={service: sends(b"OKAY" * (service != "host:tport") + b"".join(pieces))}
    ) as server:
        broken.server.address = ServerAddress(port=server.port)
        with contextlib.suppress(DeviceError):
            if service == "sync:":
                broken.status("/x")
                broken.pull("/x", io.BytesIO(), limit=1 << 20, deadline=5)
            else:
                broken.run(["true"], deadline=5, limit=1 << 20)
