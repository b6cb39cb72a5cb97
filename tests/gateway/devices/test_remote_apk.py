"""An APK on a device: the right bytes, few of them, and none at all a second time."""

import io
import re
import zipfile
from pathlib import Path
from random import Random

import pytest

from droidgate.devices.device import Device, Identity
from droidgate.devices.device_errors import TransferError
from droidgate.devices.packages import InstalledPackage
from droidgate.devices.remote_apk import (
    BLOCK,
    MAX_RUN,
    BlockCache,
    RemoteApk,
    RemoteKey,
    file_statuses,
    open_remote_apk,
)
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.user_folders import cache_folder
from gateway.devices.conftest import StartServer, device_on
from gateway.devices.fake_adb_server import Answer, FakeAdbServer

PATH = "/data/app/~~x==/com.example.a-y==/base.apk"
PACKAGE = InstalledPackage("com.example.a", PATH, 7, 10_123)


def archive(entries: int = 200) -> bytes:
    """Return an archive of which most is one large entry at its front."""
    random = Random(7)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as target:
        target.writestr("classes.dex", random.randbytes(3_000_000))
        for number in range(entries):
            target.writestr(f"res/{number}.xml", random.randbytes(200))
        target.writestr("AndroidManifest.xml", random.randbytes(5_000))
    return written.getvalue()


DATA = archive()


class Phone:
    """A device whose shell knows `dd`, with one APK."""

    def __init__(self, start_server: StartServer, data: bytes = DATA) -> None:
        self.data = data
        self.reads = 0
        self.server: FakeAdbServer = start_server(shell=self.shell, files={PATH: data})
        self.device: Device = device_on(self.server)

    def shell(self, command: str, stdin: bytes) -> Answer:
        del stdin
        found = re.fullmatch(r"dd '?if=[^ ]*'? bs=65536 skip=(\d+) count=(\d+)", command)
        assert found is not None, command
        self.reads += 1
        start = int(found[1]) * BLOCK
        return Answer(self.data[start : start + int(found[2]) * BLOCK], b"2+0 records in\n")


@pytest.fixture
def phone(start_server: StartServer) -> Phone:
    return Phone(start_server)


def test_any_range_is_the_files(phone: Phone) -> None:
    source = open_remote_apk(phone.device, PACKAGE)
    random = Random(3)
    assert source.size == len(DATA)
    for _ in range(100):
        offset = random.randrange(len(DATA))
        length = random.randrange(min(200_000, len(DATA) - offset) + 1)
        assert source.read(offset, length) == DATA[offset : offset + length]
    assert source.bytes_read <= len(DATA)
    assert source.read(len(DATA), 0) == b""


def test_a_manifest_costs_the_end_of_the_archive_only(phone: Phone) -> None:
    source = open_remote_apk(phone.device, PACKAGE)
    end = source.read(len(DATA) - 22, 22)
    directory, start = (int.from_bytes(end[at : at + 4], "little") for at in (12, 16))
    source.read(start, directory)
    assert (source.requests, source.bytes_read <= 2 * BLOCK) == (1, True)
    assert source.bytes_read < len(DATA) // 20


def test_a_second_time_nothing_is_read(phone: Phone) -> None:
    first = open_remote_apk(phone.device, PACKAGE)
    assert first.read(100, 1_000_000) == DATA[100:1_000_100]
    first.close()
    reads = phone.reads
    second = open_remote_apk(phone.device, PACKAGE)
    assert second.read(100, 1_000_000) == DATA[100:1_000_100]
    assert (second.bytes_read, second.requests, phone.reads) == (0, 0, reads)


def test_neighbouring_blocks_come_together_and_no_more_than_fit(phone: Phone) -> None:
    source = open_remote_apk(phone.device, PACKAGE)
    source.read(BLOCK * 4, BLOCK * 10)
    assert source.requests == 1
    source.read(0, BLOCK * 20)
    assert source.requests == 3
    assert MAX_RUN * BLOCK > len(DATA) > 0


def test_an_update_is_read_anew_and_the_old_blocks_go(phone: Phone) -> None:
    open_remote_apk(phone.device, PACKAGE).read(0, 10)
    updated = InstalledPackage(PACKAGE.name, PATH, 8, PACKAGE.uid)
    source = open_remote_apk(phone.device, updated)
    source.read(0, 10)
    assert source.bytes_read == BLOCK
    slots = list((cache_folder() / "remote-apks").iterdir())
    assert [len(list(slot.iterdir())) for slot in slots] == [1]


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "grow", "swap"])
def test_a_damaged_block_of_the_cache_is_read_again(phone: Phone, damage: str) -> None:
    open_remote_apk(phone.device, PACKAGE).read(0, 3 * BLOCK)
    files = sorted(path for path in cache_folder().rglob("*") if path.is_file())
    written = files[1].read_bytes()
    damaged = {
        "flip": written[:1000] + bytes([written[1000] ^ 1]) + written[1001:],
        "cut": written[:-1],
        "empty": b"",
        "grow": written + b"x",
        "swap": files[0].read_bytes(),
    }
    files[1].write_bytes(damaged[damage])
    source = open_remote_apk(phone.device, PACKAGE)
    assert source.read(0, 3 * BLOCK) == DATA[: 3 * BLOCK]
    assert source.bytes_read == BLOCK
    assert files[1].read_bytes() == written


def test_a_cache_that_cannot_be_written_is_not_an_error(
    phone: Phone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    monkeypatch.setenv("DROIDGATE_HOME", str(blocked))
    assert open_remote_apk(phone.device, PACKAGE).read(5, 5) == DATA[5:10]


@pytest.mark.parametrize(("offset", "length"), [(-1, 1), (0, -1), (len(DATA), 1), (0, len(DATA) + 1)])
def test_a_range_outside_the_file_is_bad_input(phone: Phone, offset: int, length: int) -> None:
    source = open_remote_apk(phone.device, PACKAGE)
    with pytest.raises(InputError):
        source.read(offset, length)
    source.close()
    with pytest.raises(InputError):
        source.read(0, 1)


def test_a_file_that_became_shorter_is_reported(phone: Phone) -> None:
    source = open_remote_apk(phone.device, PACKAGE)
    phone.data = DATA[:1000]
    with pytest.raises(TransferError, match="shorter"):
        source.read(0, 10 * BLOCK)


def test_a_file_that_is_gone_is_reported(phone: Phone) -> None:
    with pytest.raises(TransferError, match="no file"):
        open_remote_apk(phone.device, PACKAGE, path="/data/app/gone.apk")


def test_all_files_are_looked_at_over_one_connection(phone: Phone) -> None:
    statuses = file_statuses(phone.device, [PATH, "/gone", PATH])
    assert {path: status.size for path, status in statuses.items()} == {PATH: len(DATA)}
    assert phone.server.requests.count("sync:") == 1


def test_what_differs_in_any_part_of_the_key_is_kept_apart(tmp_path: Path) -> None:
    key = RemoteKey(Identity("s", "f"), "a.b", "/x/base.apk", 1, 10, 20)
    others = [
        RemoteKey(Identity("t", "f"), "a.b", "/x/base.apk", 1, 10, 20),
        RemoteKey(Identity("s", "g"), "a.b", "/x/base.apk", 1, 10, 20),
        RemoteKey(Identity("s", "f"), "a.c", "/x/base.apk", 1, 10, 20),
        RemoteKey(Identity("s", "f"), "a.b", "/y/base.apk", 1, 10, 20),
        RemoteKey(Identity("s", "f"), "a.b", "/x/split.apk", 1, 10, 20),
        RemoteKey(Identity("s", "f"), "a.b", "/x/base.apk", 2, 10, 20),
        RemoteKey(Identity("s", "f"), "a.b", "/x/base.apk", 1, 11, 20),
        RemoteKey(Identity("s", "f"), "a.b", "/x/base.apk", 1, 10, 21),
    ]
    assert len({item.folder(tmp_path) for item in [key, *others]}) == 9
    cache = BlockCache(key, tmp_path)
    cache.store(0, b"x" * 10)
    assert cache.load(0) == b"x" * 10
    assert cache.load(1) is None


def test_a_source_without_a_cache_keeps_its_blocks_in_memory(phone: Phone) -> None:
    status = phone.device.status(PATH)
    assert status is not None
    key = RemoteKey(phone.device.identity, PACKAGE.name, PATH, 7, status.size, status.modified)
    source = RemoteApk(phone.device, key)
    assert source.read(0, 10) == source.read(0, 10) == DATA[:10]
    assert source.requests == 1
    assert not cache_folder().exists()
    assert source.name == f"adb:FAKE1234:{PATH}"
