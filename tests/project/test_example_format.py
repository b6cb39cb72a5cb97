"""The worked example of docs/internals/formats.md reads, writes, and accounts for every loss."""

import json
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from hypothesis import given

from droidgate_mappings.formats import format as format_module
from droidgate_mappings.formats.format import Format, SourceFile, detect_format
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_mappings.model.findings import FINDING_CODES, Level
from droidgate_mappings.model.types import ObjectType
from droidgate_shim.builder.sample_apps import sample_apps_directory
from model_types import provider_of, record, required, string
from properties.matching import assert_findings_match
from requirements_of_tests import CHECKOUT
from strategies import providers

EXAMPLE = CHECKOUT / "docs/examples/droidgate_tool_list/droidgate_tool_list.py"
Droidgate = Callable[..., str]


@pytest.fixture(scope="module")
def example() -> Iterator[Format]:
    known = dict(FINDING_CODES)
    format_ = runpy.run_path(str(EXAMPLE))["FORMAT"]
    assert isinstance(format_, Format)
    yield format_
    # Its codes are not droidgate's, whose pages other tests compare with all that there are.
    FINDING_CODES.clear()
    FINDING_CODES.update(known)


def _declared(provider: Provider) -> list[tuple[object, ...]]:
    return [(each.id, each.description, each.input, each.output) for each in provider.capabilities]


def _texts(*names: str) -> ObjectType:
    return record({name: required(string()) for name in names})


def test_a_line_is_a_tool_with_its_place(example: Format) -> None:
    source = SourceFile("a.tools", b'search(text, limit) -> note "Find \\"notes\\""\nclear() "Delete all"\n')
    assert detect_format(source, [example]) is example
    (provider,) = example.read_file(source, ReadingContext()).providers
    assert _declared(provider) == [
        ("search", 'Find "notes"', _texts("text", "limit"), _texts("note")),
        ("clear", "Delete all", _texts(), None),
    ]
    assert [str(item.source) for item in provider.capabilities] == ["a.tools:1", "a.tools:2"]


def test_a_line_that_is_not_a_tool_is_named(example: Format) -> None:
    with pytest.raises(InputError, match=r"^a\.tools:2: not a tool\nhint: write: name\(parameter, "):
        example.read_file(SourceFile("a.tools", b'search() "x"\ndelete\n'), ReadingContext())


def test_a_loss_of_the_format_itself_has_its_code_level_and_words(example: Format) -> None:
    assert example.write is not None
    provider = provider_of(Capability(id="a", description="one\ntwo"))
    (finding,) = example.write(provider, example.dialect()).findings
    assert (finding.code, finding.level, finding.pointer, finding.message) == (
        "tool-list-line-break",
        Level.RENAMED,
        "/capabilities/0/description",
        "line breaks of the description are written as blanks",
    )


def test_a_rule_of_the_format_is_checked(example: Format) -> None:
    assert example.lint_file is not None
    (finding,) = example.lint_file(SourceFile("a.tools", b'a() "x"\nb() "y"\na() "z"\n'))
    assert (finding.code, str(finding.source)) == ("tool-list-unique-name", "a.tools:3")
    assert finding.message == "duplicate name 'a'"


@given(provider=providers())
def test_each_fact_that_a_line_cannot_carry_has_a_finding(example: Format, provider: Provider) -> None:
    assert example.write is not None
    writing = example.write(provider, example.dialect())
    assert_findings_match(provider, writing)
    source = SourceFile("a.tools", writing.artifacts[0].text.encode())
    (read,) = example.read_file(source, ReadingContext()).providers
    assert _declared(read) == _declared(writing.provider)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed packages with the example in it, as pip puts it there."""
    folder = tmp_path_factory.mktemp("example")
    shutil.copytree(EXAMPLE.parent, folder / "source")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--no-index", "--target", folder / "packages", folder / "source"], check=True)
    return folder / "packages"


@pytest.fixture
def droidgate(installed: Path, tmp_path: Path) -> Droidgate:
    """Run a command in a process that has the example installed."""

    def run(*arguments: str | Path) -> str:
        environment = {**os.environ, "PYTHONPATH": str(installed), "DROIDGATE_HOME": str(tmp_path / "home")}
        command = [sys.executable, "-m", "droidgate", *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stdout + done.stderr
        return done.stdout

    return run


@pytest.mark.slow
def test_a_folder_is_searched_for_files_of_an_installed_format(droidgate: Droidgate, tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a/b/list.tools").write_text('search() "Find notes"\n')
    assert "search" in droidgate("inspect", "a")


LINTED = {
    "AndroidManifest.xml": '<manifest package="app.plain"/>',
    "list.tools": 'search() "Find notes"\n',
    "calls.json": '[{"tool_key": "action::wait", "tool_name": "wait", "description": "Waits"}]',
    "bad.json": '[{"tool_key": "action::wait", "tool_name": "wait", "description": "Wa\\u200bits"}]',
}


@pytest.mark.parametrize(("files", "summary", "without_rules"), [
    (("AndroidManifest.xml",), "nothing was checked: nothing is declared; see `droidgate formats`", []),
    (("list.tools",), "no problems found", []),
    (("calls.json",), "no rules for mobile-agent", ["mobile-agent"]),
    (("list.tools", "calls.json"), "no problems found; no rules for mobile-agent", ["mobile-agent"]),
    (("bad.json",), "1 warning; no rules for mobile-agent", ["mobile-agent"]),
], ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")  # fmt: skip
@pytest.mark.slow
def test_lint_names_a_format_without_rules(
    droidgate: Droidgate, tmp_path: Path, files: tuple[str, ...], summary: str, without_rules: list[str]
) -> None:
    for name in files:
        (tmp_path / name).write_text(LINTED[name])
    assert droidgate("lint", *files).splitlines()[-1] == summary
    assert json.loads(droidgate("lint", *files, "--json"))["without_rules"] == without_rules


def test_the_matrix_has_a_column_for_an_installed_format(droidgate: Droidgate) -> None:
    assert "tool-list+1" in droidgate("formats", "--matrix")


@pytest.mark.slow
def test_a_scan_converts_into_an_installed_format_and_the_report_has_it(droidgate: Droidgate) -> None:
    droidgate("scan", sample_apps_directory(), "--catalog", "catalog", "--workers", "1")
    assert "TO tool-list" in droidgate("coverage", "catalog", "--details")


def test_a_scan_reads_files_that_an_installed_format_claims_by_their_ending(
    droidgate: Droidgate, tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/list.tools").write_text('search() "Find notes"\n')
    droidgate("scan", "a", "--catalog", "catalog", "--workers", "1")
    assert "search" in droidgate("inspect", "catalog")


@pytest.mark.slow
def test_the_demo_converts_into_an_installed_format_and_reads_it_back(droidgate: Droidgate) -> None:
    output = droidgate("demo")
    converted = [line for line in output.splitlines() if " tool-list+1 " in line]
    assert len(converted) == 6
    assert all(" the same " in line for line in converted)
    assert "Everything worked" in output


@pytest.mark.parametrize(("targets", "message"), [
    pytest.param(["no_such_module:FORMAT"], "the format 'a' cannot be loaded: ModuleNotFoundError: No module",
        id="a package without its module"),
    pytest.param(["droidgate_mmcp.format:MISSING"], "the format 'a' cannot be loaded: AttributeError",
        id="a module without the object"),
    pytest.param(["droidgate_mmcp.format:FORMAT"] * 2, "two packages register the format 'mmcp'",
        id="an id that is registered twice"),
])  # fmt: skip
def test_a_package_whose_format_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch, targets: list[str], message: str
) -> None:
    entries = [
        EntryPoint(name, target, "droidgate.formats") for name, target in zip("ab", targets, strict=False)
    ]
    monkeypatch.setattr(format_module, "entry_points", lambda **_: entries)
    with pytest.raises(UsageError) as caught:
        format_module.load_formats.__wrapped__()
    assert caught.value.message.startswith(message)
    assert "uninstall" in (caught.value.hint or "")
