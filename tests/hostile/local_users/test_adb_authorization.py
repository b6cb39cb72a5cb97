"""Hosts without the user's key: the device protocol lets none of them open anything."""

import os
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from device_shim.phone_transport.adb_host import (
    PUBLIC_KEY,
    SIGNATURE,
    TOKEN,
    DeviceHost,
    new_key,
    private_key,
    public_key_line,
    sign,
)
from device_shim.phone_transport.conftest import StockAdb, adb_home, adb_keys, free_port, stock_adb
from droidgate_phone.apps.sample_packages import sample_packages
from droidgate_phone.phone import VirtualPhone, start_phone
from droidgate_phone.transport import device_connection
from droidgate_phone.transport.adb_keys import AuthorizedKeys, PublicKey, read_public_key
from waiting import wait_until

__all__ = ["adb_home", "adb_keys", "stock_adb"]

OTHER = new_key()
MINE = new_key()


@pytest.fixture
def phone(tmp_path: Path) -> Iterator[VirtualPhone]:
    file = tmp_path / "adbkey.pub"
    file.write_bytes(public_key_line(MINE))
    with start_phone(apps=False, adb_keys=(file,)) as started:
        yield started


def is_silent(host: DeviceHost) -> bool:
    """Whether the phone sends nothing."""
    host.socket.settimeout(0.2)
    try:
        host.socket.recv(1)
    except TimeoutError:
        return True
    return False


def test_the_authorized_key_is_let_in(phone: VirtualPhone) -> None:
    with DeviceHost(phone.port) as host:
        assert host.connect(key=MINE).command == b"CNXN"
        assert host.run(b"shell:echo hi") == b"hi\n"


def test_nothing_can_be_opened_without_a_signature(phone: VirtualPhone) -> None:
    apk = sample_packages()[0].apk
    with DeviceHost(phone.port) as host:
        asked = host.greet()
        assert (asked.command, asked.arg0, len(asked.data)) == (b"AUTH", TOKEN, 20)
        host.send(b"OPEN", 7, 0, b"exec:cmd package install -S %d\0" % len(apk))
        host.send(b"OPEN", 8, 0, b"sync:\0")
        host.send(b"WRTE", 7, 1, b"x" * 4096)
        host.send(b"OKAY", 7, 1)
        host.send(b"AUTH", SIGNATURE, 0, b"")
        # The phone read all of it, and asks again.
        assert (host.receive().command, is_silent(host)) == (b"AUTH", True)
    assert phone.log.of_kind("service") == []
    assert phone.system.packages.all() == []


def test_another_key_is_refused_and_asked_again_with_another_token(phone: VirtualPhone) -> None:
    tokens = set()
    with DeviceHost(phone.port) as host:
        asked = host.greet()
        for _ in range(5):
            tokens.add(asked.data)
            host.send(b"AUTH", SIGNATURE, 0, sign(OTHER, asked.data))
            asked = host.receive()
            assert (asked.command, asked.arg0) == (b"AUTH", TOKEN)
        host.send(b"AUTH", PUBLIC_KEY, 0, public_key_line(OTHER) + b"\0")
        host.send(b"OPEN", 7, 0, b"shell:id\0")
        assert is_silent(host)
    assert len(tokens) == 5
    assert phone.log.of_kind("service") == []


def test_a_public_key_alone_opens_nothing_though_it_is_authorized(phone: VirtualPhone) -> None:
    with DeviceHost(phone.port) as host:
        host.greet()
        host.send(b"AUTH", PUBLIC_KEY, 0, public_key_line(MINE) + b"\0")
        host.send(b"OPEN", 7, 0, b"shell:id\0")
        assert is_silent(host)
    wait_until(lambda: phone.log.of_kind("unauthorized"))
    assert phone.log.of_kind("service") == []


def test_a_signature_is_good_for_its_own_token_only(phone: VirtualPhone) -> None:
    with DeviceHost(phone.port) as seen:
        first = seen.greet()
        signature = sign(MINE, first.data)
        seen.send(b"AUTH", SIGNATURE, 0, signature)
        assert seen.receive().command == b"CNXN"
        with DeviceHost(phone.port) as host:
            assert host.greet().data != first.data
            host.send(b"AUTH", SIGNATURE, 0, signature)
            assert host.receive().command == b"AUTH"
        # Nor does it work on its own connection a second time: a new handshake has a new token.
        assert seen.greet().command == b"AUTH"
        seen.send(b"AUTH", SIGNATURE, 0, signature)
        assert seen.receive().command == b"AUTH"


def test_a_token_is_gone_after_an_attempt(phone: VirtualPhone) -> None:
    with DeviceHost(phone.port) as host:
        asked = host.greet()
        host.send(b"AUTH", SIGNATURE, 0, b"x" * 256)
        host.send(b"AUTH", SIGNATURE, 0, sign(MINE, asked.data))
        assert [host.receive().command for _ in range(2)] == [b"AUTH", b"AUTH"]
    with DeviceHost(phone.port) as host:
        asked = host.greet()
        host.send(b"AUTH", PUBLIC_KEY, 0, b"key\0")
        host.send(b"AUTH", SIGNATURE, 0, sign(MINE, asked.data))
        assert is_silent(host)


def test_a_second_handshake_ends_what_was_open_and_needs_a_signature(phone: VirtualPhone) -> None:
    with DeviceHost(phone.port) as host:
        host.connect(key=MINE)
        host.open(b"shell:cat")
        assert host.greet().command == b"AUTH"
        host.send(b"OPEN", 7, 0, b"shell:echo on\0")
        assert is_silent(host)


def test_a_host_that_goes_on_guessing_has_to_wait(
    phone: VirtualPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_connection, "_FREE_ATTEMPTS", 3)
    monkeypatch.setattr(device_connection, "_SECONDS_PER_ATTEMPT", 0.2)
    with DeviceHost(phone.port) as host:
        host.greet()
        times = []
        for _ in range(5):
            start = time.monotonic()
            host.send(b"AUTH", SIGNATURE, 0, os.urandom(256))
            assert host.receive().command == b"AUTH"
            times.append(time.monotonic() - start)
        assert min(times[3:]) >= 0.2
        # The user is not held up by it.
        with DeviceHost(phone.port) as other:
            assert other.connect(key=MINE).command == b"CNXN"


def test_a_phone_stops_at_once_while_a_host_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_connection, "_FREE_ATTEMPTS", 0)
    monkeypatch.setattr(device_connection, "_SECONDS_PER_ATTEMPT", 60.0)
    with start_phone(apps=False, adb_keys=(tmp_path / "none",)) as phone:
        host = DeviceHost(phone.port)
        host.greet()
        host.send(b"AUTH", SIGNATURE, 0, b"")
        wait_until(lambda: phone.log.of_kind("wrong-signature"))
    with host:
        assert host.ends()
    assert phone.log.of_kind("left-running") == []


def test_before_it_is_let_in_a_host_sends_small_packets_only(phone: VirtualPhone) -> None:
    with DeviceHost(phone.port) as host:
        host.greet()
        host.send(b"AUTH", SIGNATURE, 0, b"x" * 4097)
        assert host.ends()


def forgeries() -> list[bytes]:
    """What a verifier that looks at a part of the message takes for a signature of the token of zeros."""
    n = MINE.public_key().public_numbers().n
    digest = bytes.fromhex("3021300906052b0e03021a05000414") + bytes(20)
    private = MINE.private_numbers()

    def raw(message: bytes) -> bytes:
        return pow(int.from_bytes(message, "big"), private.d, n).to_bytes(256, "big")

    true = sign(MINE, bytes(20))
    return [
        b"",
        bytes(256),
        b"\xff" * 256,
        n.to_bytes(256, "big"),
        true[:-1],
        b"\0" + true,
        true + b"\0",
        (int.from_bytes(true, "big") ^ 1).to_bytes(256, "big"),
        # Padding of one byte with rubbish behind the digest (Bleichenbacher 2006), other kinds of padding.
        raw(b"\x00\x01\xff\x00" + digest + b"x" * (256 - 4 - len(digest))),
        raw(b"\x00\x02" + b"\xff" * (253 - len(digest)) + b"\x00" + digest),
        raw(b"\x00\x01" + b"\x00" * (253 - len(digest)) + b"\x00" + digest),
        raw(b"\x00\x01" + b"\xff" * (253 - 20) + b"\x00" + bytes(20)),
    ]


def test_only_the_whole_signature_counts() -> None:
    key = read_public_key(public_key_line(MINE))
    assert key.has_signed(bytes(20), sign(MINE, bytes(20)))
    assert [key.has_signed(bytes(20), forgery) for forgery in forgeries()] == [False] * len(forgeries())
    assert not key.has_signed(bytes(19) + b"\1", sign(MINE, bytes(20)))
    assert not key.has_signed(b"", sign(MINE, bytes(20)))


def test_keys_are_read_as_adb_writes_them(tmp_path: Path) -> None:
    numbers = MINE.public_key().public_numbers()
    assert read_public_key(public_key_line(MINE)) == PublicKey(numbers.n, numbers.e)
    file = tmp_path / "keys"
    lines = [b"", b"rubbish", b"QQ== x", public_key_line(OTHER), b"\xff\xfe", public_key_line(MINE)]
    file.write_bytes(b"\n".join(lines))
    keys = AuthorizedKeys((tmp_path / "missing", tmp_path, file))
    assert keys.have_signed(bytes(20), sign(MINE, bytes(20)))
    assert keys.have_signed(bytes(20), sign(OTHER, bytes(20)))
    assert len(keys.keys()) == 2
    assert AuthorizedKeys(()).have_signed(bytes(20), sign(MINE, bytes(20))) is False


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"===",
        public_key_line(MINE)[:100],
        public_key_line(MINE, words=32),
        public_key_line(MINE, exponent=1),
        public_key_line(MINE, exponent=0),
    ],
    ids=["empty", "no base64", "cut", "another size", "exponent 1", "exponent 0"],
)
def test_what_is_not_such_a_key_authorizes_nobody(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"not an? "):
        read_public_key(line)


# The real adb


def with_home(adb: StockAdb, home: Path) -> StockAdb:
    """Return the same program with a server and a home of its own, as another user has them."""
    home.mkdir()
    port = free_port()
    changed = {"HOME": str(home), "TMPDIR": str(home), "ANDROID_ADB_SERVER_PORT": str(port)}
    return StockAdb(adb.program, port, {**adb.environment, **changed})


def test_the_real_adb_of_another_user_stays_unauthorized(
    stock_adb: StockAdb, adb_keys: tuple[Path, ...], tmp_path: Path
) -> None:
    other = with_home(stock_adb, tmp_path / "other")
    apk = tmp_path / "base.apk"
    apk.write_bytes(sample_packages()[0].apk)
    with start_phone(apps=False, adb_keys=adb_keys) as phone:
        try:
            refused = other.run("connect", phone.serial)
            assert b"failed to authenticate" in refused.stdout + refused.stderr
            assert f"{phone.serial}\tunauthorized" in other.run("devices").stdout.decode()
            installed = other.on(phone.serial, "install", str(apk))
            assert installed.returncode != 0
            assert b"unauthorized" in installed.stdout + installed.stderr
            assert other.on(phone.serial, "shell", "id").returncode != 0
            assert phone.system.packages.all() == []
            assert phone.log.of_kind("service") == []
            stock_adb.connect(phone.serial)
            assert stock_adb.on(phone.serial, "install", str(apk)).returncode == 0
            stock_adb.run("disconnect", phone.serial)
        finally:
            other.run("kill-server")


def test_keys_and_signatures_of_the_real_adb_are_those_of_the_tests(
    stock_adb: StockAdb, tmp_path: Path
) -> None:
    file = tmp_path / "adbkey"
    assert stock_adb.run("keygen", str(file)).returncode == 0
    key: rsa.RSAPrivateKey = private_key(file)
    line = file.with_suffix(".pub").read_bytes()
    assert line.split()[0] == public_key_line(key).split()[0]
    numbers = key.public_key().public_numbers()
    assert read_public_key(line) == PublicKey(numbers.n, numbers.e)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        pretended = with_home(stock_adb, tmp_path / "home")
        (tmp_path / "home" / ".android").mkdir()
        file.rename(tmp_path / "home" / ".android" / "adbkey")
        try:
            signature = signature_of(pretended, listening)
        finally:
            pretended.run("kill-server")
    assert signature == sign(key, bytes(range(20)))


def signature_of(adb: StockAdb, listening: socket.socket) -> bytes:
    """Have the real adb sign a token, over a socket that replaces a phone."""
    found: list[bytes] = []

    def ask() -> None:
        connected, _ = listening.accept()
        with connected:
            read_message(connected)
            token = bytes(range(20))
            header = struct.pack("<IIIII", int.from_bytes(b"AUTH", "little"), TOKEN, 0, 20, sum(token))
            magic = int.from_bytes(b"AUTH", "little") ^ 0xFFFFFFFF
            connected.sendall(header + struct.pack("<I", magic) + token)
            found.append(read_message(connected))

    asking = threading.Thread(target=ask)
    asking.start()
    port = listening.getsockname()[1]
    with subprocess.Popen(
        [adb.program, "connect", f"127.0.0.1:{port}"], env=adb.environment, stdout=subprocess.DEVNULL
    ) as running:
        asking.join(120)
        running.kill()
    return found[0]


def read_message(connected: socket.socket) -> bytes:
    header = connected.recv(24, socket.MSG_WAITALL)
    return connected.recv(struct.unpack("<6I", header)[3], socket.MSG_WAITALL)
