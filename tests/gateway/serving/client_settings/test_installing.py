"""Each client starts droidgate by the settings that its documentation describes, and loses none of its own.

The expected files are typed by hand from the documentation that the table cites.
"""

import json
import os
import shutil
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import droidgate as library
from droidgate.devices.adb_client import AdbClient
from droidgate.devices.device_errors import ServerUnreachableError
from droidgate.devices.device_list import read_devices
from droidgate.serving.client_settings import settings_installation
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_mappings.tables.clients import load_clients
from gateway.cli.program_runs import Runner

CLIENTS = (
    "claude-desktop", "claude-code", "cursor", "vscode", "gemini-cli", "goose", "codex", "windsurf", "zed",
    "cline", "lm-studio", "copilot-cli", "opencode", "amp",
)  # fmt: skip
EVERYWHERE = {
    "claude-code": ".claude.json",
    "cursor": ".cursor/mcp.json",
    "gemini-cli": ".gemini/settings.json",
    "codex": ".codex/config.toml",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "cline": ".cline/data/settings/cline_mcp_settings.json",
    "lm-studio": ".lmstudio/mcp.json",
    "copilot-cli": ".copilot/mcp-config.json",
    "opencode": ".config/opencode/opencode.json",
    "amp": ".config/amp/settings.json",
}
MAC = "Library/Application Support"
PATHS = {
    "linux": {**EVERYWHERE, "claude-desktop": ".config/Claude/claude_desktop_config.json",
              "vscode": ".config/Code/User/mcp.json", "goose": ".config/goose/config.yaml",
              "zed": ".config/zed/settings.json"},
    "darwin": {**EVERYWHERE, "claude-desktop": f"{MAC}/Claude/claude_desktop_config.json",
               "vscode": f"{MAC}/Code/User/mcp.json", "goose": ".config/goose/config.yaml",
               "zed": ".config/zed/settings.json"},
    "win32": {**EVERYWHERE, "claude-desktop": "AppData/Roaming/Claude/claude_desktop_config.json",
              "vscode": "AppData/Roaming/Code/User/mcp.json",
              "goose": "AppData/Roaming/Block/goose/config/config.yaml",
              "zed": "AppData/Roaming/Zed/settings.json"},
}  # fmt: skip
FOLDERS = ("APPDATA", "LOCALAPPDATA", "XDG_CONFIG_HOME", "DROIDGATE_HOME", "CODEX_HOME", "COPILOT_HOME")
ENVIRONMENTS = {"goose": "envs", "opencode": "environment"}
ADB_SERVER = ("ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_ADDRESS", "ANDROID_ADB_SERVER_PORT")
SERVE = ["serve", "--serial", "emulator-5554"]
GOOSE = {
    "enabled": True, "name": "droidgate", "description": "Capabilities of Android apps", "envs": {},
    "timeout": 300,
}  # fmt: skip
STARTED: dict[str, tuple[str, dict[str, Any]]] = {
    "claude-desktop": ("mcpServers", {"command": "/bin/droidgate", "args": SERVE}),
    "claude-code": ("mcpServers", {"type": "stdio", "command": "/bin/droidgate", "args": SERVE}),
    "cursor": ("mcpServers", {"command": "/bin/droidgate", "args": SERVE}),
    "vscode": ("servers", {"type": "stdio", "command": "/bin/droidgate", "args": SERVE}),
    "gemini-cli": ("mcpServers", {"command": "/bin/droidgate", "args": SERVE}),
    "goose": ("extensions",
     {**GOOSE, "type": "stdio", "cmd": "/bin/droidgate", "args": SERVE, "env_keys": []}),
    "codex": ("mcp_servers", {"command": "/bin/droidgate", "args": SERVE, "tool_timeout_sec": 300}),
    "windsurf": ("mcpServers", {"command": "/bin/droidgate", "args": SERVE}),
    "zed": ("context_servers", {"command": "/bin/droidgate", "args": SERVE, "env": {}}),
    "cline": ("mcpServers", {"type": "stdio", "command": "/bin/droidgate", "args": SERVE, "timeout": 300}),
    "lm-studio": ("mcpServers", {"command": "/bin/droidgate", "args": SERVE}),
    "copilot-cli": ("mcpServers",
     {"type": "local", "command": "/bin/droidgate", "args": SERVE, "tools": ["*"]}),
    "opencode": ("mcp", {"type": "local", "command": ["/bin/droidgate", *SERVE], "enabled": True}),
    "amp": ("amp.mcpServers", {"command": "/bin/droidgate", "args": SERVE}),
}  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that is the user's for a test."""
    for name in (*FOLDERS, "ANDROID_SERIAL", *ADB_SERVER):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(shutil, "which", lambda *_args, **_options: "/bin/droidgate")
    monkeypatch.setattr(AdbClient, "devices", lambda _self: read_devices("emulator-5554 device\n"))
    return tmp_path


def write_settings(home: Path, client: str, text: str | None) -> Path:
    """Return where a client's settings are, in which a text is."""
    path = home / PATHS["linux"][client]
    path.parent.mkdir(parents=True, exist_ok=True)
    if text is not None:
        path.write_text(text)
    return path


def load_text(path: Path, text: str) -> Any:
    """Return what a text is in the syntax of a file."""
    readers: dict[str, Callable[[str], Any]] = {".yaml": yaml.safe_load, ".toml": tomllib.loads}
    return readers.get(path.suffixes[0], json.loads)(text)


def load(path: Path) -> Any:
    return load_text(path, path.read_text())


def test_the_table_of_clients_is_complete_with_a_source_each() -> None:
    assert tuple(load_clients()) == CLIENTS
    assert all(row.source for row in load_clients().values())


@pytest.mark.parametrize("system", PATHS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_starts_the_server_from_its_own_settings(
    client: str, system: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    change = library.install_client(client, serials=["emulator-5554"])
    path = home / PATHS[system][client]
    assert change.path == path.resolve()
    key, entry = STARTED[client]
    assert load(path) == {key: {"droidgate": entry}}
    assert change.backup is None
    assert not library.install_client(client, serials=["emulator-5554"]).is_change


def test_a_client_that_windows_runs_from_a_package_reads_the_settings_of_its_package(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(home / "Local"))
    package = home / "Local/Packages/Claude_pzs8sxrjxfjjc"
    package.mkdir(parents=True)
    path = library.install_client("claude-desktop").path
    assert path == package / "LocalCache/Roaming/Claude/claude_desktop_config.json"


@pytest.mark.parametrize("client", CLIENTS)
def test_the_server_gets_the_variables_that_lead_to_the_phone_and_a_shared_project_none(
    client: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", "5638")
    monkeypatch.setenv("DROIDGATE_HOME", "mine")
    entry = library.install_client(client).entry
    assert entry is not None
    expected = {"ANDROID_ADB_SERVER_PORT": "5638", "DROIDGATE_HOME": str(home / "mine")}
    assert entry[ENVIRONMENTS.get(client, "env")] == expected
    assert load(home / PATHS["linux"][client])[STARTED[client][0]] == {"droidgate": entry}
    if load_clients()[client].project_path is not None:
        shared = library.install_client(client, project=home).entry
        assert "5638" not in json.dumps(shared)


@pytest.mark.parametrize(("client", "variable", "file"), [
    ("codex", "CODEX_HOME", "config.toml"),
    ("copilot-cli", "COPILOT_HOME", "mcp-config.json"),
    ("opencode", "XDG_CONFIG_HOME", "opencode/opencode.json"),
    ("amp", "XDG_CONFIG_HOME", "amp/settings.json"),
    ("zed", "XDG_CONFIG_HOME", "zed/settings.json"),
])  # fmt: skip
def test_settings_are_in_the_folder_that_a_variable_names(
    client: str, variable: str, file: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(home / "elsewhere"))
    assert library.install_client(client).path == home.resolve() / "elsewhere" / file


@pytest.mark.parametrize(("client", "file"), [("opencode", "opencode.jsonc"), ("amp", "settings.jsonc")])
def test_a_file_with_comments_that_is_there_is_changed(client: str, file: str, home: Path) -> None:
    path = home / ".config" / client / file
    path.parent.mkdir(parents=True)
    path.write_text('{\n  // mine\n  "theme": "dark",\n}\n')
    assert library.install_client(client).path == path.resolve()
    assert "// mine" in path.read_text()
    assert library.install_client(client, project=home).path == (
        home.resolve() / {"opencode": "opencode.json", "amp": ".amp/settings.json"}[client]
    )


@pytest.mark.parametrize("text", ['{"mcpServers": {"a": }', '{\n  // mine\n  "mcpServers": {}\n}'])
def test_print_prints_the_entry_of_settings_that_cannot_be_changed(
    home: Path, text: str, droidgate: Runner
) -> None:
    (home / ".claude.json").write_text(text)
    refused = droidgate("install-client", "claude-code")
    assert (refused.code, "hint: remove the comment: JSON has none" in refused.err) == (3, "//" in text)
    printed = droidgate("install-client", "claude-code", "--print")
    entry = {"type": "stdio", "command": "/bin/droidgate", "args": ["serve"]}
    assert (printed.code, json.loads(printed.out)) == (0, {"mcpServers": {"droidgate": entry}})


def test_print_prints_the_entry_and_writes_nothing(home: Path, droidgate: Runner) -> None:
    for client, read in (("vscode", json.loads), ("goose", yaml.safe_load), ("codex", tomllib.loads)):
        run = droidgate("install-client", client, "--serial", "emulator-5554", "--print")
        key, entry = STARTED[client]
        assert (run.code, read(run.out)) == (0, {key: {"droidgate": entry}})
    assert not any(home.iterdir())


PROJECT_PATHS = {
    "claude-code": ".mcp.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "gemini-cli": ".gemini/settings.json",
    "codex": ".codex/config.toml",
    "zed": ".zed/settings.json",
    "copilot-cli": ".github/mcp.json",
    "opencode": "opencode.json",
    "amp": ".amp/settings.json",
}


@pytest.mark.parametrize("client", CLIENTS)
def test_the_settings_of_a_project_have_no_path_of_this_computer(client: str, home: Path) -> None:
    project = home / "project"
    project.mkdir()
    if client not in PROJECT_PATHS:
        with pytest.raises(UsageError, match="has no settings of a project"):
            library.install_client(client, project=project)
        return
    change = library.install_client(client, project=project)
    assert change.path == project.resolve() / PROJECT_PATHS[client]
    command = load(change.path)[STARTED[client][0]]["droidgate"]["command"]
    assert command == (["droidgate", "serve"] if client == "opencode" else "droidgate")


@pytest.mark.parametrize("link", [".cursor", ".cursor/mcp.json", ".cursor/mcp.json.before-droidgate"])
@pytest.mark.parametrize("is_there", [True, False])
def test_no_link_of_a_project_leads_to_a_file_that_is_read_or_written(
    link: str, home: Path, droidgate: Runner, *, is_there: bool
) -> None:
    outside = home / "outside"
    outside.mkdir()
    if is_there:
        (outside / "mcp.json").write_text('{"secret": 1}')
    path = home / "project" / link
    path.parent.mkdir(parents=True)
    if link.endswith("-droidgate"):
        path.with_name("mcp.json").write_text("{}")
    path.symlink_to(outside if link == ".cursor" else outside / "mcp.json")
    run = droidgate("install-client", "cursor", "--project", str(home / "project"))
    if link.endswith("-droidgate"):
        assert (run.code, path.is_symlink()) == (0, False)
    else:
        assert (run.code, "a link leads out of the project" in run.err) == (3, True)
    assert "secret" not in run.out + run.err
    written = {each.name: each.read_text() for each in outside.iterdir()}
    assert written == ({"mcp.json": '{"secret": 1}'} if is_there else {})


def test_a_link_to_itself_is_one_error(home: Path) -> None:
    (home / ".claude.json").symlink_to(home / ".claude.json")
    (home / ".mcp.json").symlink_to(home / ".mcp.json")
    for project in (None, home):
        with pytest.raises(InputError, match="symbolic links"):
            library.install_client("claude-code", project=project)


def test_a_pipe_in_a_project_is_not_waited_for(home: Path) -> None:
    os.mkfifo(home / ".mcp.json")
    with pytest.raises(InputError, match="not a regular file"):
        library.install_client("claude-code", project=home)


@pytest.mark.parametrize("client", CLIENTS)
def test_other_settings_stay_and_the_old_file_is_kept_as_a_backup(
    client: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = STARTED[client][0]
    before = f'{{"other": {{"a": [1]}}, "{key}": {{"mine": {{"command": "x"}}}}}}\n'
    if client == "goose":
        before = "# mine\nother: {a: [1]}\nextensions:\n  mine: {command: x}\n"
    if client == "codex":
        before = '# mine\nother.a = [1]\n[mcp_servers.mine]\ncommand = "x"\n'
    path = write_settings(home, client, before)
    path.chmod(0o600)
    monkeypatch.setattr(os, "umask", lambda _mask: 0)
    modes: list[int] = []
    chmod = Path.chmod

    def change_mode(file: Path, mode: int) -> None:
        modes.append(mode)
        chmod(file, mode)

    monkeypatch.setattr(Path, "chmod", change_mode)
    change = library.install_client(client)
    written = load(path)
    assert written["other"] == {"a": [1]}
    assert set(written[key]) == {"mine", "droidgate"}
    assert change.backup is not None
    assert change.backup.read_text() == before
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == change.backup.stat().st_mode & 0o777 == 0o600
        assert set(modes) == {0o600}
    library.install_client(client, serials=["emulator-5554"])
    library.install_client(client, remove=True)
    assert path.read_text() == before
    assert not change.backup.exists()
    library.install_client(client)
    path.write_text(f"{path.read_text()}\n")
    library.install_client(client, remove=True)
    assert load(path) == load_text(path, before)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("before", [None, "", "\n"], ids=["no file", "an empty file", "a blank file"])
def test_removing_the_entries_that_were_added_restores_the_settings(
    client: str, before: str | None, home: Path
) -> None:
    path = write_settings(home, client, before)
    for serial in ("a", "b"):
        library.install_client(client, serials=[serial])
    assert library.install_client(client, remove=True).is_change
    assert {each.name: each.read_text() for each in path.parent.iterdir() if each.is_file()} == (
        {} if before is None else {path.name: before}
    )


@pytest.mark.parametrize("client", CLIENTS)
def test_an_entry_that_the_user_had_is_put_back(client: str, home: Path) -> None:
    key = STARTED[client][0]
    before = json.dumps({key: {"droidgate": {"command": "mine"}}}, indent=2)
    if client == "goose":
        before = f"{key}:\n  droidgate:\n    command: mine\n"
    if client == "codex":
        before = f'[{key}.droidgate]\ncommand = "mine"\n'
    path = write_settings(home, client, before)
    for serials in (["a"], ["b"]):
        library.install_client(client, serials=serials)
    library.install_client(client, remove=True)
    assert [(each.name, each.read_text()) for each in path.parent.iterdir() if each.is_file()] == [
        (path.name, before)
    ]
    # What the user changes in between stays, and only the entry is put back.
    for serials in (["a"], ["b"]):
        library.install_client(client, serials=serials)
        path.write_text(f"{path.read_text()}\n")
    library.install_client(client, remove=True)
    assert load(path) == load_text(path, before)
    assert library.install_client(client, remove=True).entry is None
    assert "mine" not in path.read_text()


def test_an_entry_is_removed_from_a_file_that_was_made_for_it_and_changed_later(home: Path) -> None:
    path = home / ".cursor/mcp.json"
    for serials in ([], ["a"]):
        library.install_client("cursor", serials=serials)
        settings = load(path)
        settings[f"other {len(serials)}"] = 1
        path.write_text(json.dumps(settings))
    library.install_client("cursor", remove=True)
    assert load(path) == {"mcpServers": {}, "other 0": 1, "other 1": 1}


@pytest.mark.parametrize(("client", "text"), [
    ("claude-code", "{"),
    ("claude-code", "// a comment\n{}"),
    ("claude-code", '{"mcpServers": []}'),
    ("claude-code", "[]"),
    ("goose", "a: ["),
    ("goose", "extensions: {mine: {type: stdio}}\n"),
    ("goose", "extensions: [a]\n"),
    ("goose", "base: &x {a: 1}\nextensions: *x\n"),
    ("codex", "a = "),
    ("codex", 'mcp_servers = {mine = {command = "x"}}\n'),
    ("codex", "mcp_servers = []\n"),
    ("codex", "notes = '''\n[mcp_servers.droidgate]\na = 1\n'''\n"),
])  # fmt: skip
def test_settings_that_cannot_be_changed_safely_stay_as_they_are(
    client: str, text: str, home: Path, droidgate: Runner
) -> None:
    path = write_settings(home, client, text)
    with pytest.raises(InputError):
        library.install_client(client)
    run = droidgate("install-client", client)
    assert (run.code, run.out) == (3, "")
    assert str(path) in run.err
    assert "hint:" in run.err
    assert path.read_text() == text
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("options", [
    {"name": "a b"},
    {"name": ""},
    {"project": "missing"},
], ids=str)  # fmt: skip
def test_a_name_or_project_that_makes_no_entry_is_refused(options: dict[str, Any], home: Path) -> None:
    with pytest.raises(UsageError):
        library.install_client("claude-code", **options)
    assert not any(home.iterdir())


@pytest.mark.parametrize(("name", "meant"), [
    ("claude", "'claude-desktop' or 'claude-code'"),
    ("Claude Code", "'claude-code'"),
    ("claude_dekstop", "'claude-desktop'"),
    ("vs-code", "'vscode'"),
    ("visual studio", "'vscode'"),
    ("gemini", "'gemini-cli'"),
    ("codex-cli", "'codex'"),
    ("copilot", "'copilot-cli'"),
    ("github-copilot", "'copilot-cli'"),
    ("lmstudio", "'lm-studio'"),
    ("open-code", "'opencode'"),
    ("widnsurf", "'windsurf'"),
    ("curser", "'cursor'"),
    ("zed-editor", "'zed'"),
    ("x" * 1000, None),
])  # fmt: skip
def test_an_unknown_client_is_refused_with_the_one_that_was_meant(name: str, meant: str | None) -> None:
    with pytest.raises(UsageError, match="unknown client") as caught:
        library.install_client(name)
    hint = f"known: {', '.join(CLIENTS)}"
    assert caught.value.hint == (hint if meant is None else f"did you mean {meant}? {hint}")


@pytest.mark.parametrize(("options", "missing", "warning"), [
    ((), "mcp", "the server needs the package mcp, which is not installed\nhint: run: pip install"),
    (("--project", "."), "droidgate", "the entry starts `droidgate`, which is not on PATH"),
    (("--print",), "mcp", "the server needs the package mcp"),
    (("--remove",), "mcp", ""),
    ((), "droidgate", ""),
    (("--serial", "emulator-5554"), "", ""),
    (("--serial", "nosuch"), "", "nosuch: no such device is attached\nhint: attached: emulator-5554"),
    (("--serial", "nosuch", "--print"), "", "nosuch: no such device is attached"),
])  # fmt: skip
def test_an_entry_that_cannot_start_or_finds_no_phone_is_warned_of(
    options: tuple[str, ...],
    missing: str,
    warning: str,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    droidgate: Runner,
) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setattr(settings_installation, "find_spec", lambda name: None if name == missing else name)
    if missing == "droidgate":
        monkeypatch.setattr(shutil, "which", lambda *_args, **_options: None)
    run = droidgate("install-client", "cursor", *options)
    assert run.code == 0
    assert (warning in run.err, "warning:" in run.err) == (True, bool(warning))


@pytest.mark.parametrize(("attached", "warning"), [
    (None, "h:5: no adb server runs yet, so it is not known which phones are attached\nhint: run: droid"),
    ("a device\nb device\n", "2 devices are attached: a, b\nhint: name one of them, as in --serial SERIAL"),
])  # fmt: skip
def test_phones_that_are_not_known_or_not_named_are_warned_of(
    attached: str | None, warning: str, home: Path, monkeypatch: pytest.MonkeyPatch, droidgate: Runner
) -> None:
    def devices(_self: AdbClient) -> object:
        if attached is None:
            raise ServerUnreachableError("no answer", place="h:5")
        return read_devices(attached)

    monkeypatch.setattr(AdbClient, "devices", devices)
    write_settings(home, "vscode", '{\n\t"servers": {}\n}\n')
    run = droidgate("install-client", "vscode")
    assert f"warning: {warning}" in run.err
    assert '\n+   "servers": {\n+       "droidgate": {' in run.out


def test_the_command_shows_the_change_and_next_step_and_keeps_a_link(home: Path, droidgate: Runner) -> None:
    real = home / "dotfiles.json"
    real.write_text('{\n  "secret": "s3cret",\n  "mcpServers": {}\n}\n')
    (home / ".claude.json").symlink_to(real)
    install = ("install-client", "claude-code", "--serial", "emulator-5554")
    run = droidgate(*install)
    assert run.code == 0
    for message in (
        '+    "droidgate": {',
        "updated:",
        "dotfiles.json.before-droidgate",
        "next: Start Claude Code again",
    ):
        assert message in run.out
    assert "s3cret" not in run.out
    assert (home / ".claude.json").is_symlink()
    assert "droidgate" in load(real)["mcpServers"]
    again = droidgate(*install)
    assert (again.code, again.out.startswith("unchanged:")) == (0, True)
    assert "next: Restart Claude Code\n" in droidgate("install-client", "claude-code", "--remove").out
    nothing = droidgate("install-client", "claude-code", "--remove", "--name", "phone").out
    assert nothing == f"nothing to remove: {real} has no server 'phone'\n"


@pytest.mark.usefixtures("home")
def test_without_a_script_next_to_python_the_module_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_args, **_options: None)
    change = library.install_client("cursor", write=False)
    assert change.entry == {"command": sys.executable, "args": ["-m", "droidgate", "serve"]}
