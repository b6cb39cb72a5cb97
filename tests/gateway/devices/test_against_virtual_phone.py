"""Our client, the real adb server, and the virtual phone behind both.

The phone shares no code with the client: what they agree on is in the golden outputs.
"""

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from droidgate.devices.adb_client import LEAST_VERSION, AdbClient, ServerAddress
from droidgate.devices.device import Device, connect_device
from droidgate.devices.device_errors import NoDeviceError
from droidgate.devices.quoting import join_command
from droidgate_phone.phone import VirtualPhone, start_phone
from gateway.devices.conftest import VARIABLES, StartServer, client, device_on
from gateway.devices.fake_adb_server import SERIAL, Answer, Script
from requirements_of_tests import require

CANARY = "/data/local/tmp/CANARY"
HOSTILE = [f"$(touch {CANARY})", "it's", "`id`", "a\nb", "*", "~", "", " ", "語 😀", "\\", "-n", "#x"]


class Reached:
    """A phone, and a client of the adb server that it is attached to."""

    def __init__(self, phone: VirtualPhone, server: AdbClient) -> None:
        self.phone = phone
        self.server = server
        self.device: Device = connect_device(phone.serial, server=server)


@pytest.fixture(scope="module", params=["its own server", "real adb"])
def reached(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reached]:
    home = tmp_path_factory.mktemp("adb-home")
    with start_phone(server_port=0, adb_keys=(home / ".android" / "adbkey.pub",)) as phone:
        if request.param == "its own server":
            assert phone.server_port is not None
            yield Reached(phone, AdbClient(ServerAddress(port=phone.server_port)))
            return
        with real_adb_server(phone, home) as server:
            yield Reached(phone, server)


@contextlib.contextmanager
def real_adb_server(phone: VirtualPhone, home: Path) -> Iterator[AdbClient]:
    adb = require("adb")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    environment["HOME"] = environment["TMPDIR"] = str(home)

    def run(*arguments: str) -> None:
        command, nothing = [str(adb), "-P", str(port), *arguments], subprocess.DEVNULL
        subprocess.run(
            command, env=environment, stdin=nothing, stdout=nothing, stderr=nothing, timeout=60, check=True
        )

    run("start-server")
    try:
        run("connect", phone.serial)
        server = AdbClient(ServerAddress(port=port))
        server.wait_for(phone.serial, 30)
        yield server
    finally:
        run("kill-server")


def test_hostile_arguments_reach_the_phones_shell_unchanged(reached: Reached) -> None:
    result = reached.device.run(["printf", "%s\\0", *HOSTILE])
    assert result.stdout.decode().split("\0") == [*HOSTILE, ""]
    assert reached.device.run(["ls", CANARY]).exit_status != 0


# The adb program itself against the tests' server: it agrees with what our client says and asks


RunAdb = Callable[..., subprocess.CompletedProcess[bytes]]
HOSTILE_ARGUMENTS = ["echo", "$(touch CANARY)", "it's", 'a "b" c', "*", "two\nlines", "語", ""]


@pytest.fixture
def adb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunAdb:
    """Return what runs adb where it finds neither the user's keys nor the user's server."""
    for name in ("HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))

    def run(*arguments: object) -> subprocess.CompletedProcess[bytes]:
        command = [str(argument) for argument in (require("adb"), *arguments)]
        nothing = subprocess.DEVNULL
        return subprocess.run(command, stdin=nothing, capture_output=True, timeout=60, check=False)

    return run


def test_adb_sends_that_command(start_server: StartServer, adb: RunAdb) -> None:
    script = Script({"": Answer(b"out", b"err", 7)})
    server = start_server(shell=script)
    ours = device_on(server).run(HOSTILE_ARGUMENTS)
    command = join_command(HOSTILE_ARGUMENTS)
    theirs = adb("-P", server.port, "-s", SERIAL, "shell", "-T", "-n", command)
    assert script.commands == [command, command]
    assert (ours.stdout, ours.stderr, ours.exit_status) == (b"out", b"err", 7)
    assert (theirs.stdout, theirs.stderr, theirs.returncode) == (b"out", b"err", 7)


def test_adb_pulls_what_we_push(start_server: StartServer, adb: RunAdb, tmp_path: Path) -> None:
    server = start_server(features="shell_v2,cmd,stat_v2")
    device = device_on(server)
    data = os.urandom(300_000)
    device.push(data, "/data/local/tmp/a")
    target = tmp_path / "pulled"
    pulled = adb("-P", server.port, "-s", SERIAL, "pull", "/data/local/tmp/a", target)
    assert pulled.returncode == 0, pulled.stderr
    assert target.read_bytes() == data


def test_adb_lists_those_devices(start_server: StartServer, adb: RunAdb) -> None:
    server = start_server()
    listed = adb("-P", server.port, "devices", "-l").stdout.decode()
    assert listed.split("\n")[1].split()[:2] == [SERIAL, "device"]
    assert [(device.serial, device.state) for device in client(server).devices()] == [(SERIAL, "device")]


@pytest.mark.slow
def test_a_server_is_started_where_none_answers_and_is_only_used_then(adb: RunAdb) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    server = AdbClient(ServerAddress(port=port))
    try:
        server.ensure()
        assert server.version() >= LEAST_VERSION
        with pytest.raises(NoDeviceError):
            server.features("NOBODY")
    finally:
        adb("-P", port, "kill-server")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="adb takes paths of sockets on Linux")
def test_a_private_server_on_a_socket_file_is_started_and_used(
    adb: RunAdb, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = f"{tmp_path_factory.mktemp('s')}/adb"
    monkeypatch.setenv("ADB_SERVER_SOCKET", f"localfilesystem:{path}")
    try:
        assert AdbClient().devices() == ()
    finally:
        assert adb("-L", f"localfilesystem:{path}", "kill-server").returncode == 0
