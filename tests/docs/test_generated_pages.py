"""The pages that are made from the code are as the code is."""

import ast
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator, Set as AbstractSet
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest
import typer

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import schema_of
from droidgate.cli.program import build_app
from droidgate.cli.published_schemas import PUBLISHED
from droidgate_mappings.fit.losses import levels_of
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.support_matrix import cell_text, make_matrix
from droidgate_mappings.model.findings import FINDING_CODES, Level
from droidgate_mappings.tables.loading import load_divergences
from requirements_of_tests import CHECKOUT

DOCS = CHECKOUT / "docs"
HOW = "run python scripts/write_docs.py"


def page(name: str) -> str:
    return (DOCS / "reference" / f"{name}.md").read_text(encoding="utf-8")


def _load_script() -> ModuleType:
    specification = importlib.util.spec_from_file_location("write_docs", CHECKOUT / "scripts/write_docs.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


write_docs = _load_script()


def test_each_generated_page_is_current_and_none_is_left_over() -> None:
    pages: dict[Path, str] = write_docs.whole_pages()
    for path, text in pages.items():
        assert path.is_file(), HOW
        assert path.read_text(encoding="utf-8") == text, HOW
    assert set((DOCS / "images" / "terminal").iterdir()) <= pages.keys()


def test_a_terminal_picture_needs_nothing_from_the_network_and_is_shown_on_a_page() -> None:
    pages = "".join(path.read_text() for path in (CHECKOUT / "README.md", *DOCS.rglob("*.md")))
    for path in (DOCS / "images" / "terminal").iterdir():
        addresses = re.findall(r"https?://[^\s\"')]+", path.read_text())
        assert set(addresses) == {"http://www.w3.org/2000/svg"}
        assert f"images/terminal/{path.name})" in pages


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_every_page_and_every_part_of_a_page_is_current_to_the_script() -> None:
    command: list[str | Path] = [sys.executable, CHECKOUT / "scripts/write_docs.py", "--check"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def _parameters() -> list[tuple[str, str]]:
    root = typer.main.get_command(build_app())
    pending = [("droidgate", root)]
    options = []
    while pending:
        path, command = pending.pop()
        parameters = [param for param in command.params if not getattr(param, "hidden", False)]
        options += [(path, option) for parameter in parameters for option in parameter.opts]
        pending += [(f"{path} {name}", param) for name, param in getattr(command, "commands", {}).items()]
    return [(path, option) for path, option in options if option.startswith("-")]


def test_every_option_is_documented() -> None:
    pattern = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
    sections = dict(pattern.findall(page("cli")))
    parameters = _parameters()
    undocumented = [
        f"{command} {option}"
        for command, option in parameters
        if command == "droidgate" or option not in write_docs._OF_EVERY_COMMAND
        if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", sections[command])
    ]
    assert undocumented == [], HOW
    assert len(parameters) > 400


def test_every_finding_code_divergence_and_exit_code_is_documented() -> None:
    write_docs.import_everything()
    documented = re.findall(r"^- `([^`]+)`: ", page("findings"), re.MULTILINE)
    assert sorted(documented) == sorted(FINDING_CODES)
    assert {row for row in load_divergences() if f"\n### {row}\n" not in page("divergences")} == set()
    exit_codes = re.findall(r"^\| (\d+) \|", page("exit-codes"), re.MULTILINE)
    assert exit_codes == [str(int(item)) for item in ExitCode]


def _losses_on_the_page_of_levels() -> Iterator[Any]:
    text = (DOCS / "concepts" / "levels.md").read_text(encoding="utf-8")
    for fact, level, codes in re.findall(r"^\| (.+) \| `(\w+)` \| (`.+?`) \| .+ \|$", text, re.MULTILINE):
        for code in re.findall(r"`([a-z-]+)`", codes):
            yield pytest.param(code, level, id=f"{fact}: {code}")


@pytest.mark.parametrize(("code", "level"), list(_losses_on_the_page_of_levels()))
def test_a_loss_on_the_page_of_levels_can_have_the_level_there(code: str, level: str) -> None:
    assert Level(level) in levels_of(code)


def test_every_option_and_command_has_words() -> None:
    root = typer.main.get_command(build_app())
    for name, command in getattr(root, "commands", {}).items():
        assert command.get_short_help_str(100), name
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{name} {parameter.name}"


def test_codes_are_words_joined_by_hyphens_and_meanings_have_no_period() -> None:
    for item in FINDING_CODES.values():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", item.code), item
        assert not item.meaning.endswith("."), item


def test_every_dialect_and_feature_is_in_the_support_matrix() -> None:
    text = page("support-matrix")
    for item in load_formats().values():
        assert [dialect.id for dialect in item.dialects if f"`{item.id}+{dialect.id}`" not in text] == []
    matrix = make_matrix(load_formats().values())
    for section in text.split("\n## ")[1:]:
        title, listed = section.partition("\n")[0], {*re.split(r"[|,;] |: | \|", section.replace("\n", " "))}
        (id_,) = [item.id for item in load_formats().values() if item.title == title]
        own = [at for at, column in enumerate(matrix.columns) if column.partition("+")[0] == id_]
        lost = {row.feature for row in matrix.rows if {cell_text(row.cells[at]) for at in own} != {"yes"}}
        assert lost - listed == set()


def rows_marked_in(source: str, lenient: AbstractSet[str]) -> set[str]:
    """Return the divergence rows that tests in a source text are marked with.

    Where a table has the id of a row in each case, every text of the module that is one of the ids counts.
    """
    nodes = list(ast.walk(ast.parse(source)))
    marks = [
        item
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "row"
        for item in node.args
    ]
    marked = {item.value for item in marks if isinstance(item, ast.Constant)}
    if not all(isinstance(item, ast.Constant) for item in marks):
        marked |= {node.value for node in nodes if isinstance(node, ast.Constant)} & lenient
    return {text for text in marked if isinstance(text, str)}


def test_every_leniency_has_a_test_and_every_marked_row_is_one() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (CHECKOUT / "tests").rglob("*.py")]
    lenient = {row.id for row in load_divergences().values() if row.lenient}
    assert set().union(*(rows_marked_in(source, lenient) for source in sources)) == lenient


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_schemas_are_json_schemas(name: str) -> None:
    schema: Any = schema_of(PUBLISHED[name])
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"].startswith("urn:droidgate:")
    assert schema["additionalProperties"] is False
    assert "schema" in schema["required"]


def test_every_part_has_a_place_and_every_place_a_part() -> None:
    pages = [path.read_text(encoding="utf-8") for path in write_docs.PAGES_WITH_PARTS]
    places = {
        name for page in pages for name in re.findall(r"^<!-- (?!end of )(.+) -->$", page, re.MULTILINE)
    }
    assert places == write_docs.PARTS.keys()


@pytest.mark.slow
def test_a_step_of_the_tour_that_fails_or_says_nothing_is_not_written_down(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"^droidgate coverage nowhere ended with 3: error: nowhere: "):
        write_docs.take_step(["droidgate coverage nowhere"], tmp_path)
    with pytest.raises(RuntimeError, match=r"^true printed nothing$"):
        write_docs.take_step(["true"], tmp_path)
