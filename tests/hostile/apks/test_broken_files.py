"""Files made to break readers: each is one of our errors, a finding, or read; never more than is counted."""

import random
import struct
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from io import BytesIO
from itertools import islice
from pathlib import Path

import pytest

from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.apk_budgets import Budget, Limits
from droidgate_android.apk.binary_xml import parse_binary_xml
from droidgate_android.apk.bundle_files import open_app
from droidgate_android.apk.reader import Apk, open_apk
from droidgate_android.apk.xml_rendering import render_xml
from droidgate_android.apk.xml_tree import TypedValue
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.errors import BudgetError, InputError
from hand_made_apks import (
    INT_BOOLEAN,
    MANIFEST,
    NOTHING,
    REFERENCE,
    RESOURCES,
    STRING,
    Node,
    Resource,
    axml,
    chunk,
    element,
    locale,
    string_pool,
    table,
    whole_app,
    zip_of,
)
from titled_rows import titled

PLAIN = element("a", {"b": "c"}, element("d", {}, "text"))


def start(name: int, attributes: bytes = b"", *, count: int = 0, at: int = 20, size: int = 20) -> bytes:
    fixed = struct.pack("<IIHHHHHH", NOTHING, name, at, size, count, 0, 0, 0)
    return chunk(0x0102, struct.pack("<II", 1, NOTHING), fixed + attributes)


def end(name: int) -> bytes:
    return chunk(0x0103, struct.pack("<II", 1, NOTHING), struct.pack("<II", NOTHING, name))


def document(*parts: bytes) -> bytes:
    return chunk(3, b"", b"".join(parts))


def with_strings(count: int, at: int, data: bytes = b"", *, flags: int = 0) -> bytes:
    """Return a document whose pool says how many strings it has and where they start."""
    return document(chunk(1, struct.pack("<5I", count, 0, flags, at, 0), data), start(0), end(0))


class TestCompiledXml:
    def test_every_cut_is_an_error(self) -> None:
        data = axml(MANIFEST)
        for length in range(len(data) - 24):  # the last end tag may be missing a byte or two of its padding
            with pytest.raises(InputError):
                parse_binary_xml(data[:length], path="x")

    @titled("data", {
        "no data": b"",
        "a header alone": b"\x03\x00\x08\x00",
        "a text": b"<?xml version='1.0'?><a/>",
        "zero bytes": bytes(100),
        "no chunk": document(),
        "no strings": document(start(0), end(0)),
        "a name outside of the strings": document(string_pool(["a"]), start(1), end(0)),
        "an end without a start": document(string_pool(["a"]), end(0)),
        "a start without an end": document(string_pool(["a"]), start(0)),
        "fewer attributes than counted": document(string_pool(["a"]), start(0, count=1), end(0)),
        "attributes too small": document(string_pool(["a"]), start(0, bytes(20), count=1, size=4), end(0)),
        "distant attributes": document(string_pool(["a"]), start(0, bytes(20), count=1, at=0xFFFF), end(0)),
        "65,535 attributes": document(string_pool(["a"]), start(0, bytes(20), count=0xFFFF), end(0)),
        "a chunk beyond the data": document(string_pool(["a"]), struct.pack("<HHI", 0x0102, 16, 16)),
        "an element in a header alone": document(string_pool(["a"]), struct.pack("<HHI", 0x0102, 8, 8)),
        "a chunk of size 0": document(string_pool(["a"]), struct.pack("<HHI", 0x0102, 16, 0)),
        "a chunk of 4 GiB": document(string_pool(["a"]), struct.pack("<HHI", 0x0102, 16, 0xFFFFFFFF)),
        "a header beyond its chunk": document(string_pool(["a"]), struct.pack("<HHI", 0x0180, 0xFFFF, 8)),
        "more strings than a count holds": with_strings(0xFFFFFFFF, 28),
        "more strings than the pool holds": with_strings(0x0FFFFFFF, 28),
        "strings outside of the pool": with_strings(1, 0xFFFFFFFF, bytes(8)),
        "a string outside of the pool": with_strings(1, 32, b"\xff\xff\xff\x7f"),
        "a length beyond the pool": with_strings(1, 32, bytes(4) + b"\xff" * 4),
        "a length of UTF-8 beyond the pool": with_strings(1, 32, bytes(4) + b"\xff" * 4, flags=0x100),
        "a header smaller than one": document(struct.pack("<HHI", 1, 4, 28) + bytes(20), start(0), end(0)),
    })  # fmt: skip
    def test_what_is_broken_is_one_error_with_its_place(self, data: bytes) -> None:
        with pytest.raises(InputError) as caught:
            parse_binary_xml(data, path="x.xml")
        assert caught.value.place == "x.xml"

    @titled(("data", "message"), {
        "UTF-16": (with_strings(1, 32, bytes(4) + b"\x09\0abcd"), "a string outside"),
        "UTF-8": (with_strings(1, 32, bytes(4) + b"\x04\x09abcd", flags=0x100), "a string outside"),
        "long UTF-8": (with_strings(1, 32, bytes(4) + b"\x84\0\x89\0ab", flags=0x100), "a string outside"),
        "a count": (with_strings(3, 36, bytes(8)), "count of strings"),
    })  # fmt: skip
    def test_a_pool_that_says_more_than_it_holds_is_an_error(self, data: bytes, message: str) -> None:
        with pytest.raises(InputError, match=message):
            parse_binary_xml(data, path="x.xml")

    def test_what_packers_do_is_overlooked_as_by_android(self) -> None:
        plain = parse_binary_xml(axml(PLAIN))
        assert parse_binary_xml(axml(PLAIN, tail=b"rubbish" * 9)) == plain
        assert parse_binary_xml(b"\0\0" + axml(PLAIN)[2:]) == plain
        assert parse_binary_xml(axml(PLAIN)[:4] + b"\xff\xff\xff\x7f" + axml(PLAIN)[8:]) == plain
        inside = axml(PLAIN)[8:]
        unknown = chunk(0x7777, b"", b"abcd")
        assert parse_binary_xml(document(unknown, inside)) == plain
        assert parse_binary_xml(document(inside, start(99))) == plain
        assert parse_binary_xml(document(inside, string_pool(["other"]), start(0))) == plain

    def test_names_come_from_the_resource_map(self) -> None:
        attributes = parse_binary_xml(axml(MANIFEST, stripped=True)).attributes
        assert [attribute.name for attribute in attributes] == ["versionCode", "versionName", "package"]
        lying = axml(element("a", {"android:exported": (INT_BOOLEAN, 0)})).replace(
            "exported".encode("utf-16-le"), "enabled!".encode("utf-16-le")
        )
        assert parse_binary_xml(lying).attributes[0].name == "exported"

    def test_an_attribute_without_an_id_is_not_seen_as_androids(self) -> None:
        service = element("service", {"android:name": ".S", "android:exported": (INT_BOOLEAN, 1)})
        root = element("manifest", {"package": "a.b"}, element("application", {}, service))
        with open_apk(zip_of({"AndroidManifest.xml": axml(root, with_map=False)})) as apk:
            (component,) = read_application(apk).components[1:]
        assert (component.name, component.exported) == ("", None)

    def test_nodes_are_counted_before_they_are_made(self) -> None:
        many = document(string_pool(["a"]), start(0), *[start(0) + end(0)] * 500, end(0))
        budget = Budget(Limits(nodes=100))
        with pytest.raises(BudgetError, match="more than 100 elements"):
            parse_binary_xml(many, budget=budget)
        assert budget.nodes == 100
        wide = document(string_pool(["a"]), start(0, bytes(20) * 60_000, count=60_000), end(0))
        budget = Budget(Limits(nodes=60_000))
        with pytest.raises(BudgetError):
            parse_binary_xml(wide, budget=budget)
        assert budget.nodes == 0

    def test_a_hundred_thousand_levels_are_refused(self) -> None:
        deep = document(string_pool(["a"]), *[start(0)] * 100_000, *[end(0)] * 100_000)
        budget = Budget()
        with pytest.raises(BudgetError, match="200 levels"):
            parse_binary_xml(deep, budget=budget)
        assert budget.nodes <= 201

    def test_as_many_levels_as_are_read_can_be_rendered(self) -> None:
        root = Node("a")
        for _ in range(199):
            root = Node("a", {}, (root,))
        text = render_xml(parse_binary_xml(axml(root)), lambda _: None, path="x")
        assert text == "<a>" * 199 + "<a/>" + "</a>" * 199

    def test_strings_that_overlap_are_counted_each(self) -> None:
        # Each of many offsets leads into the same bytes, so that a small file holds very long texts.
        count = 2_000
        offsets = struct.pack(f"<{count}I", *range(count))
        pool = chunk(1, struct.pack("<5I", count, 0, 0x100, 28 + len(offsets), 0), offsets + b"\xff" * 40_000)
        nodes = b"".join(start(number) + end(number) for number in range(1, count))
        budget = Budget(Limits(characters=1 << 20))
        with pytest.raises(BudgetError, match="characters"):
            parse_binary_xml(document(pool, start(0), nodes, end(0)), budget=budget)
        assert budget.characters <= 1 << 20

    def test_one_long_text_that_is_everywhere_is_counted_when_it_is_rendered(self) -> None:
        root = element("a", {}, *[element("b", {"c": "x" * 10_000})] * 1_000)
        budget = Budget(Limits(characters=1 << 20))
        tree = parse_binary_xml(axml(root), budget=budget)
        assert budget.characters < 20_000
        with pytest.raises(BudgetError, match="characters"):
            render_xml(tree, lambda _: None, path="x", budget=budget)
        assert budget.characters <= 1 << 20

    @pytest.mark.parametrize("line", [0, 1, 65_535, 65_536, 0xFFFFFFFF], ids="line {}".format)
    def test_lines_are_those_of_the_source_as_far_as_a_parser_counts(self, line: int) -> None:
        text = render_xml(parse_binary_xml(axml(Node("a", {}, (Node("b", {}, (), line),)))), str, path="x")
        assert text.count("\n") == (line - 1 if 1 < line <= 65_535 else 0)

    @pytest.mark.parametrize("name", ["", "a b", "a=b", "<", "1", "a\0", "\ufffe", "x='"], ids=repr)
    def test_names_that_xml_cannot_hold_are_an_error(self, name: str) -> None:
        for root in (Node(name), Node("a", {name: "x"})):
            with pytest.raises(InputError, match="is not allowed in XML"):
                render_xml(parse_binary_xml(axml(root)), str, path="x")


def opened(resources: bytes | None = None, **others: bytes) -> Apk:
    files = {**whole_app(), **others}
    if resources is not None:
        files["resources.arsc"] = resources
    return open_apk(zip_of(files))


class TestResourceTables:
    @titled("data", {
        "no data": b"",
        "a header alone": b"\x02\x00\x0c\x00",
        "zero bytes": bytes(200),
        "no strings": chunk(2, struct.pack("<I", 1)),
        "a package of size 0": chunk(2, struct.pack("<I", 1), struct.pack("<HHI", 0x200, 288, 0)),
        "a package of 4 GiB": chunk(2, struct.pack("<I", 1), struct.pack("<HHI", 0x200, 288, 0xFFFFFFFF)),
        "a package smaller than one": chunk(2, struct.pack("<I", 1), chunk(0x200, bytes(20))),
        "types outside of the package":
            chunk(2, b"\1\0\0\0", chunk(0x200, struct.pack("<I256s5I", 0x7F, b"", 5000, 0, 5000, 0, 0))),
        "a table that is cut off": table(RESOURCES)[:-400],
        "an id that is there twice":
            table(RESOURCES).replace(struct.pack("<I", 0x7F010003), struct.pack("<I", 0x7F010001)),
    })  # fmt: skip
    def test_a_broken_table_leaves_the_app_readable(self, data: bytes) -> None:
        with opened(data) as apk:
            application = read_application(apk)
            (service,) = application.components[1:]
            assert service.name == ".ToolService"
            assert service.meta_data[0].value is None
            assert service.meta_data[1].value == "Keeps \u20ac and \U0001f600"
            assert application.resources.read_text("@string/tool_name") is None
            assert application.resources.read_array("@array/none") is None
            codes = {finding.code for finding in apk.findings}
            assert codes <= {"broken-resource-table"}
            assert codes or len(data) in {12, len(table(RESOURCES))}

    @pytest.mark.parametrize("count", [0xFFFFFFFF, 0x10000000, 100], ids="{} entries".format)
    def test_counts_of_entries_that_lie_are_reported(self, count: int) -> None:
        data = bytearray(table(RESOURCES))
        at = data.index(struct.pack("<HHI", 0x0201, 84, 84 + 16)[:4])
        struct.pack_into("<I", data, at + 12, count)
        with opened(bytes(data)) as apk:
            read_application(apk)
            assert [finding.code for finding in apk.findings] == ["broken-resource-table"]

    def test_an_array_that_is_longer_than_its_type_is_reported(self) -> None:
        data = table([RESOURCES[-1], *RESOURCES[:-1]])
        header = struct.pack("<HHI", 16, 1, 0) + bytes(4)
        at = data.index(header) + len(header)
        with opened(data[:at] + struct.pack("<I", 4) + data[at + 4 :]) as apk:
            application = read_application(apk)
            assert application.resources.read_array("@array/files") is None
            assert [finding.code for finding in apk.findings] == ["broken-resource-table"]

    def test_the_default_configuration_counts_wherever_it_is(self) -> None:
        values = {locale("de"): "Deutsch", locale("fr"): "Fran\u00e7ais", b"": "Default"}
        only = {locale("de"): "Deutsch", b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x15": "Since 21"}
        with opened(table([Resource("string", "a", values)])) as apk:
            assert read_application(apk).label == "Default"
        with opened(table([Resource("string", "a", only)])) as apk:
            assert read_application(apk).label == "Since 21"

    @pytest.mark.parametrize("step", range(0, 40, 4), ids="byte {}".format)
    def test_numbers_inside_of_entries_that_lie_are_reported_or_overlooked(self, step: int) -> None:
        data = bytearray(table(RESOURCES))
        at = data.index(struct.pack("<HHI", 0x0201, 84, 84 + 16)[:4]) + 84
        struct.pack_into("<I", data, at + step, 0x7FFFFFF0)
        with opened(bytes(data)) as apk:
            application = read_application(apk)
            application.resources.read_array("@array/files")
            assert {finding.code for finding in apk.findings} <= {"broken-resource-table"}

    def test_references_in_a_circle_lead_nowhere(self) -> None:
        circle = [
            Resource("string", str(number), {b"": (REFERENCE, 0x7F010000 + (number + 1) % 3)})
            for number in range(3)
        ]
        with opened(table(circle)) as apk:
            application = read_application(apk)
            assert application.label is None
            assert application.resources.read_text("@string/0") is None
            assert application.resources.read_array("@string/0") is None
            assert apk.budget.lookups < 100

    @pytest.mark.parametrize(("length", "text"), [(19, "end"), (20, None)])
    def test_references_are_followed_as_far_as_android_does(self, length: int, text: str | None) -> None:
        chain = [
            Resource("string", str(number), {b"": (REFERENCE, 0x7F010001 + number)})
            for number in range(length)
        ]
        with opened(table([*chain, Resource("string", "end", {b"": "end"})])) as apk:
            assert apk.resources is not None
            value = apk.resources.resolve(TypedValue(REFERENCE, 0x7F010000))
            assert (value.text if value is not None else None) == text

    def test_lookups_are_counted(self) -> None:
        configurations = {
            locale(f"{chr(97 + number // 26)}{chr(97 + number % 26)}"): "x" for number in range(600)
        }
        data = table([Resource("string", "a", configurations), Resource("string", "b", {b"": "y"})])
        budget = Budget(Limits(lookups=1_000))
        with open_apk(zip_of({**whole_app(), "resources.arsc": data}), budget=budget) as apk:
            assert apk.resources is not None
            assert len(apk.resources.values_of(0x7F010000)) == 600
            assert len(apk.resources.values_of(0x7F010000)) == 600
            with pytest.raises(BudgetError, match="too many steps"):
                apk.resources.values_of(0x7F010001)
        assert budget.lookups <= 1_000

    def test_parts_are_counted(self) -> None:
        rubbish = chunk(0x7777, b"") * 500
        budget = Budget(Limits(chunks=100))
        with open_apk(
            zip_of({**whole_app(), "resources.arsc": chunk(2, bytes(4), rubbish)}), budget=budget
        ) as apk:
            assert apk.resources is not None
            with pytest.raises(BudgetError, match="more than 100 parts"):
                apk.resources.values_of(0x7F010000)
        assert budget.chunks == 100

    def test_two_resources_of_one_name_have_references_of_their_own(self) -> None:
        twins = [Resource("string", "twin", {b"": text}) for text in ("first", "second")]
        with opened(table(twins)) as apk:
            assert apk.resources is not None
            references = [apk.resources.reference_to(0x7F010000 + number) for number in range(3)]
            assert references == ["@string/twin", "@string/0x7f010001", None]
            assert [apk.resources.find(reference or "") for reference in references] == [
                0x7F010000,
                0x7F010001,
                None,
            ]


class TestManifests:
    @titled(("root", "message"), {
        "another root": (element("other", {"package": "a.b"}), "not <manifest>"),
        "no package": (element("manifest"), "no package name"),
        "an empty package": (element("manifest", {"package": ""}), "no package name"),
        "a package that is a number": (element("manifest", {"package": (INT_BOOLEAN, 0)}), "no package name"),
        "a package of 256 characters": (element("manifest", {"package": "x" * 256}), "no package name"),
    })  # fmt: skip
    def test_what_no_app_can_have_is_refused(self, root: Node, message: str) -> None:
        with pytest.raises(InputError, match=message):
            open_apk(zip_of({"AndroidManifest.xml": axml(root)}))

    def test_an_app_of_nothing_is_read(self) -> None:
        with open_apk(zip_of({"AndroidManifest.xml": axml(element("manifest", {"package": "a.b"}))})) as apk:
            application = read_application(apk)
            assert [component.kind for component in application.components] == ["application"]
            assert (apk.version_code, apk.version_name, apk.minimum_sdk, apk.resources) == (None,) * 4
            assert application.resources.read_file("@xml/none") is None

    def test_a_text_manifest_is_an_error(self) -> None:
        with pytest.raises(InputError, match="is not compiled XML"):
            open_apk(zip_of({"AndroidManifest.xml": b"<manifest package='a.b'/>"}))

    @titled(("given", "number"), {
        "an empty string": ((STRING, 0), None), "a number": ("34", 34),
        "the name of a preview": ("UpsideDownCake", None), "an endless number": ("9" * 5000, None),
        "a digit outside of ASCII": ("\u0663", None),
    })  # fmt: skip
    def test_a_version_that_is_not_a_number_is_none(
        self, given: str | tuple[int, int], number: int | None
    ) -> None:
        uses = element("uses-sdk", {"android:minSdkVersion": given if isinstance(given, str) else ""})
        root = element("manifest", {"package": "a.b"}, uses)
        with open_apk(zip_of({"AndroidManifest.xml": axml(root)})) as apk:
            assert (apk.minimum_sdk, apk.target_sdk) == (number, number)


@pytest.mark.slow
def test_hostile_files_take_less_than_256_megabytes(tmp_path: Path) -> None:
    size = 63 << 20
    units = size // 8
    length = struct.pack("<HH", 0x8000 | units >> 16, units & 0xFFFF)
    header = struct.pack("<5I", 1, 0, 0, 32, 0)
    long_string = chunk(1, header, bytes(4) + length + bytes(range(256)) * (2 * units // 256))
    unlike = (struct.pack("<IIIHBBI", NOTHING, 0, NOTHING, 8, 0, 16, number) for number in range(290_000))
    rows = (start(0, b"".join(islice(unlike, 1000)), count=1000) + end(0) for _ in range(290))
    files = {
        "a long string": {"resources.arsc": chunk(2, bytes(4), long_string + table(RESOURCES)[12:])},
        "attributes": {"AndroidManifest.xml": document(string_pool(["a"]), start(0), *rows, end(0))},
        "bomb": {"AndroidManifest.xml": bytes(900 << 20)},
        "chunks": {"resources.arsc": chunk(2, bytes(4), chunk(0x7777, b"") * (size // 8))},
    }
    for name, content in files.items():
        stored = ("resources.arsc", *(["AndroidManifest.xml"] if name != "bomb" else []))
        (tmp_path / name).write_bytes(zip_of({**whole_app(), **content}, stored=stored))
    program = textwrap.dedent("""
        import re, sys
        from pathlib import Path
        from droidgate_mappings.model.errors import InputError
        from droidgate_android.apk.apk_application import read_application
        from droidgate_android.apk.reader import open_apk
        for path in sys.argv[1:]:
            try:
                with open_apk(path) as apk:
                    print(read_application(apk).package)
            except InputError as error:
                print(error.message)
        print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
    """)
    command = [sys.executable, "-c", program, *map(str, sorted(tmp_path.iterdir()))]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    *lines, peak = run.stdout.splitlines()
    assert lines == [
        "dev.droidgate.test",
        "the root element is <a>, not <manifest>",
        "the entry has more than 16777216 bytes",
        "its resource table has more than 200000 parts",
    ]
    assert int(peak) < 256 * 1024, run.stdout


# Mutated APKs give one of our errors or an application, within counted budgets


LIMITS = Limits(
    entries=64,
    directory_bytes=1 << 14,
    inflated_bytes=1 << 17,
    nodes=600,
    depth=20,
    characters=1 << 14,
    chunks=120,
    lookups=400,
)
COUNTERS = [field.name for field in fields(Budget) if field.name != "limits"]
LONG_RUNS, MUTANTS_OF_A_LONG_RUN = 16, 15_000
INTERESTING = (0, 1, 4, 0xFF, 0x100, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def signed(archive: bytes) -> bytes:
    """Return the archive with a signing block of scheme v2 before its directory."""

    def prefixed(data: bytes) -> bytes:
        return struct.pack("<I", len(data)) + data

    content = prefixed(b"") + prefixed(prefixed(b"certificate")) + prefixed(b"")
    signer = prefixed(content) + prefixed(b"") + prefixed(b"")
    value = prefixed(prefixed(signer))
    pair = struct.pack("<QI", len(value) + 4, 0x7109871A) + value
    size = len(pair) + 24
    block = struct.pack("<Q", size) + pair + struct.pack("<Q", size) + b"APK Sig Block 42"
    offset = struct.unpack_from("<I", archive, len(archive) - 6)[0]
    tail = archive[offset:-6] + struct.pack("<IH", offset + len(block), 0)
    return archive[:offset] + block + tail


def mutated(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        kind, position = chance.random(), chance.randrange(len(changed))
        if kind < 0.4:
            changed[position] = chance.randrange(256)
        elif kind < 0.7:
            number = chance.choice((*INTERESTING, len(changed), chance.getrandbits(32)))
            changed[position & ~3 : (position & ~3) + 4] = struct.pack("<I", number)
        elif kind < 0.8:
            del changed[position : position + chance.randrange(1, 20)]
        elif kind < 0.9:
            changed[position:position] = chance.randbytes(chance.randrange(1, 20))
        else:
            del changed[position:]
        changed = changed or bytearray(1)
    return bytes(changed)


def mutants(chance: random.Random, count: int) -> Iterator[bytes]:
    apps = [whole_app(encoding=encoding) for encoding in ("plain", "sparse", "offset16", "compact")]
    whole = [signed(zip_of(item)) for item in apps]
    split = axml(element("manifest", {"package": "dev.droidgate.test", "split": "config.de"}))
    split_apk = zip_of({"AndroidManifest.xml": split, "resources.arsc": apps[0]["resources.arsc"]})
    container = {"splits/base-master.apk": whole[0], "splits/base-de.apk": split_apk, "toc.pb": b""}
    parts = ("AndroidManifest.xml", "resources.arsc", "res/xml/descriptor.xml", "archive", "container")
    for _ in range(count):
        app, part = chance.choice(apps), chance.choice(parts)
        if part == "archive":
            yield mutated(chance.choice(whole), chance)
        elif part == "container":
            name = chance.choice(("splits/base-master.apk", "splits/base-de.apk"))
            inner = {**container, name: mutated(container[name], chance)}
            yield zip_of(inner, stored=tuple(inner) if chance.random() < 0.5 else ())
        else:
            yield zip_of({**app, part: mutated(app[part], chance)})


def read_everything(data: bytes) -> Budget:
    """Read all that an app has, as commands do; return what it has cost."""
    budget = Budget(LIMITS)
    errors: list[InputError] = []
    try:
        with open_app(data, budget=budget) as apk:
            application = read_application(apk)
            read_resources(application, errors)
            assert apk.verify_signature().verified is not True
            for item in load_formats().values():
                with collected(errors):
                    item.read_application(application, ReadingContext())
            assert all(finding.message and finding.source is not None for finding in apk.findings)
    except InputError as error:
        errors.append(error)
    assert all(item.message and (item.place or "").startswith("<bytes>") for item in errors)
    return budget


@contextmanager
def collected(errors: list[InputError]) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        errors.append(error)


def read_resources(application: Application, errors: list[InputError]) -> None:
    resources = application.resources
    for name in (*application.loose_assets, "@xml/descriptor", "@array/files", "@string/tool_name"):
        for read in (resources.read_file, resources.read_text, resources.read_array, resources.read_asset):
            with collected(errors):
                read(name)


def check(seed: int, count: int) -> None:
    read = 0
    for number, data in enumerate(mutants(random.Random(seed), count)):
        budget = read_everything(data)
        read += budget.nodes > 0
        for counter in COUNTERS:
            spent, allowed = getattr(budget, counter), getattr(LIMITS, counter)
            assert spent <= allowed, (seed, number, counter)
    assert read > count / 3


@pytest.mark.slow
def test_mutants_are_read_or_refused() -> None:
    check(seed=1, count=1_500)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 100 + LONG_RUNS))
def test_very_many_mutants_are_read_or_refused(seed: int) -> None:
    assert LONG_RUNS * MUTANTS_OF_A_LONG_RUN >= 200_000
    check(seed=seed, count=MUTANTS_OF_A_LONG_RUN)


def test_the_unchanged_apps_are_within_the_limits() -> None:
    for encoding in ("plain", "sparse", "offset16", "compact"):
        data = signed(zip_of(whole_app(encoding=encoding)))
        assert zipfile.ZipFile(BytesIO(data)).testzip() is None
        with open_app(data, budget=Budget(LIMITS)) as apk:
            application = read_application(apk)
            assert application.label == "Test"
            assert len(application.signers) == 1
            errors: list[InputError] = []
            read_resources(application, errors)
            assert errors == []
            assert apk.findings == ()
