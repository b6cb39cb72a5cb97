"""The host's side of the adb protocols, written for the tests from protocol.txt and services.md.

It shares no code with the phone.
"""

from __future__ import annotations

import base64
import functools
import socket
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from cryptography.hazmat.primitives.asymmetric import padding, rsa, utils
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import load_pem_private_key

OLD_VERSION = 0x01000000
NEW_VERSION = 0x01000001


@dataclass(frozen=True)
class Message:
    command: bytes
    arg0: int
    arg1: int
    data: bytes
    checksum: int = 0


def message_bytes(
    command: bytes, arg0: int, arg1: int, data: bytes = b"", *, checksum: int | None = None
) -> bytes:
    number = struct.unpack("<I", command)[0]
    total = sum(data) % 2**32 if checksum is None else checksum
    return struct.pack("<IIIIII", number, arg0, arg1, len(data), total, number ^ 0xFFFFFFFF) + data


TOKEN, SIGNATURE, PUBLIC_KEY = 1, 2, 3


def new_key(bits: int = 2048) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=bits)


@functools.cache
def host_key() -> rsa.RSAPrivateKey:
    """The key of the tests' own hosts."""
    return new_key()


def private_key(file: Path) -> rsa.RSAPrivateKey:
    """Read a key that adb made."""
    key = load_pem_private_key(file.read_bytes(), None)
    assert isinstance(key, rsa.RSAPrivateKey)
    return key


def public_key_line(key: rsa.RSAPrivateKey, *, words: int = 64, exponent: int = 65537) -> bytes:
    """Write a public key as adb does (android_pubkey.cpp): sizes, -1/n mod 2^32, n, 2^4096 mod n, e."""
    n = key.public_key().public_numbers().n
    inverse = -pow(n, -1, 2**32) % 2**32
    squared = pow(2, 4096, n)
    structure = struct.pack("<II", words, inverse) + n.to_bytes(256, "little")
    structure += squared.to_bytes(256, "little") + struct.pack("<I", exponent)
    return base64.b64encode(structure) + b" tests@host\n"


def sign(key: rsa.RSAPrivateKey, token: bytes) -> bytes:
    """Sign a token as adb does: as if it were a SHA-1 digest."""
    return key.sign(token, padding.PKCS1v15(), utils.Prehashed(SHA1()))


class Connection:
    """A socket with exact reads; a context manager."""

    def __init__(self, port: int, *, seconds: float = 120) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        self.received = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def read(self, count: int) -> bytes:
        content = b""
        while len(content) < count:
            more = self.receive_some(count - len(content))
            if not more:
                raise EOFError(f"{len(content)} of {count} bytes")
            content += more
        return content

    def receive_some(self, most: int) -> bytes:
        content = self.socket.recv(most)
        self.received += len(content)
        return content

    def read_to_end(self) -> bytes:
        pieces = []
        while piece := self.receive_some(65536):
            pieces.append(piece)
        return b"".join(pieces)

    def ends(self) -> bool:
        """Whether the phone closes the connection; what it still sends is passed over."""
        try:
            self.read_to_end()
        except ConnectionError:
            return True
        return True


class DeviceHost(Connection):
    """Speaks the device protocol to the phone's adbd."""

    def send(
        self, command: bytes, arg0: int, arg1: int, data: bytes = b"", *, checksum: int | None = None
    ) -> None:
        self.socket.sendall(message_bytes(command, arg0, arg1, data, checksum=checksum))

    def receive(self) -> Message:
        number, arg0, arg1, length, checksum, magic = struct.unpack("<IIIIII", self.read(24))
        assert magic == number ^ 0xFFFFFFFF
        return Message(struct.pack("<I", number), arg0, arg1, self.read(length), checksum)

    def greet(self, *, version: int = NEW_VERSION, most: int = 1024 * 1024) -> Message:
        self.send(b"CNXN", version, most, b"host::features=shell_v2,cmd")
        return self.receive()

    def connect(
        self, *, version: int = NEW_VERSION, most: int = 1024 * 1024, key: rsa.RSAPrivateKey | None = None
    ) -> Message:
        """Shake hands, with the tests' key or another one; return the phone's last answer."""
        challenge = self.greet(version=version, most=most)
        assert (challenge.command, challenge.arg0, len(challenge.data)) == (b"AUTH", TOKEN, 20)
        self.send(b"AUTH", SIGNATURE, 0, sign(key or host_key(), challenge.data))
        return self.receive()

    def open(self, service: bytes, number: int = 7) -> int:
        """Open a service; return the phone's number of the stream."""
        self.send(b"OPEN", number, 0, service + b"\0")
        while (answer := self.receive()).command == b"CLSE" and answer.arg0:
            # The answer to an OKAY that came after its stream's end.
            pass
        assert (answer.command, answer.arg1) == (b"OKAY", number)
        return answer.arg0

    def read_stream(self, own: int, number: int = 7) -> bytes:
        """Read a stream, by the phone's number, until the phone closes it; acknowledge every packet."""
        content = b""
        while True:
            message = self.receive()
            if message.arg0 != own:
                continue
            assert message.arg1 == number
            if message.command == b"CLSE":
                return content
            if message.command == b"WRTE":
                content += message.data
                self.send(b"OKAY", number, own)

    def run(self, service: bytes) -> bytes:
        return self.read_stream(self.open(service))


class ServerClient(Connection):
    """Speaks the server protocol."""

    def request(self, text: bytes) -> None:
        self.socket.sendall(f"{len(text):04x}".encode() + text)

    def status(self) -> bytes:
        return self.read(4)

    def text(self) -> str:
        return self.read(int(self.read(4), 16)).decode()

    def ask(self, text: bytes) -> str:
        self.request(text)
        assert self.status() == b"OKAY"
        return self.text()

    def refusal(self, text: bytes) -> str:
        self.request(text)
        assert self.status() == b"FAIL"
        return self.text()

    def open_on(self, serial: str, service: bytes) -> None:
        self.request(b"host:transport:" + serial.encode())
        assert self.status() == b"OKAY"
        self.request(service)
        assert self.status() == b"OKAY"


def shell_packets(content: bytes) -> list[tuple[int, bytes]]:
    """Take apart what a shell,v2 service sent."""
    packets = []
    while content:
        kind, length = struct.unpack("<BI", content[:5])
        packets.append((kind, content[5 : 5 + length]))
        content = content[5 + length :]
    return packets


def shell_result(content: bytes) -> tuple[bytes, bytes, int]:
    """Return standard output, standard error and exit status."""
    packets = shell_packets(content)
    status = [data for kind, data in packets if kind == 3]
    assert len(status) == 1
    assert packets[-1][0] == 3
    return _joined(packets, 1), _joined(packets, 2), status[0][0]


def _joined(packets: Iterable[tuple[int, bytes]], stream: int) -> bytes:
    return b"".join(data for kind, data in packets if kind == stream)
