"""Bytes of content providers, read and written through the shell."""

import pytest

from droidgate.devices.content import ProviderError, read_content, write_content
from droidgate.devices.device_errors import CommandFailedError, UnsafeArgumentError
from droidgate_mappings.model.errors import DeviceError
from gateway.devices.conftest import StartServer, device_on
from gateway.devices.fake_adb_server import Answer

URI = "content://com.example.files/a/b%20c"
MISSING = (
    b"Error while accessing provider:com.example.files\n"
    b"java.lang.IllegalStateException: Could not find provider: com.example.files\n\tat x\n"
)


def test_bytes_come_as_they_are(start_server: StartServer) -> None:
    data = bytes(range(256)) * 300
    server = start_server(shell=lambda *_: Answer(data))
    assert read_content(device_on(server), URI, user=10) == data


def test_bytes_go_as_they_are_on_standard_input(start_server: StartServer) -> None:
    seen: list[tuple[str, bytes]] = []

    def shell(command: str, stdin: bytes) -> Answer:
        seen.append((command, stdin))
        return Answer()

    data = bytes(range(256)) * 300
    write_content(device_on(start_server(shell=shell)), URI, data)
    assert seen == [(f"content write --user 0 --uri {URI}", data)]


@pytest.mark.parametrize("exit_status", [0, 1])
def test_a_provider_that_fails_is_reported_with_its_exception(
    start_server: StartServer, exit_status: int
) -> None:
    device = device_on(start_server(shell=lambda *_: Answer(stderr=MISSING, status=exit_status)))
    with pytest.raises(ProviderError, match="Could not find provider") as raised:
        read_content(device, URI)
    assert (raised.value.authority, raised.value.is_missing) == ("com.example.files", True)
    with pytest.raises(ProviderError):
        write_content(device, URI, b"x")


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b"usage: adb shell content [subcommand] [options]\n\n[ERROR] Unsupported argument: x\n"),
        Answer(status=1),
        Answer(b"data", stderr=b"something else\n"),
    ],
)
def test_another_failure_is_one_too(start_server: StartServer, answer: Answer) -> None:
    device = device_on(start_server(shell=lambda *_: answer))
    with pytest.raises(CommandFailedError):
        read_content(device, URI)
    with pytest.raises(CommandFailedError):
        write_content(device, URI, b"x")


def test_a_write_that_prints_something_is_not_a_success(start_server: StartServer) -> None:
    device = device_on(start_server(shell=lambda *_: Answer(b"Row: 0\n")))
    with pytest.raises(DeviceError):
        write_content(device, URI, b"x")


@pytest.mark.parametrize("uri", ["", "file:///a", "content://", "content://a b", "--user", "content://a/b c"])
def test_what_is_not_a_uri_is_not_sent(start_server: StartServer, uri: str) -> None:
    server = start_server()
    device = device_on(server)
    with pytest.raises(UnsafeArgumentError):
        read_content(device, uri)
    with pytest.raises(UnsafeArgumentError):
        write_content(device, uri, b"x")
    assert not [request for request in server.requests if "content" in request]
