"""A server or device that keeps the protocol's form and lies: sizes, names, features, and time."""

import asyncio
import contextlib
import io
import socket
import struct
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from droidgate.devices import adb_client as adb_server
from droidgate.devices.adb_client import AdbClient, ServerAddress, server_address
from droidgate.devices.device import Device
from droidgate.devices.device_errors import (
    DeadlineError,
    DeviceGoneError,
    DeviceOutputError,
    DeviceStateError,
    NoDeviceError,
    OutputLimitError,
    ProtocolError,
    ServerUnreachableError,
    ServerVersionError,
    TransferError,
)
from droidgate.devices.device_list import choose_device
from droidgate.devices.packages import InstalledPackage, list_packages, package_paths
from droidgate.devices.properties import read_properties
from droidgate.devices.remote_apk import open_remote_apk
from droidgate_android.apk.archive import Archive
from droidgate_mappings.model.errors import DeviceError, DroidgateError
from gateway.devices.conftest import StartServer, client, device_on
from gateway.devices.fake_adb_server import (
    FEATURES,
    SERIAL,
    Answer,
    Fault,
    block,
    drops,
    fail,
    floods_after,
    packet,
    resets,
    sends,
    stalls_after,
)
from titled_rows import titled

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


@titled(("service", "data"), {
    "the answer to a transport": ("host:tport", b"OKAY"),
    "the output of a command": ("shell", b"OKAY" + packet(1, b"x" * 1000)),
    "the content of a file": ("sync:", b"OKAYDATA\x00\x40\x00\x00" + bytes(16_384)),
})  # fmt: skip
def test_a_slow_drip_ends_at_the_whole_deadline(start_server: StartServer, service: str, data: bytes) -> None:
    server = start_server()
    device = device_on(server)
    device.run(["true"])
    server.faults[service] = drips(data)
    actions: dict[str, Callable[[], object]] = {
        "sync:": lambda: device.pull("/x", io.BytesIO(), limit=1 << 20, deadline=0.4)
    }
    with pytest.raises(DeadlineError):
        actions.get(service, lambda: device.run(["true"], deadline=0.4))()


@pytest.mark.parametrize("size", [1 << 62, (1 << 64) - 1, 1 << 40], ids="{} bytes".format)
def test_a_file_of_a_false_size_costs_no_memory(start_server: StartServer, size: int) -> None:
    server = start_server(shell=lambda *_: Answer(b"PK\x05\x06", b"0+1 records in\n"))
    device = device_on(server)
    device.run(["true"])
    server.faults["sync:"] = answers_a_request(status(size))
    source = open_remote_apk(device, PACKAGE)
    with pytest.raises(DroidgateError):
        Archive(source)
    assert source.bytes_read <= 1 << 20


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


PIECES = st.binary(max_size=60) | st.sampled_from([
    b"OKAY", b"FAIL", b"FAIL0004", b"DATA", b"DONE", b"STA2", b"\x01\x04\0\0\0abcd", b"\x03\x01\0\0\0\0",
    bytes(68),
])  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(service=st.sampled_from(["host:tport", "shell", "sync:"]), pieces=st.lists(PIECES, max_size=6))
def test_any_bytes_of_a_server_are_an_answer_or_a_typed_error(
    device: Device, start_server: StartServer, service: str, pieces: list[bytes]
) -> None:
    with start_server(
        faults={service: sends(b"OKAY" * (service != "host:tport") + b"".join(pieces))}
    ) as server:
        device.server.address = ServerAddress(port=server.port)
        with contextlib.suppress(DeviceError):
            if service == "sync:":
                device.status("/x")
                device.pull("/x", io.BytesIO(), limit=1 << 20, deadline=5)
            else:
                device.run(["true"], deadline=5, limit=1 << 20)


# Whatever the adb server or the device does wrong: one typed error in time, else the test hangs


SECONDS = 0.4

Expected = type[DeviceError]

AT_A_REQUEST: dict[str, tuple[Fault, Expected]] = {
    "drop": (drops, DeviceGoneError),
    "reset": (resets, DeviceGoneError),
    "half a verdict": (sends(b"OK"), DeviceGoneError),
    "garbage": (sends(b"HTTP/1.1 400 Bad"), ProtocolError),
    "failure without a reason": (sends(b"FAIL"), DeviceGoneError),
    "failure with a broken length": (sends(b"FAILzzzz"), ProtocolError),
    "failure with half a reason": (sends(b"FAIL0020device"), DeviceGoneError),
    "unknown device": (sends(fail("device 'X' not found")), NoDeviceError),
    "offline": (sends(fail("device offline")), DeviceStateError),
    "unauthorised": (
        sends(fail("device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS")),
        DeviceStateError,
    ),
    "authorising": (sends(fail("device still authorizing")), DeviceStateError),
    "connecting": (sends(fail("device still connecting")), DeviceStateError),
    "closed": (sends(fail("closed")), DeviceGoneError),
    "another failure": (sends(fail("\x1b[2J no")), DeviceError),
    "stall": (stalls_after(b""), DeadlineError),
    "stall in the verdict": (stalls_after(b"OKA"), DeadlineError),
}

IN_A_SHELL: dict[str, tuple[Fault, Expected]] = {
    "end without a status": (sends(b"OKAY" + packet(1, b"half an answ")), DeviceGoneError),
    "half a header": (sends(b"OKAY" + packet(1, b"x")[:3]), DeviceGoneError),
    "half a packet": (sends(b"OKAY" + packet(1, b"x" * 100)[:50]), DeviceGoneError),
    "an unknown kind": (sends(b"OKAY" + packet(77, b"x")), ProtocolError),
    "a packet of its own input": (sends(b"OKAY" + packet(0, b"x")), ProtocolError),
    "a huge length": (sends(b"OKAY\x01\xff\xff\xff\xff"), ProtocolError),
    "a status without a byte": (sends(b"OKAY" + packet(3, b"")), ProtocolError),
    "a status of two bytes": (sends(b"OKAY" + packet(3, b"\0\0")), ProtocolError),
    "no framing at all": (sends(b"OKAY" + b"plain text\n"), ProtocolError),
    "stall": (stalls_after(b"OKAY" + packet(1, b"x")), DeadlineError),
    "a trickle of empty packets": (floods_after(b"OKAY", packet(1, b"")), DeadlineError),
    "output for ever": (floods_after(b"OKAY", packet(1, b"x" * 60_000)), OutputLimitError),
    "errors for ever": (floods_after(b"OKAY", packet(2, b"x" * 60_000)), OutputLimitError),
}

IN_A_FILE: dict[str, tuple[Fault, Expected]] = {
    "drop": (sends(b"OKAY"), DeviceGoneError),
    "half a header": (sends(b"OKAYDATA"), DeviceGoneError),
    "half a piece": (sends(b"OKAYDATA\x10\0\0\0abc"), DeviceGoneError),
    "a piece that is too long": (sends(b"OKAYDATA\0\0\0\x7f"), ProtocolError),
    "an unknown answer": (sends(b"OKAYWHAT\0\0\0\0"), ProtocolError),
    "failure": (sends(b"OKAYFAIL\x02\0\0\0no"), TransferError),
    "failure with a huge reason": (sends(b"OKAYFAIL\xff\xff\xff\x7f"), ProtocolError),
    "stall": (stalls_after(b"OKAY"), DeadlineError),
    "a file that never ends": (floods_after(b"OKAY", b"DATA\0\x80\0\0" + bytes(32_768)), OutputLimitError),
}


def assert_fails(action: Callable[[], object], expected: Expected) -> None:
    with pytest.raises(DeviceError) as raised:
        action()
    assert type(raised.value) is expected, raised.value
    assert raised.value.message.isprintable()


@pytest.fixture
def device(start_server: StartServer) -> Device:
    server = start_server(shell=lambda *_: Answer(b"fine"))
    device = device_on(server)
    assert device.run(["true"]).stdout == b"fine"
    return device


def break_it(device: Device, start_server: StartServer, prefix: str, fault: Fault) -> list[str]:
    """Let the server of a device that was used before break at a service; return what it is asked for."""
    server = start_server(faults={prefix: fault})
    device.server.address = ServerAddress(port=server.port)
    return server.requests


FAULTS: dict[str, tuple[str, Fault, Expected]] = {
    f"{step}: {name}": (service, *row)
    for step, service, faults in (
        ("choosing the device", "host:tport", AT_A_REQUEST), ("asking for the shell", "shell", AT_A_REQUEST),
        ("running a command", "shell", IN_A_SHELL), ("reading a file", "sync:", IN_A_FILE),
    )
    for name, row in faults.items()
}  # fmt: skip


@titled(("service", "fault", "expected"), FAULTS)
def test_a_fault_is_one_error_in_time(
    start_server: StartServer, device: Device, service: str, fault: Fault, expected: Expected
) -> None:
    requests = break_it(device, start_server, service, fault)
    if service == "sync:":
        assert_fails(lambda: device.pull("/x", io.BytesIO(), limit=4_000_000, deadline=SECONDS), expected)
    else:
        assert_fails(lambda: device.run(["true"], deadline=SECONDS, limit=4_000_000), expected)
        on_loop = partial(device.run_on_loop, ["true"], deadline=SECONDS, limit=4_000_000)
        assert_fails(lambda: asyncio.run(on_loop()), expected)
        # Each of both has sent the command once: it may have run, whatever the server says.
        assert sum(request.startswith("shell") for request in requests) == 2 * (service == "shell")


def test_a_server_that_takes_no_connection_is_within_the_deadline(device: Device) -> None:
    with socket.socket() as listener, contextlib.ExitStack() as waiting:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            other = waiting.enter_context(socket.socket())
            other.setblocking(False)
            other.connect_ex(listener.getsockname())
        device.server.address = ServerAddress(port=listener.getsockname()[1])
        begin = time.monotonic()
        assert_fails(lambda: asyncio.run(device.run_on_loop(["true"], deadline=SECONDS)), DeadlineError)
        assert time.monotonic() - begin < 10


@titled("answer", {
    "a header alone": b"STA2", "half of it": b"STA2" + bytes(20), "an unknown answer": b"WHAT" + bytes(68),
})  # fmt: skip
def test_a_fault_while_a_file_is_looked_at(start_server: StartServer, device: Device, answer: bytes) -> None:
    break_it(device, start_server, "sync:", sends(b"OKAY" + answer))
    with pytest.raises((DeviceGoneError, ProtocolError)):
        device.status("/x")


def test_nobody_reads_what_is_pushed(start_server: StartServer, device: Device) -> None:
    released = threading.Event()

    def reads_nothing(connection: socket.socket) -> None:
        connection.sendall(b"OKAY")
        released.wait()

    break_it(device, start_server, "sync:", reads_nothing)
    assert_fails(lambda: device.push(bytes(50_000_000), "/x", deadline=SECONDS), DeadlineError)
    released.set()


@titled(("answer", "expected"), {
    "no device is no fault": (b"OKAY0000", None),
    "fewer bytes than announced": (b"OKAY0005x", DeviceGoneError),
    "a broken length": (b"OKAYxxxx", ProtocolError),
    "a text that is not a list": (b"OKAY" + block("no list at all\n"), DeviceOutputError),
    "a serial that is there twice":
        (b"OKAY" + block("A device transport_id:1\nA device transport_id:2\n"), DeviceOutputError),
    "another verdict": (b"NOPE", ProtocolError),
    "a failure with a control character": (fail("\x07"), DeviceError),
})  # fmt: skip
def test_a_fault_in_the_listing(start_server: StartServer, answer: bytes, expected: Expected | None) -> None:
    server = client(start_server(faults={"host:devices": sends(answer)}))
    if expected is None:
        assert server.devices() == ()
    else:
        assert_fails(server.devices, expected)


@pytest.mark.parametrize("version", ["", "zz", "0001", "0020", "0028", "00000000000"])
def test_a_server_of_another_version_is_reported_and_kept(start_server: StartServer, version: str) -> None:
    server = start_server(version=version)
    with pytest.raises(ServerVersionError):
        client(server).devices()
    assert set(server.requests) == {"host:version"}


def test_a_server_of_a_later_version_is_used(start_server: StartServer) -> None:
    assert client(start_server(version="002a")).devices()[0].serial == SERIAL


@pytest.mark.parametrize("answer", [b"SSH-2.0-OpenSSH_9.2\r\n", b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_what_is_not_an_adb_server_is_reported(start_server: StartServer, answer: bytes) -> None:
    server = start_server(faults={"host:version": sends(answer)})
    with pytest.raises(ServerVersionError, match="is not an adb server"):
        client(server).devices()


def test_a_missing_server_without_an_adb_program_has_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_program() -> str:
        raise ServerUnreachableError("there is no adb program", hint="install it")

    monkeypatch.setattr("droidgate.devices.adb_client.find_adb", no_program)
    with pytest.raises(ServerUnreachableError, match="no adb program"):
        AdbClient(ServerAddress(port=free_port())).devices()


@titled(("program", "message"), {
    "no program": (None, "is not an adb program"),
    "a program of another machine": (b"\x7fELF of another machine", "start-server fails"),
})  # fmt: skip
def test_an_adb_program_that_does_not_run_has_a_hint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: bytes | None, message: str
) -> None:
    if program is not None:
        (tmp_path / "adb").write_bytes(program)
        (tmp_path / "adb").chmod(0o700)
    monkeypatch.setenv("ADBUTILS_ADB_PATH", str(tmp_path / "adb"))
    with pytest.raises(ServerUnreachableError, match=message) as reported:
        AdbClient(ServerAddress(port=free_port())).devices()
    assert reported.value.hint


def test_what_a_server_never_answers_is_within_the_deadline_of_the_command(start_server: StartServer) -> None:
    device = device_on(start_server(faults={f"host-serial:{SERIAL}:features": stalls_after(b"OKAY")}))
    with pytest.raises(DeadlineError, match=r"getprop did not end within 0\.3 s") as reported:
        device.run(["getprop"], deadline=0.3)
    assert reported.value.place == SERIAL


def test_a_server_of_another_machine_is_not_started() -> None:
    with pytest.raises(ServerUnreachableError, match="no adb server answers there"):
        adb_server.start_server(ServerAddress(host="192.0.2.1"))


@titled(("variables", "expected"), {
    "no variable": ({}, "tcp:127.0.0.1:5037"),
    "a port": ({"ANDROID_ADB_SERVER_PORT": "5999"}, "tcp:127.0.0.1:5999"),
    "an address and a port":
        ({"ANDROID_ADB_SERVER_ADDRESS": "192.0.2.7", "ANDROID_ADB_SERVER_PORT": "1"}, "tcp:192.0.2.7:1"),
    "a socket wins over a port":
        ({"ADB_SERVER_SOCKET": "tcp:5999", "ANDROID_ADB_SERVER_PORT": "1"}, "tcp:127.0.0.1:5999"),
    "a socket of IPv6": ({"ADB_SERVER_SOCKET": "tcp:[::1]:5999"}, "tcp:::1:5999"),
    "a socket in a file": ({"ADB_SERVER_SOCKET": "localfilesystem:/run/adb"}, "localfilesystem:/run/adb"),
})  # fmt: skip
def test_adbs_own_variables_name_the_server(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str
) -> None:
    monkeypatch.delenv("ANDROID_ADB_SERVER_PORT")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert str(server_address()) == expected


@pytest.mark.parametrize(("name", "value"), [
    ("ANDROID_ADB_SERVER_PORT", "x"),
    ("ANDROID_ADB_SERVER_PORT", "65536"),
    ("ADB_SERVER_SOCKET", "vsock:1:2"),
])  # fmt: skip
def test_a_variable_without_an_address_fails(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ServerUnreachableError, match=name):
        server_address()


def test_a_device_is_waited_for_until_it_is_ready(start_server: StartServer) -> None:
    steps = ["", f"{SERIAL}\toffline\n", f"{SERIAL}\tauthorizing\nB\tdevice\n", f"{SERIAL}\tdevice\n"]
    reported = b"OKAY" + b"".join(block(item) for item in steps)
    server = client(start_server(faults={"host:track-devices": stalls_after(reported)}))
    with contextlib.closing(server.watch(5)) as lists:
        states = [[item.state for item in next(lists)] for _ in steps]
    assert states == [[], ["offline"], ["authorizing", "device"], ["device"]]
    server.wait_for(SERIAL, 5)
    with pytest.raises(DeadlineError):
        server.wait_for("NOBODY", SECONDS)


@titled("answer", {
    "no list": b"OKAY", "half a list": b"OKAY0003ab", "a failure": fail("no"),
    "a text that is not a list": b"OKAY" + block("garbage\n"),
})  # fmt: skip
def test_a_fault_while_devices_are_waited_for(start_server: StartServer, answer: bytes) -> None:
    server = client(start_server(faults={"host:track-devices": sends(answer)}))
    with pytest.raises(DeviceError):
        server.wait_for(SERIAL, 5)


def test_features_are_read_of_that_device_only(start_server: StartServer) -> None:
    server = start_server()
    assert client(server).features(SERIAL) == frozenset(FEATURES.split(","))
    assert choose_device(client(server).devices(), None).transport == 7


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
