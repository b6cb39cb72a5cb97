"""adbd's side of the device protocol, spoken to packet by packet."""

from __future__ import annotations

import contextlib
import errno
import re
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from device_shim.phone_transport.adb_host import (
    NEW_VERSION,
    OLD_VERSION,
    Connection,
    DeviceHost,
    message_bytes,
    shell_result,
)
from device_shim.phone_transport.conftest import StartPhone, WiredPhone
from droidgate_phone.common import event_log
from droidgate_phone.transport import listening
from droidgate_phone.transport.device_connection import DeviceStream
from droidgate_phone.transport.packets import AdbPacket, PacketError, read_packet
from droidgate_phone.transport.sockets import EndOfInputError, InputSocket
from strategies import damaged
from waiting import wait_until


@pytest.fixture
def host(phone: WiredPhone) -> Iterator[DeviceHost]:
    """A host that has shaken hands."""
    with DeviceHost(phone.port) as host:
        host.connect()
        yield host


def protocol_error(phone: WiredPhone) -> str:
    wait_until(lambda: phone.log.of_kind("protocol-error"))
    return str(phone.log.of_kind("protocol-error")[0]["reason"])


def test_an_old_release_announces_what_it_had(start_wired: StartPhone) -> None:
    with DeviceHost(start_wired(sdk=26).port) as host:
        assert host.connect().data.endswith(b"features=shell_v2,cmd,stat_v2")


def test_a_host_of_the_old_version_gets_checksums_and_has_to_send_them(phone: WiredPhone) -> None:
    with DeviceHost(phone.port) as host:
        answer = host.connect(version=OLD_VERSION)
        assert answer.checksum == sum(answer.data)
        host.open(b"shell:echo abc")
        message = host.receive()
        assert (message.data, message.checksum) == (b"abc\n", sum(b"abc\n"))
        host.send(b"WRTE", 7, message.arg0, b"abc", checksum=sum(b"abc") + 1)
        assert host.ends()
    assert protocol_error(phone) == "the checksum of WRTE is wrong"


def test_a_phone_sends_no_second_packet_before_the_first_is_acknowledged(phone: WiredPhone) -> None:
    with DeviceHost(phone.port) as host:
        host.connect(most=4096)
        own = host.open(b"exec:give 16384")
        first = host.receive()
        assert (first.command, len(first.data)) == (b"WRTE", 4096)
        # Another stream is answered meanwhile: the first one waits for its OKAY, not for time.
        host.send(b"OPEN", 8, 0, b"shell:echo other\0")
        seen = [host.receive() for _ in range(3)]
        assert [(packet.command, packet.arg1) for packet in seen] == [
            (b"OKAY", 8),
            (b"WRTE", 8),
            (b"CLSE", 8),
        ]
        host.send(b"OKAY", 7, own)
        assert first.data + host.read_stream(own) == bytes(range(256)) * 64


@pytest.mark.parametrize("most", [1, 64, 4096, 65536, 1024 * 1024, 2**32 - 1], ids="{} bytes".format)
def test_no_packet_is_larger_than_the_host_takes(phone: WiredPhone, most: int) -> None:
    size = min(2048 * most, 2 * 1024 * 1024)
    with DeviceHost(phone.port) as host:
        host.connect(most=most)
        number = host.open(b"exec:give %d" % size)
        sizes = []
        while (message := host.receive()).command == b"WRTE":
            sizes.append(len(message.data))
            host.send(b"OKAY", 7, number)
    assert max(sizes) == min(most, 1024 * 1024)
    assert sum(sizes) == size


def test_a_host_that_takes_nothing_is_refused(phone: WiredPhone) -> None:
    with DeviceHost(phone.port) as host:
        host.send(b"CNXN", NEW_VERSION, 0, b"host::")
        assert host.ends()


def test_input_that_nobody_reads_is_acknowledged_only_up_to_a_bound(
    phone: WiredPhone, host: DeviceHost
) -> None:
    number = host.open(b"exec:flood")
    assert host.receive().command == b"WRTE"
    host.send(b"WRTE", 7, number, b"y" * (1024 * 1024), checksum=0)
    host.send(b"WRTE", 7, number, b"y", checksum=0)
    assert host.ends()
    assert "before the OKAY" in protocol_error(phone)


def test_the_okay_of_a_packet_is_sent_before_its_service_can_read_it() -> None:
    happened: list[str] = []
    has_read = threading.Event()

    def send(packet: AdbPacket) -> None:
        # A service that could read already would do so meanwhile.
        has_read.wait(0.2)
        happened.append(packet.command)

    stream = DeviceStream(1, 7, largest_payload=1024, send=send, forget=lambda _: None)

    def serve() -> None:
        happened.append(stream.read(5).decode())
        has_read.set()

    service = threading.Thread(target=serve)
    service.start()
    stream.take_payload(b"hello")
    service.join(120)
    assert happened == ["OKAY", "hello"]


def test_a_packet_of_the_shell_protocol_may_come_in_pieces(host: DeviceHost) -> None:
    packets = typed(b"hello") + struct.pack("<BI", 5, 9) + b"24x80,0x0" + struct.pack("<BI", 4, 0)
    number = host.open(b"shell,v2,raw:count")
    for position in range(len(packets)):
        host.send(b"WRTE", 7, number, packets[position : position + 1])
        assert host.receive().command == b"OKAY"
    assert shell_result(host.read_stream(number)) == (b"5\n", b"", 0)


@pytest.mark.parametrize(("service", "result"), [
    (b"shell,v2,raw:both", (b"out\n", b"err\n", 0)),
    (b"shell,v2,raw:exit 7", (b"", b"", 7)),
    (b"shell,v2,raw:exit 300", (b"", b"", 300 & 255)),
    (b"shell,v2,TERM=xterm-256color,raw:term", (b"xterm-256color", b"", 0)),
    (b"shell,v2:term", (b"dumb", b"", 0)),
    (b"shell,v2,pty:both", (b"out\r\nerr\r\n", b"", 0)),
    (b"shell,v2,some-new-option,raw:exit 3", (b"", b"", 3)),
    (b"shell,v2,raw:echo \xff\xfe:\xc3\xa9", (b"\xff\xfe:\xc3\xa9\n", b"", 0)),
], ids=str)  # fmt: skip
def test_the_shell_protocol_separates_streams_and_status(
    host: DeviceHost, service: bytes, result: tuple[bytes, bytes, int]
) -> None:
    assert shell_result(host.run(service)) == result


def test_abb_runs_a_service_s_command_without_splitting_its_words(host: DeviceHost) -> None:
    assert host.run(b"abb_exec:package\0install\0two words") == b"[cmd package install 'two words']\n"
    assert shell_result(host.run(b"abb:package\0list"))[0] == b"[cmd package list]\n"


def test_abb_is_unknown_before_android_11(start_wired: StartPhone) -> None:
    with DeviceHost(start_wired(sdk=26).port) as host:
        host.connect()
        host.send(b"OPEN", 7, 0, b"abb_exec:package\0list\0")
        assert host.receive().command == b"CLSE"


def test_bytes_can_be_taken_and_given_and_a_host_can_be_made_to_connect_again(host: DeviceHost) -> None:
    assert host.run(b"source:70000") == bytes(70_000)
    own = host.open(b"sink:5")
    host.send(b"WRTE", 7, own, b"12345")
    assert host.read_stream(own) == b""
    host.send(b"OPEN", 7, 0, b"reconnect\0")
    assert host.ends()


@pytest.mark.parametrize(
    "service",
    [
        b"framebuffer:", b"jdwp", b"jdwp:17", b"track-app", b"tcp:80", b"local:x",
        b"localabstract:x", b"localfilesystem:/x", b"dev:/dev/null", b"backup:", b"sink:x", b"source:x",
        b"spin", b"shell", b"shelly:x", b"shell,v2", b"sync", b"", b"\xff\xfe", b"no-such-service:",
    ],
)  # fmt: skip
def test_what_is_not_modelled_is_closed_and_logged(
    phone: WiredPhone, host: DeviceHost, service: bytes
) -> None:
    host.send(b"OPEN", 7, 0, service + b"\0")
    answer = host.receive()
    assert (answer.command, answer.arg0, answer.arg1) == (b"CLSE", 0, 7)
    assert len(phone.log.of_kind("refused-service")) == 1


@pytest.mark.parametrize(("service", "text"), [
    (b"root:", b"adbd cannot run as root in production builds\n"),
    (b"unroot:", b"adbd not running as root\n"),
    (b"remount:", b'Not running as root. Try "adb root" first.\n'),
    (b"reboot:", b"the virtual phone does not model reboot\n"),
    (b"tcpip:5555", b"the virtual phone does not model tcpip\n"),
    (b"reverse:list-forward", b"0000"),
    (b"reverse:forward:tcp:1;tcp:2", b"FAIL0034the virtual phone does not model reverse connections"),
])  # fmt: skip
def test_what_a_user_build_refuses_is_refused_with_a_text(
    host: DeviceHost, service: bytes, text: bytes
) -> None:
    assert host.run(service) == text


def test_closing_a_stream_ends_its_command(phone: WiredPhone, host: DeviceHost) -> None:
    number = host.open(b"exec:flood")
    host.receive()
    host.send(b"CLSE", 7, number)
    answer = host.receive()
    assert (answer.command, answer.arg0, answer.arg1) == (b"CLSE", number, 7)
    wait_until(phone.userland.broken.is_set)
    assert host.run(b"shell:echo on") == b"on\n"


@pytest.mark.parametrize("command", ["flood", "cat"], ids=["that writes", "that waits for input"])
def test_a_command_ends_with_its_connection(phone: WiredPhone, host: DeviceHost, command: str) -> None:
    host.open(f"exec:{command}".encode())
    host.socket.close()
    wait_until(lambda: phone.userland.ended == [command])


def test_an_okay_for_a_stream_that_is_gone_is_answered_with_a_close(host: DeviceHost) -> None:
    host.send(b"OKAY", 5, 99)
    answer = host.receive()
    assert (answer.command, answer.arg0, answer.arg1) == (b"CLSE", 99, 5)
    host.send(b"WRTE", 5, 99, b"late")
    host.send(b"CLSE", 5, 99)
    assert host.run(b"shell:echo on") == b"on\n"


def test_a_phone_that_is_busy_refuses_and_goes_on(
    phone: WiredPhone, host: DeviceHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "MOST_THREADS", 0)
    host.send(b"OPEN", 7, 0, b"exec:flood\0")
    refused = host.receive()
    assert (refused.command, refused.arg0, refused.arg1) == (b"CLSE", 0, 7)
    for port in (phone.port, phone.server_port):
        with Connection(port) as late:
            assert late.ends()
    assert len(phone.log.of_kind("refused-connection")) == 2
    monkeypatch.undo()
    assert host.run(b"shell:echo on") == b"on\n"


def test_a_phone_that_runs_out_of_sockets_goes_on_when_there_are_some_again(
    phone: WiredPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept, failures = socket.socket.accept, iter([OSError(errno.EMFILE, "Too many open files")])

    def accept_later(listening: socket.socket) -> object:
        for failure in failures:
            raise failure
        return accept(listening)

    monkeypatch.setattr(socket.socket, "accept", accept_later)
    for _ in range(3):
        with DeviceHost(phone.port) as host:
            host.connect()
            assert host.run(b"shell:echo on") == b"on\n"
    wait_until(lambda: len(phone.log.of_kind("refused-connection")) == 1)


def test_the_log_keeps_the_last_events_and_its_file_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_log, "MOST_TEXT", 100_000)
    with (tmp_path / "log").open("w", encoding="utf-8") as file:
        log = event_log.EventLog(file)
        for number in range(1000):
            log.record("service", service="x" * 500, number=number)
    numbers = [event["number"] for event in log.of_kind("service")]
    assert numbers == list(range(901, 1000))
    assert len((tmp_path / "log").read_text().splitlines()) == 1000


def test_the_streams_of_one_host_cannot_be_closed_through_another(
    phone: WiredPhone, host: DeviceHost
) -> None:
    with DeviceHost(phone.port) as other:
        other.connect()
        number = host.open(b"shell:cat")
        other.send(b"CLSE", 7, number)
        host.send(b"WRTE", 7, number, b"still\n")
        assert {host.receive().command, host.receive().command} == {b"OKAY", b"WRTE"}


def test_a_close_with_number_0_counts_as_old_hosts_send_it(host: DeviceHost) -> None:
    number = host.open(b"shell:cat")
    host.send(b"CLSE", 0, number)
    assert host.receive().command == b"CLSE"


def test_a_new_handshake_closes_every_stream(phone: WiredPhone, host: DeviceHost) -> None:
    host.open(b"shell:cat")
    assert host.connect().command == b"CNXN"
    wait_until(lambda: "cat" in phone.userland.ended)
    assert host.run(b"shell:echo again") == b"again\n"


def test_nothing_is_opened_before_the_handshake(phone: WiredPhone) -> None:
    with DeviceHost(phone.port) as host:
        host.send(b"OPEN", 7, 0, b"shell:echo early\0")
        assert host.connect().command == b"CNXN"
    assert phone.log.of_kind("ignored-packet")[0]["command"] == "OPEN"


@pytest.mark.parametrize(("packet", "reason"), [
    (bytes(24), "do not fit|unknown command"),
    (message_bytes(b"STLS", 1, 0), "unknown command"),
    (message_bytes(b"OPEN", 0, 0, b"sync:\0"), "stream numbers"),
    (message_bytes(b"OPEN", 3, 9, b"sync:\0"), "stream numbers"),
])  # fmt: skip
def test_a_broken_packet_ends_the_connection_and_is_logged(
    phone: WiredPhone, host: DeviceHost, packet: bytes, reason: str
) -> None:
    host.socket.sendall(packet)
    assert host.ends()
    assert re.search(reason, protocol_error(phone))


def typed(keys: bytes) -> bytes:
    return struct.pack("<BI", 0, len(keys)) + keys


@pytest.mark.parametrize(("keys", "shown"), [
    (b"ab\x7fc\r", b"ab\b \bc\r\n[ac]\r\n"),
    (b"one two\x17x\n", b"one two" + b"\b \b" * 3 + b"x\r\n[one x]\r\n"),
    ("é\x7fe\n".encode(), "é".encode() + b"\b \be\r\n[e]\r\n"),
    (b"wrong\x15ok\n", b"wrong" + b"\b \b" * 5 + b"ok\r\n[ok]\r\n"),
    (b"half\x03", b"half^C\r\n[]\r\n"),
])  # fmt: skip
def test_an_interactive_shell_echoes_edits_and_shows_its_prompt(
    host: DeviceHost, keys: bytes, shown: bytes
) -> None:
    number = host.open(b"shell,v2,TERM=xterm:")
    host.send(b"WRTE", 7, number, typed(keys) + typed(b"\x04"))
    assert shell_result(host.read_stream(number)) == (b"virtual:/ $ " + shown + b"virtual:/ $ ", b"", 0)


def test_the_phone_listens_on_loopback_only(phone: WiredPhone) -> None:
    for port in (phone.port, phone.server_port):
        socket.create_connection(("127.0.0.1", port)).close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port))


def test_a_phone_stops_while_connections_come_in(start_wired: StartPhone) -> None:
    for _ in range(40):
        phone = start_wired()
        for port in (phone.port, phone.server_port):
            socket.create_connection(("127.0.0.1", port)).close()
        phone.wire.close()


# The packet codec, against packets typed from protocol.txt


# protocol.txt, "struct message" and "CONNECT(version, maxdata, "system-identity-string")": the words in their
# order, little-endian; the checksum is the sum of the seven bytes of "host::" and its NUL.
CONNECT = bytes.fromhex("434e584e 01000001 00100000 07000000 32020000 bcb1a7b1") + b"host::\0"
# protocol.txt, "OPEN(local-id, 0, "destination")" from a host that skips checksums.
OPEN = bytes.fromhex("4f50454e 07000000 00000000 06000000 00000000 b0afbab1") + b"sync:\0"
# protocol.txt, "WRITE(local-id, remote-id, "data")": its word is WRTE; "READY" is OKAY, "CLOSE" is CLSE.
WRITE = bytes.fromhex("57525445 01000000 07000000 02000000 d1000000 a8adabba") + b"hi"
READY = bytes.fromhex("4f4b4159 01000000 07000000 00000000 00000000 b0b4bea6")
CLOSE = bytes.fromhex("434c5345 01000000 07000000 00000000 00000000 bcb3acba")


def read(content: bytes, *, largest: int = 4096) -> AdbPacket:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(content)
        theirs.shutdown(socket.SHUT_WR)
        return read_packet(InputSocket(ours), largest_payload=largest)


@pytest.mark.parametrize("length", range(len(CONNECT)), ids="{} bytes".format)
def test_a_packet_that_stops_short_is_the_end_of_the_connection(length: int) -> None:
    with pytest.raises(EndOfInputError):
        read(CONNECT[:length])


@given(damaged(st.sampled_from([CONNECT, OPEN, WRITE, READY, CLOSE]), st.binary(max_size=4)))
def test_damaged_packets_never_raise_anything_else(content: bytes) -> None:
    with contextlib.suppress(PacketError, EndOfInputError):
        assert content.startswith(read(content).command.encode())


_NUMBERS = st.one_of(st.integers(0, 8), st.integers(0, 2**32 - 1))
_DATA = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [b"shell:cat\0", b"shell,v2,raw:cat\0", b"sync:\0", b"exec:echo\0", b"shell,\0", b"\xff\0"]
    ),
    st.binary(min_size=8, max_size=8).map(lambda word: b"SEND" + word),
)
_PACKETS = st.tuples(
    st.sampled_from([b"CNXN", b"OPEN", b"OKAY", b"WRTE", b"CLSE", b"AUTH", b"STLS", b"SYNC", b"\0\xff\0\1"]),
    _NUMBERS,
    _NUMBERS,
    _DATA,
    st.sampled_from([None, None, None, 0, 1]),
)


@given(st.lists(_PACKETS, max_size=12), st.binary(max_size=30))
def test_whatever_a_host_sends_the_phone_goes_on(
    phone_for_properties: WiredPhone, packets: list[tuple[bytes, int, int, bytes, int | None]], rest: bytes
) -> None:
    with DeviceHost(phone_for_properties.port) as host:
        host.connect()
        with contextlib.suppress(ConnectionError):
            for command, first, second, data, checksum in packets:
                host.send(command, first, second, data, checksum=checksum)
            host.socket.sendall(rest)
    with DeviceHost(phone_for_properties.port) as host:
        host.connect()
        assert host.run(b"shell:echo still here") == b"still here\n"
