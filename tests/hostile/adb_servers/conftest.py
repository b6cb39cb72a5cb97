"""The server and the environment of the tests of devices."""

from gateway.devices.conftest import _own_environment, start_server

__all__ = ["_own_environment", "start_server"]
