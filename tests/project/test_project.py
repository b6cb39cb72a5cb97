"""What once went wrong with the project and no linter sees.

The house, its names and its modules; what the registry lists; the machine that nothing may know; what the
options of pytest and the locks do (docs/internals/dependencies.md).
"""

import ast
import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
from collections import Counter
from graphlib import TopologicalSorter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import grimp
import pytest

from droidgate.computer.version import VERSION
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.user_folders import HOME_VARIABLE
from requirements_of_tests import CHECKOUT, GIT, require

ROOTS = ("gateway", "device_shim", "adapters", "mappings")
PARTS_OF_FORMATS = {
    *("format", "read", "write", "wire", "lint", "handlers", "installed"),
    *("shell_calls", "shim_backend", "shim_frontend"),
}
"""What each format may have, and `droidgate_mappings.formats` defines."""

PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = PROJECT["tool"]["importlinter"]["root_packages"]


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports inside functions and those for type checkers count."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()


def test_a_module_name_occurs_once() -> None:
    paths = [path for root in ROOTS for path in (CHECKOUT / root).glob("droidgate*/**/*.py")]
    names = Counter(path.stem for path in paths if not path.stem.startswith("__"))
    assert {name for name, count in names.items() if count > 1} <= PARTS_OF_FORMATS


def test_every_package_of_ours_is_linted() -> None:
    packages = [path.parent.name for root in ROOTS for path in (CHECKOUT / root).glob("*/__init__.py")]
    assert sorted(PACKAGES) == sorted(packages)


def test_a_model_is_changed_by_its_own_method_which_is_ten_times_faster() -> None:
    paths = [path for root in ROOTS for path in (CHECKOUT / root).glob("droidgate*/**/*.py")]
    slow = [path for path in paths if ".model_copy(" in path.read_text(encoding="utf-8")]
    assert slow == []


def test_commands_print_the_hint_with_names_of_options() -> None:
    for path in (CHECKOUT / "gateway" / "droidgate" / "cli").rglob("*.py"):
        assert not re.search(r"(error|problem|failure|warning)\.hint\b", path.read_text(encoding="utf-8")), (
            path
        )


HIGHER = {
    "adapters": r"droidgate|droidgate_(phone|shim)|gateway|device_shim",
    "mappings": r"droidgate|droidgate_(?!mappings)\w+|gateway|device_shim|adapters",
}
"""Floor of the tests -> what is above it: packages, and the tests of higher floors."""


@pytest.mark.parametrize("floor", HIGHER)
def test_the_tests_of_a_floor_import_nothing_from_above_it(floor: str) -> None:
    imported = re.compile(rf"^\s*(?:from|import) (?:{HIGHER[floor]})(?![\w])", re.MULTILINE)
    paths = (CHECKOUT / "tests" / floor).rglob("*.py")
    assert [path.name for path in paths if imported.search(path.read_text(encoding="utf-8"))] == []


FORMATS = PROJECT["project"]["entry-points"]["droidgate.formats"]
ENTRIES = ("droidgate", "droidgate.__main__", *PROJECT["project"]["scripts"].values(), *FORMATS.values())
COMMANDS_OF_THE_PHONE = "droidgate_phone.commands"
"""A package whose registry names the modules in it by their last name."""


def texts_of(module: str) -> set[str]:
    """Return the texts of a module; some are modules that it imports late: `module` or `module:function`."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    nodes = ast.walk(ast.parse(Path(spec.origin).read_text(encoding="utf-8")))
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    if module.startswith(f"{COMMANDS_OF_THE_PHONE}."):
        texts |= {f"{COMMANDS_OF_THE_PHONE}.{text}" for text in texts}
    return {text.partition(":")[0] for text in texts}


def test_every_module_of_the_wheel_is_reached() -> None:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    pending = {entry.partition(":")[0] for entry in ENTRIES}
    reached: set[str] = set()
    while pending:
        module = pending.pop()
        reached.add(module)
        modules = graph.find_modules_directly_imported_by(module) | (texts_of(module) & graph.modules)
        pending |= (modules | {module.rpartition(".")[0]}) - reached - {""}
    assert graph.modules - reached == set()


NAMED = {
    # Shows one migration, to one protocol; the names of Python packages; words of an option, for --help.
    *("cli/demo/run_demo", "cli/serve/run_serve", "cli/serve/run_serve_mobile_agent", "cli/shim/shim_options",
        "serving/client_settings/settings_installation"),
    # What the agent app calls the protocols that it speaks; the protocols of the sample apps that are called.
    *("agents/live_calls", "proofs/proof_bench", "proofs/proof_steps"),
    # Kinds of the engine's backends, as routes.json has them.
    *("builder/shim_manifest", "engine/routes", "shims/shim_facts"),
    # What the virtual phone's agent app calls the protocols; kinds of backends that its shim asks for.
    *("apps/agent_calls", "apps/shim/installed_targets"),
}  # fmt: skip
"""Modules in which a text equals the id of a format, and why it is not a list of formats."""

IMPORTED = {
    # MobileAgent's commands, those of the phone itself, and what they did; a call over the host route.
    *("calls/batches", "calls/targets", "cli/calls/batch_calls", "shims/shim_calls"),
    # An MCP server speaks MCP by that adapter's wire.
    *("serving/phone_tools", "serving/elicitation", "serving/tool_search", "serving/server_application"),
    *("serving/call_outcomes", "serving/tool_documents", "serving/tool_results", "serving/tools"),
    "serving/mobile_agent/mobile_agent_server",
    # The engine speaks by the adapters' wires; every shim has a Mobile-MCP descriptor that its routes fit.
    *("engine/backends", "engine/engine", "engine/requests", "engine/responses", "engine/routes"),
    *("builder/route_building", "builder/shim_manifest"),
    # The shim on the virtual phone speaks to agents as its Java does.
    "apps/shim/frontends",
}
"""Modules that import an adapter, and why they know it."""


def test_formats_are_named_and_imported_outside_their_adapters_for_a_reason_only() -> None:
    """No module outside the adapters knows a protocol by its name, but for those listed here."""
    ids = load_formats().keys()
    adapters = {path.parent.name for path in (CHECKOUT / "adapters").glob("*/format.py")}
    named, imported = set(), set()
    for root in ("gateway/droidgate", "device_shim/droidgate_phone", "device_shim/droidgate_shim"):
        for path in (CHECKOUT / root).rglob("*.py"):
            name = path.relative_to(CHECKOUT / root).with_suffix("").as_posix()
            nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
            if ids & {
                node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
            }:
                named.add(name)
            modules = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
            modules |= {item.name for node in nodes if isinstance(node, ast.Import) for item in node.names}
            if adapters & {module.partition(".")[0] for module in modules}:
                imported.add(name)
    assert (named, imported) == (NAMED, IMPORTED)


def test_the_entry_in_the_registry_names_this_package_and_version() -> None:
    server = json.loads((CHECKOUT / "server.json").read_text(encoding="utf-8"))
    project = PROJECT["project"]
    (package,) = server["packages"]
    assert server["version"] == package["version"] == project["version"] == VERSION
    assert package["identifier"] == project["name"]
    # Thus the registry knows whose package it is: "PyPI: ownership by README".
    readme = (CHECKOUT / project["readme"]).read_text(encoding="utf-8")
    assert re.findall(r"mcp-name: *(\S+)", readme) == [server["name"]]
    needed = [item["value"] for item in package["runtimeArguments"] if item["name"] == "--with"]
    # The entry starts it on standard streams; uvloop is for HTTP.
    required = project["optional-dependencies"]["serve"]
    assert [text for text in required if not text.startswith("uvloop")] == needed
    assert package["packageArguments"][0]["value"] == "serve"


# In pieces, so that this file does not have what it looks for. A path begins where no other path goes on.
FOLDERS = "|".join([*(f"/{name}/" for name in ("work", "root")), f"{Path.home()}/"])
HOSTS = r"pypi[.]org|pythonhosted[.]org|registry[.]npmjs[.]|repo1?[.]maven[.]|deb[.]debian[.]org"


def test_no_machine_path_and_no_index_host() -> None:
    require("git-checkout")
    pattern = rf"(^|[^A-Za-z0-9_.~/-])({FOLDERS})|{HOSTS}"
    command = [*GIT, "grep", "--untracked", "--text", "--extended-regexp", "--files-with-matches", pattern]
    result = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (1, "", "")


def test_a_run_of_tests_leaves_the_home_folder_as_it_is(tmp_path: Path) -> None:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    variables.pop(HOME_VARIABLE, None)
    # This one makes a key that signs an app, and reads the app from a phone.
    command = [sys.executable, "-m", "pytest", "--quiet", "-p", "no:cacheprovider"]
    test = "tests/gateway/migration/test_pack_command.py::test_generated_output_is_indexed_by_the_phone"
    command.append(test)
    environment = {**variables, "HOME": str(tmp_path)}
    subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, check=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_benchmark_runs_and_writes_what_it_measured(tmp_path: Path) -> None:
    written = tmp_path / "measured.json"
    script = CHECKOUT / "benchmarks/translate.py"
    command: list[str | Path] = [sys.executable, script, "--quick", "--json", written]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    measured = json.loads(written.read_text(encoding="utf-8"))
    assert measured["quick"]
    assert all(table["rows"] for table in measured["tables"].values())


_COPIED = ("conftest.py", "gateway/cli/program_runs.py", "device_commands.py", "requirements_of_tests.py")

NEEDS_CORPUS = "import pytest\n@pytest.mark.requires('corpus')\ndef test_it(): pass\n"
FAILS_WITHOUT = """
import pytest
from droidgate_mappings.formats import leniency
@pytest.mark.row("M08")
def test_it(): assert "M08" not in leniency.ROWS_OFF
def test_without_a_row(): assert False
"""
NEVER_FAILS = FAILS_WITHOUT.replace(" not in ", " in ")


@pytest.mark.parametrize(("test", "flags", "required", "code", "printed"), [
    (NEEDS_CORPUS,  (),                   "",              0, "corpus: not found"),
    (NEEDS_CORPUS,  (),                   "all",           1, "required by DROIDGATE_REQUIRE"),
    (NEEDS_CORPUS,  (),                   "javac, corpus", 1, "required by DROIDGATE_REQUIRE"),
    (NEEDS_CORPUS,  (),                   "korpus",        4, "names no part of the tests: korpus"),
    (FAILS_WITHOUT, ("--rows-off=only",), "",              0, "1 xfailed"),
    (NEVER_FAILS,   ("--rows-off=only",), "",              1, "1 failed"),
])  # fmt: skip
def test_a_run_fails_where_something_was_not_shown(
    tmp_path: Path, test: str, flags: tuple[str, ...], required: str, code: int, printed: str
) -> None:
    (tmp_path / "gateway/cli").mkdir(parents=True)
    for name in _COPIED:
        (tmp_path / name).write_bytes((CHECKOUT / "tests" / name).read_bytes())
    (tmp_path / "test_it.py").write_text(test)
    command: list[str | Path] = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    command += [f"--rootdir={tmp_path}", f"--config-file={CHECKOUT / 'pyproject.toml'}"]
    command += ["-o", f"pythonpath={tmp_path}", *flags, tmp_path]
    ours = {name: text for name, text in os.environ.items() if not name.startswith(("PYTEST", "DROIDGATE"))}
    ours |= {"DROIDGATE_CORPUS": str(tmp_path / "nothing"), "DROIDGATE_REQUIRE": required}
    run = subprocess.run(command, cwd=tmp_path, env=ours, capture_output=True, text=True, check=False)
    assert (run.returncode, printed in run.stdout + run.stderr) == (code, True), run.stdout + run.stderr


SCRIPT: dict[str, Any] = runpy.run_path(str(CHECKOUT / "scripts/lock.py"))
LOCKS = [CHECKOUT / "locks" / f"{name}.txt" for name in SCRIPT["LOCKS"]]
ENTRY = re.compile(r"([a-z0-9-]+)==(\S+)(?: ; [^\\]+)?(?: \\\n    --hash=sha256:[0-9a-f]{64})+")
MISMATCH = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."


def packages_of(lock: Path) -> dict[str, set[tuple[str, ...]]]:
    """Return versions and hashes of each package; an entry of another form fails the test."""
    packages: dict[str, set[tuple[str, ...]]] = {}
    for entry in SCRIPT["entries_of"](lock):
        match = ENTRY.fullmatch(entry)
        assert match, entry
        packages.setdefault(match[1], set()).add((match[2], *sorted(re.findall("sha256:([0-9a-f]+)", entry))))
    return packages


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_file_covers_the_requirements_with_versions_and_hashes_only(lock: Path) -> None:
    assert SCRIPT["problem_of"](lock, CHECKOUT / "pyproject.toml") is None
    assert len(packages_of(lock)) > 20


def test_the_environments_share_their_versions() -> None:
    everything = packages_of(CHECKOUT / "locks/ci.txt")
    for name in ("all", "dev", "run"):
        lock = packages_of(CHECKOUT / "locks" / f"{name}.txt")
        assert [item for item in lock.keys() & everything if lock[item] != everything[item]] == []
        assert name == "all" or lock.keys() <= everything.keys()


FROM_HERE = "--no-deps --no-build-isolation --editable ."
LOCKED = "--require-hashes --no-deps --requirement locks/run.txt"
NEWEST = "installing the newest versions, without hashes"


@pytest.mark.parametrize(("lock", "wish", "pip_says", "code", "calls", "message"), [
    ("run",  "",         "",         0, [LOCKED, FROM_HERE],       "Installing into"),
    ("run",  "",         "ERROR: x", 0, [LOCKED, "--editable ."],  f"on this machine: ERROR: x; {NEWEST}"),
    ("run",  "",         MISMATCH,   1, [LOCKED],                  "is not the one that locks/run.txt names"),
    ("run",  "off",      "",         0, ["--editable ."],          NEWEST),
    ("none", "",         "",         0, ["--editable ."],          f"none.txt does not exist; {NEWEST}"),
    ("none", "required", "",         1, [],                        "droidgate: none.txt does not exist"),
])  # fmt: skip
def test_an_environment_is_made_of_locked_packages_or_says_why_not(
    tmp_path: Path, lock: str, wish: str, pip_says: str, code: int, calls: list[str], message: str
) -> None:
    program = tmp_path / "environment/bin/python"
    program.parent.mkdir(parents=True)
    log = tmp_path / "calls"
    log.touch()
    program.write_text(
        f'#!/bin/sh\n[ "$1" = -m ] || exec "{sys.executable}" "$@"\necho "$@" >>"{log}"\n'
        'case "$*" in *--require-hashes*) echo "$PIP_SAYS"; [ -z "$PIP_SAYS" ];; esac\n'
    )
    program.chmod(0o755)
    command = [
        "scripts/make_environment",
        sys.executable,
        f"{tmp_path}/environment",
        ".",
        f"locks/{lock}.txt",
    ]
    environment = {**os.environ, "PIP_SAYS": pip_says, "DROIDGATE_LOCK": wish}
    run = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    called = [line.partition("--disable-pip-version-check ")[2] for line in log.read_text().splitlines()]
    assert (run.returncode, called) == (code, calls)
    assert message in run.stderr
