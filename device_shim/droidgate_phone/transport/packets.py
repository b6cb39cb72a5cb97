"""Packets of the adb device protocol (AOSP `packages/modules/adb/protocol.txt`), and the features that the
adbd of a release announces (`supported_features` in transport.cpp).

A packet is a header of six little-endian 32-bit words (command, two arguments, length and checksum of the
payload, command with all bits turned) and a payload. Compression, APEX, `delayed_ack`, tracking of apps and
TLS are not modelled and never announced.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

from droidgate_phone.transport.sockets import Buffer, InputSocket

_FEATURES_SINCE: Final = (
    (24, ("shell_v2", "cmd")),
    (26, ("stat_v2",)),
    (29, ("fixed_push_mkdir",)),
    (30, ("ls_v2", "abb", "fixed_push_symlink_timestamp", "abb_exec", "sendrecv_v2")),
    (31, ("sendrecv_v2_dry_run_send",)),
)


def features_of(sdk: int) -> tuple[str, ...]:
    """Return the features that the phone announces on an SDK level."""
    return tuple(feature for since, features in _FEATURES_SINCE if sdk >= since for feature in features)


HEADER: Final = struct.Struct("<6I")
COMMANDS: Final = {
    name: int.from_bytes(name.encode(), "little") for name in ("CNXN", "AUTH", "OPEN", "OKAY", "WRTE", "CLSE")
}
_NAMES: Final = {number: name for name, number in COMMANDS.items()}
_ALL_BITS: Final = 0xFFFFFFFF

VERSION_WITH_CHECKSUMS: Final = 0x01000000
VERSION_WITHOUT_CHECKSUMS: Final = 0x01000001
GARBAGE_EVERY: Final = 4
"""Which packet of a phone is broken where garbage is asked for."""

LARGEST_PAYLOAD: Final = 1024 * 1024
"""What adbd takes and sends at most, in bytes; the other side may ask for less."""


class PacketError(Exception):
    """The other side sent bytes that are not a packet, or a forbidden one; the connection has to end."""


@dataclass(frozen=True, slots=True)
class AdbPacket:
    """One packet; `command` is its name of four letters."""

    command: str
    first: int = 0
    second: int = 0
    payload: Buffer = b""
    checksum: int = 0


def payload_checksum(payload: Buffer) -> int:
    """Return the sum of the payload's bytes, which the protocol calls a CRC."""
    return sum(payload) & _ALL_BITS


def pack_header(packet: AdbPacket, *, with_checksum: bool) -> bytes:
    """Return the header of a packet."""
    number = COMMANDS[packet.command]
    checksum = payload_checksum(packet.payload) if with_checksum else 0
    return HEADER.pack(number, packet.first, packet.second, len(packet.payload), checksum, number ^ _ALL_BITS)


def read_packet(source: InputSocket, *, largest_payload: int) -> AdbPacket:
    """Read a packet; its checksum is left to the caller, who knows the version.

    Raises:
        EndOfInputError: the connection ended, perhaps in the middle of a packet.
        PacketError: the header is broken, of an unknown command, or announces too long a payload.
    """
    number, first, second, length, checksum, magic = HEADER.unpack(source.read_exactly(HEADER.size))
    if magic != number ^ _ALL_BITS:
        raise PacketError(f"a header's command {number:08x} and magic {magic:08x} do not fit")
    name = _NAMES.get(number)
    if name is None:
        raise PacketError(f"unknown command {number:08x}")
    if length > largest_payload:
        raise PacketError(f"{name} with {length} bytes, more than {largest_payload}")
    payload = source.read_exactly(length) if length else b""
    return AdbPacket(name, first, second, payload, checksum)
