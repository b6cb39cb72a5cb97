"""`sync:`, against requests and answers typed from SYNC.TXT and file_sync_protocol.h."""

from __future__ import annotations

import stat
import struct
from collections.abc import Iterator

import pytest

from device_shim.phone_transport.adb_host import ServerClient
from device_shim.phone_transport.conftest import StartPhone, WiredPhone
from waiting import wait_until

FOLDER = "/data/local/tmp"
# file_sync_service.cpp, send_impl: the owner's bits are copied to group and others: 0644 becomes 0666.


@pytest.fixture
def client(phone: WiredPhone) -> Iterator[ServerClient]:
    with ServerClient(phone.server_port) as client:
        client.open_on(phone.serial, b"sync:")
        yield client


def ask(client: ServerClient, kind: bytes, path: str, *, then: bytes = b"") -> None:
    # SYNC.TXT: four letters, the length of the name as a little-endian number, the name.
    name = path.encode()
    client.socket.sendall(kind + struct.pack("<I", len(name)) + name + then)


def failure(client: ServerClient) -> str:
    kind, length = struct.unpack("<4sI", client.read(8))
    assert kind == b"FAIL"
    return client.read(length).decode()


def push(
    client: ServerClient, path: str, content: bytes, *, mode: int = 0o644, modified: int = 1_700_000_000
) -> None:
    data = b"DATA" + struct.pack("<I", len(content)) + content + b"DONE" + struct.pack("<I", modified)
    ask(client, b"SEND", f"{path},{mode | stat.S_IFREG}", then=data)


def pull(client: ServerClient, path: str) -> bytes:
    ask(client, b"RECV", path)
    return received(client)


def received(client: ServerClient) -> bytes:
    content = b""
    while True:
        kind, length = struct.unpack("<4sI", client.read(8))
        if kind == b"DONE":
            return content
        assert kind == b"DATA"
        assert length <= 64 * 1024
        content += client.read(length)


def test_a_file_sent_in_the_protocol_s_own_bytes_can_be_read(phone: WiredPhone, client: ServerClient) -> None:
    # "SEND", 0x1a bytes of "PATH,MODE", "DATA" of five bytes, "DONE" with the time 0x65545000.
    client.socket.sendall(b"SEND\x1a\0\0\0/data/local/tmp/note,33188DATA\x05\0\0\0helloDONE\x00\x50\x54\x65")
    assert client.read(8) == b"OKAY\0\0\0\0"
    status = phone.userland.files.stat(f"{FOLDER}/note")
    assert phone.userland.files.read(f"{FOLDER}/note") == b"hello"
    assert (status.modified, status.uid, status.gid, oct(status.mode)) == (0x65545000, 2000, 2000, "0o100666")
    client.socket.sendall(b"RECV\x14\0\0\0/data/local/tmp/note")
    assert client.read(21) == b"DATA\x05\0\0\0helloDONE\0\0\0\0"


@pytest.mark.parametrize("kind", [b"STA2", b"LST2"])
def test_status_2_has_all_of_it_or_an_error_number(client: ServerClient, kind: bytes) -> None:
    push(client, f"{FOLDER}/a", b"12345", mode=0o600)
    client.read(8)
    ask(client, kind, f"{FOLDER}/a")
    # sync_stat_v2: id, error, dev, ino, mode, nlink, uid, gid, size, atime, mtime, ctime: 72 bytes.
    fields = struct.unpack("<4sIQQIIIIQqqq", client.read(72))
    assert fields[:2] == (kind, 0)
    assert fields[4:9] == (0o100666, 1, 2000, 2000, 5)
    assert fields[10] == 1_700_000_000


def test_links_are_followed_by_one_status_and_not_by_the_other(
    phone: WiredPhone, client: ServerClient
) -> None:
    push(client, f"{FOLDER}/a", b"12345")
    client.read(8)
    target = b"DATA" + struct.pack("<I", 1) + b"a" + b"DONE" + bytes(4)
    ask(client, b"SEND", f"{FOLDER}/link,{stat.S_IFLNK | 0o777}", then=target)
    assert client.read(8) == b"OKAY\0\0\0\0"
    assert phone.userland.files.read_link(f"{FOLDER}/link") == "a"
    ask(client, b"STA2", f"{FOLDER}/link")
    assert struct.unpack("<4sIQQI", client.read(72)[:28])[4] == 0o100666
    ask(client, b"LST2", f"{FOLDER}/link")
    assert struct.unpack("<4sIQQI", client.read(72)[:28])[4] == stat.S_IFLNK | 0o777


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 1_000_000, 3_000_001], ids="{} bytes".format)
def test_files_of_every_size_come_back_as_they_went(client: ServerClient, size: int) -> None:
    content = (bytes(range(251)) * (size // 251 + 1))[:size]
    ask(client, b"SEND", f"{FOLDER}/x,33188")
    for start in range(0, size, 65536):
        piece = content[start : start + 65536]
        client.socket.sendall(b"DATA" + struct.pack("<I", len(piece)) + piece)
    client.socket.sendall(b"DONE" + bytes(4))
    assert client.read(8) == b"OKAY\0\0\0\0"
    assert pull(client, f"{FOLDER}/x") == content


def test_a_dry_run_leaves_nothing(phone: WiredPhone, client: ServerClient) -> None:
    data = b"DATA\x03\0\0\0abcDONE\0\0\0\0"
    ask(client, b"SND2", f"{FOLDER}/x", then=b"SND2" + struct.pack("<II", 0o100644, 0x80000000) + data)
    assert client.read(8) == b"OKAY\0\0\0\0"
    assert not phone.userland.files.exists(f"{FOLDER}/x")


def test_missing_folders_are_made(phone: WiredPhone, client: ServerClient) -> None:
    push(client, f"{FOLDER}/one/two/x", b"abc")
    assert client.read(8) == b"OKAY\0\0\0\0"
    assert oct(phone.userland.files.stat(f"{FOLDER}/one").mode) == "0o40775"


def test_the_owner_s_permissions_are_copied_to_the_others(phone: WiredPhone, client: ServerClient) -> None:
    push(client, f"{FOLDER}/x", b"abc", mode=0o700)
    client.read(8)
    assert oct(phone.userland.files.stat(f"{FOLDER}/x").mode) == "0o100777"


@pytest.mark.parametrize(("path", "text"), [
    ("/system/bin/x", "couldn't create file: Read-only file system"),
    ("/system/new/x", "secure_mkdirs() failed: Read-only file system"),
    ("/data/app/x", "couldn't create file: Permission denied"),
    ("/data/app/new/x", "secure_mkdirs() failed: Permission denied"),
    (FOLDER, "couldn't create file: Is a directory"),
])  # fmt: skip
def test_a_file_that_cannot_be_made_fails_with_the_reason(client: ServerClient, path: str, text: str) -> None:
    push(client, path, b"abc")
    assert failure(client) == text
    assert client.ends()


def test_a_transfer_that_breaks_off_leaves_no_file(start_wired: StartPhone) -> None:
    phone = start_wired()
    with ServerClient(phone.server_port) as client:
        client.open_on(phone.serial, b"sync:")
        ask(client, b"SEND", f"{FOLDER}/x,33188", then=b"DATA\x03\0\0\0abc")
        wait_until(lambda: phone.userland.files.exists(f"{FOLDER}/x"))
    wait_until(lambda: not phone.userland.files.exists(f"{FOLDER}/x"))
