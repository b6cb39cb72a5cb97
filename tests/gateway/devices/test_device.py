"""Commands, files and identity over a server of the tests' own."""

import io
import threading
from typing import Any

import pytest

from droidgate.devices.connection import frame_request
from droidgate.devices.device import LONG_COMMAND_BYTES, Identity, connect_device
from droidgate.devices.device_errors import (
    CommandFailedError,
    DeviceChangedError,
    DeviceStateError,
    NoDeviceError,
    OutputLimitError,
    SeveralDevicesError,
    TransferError,
    UnsafeArgumentError,
    UnsupportedDeviceError,
)
from droidgate.devices.sync import FileStatus
from gateway.devices.conftest import StartServer, client, device_on
from gateway.devices.fake_adb_server import FINGERPRINT, LISTED, SERIAL, Answer


def test_a_command_gives_its_streams_apart_and_its_exit_status(start_server: StartServer) -> None:
    def shell(command: str, stdin: bytes) -> Answer:
        return Answer(command.encode() + b"|" + stdin, b"oh\xff", 255)

    result = device_on(start_server(shell=shell)).run(["cmd", "a b", "$(x)"], stdin=b"in")
    assert result.stdout == b"cmd 'a b' '$(x)'|in"
    assert (result.error_text, result.exit_status) == ("oh\\xff", 255)


def test_a_failed_command_says_its_status_and_first_words(start_server: StartServer) -> None:
    device = device_on(start_server(shell=lambda *_: Answer(b"", b"no \x1b[31mway\nat all\n", 3)))
    with pytest.raises(CommandFailedError, match=r"pm path ended with status 3: no \\x1b\[31mway") as raised:
        device.check(["pm", "path"])
    assert raised.value.exit_status == 3


def test_large_output_and_input_cross_at_the_same_time(start_server: StartServer) -> None:
    data = bytes(range(256)) * 16_000
    device = device_on(start_server(shell=lambda _, stdin: Answer(stdin[::-1])))
    assert device.run(["rev"], stdin=io.BytesIO(data)).stdout == data[::-1]


def test_more_output_than_asked_for_is_an_error(start_server: StartServer) -> None:
    device = device_on(start_server(shell=lambda *_: Answer(b"x" * 1001)))
    with pytest.raises(OutputLimitError):
        device.run(["cat"], limit=1000)
    assert len(device.run(["cat"], limit=1001).stdout) == 1001


def test_a_long_command_goes_through_the_shells_input(start_server: StartServer) -> None:
    seen: list[tuple[str, bytes]] = []

    def shell(command: str, stdin: bytes) -> Answer:
        seen.append((command, stdin))
        return Answer()

    device = device_on(start_server(shell=shell))
    argument = "é'" * LONG_COMMAND_BYTES
    device.run(["echo", argument])
    expected = "echo '" + argument.replace("'", "'\"'\"'") + "' </dev/null\n"
    assert seen == [("sh", expected.encode())]
    with pytest.raises(UnsupportedDeviceError):
        device.run(["echo", argument], stdin=b"x")
    with pytest.raises(UnsafeArgumentError, match="131071"):
        device.run(["echo", "x" * 131_072])


def test_a_request_has_as_many_bytes_as_adb_takes() -> None:
    for length in range(65_510, 65_536):
        assert frame_request("x" * length) == b"%04x" % length + b"x" * length
    for length in range(65_536, 65_541):
        with pytest.raises(UnsafeArgumentError, match=str(length)):
            frame_request("x" * length)


@pytest.mark.parametrize("arguments", [[], [""], ["a", "b\0"], ["a", "\ud800"]])
def test_what_no_shell_can_carry_is_refused(start_server: StartServer, arguments: list[str]) -> None:
    server = start_server()
    with pytest.raises(UnsafeArgumentError):
        device_on(server).run(arguments)
    assert not [request for request in server.requests if request.startswith("shell")]


def test_the_identity_is_asked_for_once(start_server: StartServer) -> None:
    server = start_server()
    device = device_on(server)
    assert device.identity == Identity("SN1", FINGERPRINT)
    for _ in range(3):
        device.run(["true"])
    assert sum("getprop" in request for request in server.requests) == 1


def test_after_a_reconnect_the_same_device_is_used_on(start_server: StartServer) -> None:
    server = start_server(shell=lambda *_: Answer(b"here"))
    device = device_on(server)
    device.run(["true"])
    server.transport = 8
    assert device.run(["true"]).stdout == b"here"
    assert sum("getprop" in request for request in server.requests) == 2


def test_after_a_reconnect_another_device_gets_no_command(start_server: StartServer) -> None:
    server = start_server()
    device = device_on(server)
    device.run(["true"])
    server.transport, server.serial_number = 8, "SN2"
    server.requests.clear()
    with pytest.raises(DeviceChangedError):
        device.run(["rm", "-r", "x"])
    assert not [request for request in server.requests if "rm" in request]


def test_a_device_without_exit_statuses_is_refused(start_server: StartServer) -> None:
    server = start_server(features="cmd,stat_v2")
    with pytest.raises(UnsupportedDeviceError, match="shell_v2") as raised:
        device_on(server).run(["true"])
    assert "Android 7" in (raised.value.hint or "")


def test_files_are_pushed_pulled_and_looked_at(start_server: StartServer) -> None:
    server = start_server()
    device = device_on(server)
    data = bytes(range(256)) * 1000
    assert device.push(io.BytesIO(data), "/data/local/tmp/a") == len(data)
    assert server.files["/data/local/tmp/a"] == data
    sink = io.BytesIO()
    assert device.pull("/data/local/tmp/a", sink) == len(data)
    assert sink.getvalue() == data
    assert device.status("/data/local/tmp/a") == FileStatus(0o100644, len(data), 1_700_000_000)
    assert device.status("/data/local/tmp/b") is None
    with pytest.raises(TransferError, match="not there"):
        device.pull("/data/local/tmp/b", sink)
    with pytest.raises(OutputLimitError):
        device.pull("/data/local/tmp/a", sink, limit=1000)


def test_several_files_are_looked_at_over_one_connection(start_server: StartServer) -> None:
    server = start_server(files={"/a": b"1", "/b": b"22"})
    device = device_on(server)
    with device.files() as session:
        sizes = [status.size if (status := session.status(path)) else None for path in ("/a", "/b", "/c")]
    assert sizes == [1, 2, None]
    assert server.requests.count("sync:") == 1


def test_a_piece_of_a_file_is_read_by_blocks(start_server: StartServer) -> None:
    data = bytes(range(251)) * 1200
    commands: list[str] = []

    def shell(command: str, stdin: bytes) -> Answer:
        del stdin
        commands.append(command)
        _, _, size, skip, count = command.replace("'", "").rsplit(" ", 4)
        block, first, number = (int(item.partition("=")[2]) for item in (size, skip, count))
        return Answer(data[first * block : (first + number) * block])

    device = device_on(start_server(shell=shell))
    assert device.read_file_range("/a b'c", 65_530, 20) == data[65_530:65_550]
    assert device.read_file_range("/a b'c", len(data) - 5, 100) == data[-5:]
    assert commands[0] == "dd 'if=/a b'\"'\"'c' bs=65536 skip=0 count=2"


def test_a_file_that_cannot_be_read_says_why(start_server: StartServer) -> None:
    device = device_on(start_server(shell=lambda *_: Answer(b"", b"dd: /x: Permission denied\n", 1)))
    with pytest.raises(TransferError, match="Permission denied"):
        device.read_file_range("/x", 0, 10)


def two_devices(**options: Any) -> dict[str, Any]:
    return {"listed": LISTED + f"{'OTHER':<22} {options.get('state', 'device')} transport_id:9\n"}


def test_of_several_devices_one_has_to_be_named(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = client(start_server(**two_devices()))
    with pytest.raises(SeveralDevicesError) as raised:
        connect_device(server=server)
    assert raised.value.serials == (SERIAL, "OTHER")
    assert connect_device(SERIAL, server=server).serial == SERIAL
    monkeypatch.setenv("ANDROID_SERIAL", "OTHER")
    assert connect_device(server=server).serial == "OTHER"
    assert connect_device(SERIAL, server=server).serial == SERIAL
    monkeypatch.setenv("ANDROID_SERIAL", "GONE")
    with pytest.raises(NoDeviceError):
        connect_device(server=server)


@pytest.mark.parametrize(
    "state",
    ["offline", "unauthorized", "authorizing", "recovery", "bootloader", "no permissions (x); see [y]"],
)
def test_a_device_that_is_not_ready_says_what_to_do(start_server: StartServer, state: str) -> None:
    server = client(start_server(**two_devices(state=state)))
    with pytest.raises(DeviceStateError) as raised:
        connect_device("OTHER", server=server)
    assert raised.value.state == state.partition(" (")[0]
    assert raised.value.hint


def test_a_serial_that_is_not_attached_is_an_error(start_server: StartServer) -> None:
    server = client(start_server())
    with pytest.raises(NoDeviceError, match="no such device"):
        connect_device("NOBODY", server=server)
    with pytest.raises(NoDeviceError, match="no device is attached"):
        connect_device(server=client(start_server(listed="")))


@pytest.mark.parametrize("serial", ["-s", "a b", "x" * 200, "", "a;b", "ü"])
def test_a_serial_that_could_be_something_else_is_refused(start_server: StartServer, serial: str) -> None:
    server = start_server()
    with pytest.raises(UnsafeArgumentError):
        connect_device(serial, server=client(server))


def test_a_serial_that_the_list_shows_may_still_not_be_used(start_server: StartServer) -> None:
    server = client(start_server(listed=f"{'adb-x (2)._adb-tls-connect._tcp':<22} device transport_id:9\n"))
    with pytest.raises(UnsafeArgumentError) as raised:
        connect_device(server=server)
    assert "characters" in (raised.value.hint or "")


def test_a_handle_made_of_another_does_not_ask_again_which_device_it_is(start_server: StartServer) -> None:
    server = start_server()
    device = device_on(server)
    device.ended_by(threading.Event()).run(["id"])
    asked = len(server.requests)
    device.run(["id"])
    device.ended_by(threading.Event()).run(["id"])
    assert len(server.requests) - asked == 2 * len(["host:tport", "shell"])
