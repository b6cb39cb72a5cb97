"""A device with a fake shim, and none of the user's adb or folders."""

from collections.abc import Iterator

import pytest

from droidgate.devices.device import Device, connect_device
from gateway.devices.conftest import _own_environment, client
from gateway.devices.fake_adb_server import FakeAdbServer
from gateway.shims.fake_shim import FakeShim

__all__ = ["_own_environment"]


@pytest.fixture
def shim() -> FakeShim:
    return FakeShim()


@pytest.fixture
def device(shim: FakeShim) -> Iterator[Device]:
    with FakeAdbServer(shell=shim) as server:
        yield connect_device(server=client(server))
        assert not server.failures
