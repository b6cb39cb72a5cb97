"""Whatever a folder contains: an answer or a typed error, in time that grows with its size only."""

import contextlib
from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from counted_work import count_calls
from droidgate.sources import folders
from droidgate.sources.android_project import application_from_tree
from droidgate.sources.folder_files import MAX_LEVELS
from droidgate.sources.resources import ResourceFile
from droidgate.sources.text_manifest import is_manifest
from droidgate_mappings.formats.application import Application, names_pointed_to
from droidgate_mappings.model.errors import BudgetError, InputError
from gateway.sources.formats_of_tests import manifest, read, service, write_tree
from strategies import damaged

FRAGMENTS = [
    *(
        "<manifest",
        "<application",
        "<service",
        "<meta-data",
        "<activity-alias",
        "/>",
        ">",
        "</application>",
        "</manifest>",
    ),
    *(
        ' xmlns:android="http://schemas.android.com/apk/res/android"',
        ' android:name="',
        ' android:value="',
        '"',
        "'",
        "=",
    ),
    *(
        "@string/a",
        "@xml/a",
        "@array/a",
        "@bool/a",
        "${x}",
        "\\u12",
        "\\",
        "@",
        "?",
        ".S",
        "\n",
        "<!--",
        "-->",
        "<![CDATA[",
    ),
    *(
        "<?xml version='1.0'?>",
        "<resources>",
        '<string name="a">',
        "</string>",
        "</resources>",
        "<item>",
        " tools:node=",
        "\0",
        "é",
    ),
]
wild = st.one_of(
    st.binary(max_size=80),
    st.lists(st.sampled_from(FRAGMENTS), max_size=30).map(lambda pieces: "".join(pieces).encode()),
)
NAMES = [
    "AndroidManifest.xml", "res/values/a.xml", "res/values-de/b.xml", "res/xml/a.xml", "res/raw/a.json",
    "assets/a.json",
]  # fmt: skip


MANIFEST = (
    b"<manifest xmlns:android='http://schemas.android.com/apk/res/android' package='a.b'><application>"
    b"<service android:name='.S'><meta-data android:name='a' android:value='@string/a'/></service>"
    b"</application></manifest>"
)
VALUES = (
    b"<resources><string name='a'>x</string><string-array name='a'><item>y</item></string-array></resources>"
)
likely = st.sampled_from([MANIFEST, VALUES]).flatmap(
    lambda whole: damaged(st.just(whole), st.sampled_from(FRAGMENTS).map(str.encode))
)


@given(
    st.dictionaries(st.sampled_from(NAMES), wild | likely),
    damaged(st.just(MANIFEST), st.sampled_from(FRAGMENTS).map(str.encode)),
)
def test_any_tree_is_an_application_or_a_typed_error(tree: dict[str, bytes], data: bytes) -> None:
    is_manifest(data)
    with contextlib.suppress(InputError):
        application = application_from_tree({**tree, "AndroidManifest.xml": data}, path="x")
        for reference in ("@string/a", "@xml/a", "@raw/a", "@array/a", "a.json", "@x", ""):
            for question in (application.resources.read_text, application.resources.read_array):
                question(reference)
            with contextlib.suppress(InputError):
                application.resources.read_file(reference)
            with contextlib.suppress(InputError):
                application.resources.read_asset(reference)


@given(
    st.dictionaries(
        st.sampled_from([f"src/main/{name}" for name in NAMES] + ["build.gradle", "x.json", "y.xml"]),
        wild | likely,
    )
)
def test_any_folder_is_read_or_not(tmp_path_factory: pytest.TempPathFactory, tree: dict[str, bytes]) -> None:
    folder = write_tree(tmp_path_factory.mktemp("wild"), dict(tree))
    with contextlib.suppress(InputError):
        read(folder)


SERVICE = "<service android:name='.S%d'><meta-data android:name='a' android:value='b,c'/></service>"


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [b"<!-- -->" * 900_000, b"<?a?>" * 1_500_000 + b"x", b" " * 8_000_000 + b"<manifest"],
    ids=["comments", "instructions", "blanks"],
)
def test_endless_texts_that_are_no_manifest_are_refused(data: bytes) -> None:
    with pytest.raises(InputError):
        application_from_tree({"AndroidManifest.xml": data})


@pytest.mark.slow
def test_endless_manifests_are_read() -> None:
    services = b"<application>" + b"<service/>" * 150_000 + b"</application>"
    read = application_from_tree({"AndroidManifest.xml": services})
    assert sum(1 for _ in read.of_kind("service")) == 150_000
    levels = b"<manifest>" * 200 + b"</manifest>" * 200
    assert not any(application_from_tree({"AndroidManifest.xml": levels}).of_kind("service"))


def test_a_manifest_of_twice_the_length_is_twice_the_work() -> None:
    def read_manifest(services: int) -> Application:
        items = "".join(SERVICE % number for number in range(services))
        return application_from_tree({"AndroidManifest.xml": manifest(items).encode()})

    assert read_manifest(2).components[-1].name == ".S1"
    works = [count_calls(partial(read_manifest, services)) for services in (1000, 2000)]
    assert works[1] < 2.1 * works[0]


def test_a_chain_of_references_ends() -> None:
    strings = "".join(f'<string name="s{n}">@string/s{n + 1}</string>' for n in range(1000))
    tree = {
        "AndroidManifest.xml": b"<manifest/>",
        "res/values/s.xml": f"<resources>{strings}</resources>".encode(),
    }
    assert application_from_tree(tree).resources.read_text("@string/s0") is None


def test_many_values_in_many_files_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(300):
        text = "".join(f'<string name="s{number}_{item}">x</string>' for item in range(50))
        write_tree(tmp_path, {f"res/values-l{number}/s.xml": f"<resources>{text}</resources>"})
    items = "".join(f'<service android:name="@string/s{number % 300}_1"/>' for number in range(2000))
    write_tree(tmp_path, {"AndroidManifest.xml": manifest(items)})
    reads: Counter[str] = Counter()
    read_one = ResourceFile.read

    def read_counted(file: ResourceFile) -> bytes:
        reads[file.path] += 1
        return read_one(file)

    monkeypatch.setattr(ResourceFile, "read", read_counted)
    (application,) = read(tmp_path).applications
    assert application.components[-1].name == "x"
    assert sorted(Counter(reads.values()).items()) == [(1, 300)]


def _write_projects(folder: Path, numbers: Iterable[int]) -> None:
    for number in numbers:
        write_tree(
            folder / f"group{number % 7}" / f"p{number}",
            {
                "app/build.gradle.kts": f'android {{ namespace = "dev.p{number}" }}',
                "app/src/main/AndroidManifest.xml": manifest(service(".S", 'android:resource="@raw/t"')),
                "app/src/main/res/values/strings.xml": '<resources><string name="a">b</string></resources>',
                "app/src/main/res/raw/t.txt": f"tools t{number}",
                "app/src/main/java/dev/p/S.java": "class S {}",
            },
        )


@pytest.mark.slow
def test_five_hundred_projects_are_read_without_a_problem(tmp_path: Path) -> None:
    _write_projects(tmp_path, range(500))
    reading = read(tmp_path)
    assert len(reading.providers) == len(reading.applications) == 500
    assert reading.problems == ()


def test_twice_the_projects_are_twice_the_work(tmp_path: Path) -> None:
    works = []
    for numbers in (range(70), range(70, 140)):
        _write_projects(tmp_path, numbers)
        works.append(count_calls(lambda: read(tmp_path)))
    assert works[1] < 2.1 * works[0]


def test_twice_the_files_are_twice_the_work(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_bytes(b"tools a")
    works = []
    for numbers in (range(1500), range(1500, 3000)):
        for number in numbers:
            (tmp_path / f"f{number}.json").write_bytes(b"{}")
        works.append(count_calls(lambda: read(tmp_path)))
    assert len(read(tmp_path).providers) == 1
    assert works[1] < 2.1 * works[0]


def test_a_folder_of_endless_files_ends_at_a_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "MAX_ENTRIES", 10)
    write_tree(tmp_path, {"a.json": "tools a", **{f"many/f{number}": "" for number in range(20)}})
    reading = read(tmp_path)
    assert [provider.capabilities[0].id for provider in reading.providers] == ["a"]
    (problem,) = reading.problems
    assert isinstance(problem, BudgetError)
    assert problem.place == str(tmp_path)


def test_folders_are_looked_into_down_to_a_limit(tmp_path: Path) -> None:
    for levels in (MAX_LEVELS - 1, MAX_LEVELS + 5):
        write_tree(tmp_path, {"/".join(["d"] * levels) + "/x.json": f"tools at{levels}"})
    assert [provider.capabilities[0].id for provider in read(tmp_path).providers] == [f"at{MAX_LEVELS - 1}"]


def test_a_document_in_meta_data_is_not_a_list_of_files() -> None:
    text = manifest(f'<meta-data android:name="j" android:value="{"a," * 100_000}"/>')
    application = application_from_tree({"AndroidManifest.xml": text.encode()})
    assert isinstance(application.components[0].meta_data[0].value, str)
    assert names_pointed_to(application.resources, application.components) == frozenset()
