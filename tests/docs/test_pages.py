"""What README.md and docs/ point to and name is there; each source that a comment cites is a row there."""

import functools
import re
import subprocess
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer

import droidgate
from droidgate.cli.program import build_app
from droidgate_mappings.formats.format import Format
from gateway.sources.formats_of_tests import write_tree
from requirements_of_tests import CHECKOUT

PAGES = sorted(
    [
        *CHECKOUT.glob("*.md"),
        CHECKOUT / "docs" / "llms.txt",
        *(path for name in ("docs", "device_shim") for path in (CHECKOUT / name).rglob("*.md")),
    ]
)
INDEX = CHECKOUT / "docs" / "README.md"
_LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)")
_BLOCK = re.compile(r"^```.*?\n(.*?)^```", re.DOTALL | re.MULTILINE)
_PATH = re.compile(
    r"(?<![\w/.-])((?:gateway|adapters|mappings|device_shim|scripts|benchmarks|tests|docs)/[\w./<>-]*[\w>])(?![\w-])"
)
_OF_OTHERS = {
    *("docs/tools/mcp-server.md", "docs/cli/configuration", "tests/integration/test_mobile_mcp_server.py"),
    *("docs/dev/sync.md", "docs/dev/services.md"),
}
"""Files of Gemini's client, of UFO and of AOSP that our texts cite."""

_PAGE_NAME = re.compile(r"(?<![\w/.-])([a-z][a-z-]*\.md) \d")
_MODULE = re.compile(r"`(droidgate(?:_[a-z]+)*(?:\.(?!toml`)[a-z_]+)+)`")
_WILD = re.compile(r"<format>|<name>|ID\b|NAME\b")
_LOGGER = "droidgate.steps"
_SPAN = re.compile(r"`(droidgate [^`]+)`")


def _name(path: Path) -> str:
    return str(path.relative_to(CHECKOUT))


def anchors_of(text: str) -> set[str]:
    """Return the anchors that GitHub gives to a page's headings."""
    headings = re.findall(r"^#+ (.+)$", _BLOCK.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links_that_lead_nowhere(page: Path) -> list[str]:
    """Return a page's relative links to files and headings that are not there."""
    wrong = []
    for link in _LINK.findall(_BLOCK.sub("", page.read_text(encoding="utf-8"))):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in anchors_of(target.read_text(encoding="utf-8"))):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert links_that_lead_nowhere(page) == []


def test_the_modules_and_classes_that_a_new_protocol_needs_are_there() -> None:
    text = (CHECKOUT / "docs/internals/formats.md").read_text(encoding="utf-8")
    rows = [line for line in text.partition("Its calls")[2].splitlines() if line.startswith("| ")]
    paths = {item for row in rows for item in re.findall(r"`([a-z_]+/[^`]*)`", row)}
    classes = {item for row in rows for item in re.findall(r"`([a-z]+\.[A-Z]\w+)`", row)}
    assert min(len(paths), len(classes)) > 10
    # `droidgate_ID` is any adapter that has the module.
    assert [item for item in sorted(paths) if not any(CHECKOUT.glob(item.replace("_ID/", "_*/")))] == []
    sources = (CHECKOUT / "device_shim/android").glob("*/src/main/java/dev/droidgate/shim/*/*.java")
    java = {f"{path.parent.name}.{path.stem}" for path in sources}
    assert sorted(classes - java) == []


def test_the_page_about_new_protocols_has_each_part_of_a_format() -> None:
    text = (CHECKOUT / "docs/internals/formats.md").read_text(encoding="utf-8")
    assert [item.name for item in fields(Format) if f"{item.name}`" not in text] == []


def texts_of_ours() -> Iterator[Path]:
    """Yield pages, and sources with their docstrings."""
    yield from PAGES
    for root in ("gateway", "adapters", "mappings", "device_shim", "scripts", "benchmarks"):
        for ending in ("*.py", "*.java", "*.toml"):
            yield from (CHECKOUT / root).rglob(ending)


def missing_places(text: str) -> list[str]:
    """Return the paths and the modules of ours that a text names and that are not there."""
    mentions = [path for path in _PATH.findall(text) if path not in _OF_OTHERS]
    paths = [path for path in mentions if not any(CHECKOUT.glob(_WILD.sub("*", path)))]
    paths += [name for name in _PAGE_NAME.findall(text) if not any(INDEX.parent.glob(f"*/{name}"))]
    return paths + [name for name in _MODULE.findall(text) if not _is_there(name)]


def _is_there(name: str) -> bool:
    holder, _, last = name.rpartition(".")
    whole, module = (f"*/{each.replace('.', '/')}" for each in (name, holder))
    if name == _LOGGER or any(CHECKOUT.glob(whole)) or any(CHECKOUT.glob(f"{whole}.py")):
        return True
    homes = [*CHECKOUT.glob(f"{module}.py"), *CHECKOUT.glob(f"{module}/__init__.py")]
    return any(re.search(rf"\b{last}\b", home.read_text(encoding="utf-8")) for home in homes)


def test_the_places_that_a_text_names_are_there() -> None:
    wrong = {_name(path): missing_places(path.read_text(encoding="utf-8")) for path in texts_of_ours()}
    assert {name: places for name, places in wrong.items() if places} == {}


def test_every_page_is_in_the_index() -> None:
    linked = {(INDEX.parent / item).resolve() for item in _LINK.findall(INDEX.read_text(encoding="utf-8"))}
    assert set(INDEX.parent.rglob("*.md")) - {INDEX} - linked == set()


def command_lines(text: str) -> Iterator[str]:
    """Yield what a page tells to type: commands in the lines of its blocks, and spans of its sentences."""
    for block in _BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            for part in re.split(r"[|;&#]", line.removeprefix("$ ")):
                typed = re.sub(r"^\s*([A-Z_]+=\S+ )*", "", part)
                if typed.startswith("droidgate "):
                    yield typed
    yield from _SPAN.findall(_BLOCK.sub("", text))


@pytest.mark.parametrize(("name", "paths"), [
    ("mmcp", ["AndroidManifest.xml"]),
    ("mobile-mcp", ["res/xml/mcp_capabilities.xml", "AndroidManifest.xml"]),
])  # fmt: skip
def test_the_app_on_the_page_of_a_format_has_no_findings(name: str, paths: list[str], tmp_path: Path) -> None:
    page = (CHECKOUT / f"docs/reference/formats/{name}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```xml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    write_tree(tmp_path, dict(zip(paths, blocks, strict=True)))
    (provider,) = droidgate.read(tmp_path)
    assert (provider.package, [item.id for item in provider.capabilities]) == (
        "com.example.beds",
        ["water_bed"],
    )
    assert droidgate.lint(tmp_path).findings == ()


@functools.cache
def _program() -> Any:  # a command of whichever click typer brings
    return typer.main.get_command(build_app())


def what_is_unknown(line: str) -> list[str]:
    """Return the words of a command line that the program does not know: a command, or options of it."""
    command = _program()
    words = re.sub(r"\"[^\"]*\"|'[^']*'", "TEXT", line).split()[1:]
    while words and (inner := getattr(command, "commands", None)):
        word = words.pop(0)
        if not re.fullmatch(r"[a-z][a-z-]*", word):
            return []
        if word not in inner:
            return [word]
        command = inner[word]
    names = {name for item in command.params for name in (*item.opts, *item.secondary_opts)}
    options = (re.match(r"--?[a-z][a-z-]*", word) for word in words)
    return [item.group() for item in options if item and item.group() not in names | {"-h", "--help"}]


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_commands_and_options_that_a_page_names_exist(page: Path) -> None:
    lines = command_lines(page.read_text(encoding="utf-8"))
    assert {line: unknown for line in lines if (unknown := what_is_unknown(line))} == {}


def test_what_is_not_there_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A place\n[1](#a-place) [2](#no-place) [3](page.md) [4](other.md)\n```\n[5](x.md)\n```\n"
    )
    assert links_that_lead_nowhere(page) == ["#no-place", "other.md"]
    assert missing_places("`adapters/droidgate_<format>/read.py`, `droidgate.calls.pins`") == []
    gone = ["mappings/gone.py", "tests/gone.py", "docs/gone.md", "gone.md", "droidgate.calls.gone"]
    assert missing_places("{}, {}, {}, ({} 5), `{}`".format(*gone)) == gone
    assert what_is_unknown("droidgate no-such-thing x") == ["no-such-thing"]
    assert what_is_unknown("droidgate coverage a --html b --no-such") == ["--no-such"]
    assert what_is_unknown("droidgate catalog sql a 'SELECT --x'") == []


PAGE = CHECKOUT / "docs" / "internals" / "sources.md"
ANCHORS = set(re.findall(r'<a id="([^"]+)"></a>', PAGE.read_text(encoding="utf-8")))
NAMES = sorted(anchor for anchor in ANCHORS if f"{anchor}-" in "".join(ANCHORS))
_NUMBER = r"(?:\d+(?:\.[0-9a-z]+)?|[A-Z])\b"
_NUMBERS = re.compile(rf"[ \n#*/]+({_NUMBER}(?:(?:, | and | to |,? or ){_NUMBER})*)")
_SUFFIXES = (".py", ".java", ".toml", ".md", ".json", ".pro", ".kt", ".xml", ".sh")


def citations() -> list[tuple[str, str]]:
    """Return file and anchor of each citation in the files of the project."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, check=True).stdout
    pairs = []
    names = re.compile(rf"\b[Rr]eferences?[ \n#*/]+({'|'.join(NAMES)})\b|[;,] ({'|'.join(NAMES)})(?= \d)")
    for name in listed.decode().split("\0"):
        path = CHECKOUT / name
        if not name.endswith(_SUFFIXES) or path == PAGE or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        if "reference" not in text.lower():
            continue
        for match in names.finditer(text):
            cited = match[1] or match[2]
            numbers = _NUMBERS.match(text, match.end())
            rows = re.findall(_NUMBER, numbers[1]) if numbers else []
            pairs += [(name, f"{cited}-{row}") for row in rows] or [(name, cited)]
    return pairs


def test_each_citation_is_a_row_of_the_page() -> None:
    rows = citations()
    assert len(rows) > 250
    assert {(name, anchor) for name, anchor in rows if anchor not in ANCHORS} == set()


RULES = CHECKOUT / "docs" / "reference" / "android-rules.md"
PROOFS = CHECKOUT / "device_shim/android/robolectric/src/test/java/dev/droidgate/proof"


def what_a_rule_lacks(cells: list[str]) -> list[str]:
    """Return what a row about Android names and is not there: models, tests, steps; a class where none is."""
    _, _, _, model, shown, classes = cells
    steps = (CHECKOUT / "docs/guides/prove-on-a-phone.md").read_text(encoding="utf-8")
    phone = CHECKOUT / "device_shim/droidgate_phone"
    lacks = [name for name in re.findall(r"`(\w+\.\w+)`", model) if not list(phone.rglob(name))]
    names = re.findall(r"`([\w/]+)`", shown)
    for name in names:
        folder, _, module = name.rpartition("/")
        below = {"hostile": "tests", "shims": "tests/gateway"}.get(
            folder.partition("/")[0], "tests/device_shim"
        )
        test_file = CHECKOUT / below / folder / f"test_{module}.py" if folder else PROOFS / f"{name}.java"
        lacks += [] if test_file.is_file() else [name]
    numbers = re.findall(r"\d+", shown.partition("step")[2])
    lacks += [f"step {number}" for number in numbers if f"\n### {number}. " not in steps]
    lacks += [] if names or numbers else ["a test or a step"]
    is_read = re.search(r"`[^`]+`", classes) or "developer.android.com" in classes
    return lacks if is_read else [*lacks, "a class or a page"]


def test_each_rule_of_android_names_what_proves_it_and_what_shows_it_here() -> None:
    rows = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in RULES.read_text(encoding="utf-8").splitlines()
        if re.match(r"\| (?!rule \||---)", line)
    ]
    assert len(rows) > 60
    assert {row[0]: lacks for row in rows if (lacks := what_a_rule_lacks(row))} == {}


def test_a_rule_that_nothing_shows_is_noticed() -> None:
    row = ["x", "24+", "x", "`no_model.py`", "`NoTest`, `phone_system/nothing`; step 99", "none"]
    assert what_a_rule_lacks(row) == [
        "no_model.py",
        "NoTest",
        "phone_system/nothing",
        "step 99",
        "a class or a page",
    ]
    assert what_a_rule_lacks(["x", "24+", "x", "none", "", "`A`"]) == ["a test or a step"]
