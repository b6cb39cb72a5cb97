"""Hosts without the user's key: the device protocol lets none of them open anything."""

import os
import signal
import socket
import stat
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from device_shim.phone_transport.adb_host import (
    PUBLIC_KEY,
    SIGNATURE,
    TOKEN,
    DeviceHost,
    ServerClient,
    new_key,
    private_key,
    public_key_line,
    sign,
)
from device_shim.phone_transport.conftest import StockAdb, adb_home, adb_keys, free_port, stock_adb
from droidgate.cli.demo.demonstration_phone import demonstration_phone
from droidgate_phone.apps.sample_packages import sample_packages
from droidgate_phone.phone import VirtualPhone, start_phone
from droidgate_phone.transport import device_connection, local_users
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
        message = host.greet()
        assert (message.command, message.arg0, len(message.data)) == (b"AUTH", TOKEN, 20)
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
        message = host.greet()
        for _ in range(5):
            tokens.add(message.data)
            host.send(b"AUTH", SIGNATURE, 0, sign(OTHER, message.data))
            message = host.receive()
            assert (message.command, message.arg0) == (b"AUTH", TOKEN)
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
        message = host.greet()
        host.send(b"AUTH", SIGNATURE, 0, b"x" * 256)
        host.send(b"AUTH", SIGNATURE, 0, sign(MINE, message.data))
        assert [host.receive().command for _ in range(2)] == [b"AUTH", b"AUTH"]
    with DeviceHost(phone.port) as host:
        message = host.greet()
        host.send(b"AUTH", PUBLIC_KEY, 0, b"key\0")
        host.send(b"AUTH", SIGNATURE, 0, sign(MINE, message.data))
        assert is_silent(host)


def test_a_second_handshake_ends_what_was_open_and_needs_a_signature(phone: VirtualPhone) -> None:
    with DeviceHost(phone.port) as host:
        host.connect(key=MINE)
        host.open(b"shell:cat")
        assert host.greet().command == b"AUTH"
        host.send(b"OPEN", 7, 0, b"shell:echo on\0")
        assert is_silent(host)


def test_a_host_that_guesses_on_has_to_wait(phone: VirtualPhone, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("line", [
    b"",
    b"===",
    public_key_line(MINE)[:100],
    public_key_line(MINE, words=32),
    public_key_line(MINE, exponent=1),
    public_key_line(MINE, exponent=0),
], ids=["empty", "no base64", "cut", "another size", "exponent 1", "exponent 0"])  # fmt: skip
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


def test_keys_and_signatures_of_the_real_adb_are_the_tests_own(stock_adb: StockAdb, tmp_path: Path) -> None:
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
    messages: list[bytes] = []

    def ask() -> None:
        connected, _ = listening.accept()
        with connected:
            read_message(connected)
            token = bytes(range(20))
            header = struct.pack("<IIIII", int.from_bytes(b"AUTH", "little"), TOKEN, 0, 20, sum(token))
            magic = int.from_bytes(b"AUTH", "little") ^ 0xFFFFFFFF
            connected.sendall(header + struct.pack("<I", magic) + token)
            messages.append(read_message(connected))

    asking = threading.Thread(target=ask)
    asking.start()
    port = listening.getsockname()[1]
    with subprocess.Popen(
        [adb.program, "connect", f"127.0.0.1:{port}"], env=adb.environment, stdout=subprocess.DEVNULL
    ) as running:
        asking.join(120)
        running.kill()
    return messages[0]


def read_message(connected: socket.socket) -> bytes:
    header = connected.recv(24, socket.MSG_WAITALL)
    return connected.recv(struct.unpack("<6I", header)[3], socket.MSG_WAITALL)


# The adb server of the demo: the real one asks nobody who they are, so others must not reach it


TABLES = Path("/proc/net/tcp"), Path("/proc/net/tcp6")


def listening_inodes() -> set[str]:
    """Return the sockets of this machine that listen on TCP."""
    rows = [line.split() for table in TABLES for line in table.read_text().splitlines()]
    return {row[9] for row in rows if row[3] == "0A"}


def sockets_of(program: Path) -> set[str]:
    """Return the sockets that processes of a program with this home folder have open."""
    links = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(program).encode() not in (process / "environ").read_bytes():
                continue
            links |= {str(item.readlink()) for item in (process / "fd").iterdir()}
        except OSError:
            continue
    return {item[len("socket:[") : -1] for item in links if item.startswith("socket:[")}


@pytest.mark.requires("adb")
def test_the_server_of_the_demo_is_reached_by_its_user_only(tmp_path: Path) -> None:
    home = tmp_path / "the-home-of-this-test"
    with demonstration_phone(home) as demonstration:
        assert demonstration.adb is not None
        server = Path(demonstration.adb.address.path or "")
        assert stat.S_ISSOCK(server.stat().st_mode)
        assert stat.S_IMODE(server.parent.stat().st_mode) == 0o700
        opened = sockets_of(home)
        assert opened
        assert not opened & listening_inodes()
        assert demonstration.device.run(["echo", "hi"]).stdout == b"hi\n"
        assert demonstration.phone.server_port is None
        with DeviceHost(demonstration.phone.port) as other:
            assert other.connect(key=new_key()).command == b"AUTH"
    assert not server.parent.exists()


# Other users of the machine at the port where the phone plays an adb server


IS_ROOT = os.geteuid() == 0
STRANGER = 54321
AsStranger = Callable[[Callable[[], bytes]], bytes]
INSTALL = b"exec:cmd package install -S 1000"


@pytest.fixture
def served_phone() -> Iterator[VirtualPhone]:
    with start_phone(apps=False, server_port=0, adb_keys=()) as started:
        yield started
    assert started.log.of_kind("left-running") == []


@pytest.fixture
def as_stranger(monkeypatch: pytest.MonkeyPatch) -> AsStranger:
    """Run a function as another user; where the tests are not root, the phone is another user's instead."""

    def run(work: Callable[[], bytes]) -> bytes:
        if not IS_ROOT:
            own = os.geteuid()
            monkeypatch.setattr(os, "geteuid", lambda: own + 1)
            return work()
        # What the child needs of Python has to be there already: it may not read this user's files.
        "".encode("idna")
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            try:
                signal.alarm(30)
                os.setgroups([])
                os.setresgid(STRANGER, STRANGER, STRANGER)
                os.setresuid(STRANGER, STRANGER, STRANGER)
                os.write(writing, work())
            except BaseException as error:  # noqa: BLE001 - reported to the parent
                os.write(writing, repr(error).encode())
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as opened:
            content = opened.read()
        os.waitpid(child, 0)
        return content

    return run


def port_of(served_phone: VirtualPhone) -> int:
    assert served_phone.server_port is not None
    return served_phone.server_port


def ask(port: int, *requests: bytes) -> bytes:
    """Send requests without waiting, and return everything that comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as client:
        client.sendall(b"".join(b"%04x%s" % (len(request), request) for request in requests))
        client.shutdown(socket.SHUT_WR)
        pieces = []
        while piece := client.recv(65536):
            pieces.append(piece)
        return b"".join(pieces)


REFUSED = b"FAIL002athis virtual phone belongs to another user"


@pytest.mark.parametrize("requests", [
    [b"host:version"],
    [b"host:devices-l"],
    [b"host:transport:SERIAL", INSTALL],
    [b"host:transport-any", b"shell:touch /data/local/tmp/planted"],
    [b"host:track-devices"],
], ids=["version", "devices", "install", "shell", "track"])  # fmt: skip
def test_another_user_is_refused(
    served_phone: VirtualPhone, as_stranger: AsStranger, requests: list[bytes]
) -> None:
    meant = [request.replace(b"SERIAL", served_phone.serial.encode()) for request in requests]
    port = port_of(served_phone)
    assert as_stranger(lambda: ask(port, *meant)) == REFUSED
    assert served_phone.log.of_kind("service") == served_phone.log.of_kind("host-service") == []
    assert (
        served_phone.log.of_kind("refused-connection")[0]["reason"]
        == "this virtual phone belongs to another user"
    )
    assert not served_phone.system.files.exists("/data/local/tmp/planted")


def test_the_user_is_served_next_to_it(
    served_phone: VirtualPhone, as_stranger: AsStranger, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = port_of(served_phone)
    assert as_stranger(lambda: ask(port, b"host:version")) == REFUSED
    monkeypatch.undo()
    with ServerClient(port) as client:
        assert client.ask(b"host:version") == "0029"


def test_a_client_that_is_gone_already_is_not_served(
    served_phone: VirtualPhone, as_stranger: AsStranger
) -> None:
    """A socket without an owner has the user 0, which the phone may run as."""
    port = port_of(served_phone)
    request = b"host:transport-any", b"shell:touch /data/local/tmp/planted"

    def send_and_go() -> bytes:
        for _ in range(50):
            with socket.create_connection(("127.0.0.1", port), timeout=120) as client:
                client.sendall(b"".join(b"%04x%s" % (len(item), item) for item in request))
        return b"done"

    assert as_stranger(send_and_go) == b"done"
    wait_until(lambda: len(served_phone.log.of_kind("refused-connection")) == 50)
    assert served_phone.log.of_kind("service") == []


@pytest.fixture(params=["netlink", "table"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "table":

        def refuse(*_: object) -> int:
            raise OSError("not allowed")

        monkeypatch.setattr(local_users, "_user_by_netlink", refuse)


@pytest.mark.usefixtures("_way")
class TestUsersOfSockets:
    def test_the_own_user_is_known_by_ipv4_and_by_ipv6(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            own = listening.getsockname()
            for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1")):
                with socket.socket(family) as client:
                    client.connect((address, own[1]))
                    accepted, peer = listening.accept()
                    with accepted:
                        assert local_users.peer_user(peer, own) == os.geteuid()
                        assert local_users.is_from_this_user(accepted)
                        client.shutdown(socket.SHUT_WR)
                        assert local_users.is_from_this_user(accepted)
                        client.close()
                        assert not local_users.is_from_this_user(accepted)

    def test_a_connection_of_other_sockets_is_not_mistaken(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            own = listening.getsockname()
            assert local_users.peer_user(("127.0.0.1", 1), own) is None
            # Somebody listens there, but nobody is connected.
            with socket.create_server(("127.0.0.1", 0)) as other:
                assert local_users.peer_user(other.getsockname(), own) is None

    def test_a_connection_that_was_reset_is_nobody_s(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            client = socket.create_connection(listening.getsockname())
            accepted, _ = listening.accept()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            client.close()
            with accepted:
                assert not local_users.is_from_this_user(accepted)

    @pytest.mark.skipif(not IS_ROOT, reason="changes the user, which only root can")
    def test_the_socket_of_another_user_is_that_users(self, as_stranger: AsStranger) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            own = listening.getsockname()

            def connect() -> bytes:
                with socket.create_connection(own) as client:
                    client.sendall(b"x")
                    return client.recv(1)

            listening.settimeout(20)
            users: list[int | None] = []

            def accept() -> None:
                accepted, peer = listening.accept()
                with accepted:
                    users.append(local_users.peer_user(peer, own))
                    assert not local_users.is_from_this_user(accepted)
                    accepted.sendall(b"y")

            accepting = threading.Thread(target=accept)
            accepting.start()
            assert as_stranger(connect) == b"y"
            accepting.join(120)
            assert users == [STRANGER]


def test_without_users_from_the_system_nobody_is_served(
    served_phone: VirtualPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    answer = ask(port_of(served_phone), b"host:version")
    assert answer.startswith(b"FAIL")
    assert answer.endswith(b"use: adb connect")


def test_users_that_this_namespace_does_not_know_are_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_users, "_user_by_netlink", lambda *_: 65534)
    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        client = socket.create_connection(listening.getsockname())
        accepted, _ = listening.accept()
        with client, accepted:
            assert not local_users.is_from_this_user(accepted)
