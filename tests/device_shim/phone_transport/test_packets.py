"""The packet codec, against packets typed from protocol.txt."""

from __future__ import annotations

import contextlib
import socket

import pytest
from hypothesis import given, strategies as st

from device_shim.phone_transport.adb_host import DeviceHost, message_bytes
from device_shim.phone_transport.conftest import WiredPhone
from droidgate_phone.transport.packets import Packet, PacketError, pack_header, read_packet
from droidgate_phone.transport.sockets import EndOfInputError, InputSocket
from strategies import damaged

# protocol.txt, "struct message" and "CONNECT(version, maxdata, "system-identity-string")": the words in their
# order, little-endian; the checksum is the sum of the seven bytes of "host::" and its NUL.
CONNECT = bytes.fromhex("434e584e 01000001 00100000 07000000 32020000 bcb1a7b1") + b"host::\0"
# protocol.txt, "OPEN(local-id, 0, "destination")" from a host that skips checksums.
OPEN = bytes.fromhex("4f50454e 07000000 00000000 06000000 00000000 b0afbab1") + b"sync:\0"
# protocol.txt, "WRITE(local-id, remote-id, "data")": its word is WRTE; "READY" is OKAY, "CLOSE" is CLSE.
WRITE = bytes.fromhex("57525445 01000000 07000000 02000000 d1000000 a8adabba") + b"hi"
READY = bytes.fromhex("4f4b4159 01000000 07000000 00000000 00000000 b0b4bea6")
CLOSE = bytes.fromhex("434c5345 01000000 07000000 00000000 00000000 bcb3acba")


def read(content: bytes, *, largest: int = 4096) -> Packet:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(content)
        theirs.shutdown(socket.SHUT_WR)
        return read_packet(InputSocket(ours), largest_payload=largest)


@pytest.mark.parametrize(
    ("content", "packet"),
    [
        (CONNECT, Packet("CNXN", 0x01000001, 4096, b"host::\0", 562)),
        (OPEN, Packet("OPEN", 7, 0, b"sync:\0", 0)),
        (WRITE, Packet("WRTE", 1, 7, b"hi", 209)),
        (READY, Packet("OKAY", 1, 7, b"", 0)),
        (CLOSE, Packet("CLSE", 1, 7, b"", 0)),
    ],
)
def test_packets_of_the_protocol_are_read_and_written(content: bytes, packet: Packet) -> None:
    assert read(content) == packet
    written = pack_header(packet, with_checksum=bool(packet.checksum)) + packet.payload
    assert written == content


def test_the_tests_own_host_writes_the_same_packets() -> None:
    assert message_bytes(b"CNXN", 0x01000001, 4096, b"host::\0") == CONNECT
    assert message_bytes(b"WRTE", 1, 7, b"hi") == WRITE


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (CONNECT[:20] + b"\0\0\0\0" + CONNECT[24:], "magic"),
        (message_bytes(b"STLS", 0, 0), "unknown command"),
        (message_bytes(b"WRTE", 1, 7, b"x" * 4097), "more than 4096"),
    ],
)
def test_a_broken_header_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(PacketError, match=reason):
        read(content)


@pytest.mark.parametrize("length", range(len(CONNECT)))
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
