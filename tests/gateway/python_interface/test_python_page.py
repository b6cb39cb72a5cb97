"""docs/guides/use-from-python.md: each snippet runs as it is written, and prints something."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import droidgate
from droidgate_android.apk.signing_keys import load_or_make_key
from droidgate_phone.apps.sample_apps import sample_apps_directory
from droidgate_phone.apps.sample_packages import sample_packages
from droidgate_phone.phone import start_phone
from requirements_of_tests import CHECKOUT

PAGE = (CHECKOUT / "docs/guides/use-from-python.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
NEEDS_A_PHONE = "open_device"


def titled(snippet: str) -> str:
    return str(re.findall(r"droidgate\.(\w+)\(", snippet)[0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as the page describes it."""
    shutil.copytree(sample_apps_directory() / "pdf-tool", tmp_path / "app")
    shutil.copytree(sample_apps_directory() / "clock-in", tmp_path / "app-before")
    (tmp_path / "apks").mkdir()
    for package in sample_packages():
        (tmp_path / "apks" / f"{package.package}.apk").write_bytes(package.apk)
    load_or_make_key(path=tmp_path / "key.pem")
    return tmp_path


def run(snippet: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    (folder / "snippet.py").write_text(snippet)
    environment = {**os.environ, "DROIDGATE_HOME": str(folder / "home"), **more}
    command = [sys.executable, "-W", "error", "snippet.py"]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=200, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("snippet", [item for item in SNIPPETS if NEEDS_A_PHONE not in item], ids=titled)
def test_a_snippet_runs_as_it_is_written(snippet: str, folder: Path) -> None:
    done = run(snippet, folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


def run_on_a_phone(word: str, folder: Path) -> str:
    (snippet,) = [text for text in SNIPPETS if NEEDS_A_PHONE in text and word in text]
    with start_phone(server_port=0) as phone:
        done = run(snippet, folder, ANDROID_ADB_SERVER_PORT=str(phone.server_port))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_snippet_about_phones_finds_their_apps(folder: Path) -> None:
    assert "dev.droidgate.sample.pdftool mmcp" in run_on_a_phone("discover", folder)


def test_the_snippet_about_calls_explains_one_and_makes_it(folder: Path) -> None:
    explained, called, failed = run_on_a_phone("phone.explain(", folder).splitlines()
    assert "execute-app-function" in explained
    assert called.startswith("note-1 Umbrella app-function-shell")
    assert failed.startswith("invalid_argument [")
    assert 'did you mean "title"' in failed


def test_the_snippet_of_the_guide_to_calls_runs(folder: Path) -> None:
    guide = (CHECKOUT / "docs/guides/call-a-capability.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"^```python\n(.*?)^```", guide, re.DOTALL | re.MULTILINE)
    with start_phone(server_port=0) as phone:
        done = run(snippet, folder, ANDROID_ADB_SERVER_PORT=str(phone.server_port))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Umbrella app-function-shell ")


def test_the_snippet_about_shims_installs_them_and_calls_one(folder: Path) -> None:
    installed, outputs = run_on_a_phone("shims.call(", folder).splitlines()
    assert installed.startswith("True [")
    assert outputs.startswith("{")


def test_the_snippet_about_grants_gives_one_and_takes_it_back(folder: Path) -> None:
    granted, revoked = run_on_a_phone("shims.grant(", folder).splitlines()
    assert granted.startswith(
        "dev.droidgate.sample.agent clock_in_today dev.droidgate.shim.of.dev.droidgate.sample.clockin "
    )
    assert revoked == "1 grants revoked"


def test_the_snippet_about_listing_shows_the_phone_with_its_api_level(folder: Path) -> None:
    listed, opened = run_on_a_phone("list_devices()", folder).splitlines()
    assert listed.startswith(f"{opened} ")
    assert listed.endswith(" 36 ready")


def test_the_snippet_about_migrating_changes_the_project_once(folder: Path) -> None:
    (snippet,) = [text for text in SNIPPETS if "migration.write(" in text]
    first = run(snippet, folder)
    again = run(snippet, folder)
    assert "res/xml/mobile_mcp_tool_service_mcp_capabilities.xml is new" in first.stdout
    assert (folder / "app-before/app/src/main/res/xml/mobile_mcp_tool_service_mcp_capabilities.xml").is_file()
    assert (again.returncode, " is new" in again.stdout or " changes" in again.stdout) == (0, False)


def test_the_snippet_about_packing_writes_an_apk_that_our_reader_opens(folder: Path) -> None:
    (snippet,) = [text for text in SNIPPETS if "packed.write(" in text]
    run(snippet, folder)
    done = run('import droidgate\nprint(*(other.package for other in droidgate.read("app.apk")))\n', folder)
    assert done.stdout == "dev.droidgate.sample.pdftool\n"


def test_a_conversion_is_on_disk_only_when_it_is_written(folder: Path) -> None:
    run('import droidgate\ndroidgate.convert(droidgate.read("app"), to="mobile-mcp")\n', folder)
    assert not (folder / "converted").exists()
    (snippet,) = [item for item in SNIPPETS if "conversion.write(" in item]
    run(snippet, folder)
    assert (folder / "converted/res/xml/mcp_capabilities.xml").is_file()


@pytest.mark.slow
@pytest.mark.requires("basedpyright")
def test_pyright_knows_the_type_of_each_stable_name_and_accepts_each_snippet(tmp_path: Path) -> None:
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    for number, snippet in enumerate(SNIPPETS):
        (tmp_path / f"snippet{number}.py").write_text(snippet)
    stated = "".join(f"stated_{name} = droidgate.{name}\n" for name in droidgate.__all__)
    (tmp_path / "names.py").write_text(f"import droidgate\n\n{stated}")
    (tmp_path / "wrong.py").write_text("import droidgate\n\ndroidgate.read(3)\n")
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(
        [*command, "-p", str(tmp_path)], capture_output=True, text=True, timeout=200, check=False
    )
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] == len(SNIPPETS) + 2
    messages = [f"{Path(item['file']).name}: {item['message']}" for item in found["generalDiagnostics"]]
    assert [message for message in messages if not message.startswith("wrong.py: ")] == []
    assert messages
