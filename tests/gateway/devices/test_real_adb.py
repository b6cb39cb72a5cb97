"""The adb program itself against the tests' server: it agrees with what our client says and asks.

The program is the one that adbutils carries (adb 36). What it sends for `adb -s SERIAL shell COMMAND` is
what our client has to send for the same command, and a server that it starts has to answer our client.
"""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from droidgate.devices.adb_client import LEAST_VERSION, AdbServer, ServerAddress
from droidgate.devices.device_errors import NoDeviceError
from droidgate.devices.quoting import join_command
from gateway.devices.conftest import StartServer, client, device_on
from gateway.devices.fake_adb_server import SERIAL, Answer
from requirements_of_tests import require

HOSTILE = ["echo", "$(touch CANARY)", "it's", 'a "b" c', "*", "two\nlines", "語", ""]


@pytest.fixture
def adb() -> Path:
    return require("adb")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which adb finds neither the user's keys nor the user's server."""
    return {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "TMPDIR": str(tmp_path)}


def run_adb(
    adb: Path, port: int, *arguments: str, environment: dict[str, str]
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [str(adb), "-P", str(port), *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_adb_asks_for_the_same_command_as_we_do(
    start_server: StartServer, adb: Path, environment: dict[str, str]
) -> None:
    seen: list[str] = []

    def shell(command: str, stdin: bytes) -> Answer:
        del stdin
        seen.append(command)
        return Answer(b"out", b"err", 7)

    server = start_server(shell=shell)
    ours = device_on(server).run(HOSTILE)
    command = join_command(HOSTILE)
    theirs = run_adb(adb, server.port, "-s", SERIAL, "shell", "-T", "-n", command, environment=environment)
    assert seen == [command, command]
    assert (ours.stdout, ours.stderr, ours.exit_status) == (b"out", b"err", 7)
    assert (theirs.stdout, theirs.stderr, theirs.returncode) == (b"out", b"err", 7)


def test_adb_pushes_what_we_pull_and_pulls_what_we_push(
    start_server: StartServer, adb: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    server = start_server(features="shell_v2,cmd,stat_v2")
    device = device_on(server)
    data = os.urandom(300_000)
    device.push(data, "/data/local/tmp/a")
    target = tmp_path / "pulled"
    pulled = run_adb(
        adb, server.port, "-s", SERIAL, "pull", "/data/local/tmp/a", str(target), environment=environment
    )
    assert pulled.returncode == 0, pulled.stderr
    assert target.read_bytes() == data


def test_adb_lists_the_devices_that_we_list(
    start_server: StartServer, adb: Path, environment: dict[str, str]
) -> None:
    server = start_server()
    listed = run_adb(adb, server.port, "devices", "-l", environment=environment).stdout.decode()
    assert listed.split("\n")[1].split()[:2] == [SERIAL, "device"]
    assert [(device.serial, device.state) for device in client(server).devices()] == [(SERIAL, "device")]


@pytest.mark.slow
def test_a_server_is_started_where_none_answers_and_is_only_used_then(
    adb: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    server = AdbServer(ServerAddress(port=port))
    try:
        server.ensure()
        assert server.version() >= LEAST_VERSION
        with pytest.raises(NoDeviceError):
            server.features("NOBODY")
    finally:
        run_adb(adb, port, "kill-server", environment=environment)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="adb takes paths of sockets on Linux")
def test_a_private_server_on_a_socket_file_is_started_and_used(
    adb: Path,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    path = f"{tmp_path_factory.mktemp('s')}/adb"
    monkeypatch.setenv("ADB_SERVER_SOCKET", f"localfilesystem:{path}")
    try:
        assert AdbServer().devices() == ()
    finally:
        subprocess.run(
            [str(adb), "-L", f"localfilesystem:{path}", "kill-server"],
            env=environment,
            check=True,
            timeout=60,
        )
