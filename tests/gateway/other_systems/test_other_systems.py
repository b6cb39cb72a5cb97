"""What differs on Windows and macOS, as far as stand-ins for their parts show it (devices.md)."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from droidgate.cli.demo.demonstration_phone import PrivateAdb, own_address
from droidgate.cli.phone.running_phones import process_lives
from droidgate.computer.output_folder import write_files
from droidgate.computer.private_files import lock_file
from droidgate.devices.adb_client import AdbClient, ServerAddress
from droidgate.devices.device_errors import ServerUnreachableError
from droidgate_mappings.model.errors import WriteError


def lock_at_position(descriptor: int, mode: int, count: int) -> None:
    """Lock as `msvcrt.locking` does: so many bytes from the file's position on, for this open file alone."""
    assert (mode, count) == (2, 1)
    assert os.lseek(descriptor, 0, os.SEEK_CUR) > 1 << 32
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise OSError(13, "Permission denied") from error


def test_a_file_is_locked_on_windows_beyond_its_content_until_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    stand_in = SimpleNamespace(locking=lock_at_position, LK_NBLCK=2)
    monkeypatch.setitem(sys.modules, "msvcrt", stand_in)
    path = tmp_path / "head"
    path.write_bytes(b"content")
    first, second = os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)
    assert lock_file(first, wait=True)
    assert os.read(first, 9) == b"content"
    assert not lock_file(second, wait=False)
    os.close(first)
    assert lock_file(second, wait=True)
    os.close(second)


@pytest.mark.parametrize(
    ("printed", "lives"),
    [
        (b'"python.exe","4711","Console","1","30,112 K"\r\n', True),
        (b"INFO: No tasks are running which match the specified criteria.\r\n", False),
    ],
)
def test_a_process_is_looked_for_on_windows_without_a_signal_which_would_be_ctrl_c(
    printed: bytes, *, lives: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("Ctrl-C was sent"))
    monkeypatch.setattr(
        subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 0, printed)
    )
    assert process_lives(4711) is lives


def test_the_demo_has_an_adb_server_on_a_port_of_windows_and_one_on_a_socket_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert own_address(tmp_path / "server").as_own == f"localfilesystem:{tmp_path}/server"
    monkeypatch.setattr("sys.platform", "win32")
    adb = PrivateAdb("adb.exe", own_address(tmp_path / "server"), tmp_path)
    assert adb.address.as_own == f"tcp:{adb.address.port}"
    assert str(adb.address) == f"tcp:127.0.0.1:{adb.address.port}"


def test_a_socket_of_an_adb_server_is_refused_on_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(ServerUnreachableError, match="Windows"):
        AdbClient(ServerAddress("", 0, str(tmp_path / "server"))).version()


def test_two_names_that_are_one_file_on_the_disk_do_not_replace_each_other(tmp_path: Path) -> None:
    (tmp_path / "A").mkdir()
    (tmp_path / "a").symlink_to("A")  # as on a disk that takes both for one
    with pytest.raises(WriteError, match="another file of the result has this name"):
        write_files({tmp_path / "A/x": b"1", tmp_path / "a/x": b"2"}, force=True)
    assert (tmp_path / "A/x").read_bytes() == b"1"
