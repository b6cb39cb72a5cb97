"""The adb server's protocol, with requests typed from services.md, and through adbutils."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from pathlib import Path

import adbutils  # type: ignore[import-untyped]
import pytest

from device_shim.phone_transport.adb_host import ServerClient, shell_result
from device_shim.phone_transport.conftest import StartPhone, WiredPhone
from device_shim.phone_transport.small_userland import SmallUserland
from droidgate_phone.common.event_log import EventLog
from droidgate_phone.common.faults import Faults
from droidgate_phone.transport.adb_keys import AuthorizedKeys
from droidgate_phone.transport.phone_wire import PhoneWire
from waiting import wait_until


@pytest.fixture
def client(phone: WiredPhone) -> Iterator[ServerClient]:
    with ServerClient(phone.server_port) as client:
        yield client


def ask(phone: WiredPhone, text: bytes) -> str:
    with ServerClient(phone.server_port) as client:
        return client.ask(text)


def refusal(phone: WiredPhone, text: bytes) -> str:
    with ServerClient(phone.server_port) as client:
        return client.refusal(text)


def _second_phone(phone: WiredPhone, userland: SmallUserland | None = None) -> PhoneWire:
    """Return the wire of another phone, which the same server shows."""
    made = (userland or SmallUserland()).userland()
    return PhoneWire(made, keys=AuthorizedKeys(()), log=EventLog(), server=phone.wire.server)


def test_the_version_request_in_the_protocol_s_own_bytes(client: ServerClient) -> None:
    # OVERVIEW.TXT: four hexadecimal digits of length, the request; OKAY, four digits, the answer.
    client.socket.sendall(b"000chost:version")
    assert client.read(12) == b"OKAY00040029"
    assert client.read_to_end() == b""


def test_the_list_of_devices(phone: WiredPhone) -> None:
    assert ask(phone, b"host:devices") == f"{phone.serial}\tdevice\n"
    about = "device product:virtual model:Virtual_Phone device:virtual transport_id:1"
    assert ask(phone, b"host:devices-l") == f"{phone.serial:<22} {about}\n"


@pytest.mark.parametrize(("question", "answer"), [
    (b"get-state", "device"),
    (b"get-serialno", "SERIAL"),
    (b"get-devpath", "unknown"),
    (b"features", "FEATURES"),
])  # fmt: skip
def test_questions_about_a_device(phone: WiredPhone, question: bytes, answer: str) -> None:
    serial = phone.serial.encode()
    features = ask(phone, b"host:features")
    assert "shell_v2" in features.split(",")
    expected = {"SERIAL": phone.serial, "FEATURES": features}.get(answer, answer)
    prefixes = [b"host:", b"host-local:", b"host-serial:" + serial + b":", b"host-transport-id:1:"]
    assert [ask(phone, prefix + question) for prefix in prefixes] == [expected] * 4


def test_the_server_s_own_features_name_what_it_passes_on(phone: WiredPhone) -> None:
    assert {"shell_v2", "cmd", "abb_exec"} <= set(ask(phone, b"host:host-features").split(","))


@pytest.mark.parametrize(("request_text", "text"), [
    (b"host:transport:other", "device 'other' not found"),
    (b"host:transport:127.0.0.1:1", "device '127.0.0.1:1' not found"),
    (b"host:tport:serial:other", "device 'other' not found"),
    (b"host:transport-id:99", "no device with transport id '99'"),
    (b"host:transport-id:x", "invalid transport id"),
    (b"host:transport-usb", "no devices found"),
    (b"host:tport:nonsense", "unknown host service 'host:tport:nonsense'"),
    (b"host-serial:other:get-state", "device 'other' not found"),
    (b"host:nonsense", "unknown host service 'nonsense'"),
    (b"hostile:version", "unknown host service 'hostile:version'"),
    (b"host:kill", "kill-server rejected by remote server"),
    (b"host:connect:127.0.0.1:1", "unknown host service 'connect:127.0.0.1:1'"),
    (b"shell:echo x", "no device was chosen before this service"),
])  # fmt: skip
def test_what_cannot_be_done_is_refused_with_a_text(
    phone: WiredPhone, request_text: bytes, text: str
) -> None:
    assert refusal(phone, request_text) == text


@pytest.mark.parametrize("request_bytes", [b"zzzzhost:version", b"-001x", b"00", b"ffffhost:version", b""])
def test_a_request_without_a_length_ends_the_connection(
    phone: WiredPhone, client: ServerClient, request_bytes: bytes
) -> None:
    client.socket.sendall(request_bytes)
    client.socket.shutdown(1)
    assert client.read_to_end() == b""
    assert ask(phone, b"host:version") == "0029"


@pytest.mark.parametrize("choice", [b"host:transport-any", b"host:transport-local", b"host:transport-id:1"])
def test_services_of_the_phone_follow_the_choice_of_a_transport(client: ServerClient, choice: bytes) -> None:
    client.request(choice)
    client.request(b"shell:both")
    assert client.read_to_end() == b"OKAYOKAYout\nerr\n"


def test_the_newer_choice_says_the_transport_s_number(phone: WiredPhone) -> None:
    for choice in (b"host:tport:any", b"host:tport:serial:" + phone.serial.encode()):
        with ServerClient(phone.server_port) as client:
            client.request(choice)
            assert client.read(12) == b"OKAY" + struct.pack("<Q", 1)
            client.request(b"shell,v2,raw:exit 9")
            assert client.status() == b"OKAY"
            assert shell_result(client.read_to_end()) == (b"", b"", 9)


def test_a_question_may_follow_the_choice(client: ServerClient) -> None:
    client.request(b"host:transport-any")
    client.status()
    assert client.ask(b"host:get-state") == "device"


def test_a_service_that_the_phone_does_not_have_is_closed(phone: WiredPhone, client: ServerClient) -> None:
    client.request(b"host:transport-any")
    client.status()
    assert client.refusal(b"framebuffer:") == "closed"
    refused = [event["service"] for event in phone.log.of_kind("refused-service")]
    assert refused == ["framebuffer:", "framebuffer:"]


def test_output_is_complete_though_the_client_s_input_is_never_read(
    phone: WiredPhone, client: ServerClient
) -> None:
    client.open_on(phone.serial, b"exec:give 65536")
    client.socket.sendall(b"nobody reads this" * 100)
    assert client.read_to_end() == bytes(range(256)) * 256


def test_a_client_that_goes_away_ends_its_command(phone: WiredPhone, client: ServerClient) -> None:
    client.open_on(phone.serial, b"exec:flood")
    client.read(1000)
    client.socket.close()
    wait_until(phone.userland.broken.is_set)


def test_a_client_that_ends_its_half_is_gone_as_with_the_real_server(
    phone: WiredPhone, client: ServerClient
) -> None:
    client.open_on(phone.serial, b"exec:count")
    client.socket.sendall(b"12345")
    client.socket.shutdown(1)
    assert client.read_to_end() == b""
    wait_until(phone.userland.broken.is_set)


def test_changes_of_the_list_are_sent_as_they_happen(phone: WiredPhone, client: ServerClient) -> None:
    own = f"{phone.serial}\tdevice\n"
    client.request(b"host:track-devices")
    assert (client.status(), client.text()) == (b"OKAY", own)
    with _second_phone(phone) as second:
        assert client.text() == "".join(sorted([own, f"{second.serial}\tdevice\n"]))
    assert client.text() == own


def test_waiting_for_a_state(phone: WiredPhone) -> None:
    with ServerClient(phone.server_port) as client:
        client.request(b"host:wait-for-any-device")
        assert client.read_to_end() == b"OKAYOKAY"
    with ServerClient(phone.server_port) as client:
        with _second_phone(phone) as second:
            client.request(b"host-serial:" + second.serial.encode() + b":wait-for-any-disconnect")
            assert client.status() == b"OKAY"
        assert client.status() == b"OKAY"
    with ServerClient(phone.server_port) as client:
        client.request(b"host-transport-id:3:wait-for-local-device")
        assert client.status() == b"OKAY"
        with _second_phone(phone):
            assert client.status() == b"OKAY"


def test_one_server_shows_several_phones(phone: WiredPhone) -> None:
    other = SmallUserland()
    with _second_phone(phone, other) as wire:
        assert wire.server_port == phone.server_port
        assert ask(phone, b"host:devices").count("\tdevice\n") == 2
        assert refusal(phone, b"host:transport-any") == "more than one device/emulator"
        with ServerClient(phone.server_port) as client:
            client.open_on(wire.serial, b"shell:echo second")
            assert client.read_to_end() == b"second\n"
    assert (other.ended, phone.userland.ended) == (["echo second"], [])
    assert ask(phone, b"host:devices") == f"{phone.serial}\tdevice\n"


@pytest.mark.parametrize(("faults", "state", "text"), [
    (Faults(offline=True), "offline", "device offline"),
    (Faults(unauthorized=True), "unauthorized", "device unauthorized."),
], ids=["offline", "unauthorized"])  # fmt: skip
def test_a_phone_that_does_not_let_anybody_in_is_listed_so(
    start_wired: StartPhone, faults: Faults, state: str, text: str
) -> None:
    phone = start_wired(faults=faults)
    assert ask(phone, b"host:devices") == f"{phone.serial}\t{state}\n"
    assert refusal(phone, b"host:transport-any").startswith(text)


def test_adbutils_works_on_it(phone: WiredPhone, tmp_path: Path) -> None:
    client = adbutils.AdbClient(host="127.0.0.1", port=phone.server_port)
    assert client.server_version() == 41
    assert [device.serial for device in client.device_list()] == [phone.serial]
    device = client.device(serial=phone.serial)
    assert device.get_state() == "device"
    assert device.shell("echo one") == "one"
    result = device.shell2("both", v2=True)
    assert (result.stdout, result.stderr, result.returncode) == ("out\n", "err\n", 0)
    content = bytes(range(256)) * 3000
    device.sync.push(io.BytesIO(content), "/data/local/tmp/x")
    assert device.sync.read_bytes("/data/local/tmp/x") == content
    assert device.sync.stat("/data/local/tmp/x").size == len(content)
    assert "x" in {entry.path for entry in device.sync.list("/data/local/tmp")}
    device.sync.pull("/data/local/tmp/x", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == content
