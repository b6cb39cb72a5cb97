"""The phone's files: contents, owners, modes, errors."""

import contextlib
import errno
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings, strategies as st

from droidgate_phone.files.file_layout import SHARED_STORAGE, lay_out
from droidgate_phone.files.phone_files import (
    READ,
    WRITE,
    VirtualFileError,
    VirtualFiles,
    groups_of,
    name_of,
    number_of,
)

SHELL, APP = 2000, 10123
SCRATCH = "/data/local/tmp"


@pytest.fixture
def files() -> VirtualFiles:
    virtual_files = VirtualFiles(clock=lambda: 1_700_000_000.5)
    lay_out(virtual_files, programs=["ls"])
    return virtual_files


def error_of(work: Callable[[], object]) -> int:
    with pytest.raises(VirtualFileError) as caught:
        work()
    assert caught.value.errno is not None
    return caught.value.errno


@given(st.binary(max_size=300), st.integers(0, 400), st.integers(-1, 400))
def test_ranges_of_a_file_are_what_slices_are(data: bytes, offset: int, length: int) -> None:
    files = VirtualFiles()
    files.write("/f", data)
    expected = data[offset:] if length < 0 else data[offset : offset + length]
    assert files.read("/f", offset, length) == expected


@given(st.lists(st.tuples(st.integers(0, 60), st.binary(max_size=20)), max_size=12))
def test_writing_at_positions_gives_what_a_byte_array_gives(writes: list[tuple[int, bytes]]) -> None:
    files, expected = VirtualFiles(), bytearray()
    with files.open_writer("/f") as writer:
        for position, data in writes:
            writer.seek(position)
            writer.write(data)
            if position > len(expected):
                expected.extend(bytes(position - len(expected)))
            expected[position : position + len(data)] = data
    assert files.read("/f") == bytes(expected)
    assert files.used == len(expected)


def test_bytes_are_kept_without_a_copy_and_lazy_content_is_asked_for_once(files: VirtualFiles) -> None:
    data = bytes(1000)
    files.write("/big", data)
    assert files.read("/big") is data
    calls: list[int] = []

    def make() -> bytes:
        calls.append(1)
        return b"made"

    files.write("/lazy", make)
    assert calls == []
    assert (files.read("/lazy"), files.read("/lazy", 1, 2), files.stat("/lazy").size) == (b"made", b"ad", 4)
    assert calls == [1]


def test_a_full_device_says_so_and_takes_more_after_a_removal() -> None:
    files = VirtualFiles(capacity=100)
    files.write("/a", bytes(80))
    assert error_of(lambda: files.write("/b", bytes(30))) == errno.ENOSPC
    with files.open_writer("/c") as writer:
        writer.write(bytes(20))
        assert error_of(lambda: writer.write(b"x")) == errno.ENOSPC
    files.remove("/a")
    files.write("/b", bytes(80))
    assert files.used == 100
    files.write("/b", b"")
    files.remove("/c")
    assert files.used == 0


def test_what_has_lost_its_name_cannot_grow_without_end() -> None:
    files = VirtualFiles()
    with files.open_writer("/a") as writer:
        files.remove("/a")
        for _ in range(64):
            writer.write(bytes(1 << 20))
        assert error_of(lambda: writer.write(b"x")) == errno.ENOSPC
    assert files.used == 0


def test_the_shell_may_write_where_it_may_on_a_phone(files: VirtualFiles) -> None:
    files.write(f"{SCRATCH}/x", b"1", uid=SHELL)
    files.write("/sdcard/Download/x", b"2", uid=SHELL)
    assert files.read(f"{SHARED_STORAGE}/Download/x") == b"2"
    assert error_of(lambda: files.write("/data/x", b"", uid=SHELL)) == errno.EACCES
    assert error_of(lambda: files.write("/system/x", b"", uid=SHELL)) == errno.EROFS
    assert error_of(lambda: files.list("/data", uid=SHELL)) == errno.EACCES
    assert error_of(lambda: files.symlink("a", "/sdcard/l", uid=SHELL)) == errno.EPERM


def test_what_an_app_keeps_is_closed_to_the_shell_and_to_other_apps(files: VirtualFiles) -> None:
    files.make_directory("/data/data/dev.example", mode=0o700, owner=APP)
    files.write("/data/data/dev.example/secret", b"s", uid=APP, mode=0o600)
    for uid in (SHELL, APP + 1):
        with pytest.raises(VirtualFileError, match="Permission denied"):
            files.read("/data/data/dev.example/secret", uid=uid)
        assert not files.exists("/data/data/dev.example/secret", uid=uid)
        assert not files.may("/data/data/dev.example", READ, uid=uid)
    assert files.read("/data/data/dev.example/secret", uid=APP) == b"s"
    assert files.read("/data/data/dev.example/secret") == b"s"
    assert files.may("/data/data/dev.example", WRITE, uid=APP)


def test_shared_storage_gives_its_own_modes(files: VirtualFiles) -> None:
    files.make_directory("/sdcard/d", mode=0o777, uid=SHELL)
    files.write("/sdcard/d/f", b"", mode=0o777, uid=SHELL)
    directory, file = files.stat("/sdcard/d"), files.stat("/sdcard/d/f")
    assert (directory.mode & 0o7777, file.mode & 0o7777) == (0o2770, 0o660)
    assert (file.uid, name_of(file.gid)) == (SHELL, "sdcard_rw")


@pytest.mark.parametrize(("work", "number", "text"), [
    pytest.param(lambda files: files.read("/nope"), errno.ENOENT, "No such file or directory",
        id="a file that is not there is read"),
    pytest.param(lambda files: files.read("/data"), errno.EISDIR, "Is a directory", id="a folder is read"),
    pytest.param(lambda files: files.read("/f/x"), errno.ENOTDIR, "Not a directory",
        id="a file below a file is read"),
    pytest.param(lambda files: files.list("/f"), errno.ENOTDIR, "Not a directory", id="a file is listed"),
    pytest.param(lambda files: files.make_directory("/f"), errno.EEXIST, "File exists",
        id="a folder is made where a file is"),
    pytest.param(lambda files: files.remove("/data"), errno.EISDIR, "Is a directory",
        id="a folder is removed as a file"),
    pytest.param(lambda files: files.read("/loop"), errno.ELOOP, "Too many symbolic links encountered",
        id="links lead in a circle"),
    pytest.param(lambda files: files.write("/" + "n" * 256, b""), errno.ENAMETOOLONG, "File name too long",
        id="a name is too long"),
    pytest.param(lambda files: files.chmod("/f", 0, uid=SHELL), errno.EPERM, "Operation not permitted",
        id="another user's mode is changed"),
    pytest.param(lambda files: files.chown("/f", SHELL, uid=SHELL), errno.EPERM, "Operation not permitted",
        id="another user's file is given away"),
    pytest.param(lambda files: files.read("/dev/zero"), errno.EFBIG, "File too large",
        id="zeros are read without end"),
    pytest.param(lambda files: files.read_link("/f"), errno.EINVAL, "Invalid argument",
        id="a file is read as a link"),
    pytest.param(lambda files: files.write("/new/", b""), errno.EISDIR, "Is a directory",
        id="a folder is written as a file"),
])  # fmt: skip
def test_errors_have_androids_numbers_and_texts(
    files: VirtualFiles, work: Callable[[VirtualFiles], object], number: int, text: str
) -> None:
    files.write("/f", b"")
    files.symlink("/loop", "/loop")
    with pytest.raises(VirtualFileError) as caught:
        work(files)
    assert (caught.value.errno, caught.value.strerror) == (number, text)


def test_an_open_file_outlives_its_name(files: VirtualFiles) -> None:
    with files.open_writer("/g") as writer:
        files.remove("/g")
        writer.write(b"lost")
    assert not files.exists("/g")
    assert files.used == 0


def test_links_and_dots_lead_where_they_lead_on_linux(files: VirtualFiles) -> None:
    files.make_directory("/data/local/tmp/a/b", parents=True)
    files.symlink("a/b", f"{SCRATCH}/l")
    files.write(f"{SCRATCH}/l/../f", b"x")
    assert files.real_path(f"{SCRATCH}/l/..") == f"{SCRATCH}/a"
    assert files.read(f"{SCRATCH}/a/f") == b"x"
    assert files.real_path("/../..//sdcard/./") == SHARED_STORAGE
    assert files.lstat("/sdcard").is_link


@given(st.text(alphabet="/.ab\0é", max_size=20))
@settings(max_examples=200)
def test_any_path_gives_an_answer_or_an_error_of_files(path: str) -> None:
    files = VirtualFiles()
    files.make_directory("/a")
    files.symlink("../a/.", "/b")
    for work in (files.stat, files.list, files.read, files.real_path, files.read_link):
        with contextlib.suppress(VirtualFileError):
            work(path)


def test_threads_that_append_lose_nothing(files: VirtualFiles) -> None:
    def work() -> None:
        for _ in range(200):
            files.write(f"{SCRATCH}/log", b"line\n", append=True, uid=SHELL)

    with ThreadPoolExecutor(8) as pool:
        for _ in range(8):
            pool.submit(work)
    assert files.read(f"{SCRATCH}/log") == b"line\n" * 1600


def test_users_have_androids_names() -> None:
    assert [name_of(uid) for uid in (0, 1000, 2000, 10123, 1010123, 54321)] == [
        "root", "system", "shell", "u0_a123", "u10_a123", "54321",
    ]  # fmt: skip
    assert [number_of(name) for name in ("root", "shell", "u0_a123", "u10_a5", "77", "nobody?")] == [
        0, 2000, 10123, 1010005, 77, None,
    ]  # fmt: skip
    assert 1015 in groups_of(SHELL)
    assert 1015 not in groups_of(APP)
