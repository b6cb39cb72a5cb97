"""A device with a fake shim, and none of the user's adb or folders."""

from collections.abc import Iterator

import pytest

from droidgate.devices.device import Device, connect_device
from gateway.devices.conftest import VARIABLES, client, unused_port
from gateway.devices.fake_adb_server import FakeAdbServer
from gateway.shim_host.fake_shim import FakeShim


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(unused_port()))
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path_factory.mktemp("droidgate-home")))


@pytest.fixture
def shim() -> FakeShim:
    return FakeShim()


@pytest.fixture
def device(shim: FakeShim) -> Iterator[Device]:
    with FakeAdbServer(shell=shim) as server:
        yield connect_device(server=client(server))
        assert not server.failures
