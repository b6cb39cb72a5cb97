"""The adb server of the demo: the real one asks nobody who they are, so others must not reach it."""

import stat
from pathlib import Path

import pytest

from device_shim.phone_transport.adb_host import DeviceHost, new_key
from droidgate.cli.demo.demonstration_phone import demonstration_phone

TABLES = Path("/proc/net/tcp"), Path("/proc/net/tcp6")


def listening_inodes() -> set[str]:
    """Return the sockets of this machine that listen on TCP."""
    rows = [line.split() for table in TABLES for line in table.read_text().splitlines()]
    return {row[9] for row in rows if row[3] == "0A"}


def sockets_of(program: Path) -> set[str]:
    """Return the sockets that processes of a program with this home folder have open."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(program).encode() not in (process / "environ").read_bytes():
                continue
            found |= {str(item.readlink()) for item in (process / "fd").iterdir()}
        except OSError:
            continue
    return {item[len("socket:[") : -1] for item in found if item.startswith("socket:[")}


@pytest.mark.requires("adb")
def test_the_server_of_the_demo_is_reached_by_its_user_only(tmp_path: Path) -> None:
    home = tmp_path / "the-home-of-this-test"
    with demonstration_phone(home) as demonstration:
        assert demonstration.adb is not None
        server = demonstration.adb.socket
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
