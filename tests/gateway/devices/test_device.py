"""Commands, files and identity over a server of the tests' own."""

import asyncio
import io
import re
import threading
import zipfile
from random import Random
from typing import Any

import pytest

from droidgate.devices.connection import frame_request
from droidgate.devices.device import LONG_COMMAND_BYTES, Device, Identity, connect_device
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
from droidgate.devices.packages import InstalledPackage
from droidgate.devices.remote_apk import (
    BLOCK,
    MAX_RUN,
    file_statuses,
    open_remote_apk,
)
from droidgate.devices.sync import FileStatus
from droidgate_mappings.model.errors import InputError
from gateway.devices.conftest import StartServer, client, device_on
from gateway.devices.fake_adb_server import FINGERPRINT, LISTED, SERIAL, Answer, FakeAdbServer, Script
from titled_rows import titled


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


def test_large_output_and_input_are_sent_at_the_same_time(start_server: StartServer) -> None:
    data = bytes(range(256)) * 16_000
    device = device_on(start_server(shell=lambda _, stdin: Answer(stdin[::-1])))
    assert device.run(["rev"], stdin=io.BytesIO(data)).stdout == data[::-1]


def test_more_output_than_asked_for_is_an_error(start_server: StartServer) -> None:
    device = device_on(start_server(shell=lambda *_: Answer(b"x" * 1001)))
    # A device that was not looked at yet is asked on a thread, else on the loop.
    for _ in range(2):
        with pytest.raises(OutputLimitError):
            asyncio.run(device.run_on_loop(["cat"], limit=1000))
    with pytest.raises(OutputLimitError):
        device.run(["cat"], limit=1000)
    assert len(device.run(["cat"], limit=1001).stdout) == 1001


def test_a_long_command_goes_through_the_shells_input(start_server: StartServer) -> None:
    script = Script({})
    device = device_on(start_server(shell=script))
    argument = "é'" * LONG_COMMAND_BYTES
    device.run(["echo", argument])
    expected = "echo '" + argument.replace("'", "'\"'\"'") + "' </dev/null\n"
    assert (script.commands, script.inputs) == (["sh"], [expected.encode()])
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


@pytest.mark.parametrize("arguments", [[], [""], ["a", "b\0"], ["a", "\ud800"]], ids=str)
def test_an_argument_that_no_shell_carries_is_refused(
    start_server: StartServer, arguments: list[str]
) -> None:
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
    with pytest.raises(DeviceChangedError):
        asyncio.run(device.run_on_loop(["rm", "-r", "x"]))
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


def test_a_file_that_cannot_be_read_says_why(start_server: StartServer) -> None:
    device = device_on(start_server(shell=lambda *_: Answer(b"", b"dd: /x: Permission denied\n", 1)))
    with pytest.raises(TransferError, match="Permission denied"):
        device.read_file_range("/x", 0, 10)


def two_devices(state: str = "device") -> dict[str, Any]:
    return {"listed": LISTED + f"{'OTHER':<22} {state} transport_id:9\n"}


def test_one_of_several_devices_is_named(start_server: StartServer, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("state", [
    "offline", "unauthorized", "authorizing", "recovery", "bootloader", "no permissions (x); see [y]",
])  # fmt: skip
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


@pytest.mark.parametrize("serial", ["-s", "a b", "x" * 200, "", "a;b", "ü"], ids=lambda serial: serial[:20])
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
    count = len(server.requests)
    device.run(["id"])
    device.ended_by(threading.Event()).run(["id"])
    assert len(server.requests) - count == 2 * len(["host:tport", "shell"])


# An APK on a device: the right bytes, few of them, and none at all a second time


PATH = "/data/app/~~x==/com.example.a-y==/base.apk"
PACKAGE = InstalledPackage("com.example.a", PATH, 7, 10_123)


def archive(entries: int = 200) -> bytes:
    """Return an archive of which most is one large entry at its front."""
    random = Random(7)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as target:
        target.writestr("classes.dex", random.randbytes(3_000_000))
        for number in range(entries):
            target.writestr(f"res/{number}.xml", random.randbytes(200))
        target.writestr("AndroidManifest.xml", random.randbytes(5_000))
    return written.getvalue()


DATA = archive()


class Phone:
    """A device whose shell knows `dd`, with one APK."""

    def __init__(self, start_server: StartServer, data: bytes = DATA) -> None:
        self.data = data
        self.reads = 0
        self.server: FakeAdbServer = start_server(shell=self.shell, files={PATH: data})
        self.device: Device = device_on(self.server)

    def shell(self, command: str, stdin: bytes) -> Answer:
        del stdin
        match = re.fullmatch(r"dd '?if=[^ ]*'? bs=65536 skip=(\d+) count=(\d+)", command)
        assert match is not None, command
        self.reads += 1
        start = int(match[1]) * BLOCK
        return Answer(self.data[start : start + int(match[2]) * BLOCK], b"2+0 records in\n")


@pytest.fixture
def phone(start_server: StartServer) -> Phone:
    return Phone(start_server)


def test_any_range_is_the_files(phone: Phone) -> None:
    source = open_remote_apk(phone.device, PACKAGE)
    assert source.name == "adb:FAKE1234/com.example.a"
    random = Random(3)
    assert source.size == len(DATA)
    for _ in range(100):
        offset = random.randrange(len(DATA))
        length = random.randrange(min(200_000, len(DATA) - offset) + 1)
        assert source.read(offset, length) == DATA[offset : offset + length]
    assert source.bytes_read <= len(DATA)
    assert source.read(len(DATA), 0) == b""


def test_a_manifest_costs_the_end_of_the_archive_only(phone: Phone) -> None:
    source = open_remote_apk(phone.device, PACKAGE)
    end = source.read(len(DATA) - 22, 22)
    directory, start = (int.from_bytes(end[at : at + 4], "little") for at in (12, 16))
    source.read(start, directory)
    assert (source.requests, source.bytes_read <= 2 * BLOCK) == (1, True)
    assert source.bytes_read < len(DATA) // 20


def test_neighbouring_blocks_come_together_and_no_more_than_fit(phone: Phone) -> None:
    source = open_remote_apk(phone.device, PACKAGE)
    source.read(BLOCK * 4, BLOCK * 10)
    assert source.requests == 1
    source.read(0, BLOCK * 20)
    assert source.requests == 3
    assert MAX_RUN * BLOCK > len(DATA) > 0


@titled(("offset", "length"), {
    "before it": (-1, 1), "of negative length": (0, -1), "after it": (len(DATA), 1),
    "beyond its end": (0, len(DATA) + 1),
})  # fmt: skip
def test_a_range_outside_the_file_is_bad_input(phone: Phone, offset: int, length: int) -> None:
    source = open_remote_apk(phone.device, PACKAGE)
    with pytest.raises(InputError):
        source.read(offset, length)
    source.close()
    with pytest.raises(InputError):
        source.read(0, 1)


def test_a_file_that_became_shorter_is_reported(phone: Phone) -> None:
    source = open_remote_apk(phone.device, PACKAGE)
    phone.data = DATA[:1000]
    with pytest.raises(TransferError, match="shorter"):
        source.read(0, 10 * BLOCK)


def test_a_file_that_is_gone_is_reported(phone: Phone) -> None:
    with pytest.raises(TransferError, match="no file"):
        open_remote_apk(phone.device, PACKAGE, path="/data/app/gone.apk")


def test_all_files_are_looked_at_over_one_connection(phone: Phone) -> None:
    statuses = file_statuses(phone.device, [PATH, "/gone", PATH])
    assert {path: status.size for path, status in statuses.items()} == {PATH: len(DATA)}
    assert phone.server.requests.count("sync:") == 1


def test_a_block_is_read_once(phone: Phone) -> None:
    source = open_remote_apk(phone.device, PACKAGE)
    assert source.read(0, 10) == source.read(0, 10) == DATA[:10]
    assert source.requests == 1
