"""Schemas with more paths than anybody can walk: each level names the next one twice."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from droidgate_android.handlers.methods import kind_of
from droidgate_mappings.model.types import Type
from gateway.cli.program_runs import WHOLE_PROGRAM, run_process, run_whole_process
from gateway.cli.samples import write_bare_project
from model_types import one_of, ref, string

LEVELS = 40
Schema = dict[str, Any]


DOUBLING: dict[str, Callable[[Schema], Schema]] = {
    "allOf": lambda inner: {"allOf": [inner, inner]},
    "allOf in allOf": lambda inner: {"allOf": [{"allOf": [inner]}, {"allOf": [inner]}]},
    "anyOf in anyOf": lambda inner: {"anyOf": [{"anyOf": [inner]}, {"anyOf": [inner]}]},
    "oneOf in oneOf": lambda inner: {"oneOf": [{"oneOf": [inner]}, {"oneOf": [inner]}]},
    "mixed": lambda inner: {"allOf": [{"oneOf": [inner]}, {"anyOf": [inner, inner]}]},
    "properties": lambda inner: {"type": "object", "properties": {"a": inner, "b": inner}},
    "nullable": lambda inner: {"anyOf": [{"anyOf": [inner, {"type": "null"}]}, {"anyOf": [inner]}]},
}


def make_tool(name: str, doubled: Callable[[Schema], Schema], *, in_a_circle: bool) -> Schema:
    references = [{"$ref": f"#/$defs/D{level}"} for level in range(LEVELS + 1)]
    leaf = {"type": "object", "properties": {"x": {"type": "string"}}}
    levels = [*map(doubled, references[1:]), doubled(references[0]) if in_a_circle else leaf]
    definitions = {f"D{level}": schema for level, schema in enumerate(levels)}
    schema = {"type": "object", "properties": {"q": references[0]}, "$defs": definitions}
    return {"name": name, "description": "A tool.", "inputSchema": schema, "outputSchema": schema}


@pytest.mark.slow
@pytest.mark.parametrize("ends", ["somewhere", "where it began"])
@pytest.mark.parametrize(
    ("target", "language"), [("mmcp+broadcast", "java"), ("appfunctions", "java"), ("appfunctions", "kotlin")]
)
def test_handlers_are_made_although_schemas_have_2_to_the_40_paths(
    target: str, language: str, ends: str, tmp_path: Path
) -> None:
    tools = tmp_path / "tools.json"
    tool_entries = [
        make_tool(name.replace(" ", "_"), doubled, in_a_circle=ends == "where it began")
        for name, doubled in DOUBLING.items()
    ]
    tools.write_text(json.dumps({"tools": tool_entries}))
    project = write_bare_project(tmp_path / "project")
    run = run_process(
        "migrate", tools, "--to", target, "--into", project, "--language", language, "--deadline", "200"
    )
    assert run.code == 0, run.err
    assert "--deadline" not in run.err


def test_a_chain_of_choices_deeper_than_the_stack_is_any_value() -> None:
    definitions: dict[str, Type] = {"D5000": string()}
    for level in range(5_000):
        inner = one_of(ref(f"D{level + 1}"))
        definitions[f"D{level}"] = one_of(inner, inner)
    assert kind_of(ref("D0"), definitions) == "any"


class TestBudgets:
    """A run that takes too much ends with one line, whatever it was at."""

    HANG = (
        "import sys, time; import droidgate.{module} as module; "
        "module.{name} = lambda *_, **__: {work}; from droidgate.cli import run; sys.exit(run(sys.argv[1:]))"
    )
    WORK = {
        "too slow": ("[pow(7, 10 ** 4) for _ in iter(int, 1)]", "--deadline", "1"),
        "too large": ("[bytearray(1 << 20) for _ in iter(int, 1)]", "--memory", "64"),
    }
    READING = ("inspect", "lint", "diff", "convert", "migrate")
    COMMANDS = {
        "migrate": ("cli.descriptors.run_migrate", "migrate_source", "x.json --to mmcp --into ."),
        "inspect": ("cli.descriptors.run_inspect", "inspect_sources", "x.json"),
        "lint": ("cli.descriptors.run_lint", "lint_sources", "x.json"),
        "diff": ("cli.descriptors.run_diff", "diff_sources", "x.json y.json"),
        "convert": ("cli.descriptors.run_convert", "convert_sources", "x.json --to mcp --output out"),
        "discover": ("cli.devices.run_discover", "discover", ""),
        "coverage": ("cli.coverage.run_coverage", "cover", "x"),
        "pack": ("migration.project_packing", "pack", ". --output x.apk"),
        "shim build": ("cli.shim.run_shim_build", "build_and_report", "--from x.apk"),
        "catalog sql": ("cli.coverage.run_catalog_sql", "ask_catalog", "x QUERY"),
    }

    @pytest.mark.slow
    @pytest.mark.parametrize(("command", "what"), [
        *((command, "too slow") for command in COMMANDS),
        *((command, "too large") for command in (*READING, "pack", "shim build")),
    ])  # fmt: skip
    def test_each_command_ends_with_one_line(
        self, command: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        module, name, arguments = self.COMMANDS[command]
        work, option, value = self.WORK[what]
        more = [] if what == "too slow" else ["--deadline", "50"]
        program = self.HANG.format(module=module, name=name, work=work)
        monkeypatch.setattr(
            "gateway.cli.program_runs.WHOLE_PROGRAM", [WHOLE_PROGRAM[0], "-c", program, *command.split()]
        )
        run = run_whole_process(*arguments.split(), option, value, *more, cwd=tmp_path)
        assert run.code == 3, run.err
        first, second = run.err.splitlines()
        slow = "takes more than 6 seconds" if command == "catalog sql" else "takes more than 1 seconds"
        expected = slow if what == "too slow" else "needs more than 64 MiB of memory"
        assert first == f"error: the run {expected}"
        assert second.startswith(f"hint: allow more with {option}")

    @pytest.mark.slow
    @pytest.mark.parametrize(("sql", "reported"), [
        ("SELECT count(*) FROM range(1000000) a, range(10000000) b WHERE a.range*b.range%7=3", "seconds"),
        ("SELECT list(a.range) FROM range(1000000000) a", "memory"),
        ("SELECT length(repeat('x', 4000000000) || repeat('y', 3000000000))", "memory"),
        ("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r) SELECT max(n) FROM r", "seconds"),
    ])  # fmt: skip
    def test_a_query_ends_within_its_budget(self, sql: str, reported: str, tmp_path: Path) -> None:
        pytest.importorskip("duckdb")
        tools = tmp_path / "tools.json"
        tools.write_text(json.dumps({"tools": [make_tool("t", DOUBLING["allOf"], in_a_circle=False)]}))
        catalog = tmp_path / "catalog"
        assert run_process("scan", tools, "--catalog", catalog).code == 0
        seconds = "2" if reported == "seconds" else "50"
        run = run_process("catalog", "sql", catalog, "--memory", "300", "--deadline", seconds, sql)
        assert run.code == 3, run.err
        assert reported in run.err.splitlines()[0]
        assert len(run.err.splitlines()) == 2
