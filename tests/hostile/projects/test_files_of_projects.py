"""Projects whose files are links out of them, devices, pipes, or in encodings that are none."""

import os
import zipfile
from pathlib import Path

import pytest

from droidgate.cli.phone import starting_phones
from droidgate_android.projects.project_files import read_project_file
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.text.xml_text import find_encoding
from gateway.cli.program_runs import Run, run_process

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


def assert_no_crash(runs: dict[str, Run]) -> None:
    for command, run in runs.items():
        assert run.code in {0, 1, 3}, (command, run)
        assert "internal error" not in run.err, (command, run)
        assert "--deadline" not in run.err, (command, run)
        assert "--memory" not in run.err, (command, run)


HIDDEN = ["src/main/res/values/x.xml", "src/main/assets/x.json", "build.gradle", "src/main/res/xml/x.xml"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "device"),
    [("build.gradle", "/dev/zero"), *((name, "fifo") for name in (*HIDDEN, "src/main/AndroidManifest.xml"))],
)
def test_no_device_and_no_pipe_is_waited_for(name: str, device: str, project: Path) -> None:
    path = project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if device == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(device)
    assert_no_crash(run_all(project))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["src/main/res/values/x.xml", "src/main/assets/x.json", "src/main/res/raw/x.xml"]
)
def test_no_file_of_this_machine_gets_into_an_apk(name: str, project: Path) -> None:
    path = project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(project.parent / "secret.xml")
    runs = run_all(project)
    assert_no_crash(runs)
    for run in runs.values():
        assert SECRET not in run.out + run.err
    assert runs["pack"].code == 3
    assert "a link leads out of the project" in runs["pack"].err
    assert not (project.parent / "app.apk").exists()


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["src/main/res", "src/main/assets", "src"])
def test_no_folder_of_this_machine_gets_into_an_apk(folder: str, project: Path) -> None:
    (project / "src/main/assets/a.txt").write_text(SECRET)
    inside, outside = project / folder, project.parent / "elsewhere"
    inside.rename(outside)
    inside.symlink_to(outside)
    runs = run_all(project)
    assert_no_crash(runs)
    assert runs["pack"].code == 3
    assert (runs["migrate"].code == 0) is (folder == "src/main/assets")  # which a migration does not read


@pytest.mark.slow
def test_a_link_inside_of_the_project_is_read(project: Path) -> None:
    shared = project / "shared"
    shared.mkdir()
    (project / "src/main/res/values/strings.xml").rename(shared / "strings.xml")
    (project / "src/main/res/values/strings.xml").symlink_to("../../../../shared/strings.xml")
    runs = run_all(project)
    assert {name: run.code for name, run in runs.items()} == dict.fromkeys(runs, 0), runs
    with zipfile.ZipFile(project.parent / "app.apk") as apk:
        assert "resources.arsc" in apk.namelist()


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["punycode", "undefined"])
@pytest.mark.parametrize("name", ["src/main/AndroidManifest.xml", "src/main/res/values/strings.xml"])
def test_an_encoding_that_is_not_one_of_text_is_refused(name: str, encoding: str, project: Path) -> None:
    path = project / name
    text = path.read_text()
    path.write_text(f'<?xml version="1.0" encoding="{encoding}"?>\n{text}<!--{"a-" * 100_000}-->')
    runs = run_all(project)
    assert_no_crash(runs)
    assert runs["pack"].code == 3
    if name.endswith("AndroidManifest.xml"):
        assert runs["migrate"].code == 3
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
        os.close(starting_phones._open_log(log))

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

    def test_a_file_of_somebody_else_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "log").write_text(SECRET)
        monkeypatch.setattr(os, "getuid", lambda: 54321)
        with pytest.raises(InputError, match="another user"):
            self.open_log(tmp_path / "log")
        assert (tmp_path / "log").read_text() == SECRET

    def test_a_new_file_is_the_users_alone(self, tmp_path: Path) -> None:
        self.open_log(tmp_path / "log")
        assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600
