"""Archives: what is read as Android reads it, what is reported as evasive, what is refused."""

import io
import os
import random
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import pytest

from droidgate_android.apk.apk_budgets import MIB, Budget, Limits
from droidgate_android.apk.apk_files import FileSource, MemorySource, PartOfSource
from droidgate_android.apk.archive import Archive
from droidgate_android.apk.bundle_files import open_app
from droidgate_android.apk.reader import Apk, open_apk
from droidgate_mappings.model.errors import BudgetError, InputError
from hand_made_apks import archive_with, central_header, end_record, local_header, whole_app, zip_of
from titled_rows import titled


def archive_of(data: bytes, limits: Limits | None = None) -> Archive:
    return Archive(MemorySource(data, name="x.apk"), Budget(limits or Limits()))


def messages_of(archive: Archive) -> list[str]:
    assert all(finding.code == "evasive-archive" for finding in archive.findings)
    return [finding.message for finding in archive.findings]


def test_an_ordinary_archive_is_read_without_a_finding() -> None:
    files = whole_app()
    archive = archive_of(zip_of(files))
    assert archive.entry_names == list(files)
    assert {name: archive.read_entry(name) for name in files} == files
    assert list(archive.names_below("assets/", (".json",))) == ["assets/tools.json"]
    assert "assets/tools.json" in archive
    assert "assets/none" not in archive
    assert archive.findings == []
    assert archive.place_of("res/x.xml") == "x.apk!/res/x.xml"


def test_names_that_are_no_utf_8_lead_to_their_entries() -> None:
    archive = archive_of(archive_with([(b"assets/\xff.json", b"{}", {})]))
    (name,) = archive.entry_names
    assert archive.read_entry(name) == b"{}"
    assert archive.place_of(name) == "x.apk!/assets/\\xff.json"
    assert "\ud800\U0001f600" not in archive


@titled("comment", {
    "no comment": b"", "a text": b"text", "the sign of an end inside of it": b"PK\x05\x06 and more",
    "the longest comment": bytes(65_535),
})  # fmt: skip
def test_a_comment_behind_the_archive_is_not_an_obstacle(comment: bytes) -> None:
    data = zip_of({"a": b"content"})
    archive = archive_of(data[:-2] + struct.pack("<H", len(comment)) + comment)
    assert archive.read_entry("a") == b"content"


def test_sizes_and_offsets_of_zip64_are_read() -> None:
    body = local_header(b"a", b"content")
    extra = struct.pack("<HHQQQ", 1, 24, 7, 7, 0)
    unknown = 0xFFFFFFFF
    directory = central_header(
        b"a", unknown, crc=zlib.crc32(b"content"), packed=unknown, size=unknown, extra=extra
    )
    at = len(body) + len(directory)
    record = struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, len(directory), len(body))
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, at, 1)
    archive = archive_of(body + directory + record + locator + end_record(0xFFFF, unknown, unknown))
    assert archive.read_entry("a") == b"content"
    assert archive.findings == []


def test_what_python_writes_as_zip64_is_read() -> None:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, archive.open("a", "w", force_zip64=True) as file:
        file.write(b"content")
    assert archive_of(buffer.getvalue()).read_entry("a") == b"content"


class TestEvasive:
    @titled(("content", "fields", "message"), {
        "an unknown method is taken for stored":
            (b"content", {"method": 0x2345}, "compression method that Android does not know: 'a'"),
        "the size of the content counts for an unknown method":
            (b"content and more", {"method": 99, "size": 7, "packed": 3}, "that Android does not know"),
        "the encrypted flag is overlooked": (b"content", {"flags": 1}, "encrypted"),
        "a wrong checksum is overlooked": (b"content", {"crc": 1}, "checksum"),
    })  # fmt: skip
    def test_a_header_that_lies_hides_no_content(
        self, content: bytes, fields: dict[str, int], message: str
    ) -> None:
        archive = archive_of(archive_with([(b"a", content, fields)]))
        assert archive.read_entry("a") == b"content"
        assert message in messages_of(archive)[0]

    def test_of_two_entries_of_a_name_the_first_is_read(self) -> None:
        archive = archive_of(archive_with([(b"a", b"one", {}), (b"a", b"two", {})]))
        assert archive.read_entry("a") == b"one"
        assert messages_of(archive) == ["duplicate names, of which the first is read: 'a'"]

    def test_of_two_headers_the_central_one_counts(self) -> None:
        packed = zlib.compress(b"content", wbits=-15)
        body = local_header(b"b", packed, method=0x1234)
        directory = central_header(b"a", 0, crc=zlib.crc32(b"content"), packed=len(packed), size=7, method=8)
        archive = archive_of(body + directory + end_record(1, len(directory), len(body)))
        assert archive.findings == []
        assert archive.read_entry("a") == b"content"
        assert "two headers disagree" in messages_of(archive)[0]

    @pytest.mark.parametrize("fields", [{"method": 12}, {"flags": 1}], ids=str)
    def test_headers_may_disagree_in_method_or_encryption_alone(self, fields: dict[str, int]) -> None:
        body = local_header(b"a", b"content", **fields)
        directory = central_header(b"a", 0, crc=zlib.crc32(b"content"), packed=7, size=7)
        archive = archive_of(body + directory + end_record(1, len(directory), len(body)))
        assert archive.read_entry("a") == b"content"
        assert "two headers disagree" in messages_of(archive)[0]

    @pytest.mark.parametrize(
        "name", [b"../up", b"a/../b", b"/absolute", b"a\\b", b"nul\0l", b"..", b"a/..", b"a\nb"]
    )
    def test_names_that_are_no_paths_inside_are_reported_and_not_listed(self, name: bytes) -> None:
        archive = archive_of(archive_with([(b"a.b/..c/d..", b"", {}), (name, b"", {})]))
        assert archive.entry_names == ["a.b/..c/d.."]
        assert list(archive.names_below("")) == ["a.b/..c/d.."]
        assert "names that are not paths" in messages_of(archive)[0]

    @titled("data", {
        "it shifts the archive": b"#!/bin/sh\n" + zip_of({"a": b"content"}),
        "offsets count it": archive_with([(b"a", b"content", {})], before=b"dex\n035\0"),
    })  # fmt: skip
    def test_data_before_the_archive_is_overlooked(self, data: bytes) -> None:
        archive = archive_of(data)
        assert archive.read_entry("a") == b"content"
        assert messages_of(archive) == ["other bytes precede its first entry"]

    def test_the_findings_of_an_app_name_the_file(self) -> None:
        files = [(name.encode(), data, {"method": 77}) for name, data in whole_app().items()]
        with open_apk(archive_with(files)) as apk:
            assert apk.package == "dev.droidgate.test"
            assert [(finding.code, str(finding.source)) for finding in apk.findings] == [
                ("evasive-archive", "<bytes>")
            ]
            assert "and 2 more" in apk.findings[0].message


class TestRefused:
    @pytest.mark.parametrize("size", [0, 1, 21, 22, 100], ids="{} bytes".format)
    def test_what_is_not_an_archive(self, size: int) -> None:
        with pytest.raises(InputError, match="it is not an APK"):
            archive_of(b"P" * size)

    def test_every_cut_of_an_archive_is_an_error_or_read(self) -> None:
        data = zip_of(whole_app())
        for end in range(0, len(data), 7):
            with pytest.raises(InputError) as caught:
                archive_of(data[:end])
            assert (caught.value.place or "").startswith("x.apk")

    def test_an_entry_that_is_not_there(self) -> None:
        with pytest.raises(InputError, match=r"x\.apk!/b: there is no such entry"):
            archive_of(zip_of({"a": b""})).read_entry("b")

    @titled(("fields", "message"), {
        "a packed size beyond the archive": ({"packed": 1 << 20, "method": 8}, "not inside the archive"),
        "a size beyond the archive": ({"size": 1 << 20, "method": 3}, "not inside the archive"),
        "bytes that are not packed": ({"method": 8}, "cannot be unpacked"),
    })  # fmt: skip
    def test_a_false_size_is_refused(self, fields: dict[str, int], message: str) -> None:
        data = archive_with([(b"a", b"\xff" * 7, fields)])
        with pytest.raises(InputError, match=message):
            archive_of(data).read_entry("a")

    def test_packed_content_that_is_cut_off(self) -> None:
        packed = zlib.compress(bytes(range(256)) * 4, wbits=-15)[:-20]
        body = local_header(b"a", packed, method=8)
        directory = central_header(b"a", 0, packed=len(packed), size=1024, method=8)
        with pytest.raises(InputError, match="cut off"):
            archive_of(body + directory + end_record(1, len(directory), len(body))).read_entry("a")

    @pytest.mark.parametrize("count", [2, 60_000], ids="{} entries".format)
    def test_a_false_count_of_entries_is_refused(self, count: int) -> None:
        body, directory = local_header(b"a", b""), central_header(b"a", 0)
        with pytest.raises(InputError, match="directory"):
            archive_of(body + directory + end_record(count, len(directory), len(body)))

    @titled(("body", "offset", "at", "message"), {
        "a directory outside of the file": (b"PK\x03\x04", 0, 1 << 20, "not where it says"),
        "a local header outside of the file": (b"PK\x03\x04", 0x7FFFFFF, 4, "local header"),
        "a local header that is none": (bytes(40), 0, 40, "no local header"),
    })  # fmt: skip
    def test_offsets_that_lie(self, body: bytes, offset: int, at: int, message: str) -> None:
        directory = central_header(b"a", offset, method=8)
        with pytest.raises(InputError, match=message):
            archive_of(body + directory + end_record(1, len(directory), at)).read_entry("a")


class TestBudgets:
    def test_a_bomb_is_refused_after_what_is_allowed(self) -> None:
        data = zip_of({"a": bytes(50 << 20)})
        budget = Budget()
        archive = Archive(MemorySource(data, name="x.apk"), budget)
        with pytest.raises(BudgetError, match="200 times"):
            archive.read_entry("a")
        packed = archive.find_entry("a")
        assert packed is not None
        assert budget.inflated_bytes <= 200 * packed.compressed_size + 1

    def test_a_bomb_that_lies_about_its_size_is_refused_alike(self) -> None:
        packed = zlib.compress(bytes(50 << 20), wbits=-15)
        body = local_header(b"a", packed, method=8, size=10)
        directory = central_header(b"a", 0, packed=len(packed), size=10, method=8)
        with pytest.raises(BudgetError):
            archive_of(body + directory + end_record(1, len(directory), len(body))).read_entry("a")

    def test_up_to_a_mebibyte_any_ratio_is_right(self) -> None:
        assert len(archive_of(zip_of({"a": bytes(1 << 20)})).read_entry("a")) == 1 << 20

    @pytest.mark.parametrize("method", [0, 8, 55], ids="method {}".format)
    def test_an_entry_over_the_limit_of_the_caller_is_refused(self, method: int) -> None:
        content = os.urandom(5000)
        packed = zlib.compress(content, wbits=-15) if method == 8 else content
        body = local_header(b"a", packed, method=method, size=5000)
        directory = central_header(b"a", 0, packed=len(packed), size=5000, method=method)
        archive = archive_of(body + directory + end_record(1, len(directory), len(body)))
        with pytest.raises(BudgetError, match="more than 4999 bytes"):
            archive.read_entry("a", 4999)

    def test_what_all_entries_unpack_to_is_counted(self) -> None:
        files = {str(number): os.urandom(1000) for number in range(5)}
        budget = Budget(Limits(inflated_bytes=3500))
        archive = Archive(MemorySource(zip_of(files, stored=("1", "2")), name="x.apk"), budget)
        for number in range(3):
            archive.read_entry(str(number))
        assert budget.inflated_bytes == 3000
        with pytest.raises(BudgetError, match="more than 3500 unpacked bytes"):
            archive.read_entry("3")
        assert budget.inflated_bytes == 3000

    def test_entries_are_counted_before_they_are_indexed(self) -> None:
        data = zip_of({str(number): b"" for number in range(11)})
        with pytest.raises(BudgetError, match="more than 10 entries"):
            archive_of(data, Limits(entries=10))
        with pytest.raises(BudgetError, match="directory has more than 100 bytes"):
            archive_of(data, Limits(directory_bytes=100))

    @pytest.mark.slow
    def test_a_huge_archive_is_within_the_default_limits(self) -> None:
        names = {f"assets/{number}": b"" for number in range(60_000)}
        assert len(archive_of(zip_of(names)).entry_names) == 60_000


class TestSources:
    def test_a_file_that_is_shortened_meanwhile_is_an_error(self, tmp_path: Path) -> None:
        path = tmp_path / "app.apk"
        path.write_bytes(zip_of({"a": os.urandom(100_000)}))
        archive = Archive(FileSource(path))
        os.truncate(path, 50_000)
        with pytest.raises(InputError, match="ends before its size"):
            archive.read_entry("a")
        archive.close()

    def test_a_released_file_is_read_again_unless_it_is_another(self, tmp_path: Path) -> None:
        path = tmp_path / "app.apk"
        noise = os.urandom(100_000)  # so that the first entry is not in the part that is kept in memory
        path.write_bytes(zip_of({"a": b"one", "b": noise}))
        source = FileSource(path)
        archive = Archive(source)
        source.release()
        assert archive.read_entry("a") == b"one"
        path.write_bytes(zip_of({"a": b"other", "b": noise}))
        with pytest.raises(InputError, match="has changed while it was read"):
            archive.read_entry("a")

    def test_no_file_stays_open(self, tmp_path: Path) -> None:
        path = tmp_path / "app.apk"
        path.write_bytes(zip_of(whole_app()))
        program = (
            "import os, sys; from pathlib import Path; from droidgate_android.apk.reader import open_apk\n"
            "apk = open_apk(sys.argv[1]); apk.release(); apk.read_xml('res/xml/descriptor.xml')\n"
            "links = [one for one in Path('/proc/self/fd').iterdir() if one.exists()]\n"
            "print(sys.argv[1] in [os.readlink(one) for one in links])"
        )
        run = subprocess.run(
            [sys.executable, "-c", program, path], capture_output=True, text=True, check=True, timeout=60
        )
        assert run.stdout == "False\n"

    def test_what_is_not_a_file_is_an_error(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        for path in (tmp_path, tmp_path / "pipe", tmp_path / "none", "a\0b"):
            with pytest.raises(InputError):
                FileSource(path)

    def test_a_part_ends_where_it_ends(self) -> None:
        part = PartOfSource(MemorySource(b"0123456789"), 2, 5, name="part")
        assert part.read(0, 5) == b"23456"
        for offset, length in ((0, 6), (5, 1), (-1, 2), (1, -1)):
            with pytest.raises(InputError, match="part: bytes"):
                part.read(offset, length)
        with pytest.raises(InputError):
            PartOfSource(MemorySource(b"0123"), 2, 5, name="part")


class TestRatios:
    def test_an_entry_that_is_unpacked_to_a_file_has_a_ratio_too(self) -> None:
        archive = archive_of(zip_of({"base.apk": bytes(8 << 20)}))
        written: list[bytes] = []
        with pytest.raises(BudgetError, match="unpacks to more than 200 times its size"):
            archive.copy_entry("base.apk", written.append)
        assert sum(map(len, written)) <= 2 << 20

    def test_many_entries_that_share_packed_content_are_counted_together(self) -> None:
        content = bytes(1 << 20)
        packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
        packed = packer.compress(content) + packer.flush()
        body = local_header(b"0", packed, method=8, size=len(content))
        directory = b"".join(
            central_header(b"0", 0, packed=len(packed), size=len(content), method=8, crc=zlib.crc32(content))
            if number == 0
            else central_header(str(number).encode(), 0, packed=len(packed), size=len(content), method=8)
            for number in range(9)
        )
        data = body + directory + end_record(9, len(directory), len(body))
        archive = archive_of(data, Limits(free_bytes=5 << 20))
        for number in range(5):
            assert len(archive.read_entry(str(number))) == len(content)
            archive.read_entry(str(number))  # what is read again does not count again
        with pytest.raises(BudgetError, match="entries unpack to more than 50 times its size"):
            archive.read_entry("5")


# Containers of APKs that unpack to much more than they hold, layer upon layer


def _read_all(apk: Apk) -> None:
    for name in apk.archive.entry_names:
        apk.archive.read_entry(name)


NAMES = ["app.apks", "app.xapk", "app.apkm"]


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return an archive of Python's own making, deflated."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return written.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_an_apk_that_unpacks_to_200_times_its_size_is_refused(name: str) -> None:
    base = packed({**whole_app(), "lib/a.so": bytes(60 * MIB)})
    with (
        open_app(MemorySource(packed({"base.apk": base}), name=name)) as apk,
        pytest.raises(BudgetError, match="unpacks to more than 200 times its size"),
    ):
        apk.archive.read_entry("lib/a.so")


@pytest.mark.parametrize("name", NAMES)
def test_a_container_that_unpacks_to_200_times_its_size_is_refused(name: str) -> None:
    inner = packed(whole_app()) + bytes(60 * MIB)
    with pytest.raises(BudgetError, match="unpacks to more than 200 times its size"):
        open_app(MemorySource(packed({"base.apk": inner}), name=name))


def test_ratios_of_two_layers_do_not_multiply() -> None:
    noise = random.Random(1).randbytes(5_000)
    base = packed({**whole_app(), **{f"assets/{number}": noise + bytes(MIB) for number in range(100)}})
    data = packed({"base.apk": base})
    assert len(base) > 20 * len(data)
    budget = Budget(Limits(free_bytes=4 * MIB))
    with (
        open_app(MemorySource(data, name="app.apks"), budget=budget) as apk,
        pytest.raises(BudgetError, match="50 times its size in the file that holds it"),
    ):
        _read_all(apk)
    assert budget.inflated_bytes < 6 * MIB < 50 * len(base)


def test_a_stored_apk_that_claims_to_be_packed_elsewhere_has_the_ratio_of_its_own_size() -> None:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("base.apk", packed(whole_app()))
    outer = Archive(MemorySource(written.getvalue(), name="app.apks"))
    assert outer.size_in_file("base.apk") is None
    with open_app(written.getvalue()) as apk:
        assert apk.archive.packed_size == apk.archive.source.size


@pytest.mark.parametrize("depth", [2, 50], ids="{} levels".format)
def test_containers_in_containers_are_not_opened(depth: int) -> None:
    data = packed(whole_app())
    for _ in range(depth):
        data = packed({"base.apk": data})
    with pytest.raises(InputError, match=r"AndroidManifest\.xml: there is no such entry"):
        open_app(data)
