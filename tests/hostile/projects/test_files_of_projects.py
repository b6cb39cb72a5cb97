"""Projects whose files are links out of them, devices, pipes, or in encodings that are none."""

import contextlib
import os
import zipfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from counted_work import check_linear, count_calls
from droidgate.cli.phone import run_phone_start
from droidgate.sources import folders
from droidgate.sources.folder_files import MAX_LEVELS
from droidgate_android.projects.android_project import application_from_tree
from droidgate_android.projects.project_files import read_project_file
from droidgate_android.projects.text_manifest import is_manifest
from droidgate_mappings.formats.application import names_pointed_to
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.text.xml_text import Element, find_encoding, parse_xml
from gateway.cli.program_runs import Run, run_process
from gateway.sources.formats_of_tests import manifest, read, service, write_tree
from strategies import damaged
from titled_rows import titled

MANIFEST = """<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="com.example.app">
    <application android:label="@string/name" />
</manifest>
"""
VALUES = '<resources><string name="name">App</string></resources>'
TOOLS = '{"tools":[{"name":"t","description":"A tool.","inputSchema":{"type":"object"}}]}'
SECRET = "the user's secret"
MEMORY = "256"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    main = tmp_path / "project/src/main"
    for folder in ("res/values", "assets"):
        (main / folder).mkdir(parents=True)
    (main / "AndroidManifest.xml").write_text(MANIFEST)
    (main / "res/values/strings.xml").write_text(VALUES)
    (tmp_path / "tools.json").write_text(TOOLS)
    (tmp_path / "secret.xml").write_text(f"<resources><string name='s'>{SECRET}</string></resources>")
    return tmp_path / "project"


def run_all(project: Path) -> dict[str, Run]:
    """Run every command that reads a project, each within time and memory that a device would end."""
    above = project.parent
    budget = ("--memory", MEMORY, "--deadline", "40")
    return {
        "inspect": run_process("inspect", project),
        "lint": run_process("lint", project),
        "scan": run_process("scan", project, "--catalog", above / "catalog", *budget),
        "pack": run_process("pack", project, "--output", above / "app.apk", "--force", *budget),
        "migrate": run_process(
            "migrate", above / "tools.json", "--to", "mobile-mcp", "--into", project, *budget
        ),
    }


def assert_no_crash(runs: dict[str, Run], codes: str) -> None:
    """Check the exit codes, a digit for each command in the order of `run_all`."""
    assert "".join(str(run.code) for run in runs.values()) == codes, runs
    for command, run in runs.items():
        assert "internal error" not in run.err, (command, run)
        assert "--deadline" not in run.err, (command, run)
        assert "--memory" not in run.err, (command, run)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "device", "codes"), [
    ("build.gradle", "/dev/zero", "00000"),
    ("build.gradle", "fifo", "00000"),
    ("src/main/res/values/x.xml", "fifo", "00033"),
    ("src/main/res/xml/x.xml", "fifo", "00030"),
    ("src/main/assets/x.json", "fifo", "00030"),
    ("src/main/AndroidManifest.xml", "fifo", "33333"),
])  # fmt: skip
def test_no_device_and_no_pipe_is_waited_for(name: str, device: str, codes: str, project: Path) -> None:
    path = project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if device == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(device)
    assert_no_crash(run_all(project), codes)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "codes"), [
    ("src/main/res/values/x.xml", "31033"),
    ("src/main/assets/x.json", "31030"),
    ("src/main/res/raw/x.xml", "31030"),
])  # fmt: skip
def test_no_file_of_this_machine_gets_into_an_apk(name: str, codes: str, project: Path) -> None:
    path = project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(project.parent / "secret.xml")
    runs = run_all(project)
    assert_no_crash(runs, codes)
    for run in runs.values():
        assert SECRET not in run.out + run.err
    assert "a link leads out of the project" in runs["pack"].err
    assert not (project.parent / "app.apk").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "codes"), [
    ("src/main/res", "31033"),
    ("src/main/assets", "31030"),  # which a migration does not read
    ("src", "33333"),
])  # fmt: skip
def test_no_folder_of_this_machine_gets_into_an_apk(folder: str, codes: str, project: Path) -> None:
    (project / "src/main/assets/a.txt").write_text(SECRET)
    inside, outside = project / folder, project.parent / "elsewhere"
    inside.rename(outside)
    inside.symlink_to(outside)
    assert_no_crash(run_all(project), codes)


@pytest.mark.slow
def test_a_link_inside_of_the_project_is_read(project: Path) -> None:
    shared = project / "shared"
    shared.mkdir()
    (project / "src/main/res/values/strings.xml").rename(shared / "strings.xml")
    (project / "src/main/res/values/strings.xml").symlink_to("../../../../shared/strings.xml")
    assert_no_crash(run_all(project), "00000")
    with zipfile.ZipFile(project.parent / "app.apk") as apk:
        assert "resources.arsc" in apk.namelist()


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["punycode", "undefined"])
@pytest.mark.parametrize(("name", "codes"), [
    ("src/main/AndroidManifest.xml", "31333"),
    ("src/main/res/values/strings.xml", "31033"),
])  # fmt: skip
def test_an_encoding_that_is_not_one_of_text_is_refused(
    name: str, codes: str, encoding: str, project: Path
) -> None:
    path = project / name
    text = path.read_text()
    path.write_text(f'<?xml version="1.0" encoding="{encoding}"?>\n{text}<!--{"a-" * 100_000}-->')
    runs = run_all(project)
    assert_no_crash(runs, codes)
    if name.endswith("AndroidManifest.xml"):
        assert f'"{encoding}"' in runs["migrate"].err


@pytest.mark.parametrize(
    "name", ["UTF-8", "utf8", "latin1", "windows-1252", "Shift_JIS", "EUC-KR", "us-ascii"]
)
def test_encodings_of_text_are_found(name: str) -> None:
    assert find_encoding(name) is not None


@pytest.mark.parametrize("command", ["inspect", "lint"])
def test_a_device_that_is_named_is_refused(command: str) -> None:
    run = run_process(command, "/dev/zero")
    assert run.code == 3
    assert "it is not a regular file" in run.err


def test_a_file_is_bounded_and_has_to_be_inside(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a").write_bytes(b"12345")
    (tmp_path / "b").write_bytes(b"1")
    assert read_project_file(root / "a", root=root, most=5) == b"12345"
    with pytest.raises(BudgetError, match="more than 4 bytes"):
        read_project_file(root / "a", root=root, most=4)
    with pytest.raises(InputError, match="out of the project"):
        read_project_file(root / "../b", root=root)
    with pytest.raises(InputError, match="cannot be read"):
        read_project_file(root / "nowhere", root=root)
    (root / "c").symlink_to("a")
    assert read_project_file(root / "c", root=root) == b"12345"
    with pytest.raises(InputError, match="not a regular file"):
        read_project_file(root, root=root)


class TestLogOfThePhone:
    """`phone start --log` writes the user's own file, and no other one that somebody has put in its place."""

    @staticmethod
    def open_log(log: Path) -> None:
        os.close(run_phone_start._open_log(log))

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", ["link", "dangling", "hard link", "fifo", "folder", "device"])
    def test_nothing_else_is_written(self, kind: str, tmp_path: Path) -> None:
        victim, log = tmp_path / "victim", tmp_path / "log"
        if kind != "dangling":
            victim.write_text(SECRET)
        match kind:
            case "link" | "dangling":
                log.symlink_to(victim)
            case "hard link":
                log.hardlink_to(victim)
            case "fifo":
                os.mkfifo(log)
            case "folder":
                log.mkdir()
            case "device":
                log = Path("/dev/null")
        run = run_process("phone", "start", "--no-apps", "--log", log)
        assert run.code == 3, run
        assert run.err.startswith(f"error: {log}: ")
        assert victim.exists() is (kind != "dangling")
        assert kind == "dangling" or victim.read_text() == SECRET

    def test_a_file_of_another_user_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "log").write_text(SECRET)
        monkeypatch.setattr(os, "getuid", lambda: 54321)
        with pytest.raises(InputError, match="another user"):
            self.open_log(tmp_path / "log")
        assert (tmp_path / "log").read_text() == SECRET

    def test_a_new_file_is_the_users_alone(self, tmp_path: Path) -> None:
        self.open_log(tmp_path / "log")
        assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600


# Whatever a folder contains: an answer or a typed error, in time that grows with its size only


FRAGMENTS = [
    "<manifest", "<application", "<service", "<meta-data", "<activity-alias", "/>", ">", "</application>",
    "</manifest>", ' xmlns:android="http://schemas.android.com/apk/res/android"', ' android:name="',
    ' android:value="', '"', "'", "=", "@string/a", "@xml/a", "@array/a", "@bool/a", "${x}", "\\u12", "\\",
    "@", "?", ".S", "\n", "<!--", "-->", "<![CDATA[", "<?xml version='1.0'?>", "<resources>",
    '<string name="a">', "</string>", "</resources>", "<item>", " tools:node=", "\0", "é",
]  # fmt: skip
wild = st.one_of(
    st.binary(max_size=80),
    st.lists(st.sampled_from(FRAGMENTS), max_size=30).map(lambda pieces: "".join(pieces).encode()),
)
NAMES = [
    "AndroidManifest.xml", "res/values/a.xml", "res/values-de/b.xml", "res/xml/a.xml", "res/raw/a.json",
    "assets/a.json",
]  # fmt: skip


ONE_SERVICE = (
    b"<manifest xmlns:android='http://schemas.android.com/apk/res/android' package='a.b'><application>"
    b"<service android:name='.S'><meta-data android:name='a' android:value='@string/a'/></service>"
    b"</application></manifest>"
)
ONE_STRING = (
    b"<resources><string name='a'>x</string><string-array name='a'><item>y</item></string-array></resources>"
)
likely = st.sampled_from([ONE_SERVICE, ONE_STRING]).flatmap(
    lambda whole: damaged(st.just(whole), st.sampled_from(FRAGMENTS).map(str.encode))
)


@given(
    st.dictionaries(st.sampled_from(NAMES), wild | likely),
    damaged(st.just(ONE_SERVICE), st.sampled_from(FRAGMENTS).map(str.encode)),
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
@titled("data", {
    "comments": b"<!-- -->" * 900_000, "instructions": b"<?a?>" * 1_500_000 + b"x",
    "blanks": b" " * 8_000_000 + b"<manifest",
})  # fmt: skip
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
    def read_manifest(services: int) -> None:
        items = "".join(SERVICE % number for number in range(services))
        application = application_from_tree({"AndroidManifest.xml": manifest(items).encode()})
        assert application.components[-1].name == f".S{services - 1}"

    check_linear(read_manifest, 1000)


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

    def parse_counted(data: bytes, path: str) -> Element:
        reads[path] += 1
        return parse_xml(data, path=path)

    monkeypatch.setattr("droidgate_android.projects.resources.parse_xml", parse_counted)
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
