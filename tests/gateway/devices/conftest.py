"""Every test here: no adb variable of the user, no cache of the user, and no request without a serial."""

import re
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from droidgate.devices.adb_client import AdbClient, ServerAddress
from droidgate.devices.device import Device, connect_device
from gateway.devices.fake_adb_server import FakeAdbServer

SERVER_QUESTIONS = {
    "host:version", "host:devices-l", "host:devices", "host:track-devices", "host:host-features",
}  # fmt: skip
VARIABLES = ("ANDROID_SERIAL", "ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_PORT", "ANDROID_ADB_SERVER_ADDRESS")

StartServer = Callable[..., FakeAdbServer]


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    # What would take adb's own port by mistake must not find the user's server there.
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(unused_port()))
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path_factory.mktemp("droidgate-home")))


@pytest.fixture
def start_server() -> Iterator[StartServer]:
    """Start fake servers; in the end none may have failed, nor have got a request without a serial."""
    servers: list[FakeAdbServer] = []

    def start(**options: Any) -> FakeAdbServer:
        servers.append(FakeAdbServer(**options))
        return servers[-1]

    yield start
    for item in servers:
        item.__exit__(None, None, None)
        assert not item.failures
        assert_serials(item.requests)


def assert_serials(requests: list[str]) -> None:
    """Fail where a request to a device does not follow, or hold, an explicit serial."""
    for service in requests:
        if service.startswith("host") and service not in SERVER_QUESTIONS:
            assert re.match(r"host:tport:serial:.|host-serial:.+:features$", service), service


def unused_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as item:
        item.bind(("127.0.0.1", 0))
        return int(item.getsockname()[1])


def client(server: FakeAdbServer) -> AdbClient:
    return AdbClient(ServerAddress(port=server.port))


def device_on(server: FakeAdbServer) -> Device:
    return connect_device(server=client(server))
