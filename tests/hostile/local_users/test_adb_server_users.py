"""Other users of the machine at the port where the phone plays an adb server."""

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from device_shim.phone_transport.adb_host import ServerClient
from droidgate_phone.phone import VirtualPhone, start_phone
from droidgate_phone.transport import local_users
from waiting import wait_until

IS_ROOT = os.geteuid() == 0
STRANGER = 54321
INSTALL = b"exec:cmd package install -S 1000"


@pytest.fixture
def phone() -> Iterator[VirtualPhone]:
    with start_phone(apps=False, server_port=0, adb_keys=()) as started:
        yield started
    assert started.log.of_kind("left-running") == []


@pytest.fixture
def as_stranger(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], bytes]], bytes]:
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
            found = opened.read()
        os.waitpid(child, 0)
        return found

    return run


def port_of(phone: VirtualPhone) -> int:
    assert phone.server_port is not None
    return phone.server_port


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


@pytest.mark.parametrize(
    "requests",
    [
        [b"host:version"],
        [b"host:devices-l"],
        [b"host:transport:SERIAL", INSTALL],
        [b"host:transport-any", b"shell:touch /data/local/tmp/planted"],
        [b"host:disconnect:SERIAL"],
        [b"host:track-devices"],
    ],
    ids=["version", "devices", "install", "shell", "disconnect", "track"],
)
def test_another_user_is_refused(
    phone: VirtualPhone, as_stranger: Callable[[Callable[[], bytes]], bytes], requests: list[bytes]
) -> None:
    meant = [request.replace(b"SERIAL", phone.serial.encode()) for request in requests]
    port = port_of(phone)
    assert as_stranger(lambda: ask(port, *meant)) == REFUSED
    assert phone.log.of_kind("service") == phone.log.of_kind("host-service") == []
    assert (
        phone.log.of_kind("refused-connection")[0]["reason"] == "this virtual phone belongs to another user"
    )
    assert not phone.system.files.exists("/data/local/tmp/planted")


def test_the_user_is_served_next_to_it(
    phone: VirtualPhone, as_stranger: Callable[[Callable[[], bytes]], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    port = port_of(phone)
    assert as_stranger(lambda: ask(port, b"host:version")) == REFUSED
    monkeypatch.undo()
    with ServerClient(port) as client:
        assert client.ask(b"host:version") == "0029"


def test_who_is_gone_already_is_nobody(
    phone: VirtualPhone, as_stranger: Callable[[Callable[[], bytes]], bytes]
) -> None:
    """A socket without an owner has the user 0, which the phone may run as."""
    port = port_of(phone)
    request = b"host:transport-any", b"shell:touch /data/local/tmp/planted"

    def send_and_go() -> bytes:
        for _ in range(50):
            with socket.create_connection(("127.0.0.1", port), timeout=120) as client:
                client.sendall(b"".join(b"%04x%s" % (len(item), item) for item in request))
        return b"done"

    assert as_stranger(send_and_go) == b"done"
    wait_until(lambda: len(phone.log.of_kind("refused-connection")) == 50)
    assert phone.log.of_kind("service") == []


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
    def test_a_stranger_s_socket_is_the_stranger_s(
        self, as_stranger: Callable[[Callable[[], bytes]], bytes]
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            own = listening.getsockname()

            def connect() -> bytes:
                with socket.create_connection(own) as client:
                    client.sendall(b"x")
                    return client.recv(1)

            listening.settimeout(20)
            found: list[int | None] = []

            def accept() -> None:
                accepted, peer = listening.accept()
                with accepted:
                    found.append(local_users.peer_user(peer, own))
                    assert not local_users.is_from_this_user(accepted)
                    accepted.sendall(b"y")

            accepting = threading.Thread(target=accept)
            accepting.start()
            assert as_stranger(connect) == b"y"
            accepting.join(120)
            assert found == [STRANGER]


def test_where_the_system_reports_no_users_nobody_is_served(
    phone: VirtualPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    answer = ask(port_of(phone), b"host:version")
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
