"""The stable names of `droidgate`, and its guide to Python, whose snippets run as written and print."""

import ast
import doctest
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from inspect import isfunction
from pathlib import Path
from typing import Any, get_args, get_type_hints

import lxml.html
import pytest

import droidgate
from droidgate import (
    AuditLog,
    Capability,
    LintReport,
    Provider,
    Providers,
    build_shim,
    convert,
    diff,
    install_client,
    lint,
    migrate,
    pack,
    read,
    why,
)
from droidgate.computer.version import VERSION
from droidgate.shims.shim_calls import call_shim
from droidgate_phone.phone import VirtualPhone, start_phone
from droidgate_shim.builder.sample_apps import sample_apps_directory
from gateway.coverage_html.made_reports import make_report
from gateway.sources.formats_of_tests import write_tree
from requirements_of_tests import CHECKOUT
from titled_rows import titled

PAGE = (CHECKOUT / "docs/guides/use-from-python.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
(FOLDER,) = re.findall(r"^```\n(mkdir .*?)^```", PAGE, re.DOTALL | re.MULTILINE)
NEEDS_A_PHONE = "open_device"
SAMPLE = r"dev\.droidgate\.sample\."


def first_call(snippet: str) -> str:
    return str(re.findall(r"droidgate\.(\w+\(.*)", snippet)[0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that the page's commands make."""
    (tmp_path / "device_shim").symlink_to(CHECKOUT / "device_shim")
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["sh", "-ec", FOLDER],
        cwd=tmp_path,
        env={**os.environ, "PATH": programs},
        check=True,
        capture_output=True,
    )
    return tmp_path / "out"


def run(snippet: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    (folder / "snippet.py").write_text(snippet)
    environment = {**os.environ, "DROIDGATE_HOME": str(folder / "home"), **more}
    command = [sys.executable, "-W", "error", "snippet.py"]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=200, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("snippet", [item for item in SNIPPETS if NEEDS_A_PHONE not in item], ids=first_call)
def test_a_snippet_runs_as_it_is_written(snippet: str, folder: Path) -> None:
    done = run(snippet, folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


@titled(("word", "printed"), {
    "apps": ("discover", rf"(?s).*{SAMPLE}pdftool mmcp.*"),
    "calls": ("phone.explain(",
     r".*execute-app-function.*\nnote-1 Umbrella app-function-shell.*\ninvalid_argument \[.*mean .title.*\n"),
    "shims": ("shims.call(", r"True \[.*\n{.*\n"),
    "grants": ("shims.grant(",
     rf"{SAMPLE}agent clock_in_today dev\.droidgate\.shim\.of\.{SAMPLE}clockin .*\n1 grants revoked\n"),
    "devices": ("list_devices()", r"(\S+) .* 36 ready\n\1\n"),
})  # fmt: skip
def test_a_snippet_that_needs_a_phone_prints_what_the_phone_has(
    word: str, printed: str, folder: Path
) -> None:
    (snippet,) = [text for text in SNIPPETS if NEEDS_A_PHONE in text and word in text]
    with start_phone(server_port=0) as phone:
        done = run(snippet, folder, ANDROID_ADB_SERVER_PORT=str(phone.server_port))
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(printed, done.stdout)


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
    wrong = ("read(3)", "Level.RENAMED >= 'dropped'", "Weight.BREAKING < droidgate.Level.ERROR")
    (tmp_path / "wrong.py").write_text(
        "import droidgate\n" + "".join(f"print(droidgate.{text})\n" for text in wrong)
    )
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(
        [*command, "-p", str(tmp_path)], capture_output=True, text=True, timeout=200, check=False
    )
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] == len(SNIPPETS) + 2
    found = report["generalDiagnostics"]
    assert [item["message"] for item in found if Path(item["file"]).name != "wrong.py"] == []
    assert {item["range"]["start"]["line"] for item in found} == {1, 2, 3}


APP = sample_apps_directory() / "pdf-tool"
LINTED = CHECKOUT / "docs/examples/lint"


@pytest.mark.parametrize("name", droidgate.__all__)
def test_a_stable_name_has_a_docstring_and_is_on_the_page(name: str) -> None:
    assert getattr(droidgate, name).__doc__
    assert re.search(rf"\b{name}\b", PAGE)


def types_in(hint: Any) -> Iterator[type]:
    for part in hint if isinstance(hint, list) else get_args(hint):
        yield from types_in(part)
    if isinstance(hint, type) and hint.__module__.startswith("droidgate"):
        yield hint


def test_what_stable_functions_take_and_return_has_a_stable_name() -> None:
    owners = (droidgate.Phone, droidgate.PhoneShims)
    methods = (item for owner in owners for name, item in vars(owner).items() if not name.startswith("_"))
    functions = (*methods, *(getattr(droidgate, name) for name in droidgate.__all__))
    hints = [hint for item in functions if isfunction(item) for hint in get_type_hints(item).values()]
    hints += [droidgate.Type, *get_type_hints(droidgate.ObjectType).values()]
    types = {type_ for hint in hints for type_ in types_in(hint)}
    assert droidgate.InstalledApp in types
    assert {type_.__name__ for type_ in types} <= {*droidgate.__all__}


FINDER = doctest.DocTestFinder(recurse=False)
EXAMPLES = {
    name: test
    for name in droidgate.__all__
    for test in FINDER.find(getattr(droidgate, name), name, globs={"droidgate": droidgate})
    if test.examples
}


def test_each_function_has_an_example_but_those_that_serve() -> None:
    functions = {name for name in droidgate.__all__ if isfunction(getattr(droidgate, name))}
    assert functions - EXAMPLES.keys() == {"serve", "serve_mobile_agent"}


@pytest.fixture(scope="module")
def examples_phone() -> Iterator[VirtualPhone]:
    with start_phone(server_port=0) as phone:
        yield phone


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_of_a_function_shows_what_it_returns(
    name: str, examples_phone: VirtualPhone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for app in ("pdf-tool", "weather", "clock-in"):
        (tmp_path / app).symlink_to(sample_apps_directory() / app)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(examples_phone.server_port))
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path / "home"))
    output: list[str] = []
    doctest.DocTestRunner().run(EXAMPLES[name], out=output.append)
    assert "".join(output) == ""


def test_no_module_of_ours_hides_a_stable_name() -> None:
    folder = Path(str(droidgate.__file__)).parent
    modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert modules.isdisjoint(droidgate.__all__)


def test_the_version_is_that_of_the_command_and_one_format_needs_no_list() -> None:
    assert droidgate.__version__ == VERSION
    assert droidgate.read(str(APP), formats="mmcp")[0].protocol == "mmcp"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'droidgate' has no attribute 'inspect'"):
        getattr(droidgate, "inspect")  # noqa: B009 - type checkers know that it is not there


def test_a_server_without_its_extra_is_an_error_with_the_command_that_installs_it() -> None:
    code = """if True:
        import sys, droidgate
        sys.modules["anyio"] = None
        for name in ("serve", "serve_mobile_agent"):
            try:
                getattr(droidgate, name)()
            except droidgate.UsageError as error:
                print(error.message, error.hint)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    missing = r"this needs the package anyio, which is not installed pip install .*\[serve\].*\n"
    assert re.fullmatch(missing * 2, done.stdout)


def test_type_checkers_and_programs_import_each_name_from_one_module() -> None:
    tree = ast.parse(Path(str(droidgate.__file__)).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    declared = {alias.asname: node.module for node in imports for alias in node.names if alias.asname}
    assert vars(droidgate)["_HOMES"] == declared


def test_importing_droidgate_loads_no_other_module_of_ours() -> None:
    code = "import sys, droidgate; print([name for name in sys.modules if name.startswith('droidgate')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['droidgate']\n"


def test_a_provider_is_printed_on_one_line_and_in_a_notebook_without_markup() -> None:
    hostile = Capability(id="a\n<b>", description="<script>\u202e")
    provider = Provider(protocol="mcp", package="p", component=".C", capabilities=(hostile,) * 7)
    ids = ", ".join([r"'a\n<b>'"] * 5)
    assert str(provider) == repr(provider) == f"<Provider mcp 'p/.C': {ids} and 2 more>"
    assert repr(hostile) == r"<Capability 'a\n<b>'()>"
    providers = Providers((provider,))
    assert str(providers) == "<Providers providers=1, capabilities=7, problems=0>"
    table = lxml.html.fromstring(providers._repr_html_())
    assert {cell.tag for cell in table.iter()} == {"table", "thead", "tbody", "tr", "th", "td"}
    assert table.xpath("//td[5]")[0].text == r"<script>\u202e"
    conversion, report, comparison = convert(APP, to="mobile-mcp"), lint(LINTED), diff(APP, LINTED)
    for shown, messages in (
        (conversion._repr_html_(), [finding.message for finding in conversion.findings]),
        (report._repr_html_(), [finding.message for finding in report.findings]),
        (comparison._repr_html_(), [change.message for change in comparison.all_changes()]),
    ):
        assert [row[-1].text for row in lxml.html.fromstring(shown).xpath("//tbody/tr")] == messages != []


def test_results_are_printed_on_one_line(tmp_path: Path) -> None:
    migration = migrate(APP, to="mobile-mcp", into=sample_apps_directory() / "weather")
    packed = pack(APP)
    counts = f"changes=9, findings={len(migration.findings)}, notes=2, problems=0"
    assert repr(migration) == f"<Migration {counts}>"
    conversion = migration.conversion
    counts = f"files=3, findings={len(conversion.findings)}, problems=0"
    assert repr(conversion) == f"<Conversion to mobile-mcp+1.0: {counts}>"
    assert repr(diff(APP, APP)).startswith("<Comparison without changes: changes=0, unchanged_capabilities=")
    assert repr(lint(APP)) == "<LintReport problems=0, checked=mmcp>"
    unread = LintReport((), problems=(droidgate.InputError("not JSON"),))
    assert repr(unread) == "<LintReport problems=1, checked=nothing (an error prevents it)>"
    assert repr(why(agent="ui", source=APP)[0]).startswith("<WhyAnswer ui cannot (screen): 'page_count' of ")
    change = install_client("cursor", write=False)
    assert "mcpServers" not in repr(change)  # the settings may hold another server's token
    assert repr(AuditLog(tmp_path)).count("=") == 2
    assert repr(packed).startswith("<PackedApp 'dev.droidgate.sample.pdftool' bytes=")
    packed.write(tmp_path / "app.apk")
    assert str(build_shim(tmp_path / "app.apk")) == "<ShimBuild shims=1, unused=0>"
    report = make_report(3)
    assert repr(report) == str(report)
    assert repr(report).startswith("<CoverageReport apps=3, capabilities=")


@pytest.mark.usefixtures("own_folder")
def test_a_result_has_what_could_not_be_read_next_to_it() -> None:
    shutil.copytree(APP, "apps/app")
    Path("apps/mmcp_manifest.json").write_text('{"instructions": "a",}')
    for result in (
        convert("apps", to="mcp"),
        migrate("apps", to="mobile-mcp", into="apps/app"),
        lint("apps"),
        lint("apps/app", "apps/mmcp_manifest.json"),
    ):
        assert [problem.place for problem in result.problems] == ["apps/mmcp_manifest.json:1:22"]
        assert "problems=1" in repr(result)


def test_one_provider_of_several_converts_alone() -> None:
    providers = read(sample_apps_directory())
    assert len(providers) > 1
    for alone in ([providers[0]], providers[0]):
        assert list(convert(alone, to="mcp").files) == ["tools.json"]
    assert len(convert(providers, to="mcp").files) == len(providers)


MMCP = '{"protocolVersion": "1.0", "tools": [{"name": "a", "parameters": {"type": "object"}}]}'
LIST: Any = ["apps"]
NUMBER: Any = 1
ANYTHING: Any = None
READ: Any = read(APP)
ANY_WORD: Any = "kotln"
SERVICE = sample_apps_directory() / "clock-in"


@pytest.mark.usefixtures("own_folder")
@pytest.mark.parametrize(("called", "hint"), [
    (droidgate.lint, "name a path, or a phone as adb:"),
    (lambda: read("ap"), "did you mean 'apps'?"),
    (lambda: droidgate.lint(Path("aps")), "did you mean 'apps'?"),
    (lambda: droidgate.build_shim("app"), "did you mean 'apps'?"),
    (lambda: read("dangling"), "it is a link to what does not exist"),
    (lambda: convert(READ, to="mcp").write("dangling"), "choose another output folder"),
    (lambda: pack(APP, key=APP), "name the PEM file of a key"),
    (lambda: read(Path("adb:")), "check the path"),
    (lambda: read(LIST), "pass each of several sources on its own: *SOURCES"),
    (lambda: convert(LIST, to="mcp"), "read several sources together with droidgate.read(*SOURCES)"),
    (lambda: droidgate.diff([], Path("ap")), "did you mean 'apps'?"),
    (lambda: droidgate.Phone(ANYTHING).call("a", deadline=0), "a call may take 1 to 150 seconds"),
    (lambda: droidgate.Phone(ANYTHING).explain("a", deadline=151), "a call may take 1 to 150 seconds"),
    (lambda: droidgate.Phone(ANYTHING).call("a", LIST), "give a mapping of names to JSON values"),
    (lambda: droidgate.Phone(ANYTHING).explain("a", {NUMBER: 2}), "give a mapping of names to JSON values"),
    (lambda: droidgate.Phone(ANYTHING).call("a", {"b": {1}}), "give JSON values"),
    (lambda: call_shim(ANYTHING, "a", {"b": "\ud800"}), "give JSON values"),
    (lambda: droidgate.serve(deadline=float("nan")), "a call may take 1 to 150 seconds"),
    (lambda: call_shim(ANYTHING, "a", {}, deadline_ms=0), "a call may take 0.001 to 150 seconds"),
    (lambda: droidgate.lint(READ), "name what was read: only convert, diff and migrate take providers"),
    (lambda: read(READ[0]), "name what was read: only convert, diff and migrate take providers"),
    (lambda: convert(READ, to="mcp").write("taken"), "choose another folder, or overwrite with force=True"),
    (lambda: migrate(SERVICE, to="mobile-mcp", into=SERVICE),
     'rename it, or leave the code out with language="none"'),
    (lambda: why(source="adb:", sdk="34"), "leave sdk= out"),
    (lambda: convert("apps/plain", to="mcp"), "see what is in it with `droidgate inspect`"),
    (lambda: migrate(READ, to="mcp", into=".", language=ANY_WORD),
     "did you mean 'kotlin'? known: java, kotlin, none"),
    (lambda: droidgate.serve_mobile_agent(server=ANY_WORD), "known: data, action, both"),
    (lambda: why(source=APP, sdk=3.6e9), "write it as 34 or 36.1"),
    (lambda: droidgate.scan(APP, catalog="c", options=droidgate.ScanOptions(memory=1)), "give at least 64"),
])  # fmt: skip
def test_an_argument_that_cannot_be_used_is_an_error_with_the_fix(
    called: Callable[[], Any], hint: str
) -> None:
    write_tree(
        Path(), {"apps/plain/AndroidManifest.xml": '<manifest package="a.b"><application/></manifest>'}
    )
    Path("dangling").symlink_to("nowhere")
    Path("taken").mkdir()
    Path("taken/tools.json").write_text("other")
    with pytest.raises(droidgate.DroidgateError) as caught:
        called()
    assert caught.value.hint == hint
    assert str(caught.value).endswith(f"\nhint: {hint}")


@pytest.mark.usefixtures("own_folder")
@pytest.mark.parametrize("name", ["n" * 300, "a\0b"], ids=["long", "NUL"])
def test_a_name_that_no_file_can_have_is_one_error(name: str) -> None:
    for write in (convert(READ, to="mcp").write, pack(APP).write):
        with pytest.raises(droidgate.WriteError, match="cannot be written: "):
            write(name)
    for called in (read, pack, lambda path: migrate(READ, to="mcp", into=path)):
        with pytest.raises(droidgate.InputError):
            called(name)


def test_what_is_in_memory_is_read_like_its_file(tmp_path: Path) -> None:
    (tmp_path / "mmcp.json").write_text(MMCP)
    on_disk, in_memory = read(tmp_path / "mmcp.json"), droidgate.read_content(MMCP.encode(), "mmcp.json")
    assert isinstance(in_memory, Sequence)
    assert [repr(item) for item in in_memory[:1]] == [
        repr(item).replace(str(tmp_path) + "/", "") for item in on_disk
    ]
    assert str(in_memory[0].source) == "mmcp.json:1"
    manifest = (APP / "app/src/main/AndroidManifest.xml").read_bytes()
    assert droidgate.read_content(manifest, "AndroidManifest.xml").files_read == ("AndroidManifest.xml",)


@pytest.mark.usefixtures("own_folder")
@pytest.mark.parametrize("called", [
    read,
    lambda source: convert(source, to="mcp"),
    lambda source: diff(source, source),
    lambda source: why(agent="ui", source=source),
], ids=["read", "convert", "diff", "why"])  # fmt: skip
def test_the_error_of_a_folder_that_cannot_be_read_has_each_reason(called: Callable[[str], Any]) -> None:
    Path("apps").mkdir()
    for number in range(5):
        Path(f"apps/{number}-mmcp_manifest.json").write_text('{"instructions": "a",}')
    with pytest.raises(droidgate.InputError) as caught:
        called("apps")
    places = [f"apps/{number}-mmcp_manifest.json:1:22" for number in range(5)]
    assert [other.place for other in caught.value.others] == places
    first, *shown = [line for line in str(caught.value).splitlines() if not line.startswith("hint: ")]
    assert first == "apps: nothing in it can be read"
    problem = "not JSON: expecting property name enclosed in double quotes"
    assert shown == [*(f"{place}: {problem}" for place in places[:3]), "and 2 more in `others` of this error"]
