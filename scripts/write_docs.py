"""Writes the generated pages of docs/, and the generated parts of other pages.

    python scripts/write_docs.py           write what is not current
    python scripts/write_docs.py --check   say what is not current, and end with 1 if something is

A part of a page of `PAGES_WITH_PARTS` is between `<!-- NAME -->` and `<!-- end of NAME -->`; `PARTS` has
the names.
"""

import functools
import importlib
import json
import os
import pkgutil
import re
import runpy
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import typer

from droidgate.cli.descriptors.run_formats import can_write
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.program import build_app
from droidgate.sources.catalogs.catalog_rows import TABLES, CatalogColumn
from droidgate_mappings.fit.losses import levels_of
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.support_matrix import SupportMatrix, cell_text, make_matrix
from droidgate_mappings.model.findings import FINDING_CODES, FindingCode
from droidgate_mappings.tables.loading import DivergenceRow, load_divergences
from droidgate_mappings.tables.reach import load_gates
from droidgate_phone.phone import start_phone

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(CHECKOUT / "scripts"), str(CHECKOUT / "tests")]


MEASURED = CHECKOUT / "benchmarks" / "results"
SOURCE_ROOTS = ("gateway", "adapters", "mappings", "device_shim")
WIDTH = 100
_SHARED_FROM = 3
"""How many commands have an option, with the same words, that the page of commands explains once."""
_OF_EVERY_COMMAND = {"--quiet", "-q", "--verbose", "-v", "--json-schema"}
"""Options that the page of commands explains once and does not list again."""
NOTE = "<!-- Written by scripts/write_docs.py. -->\n"

_FINDINGS_INTRODUCTION = """\
# Findings

Look up the code that a command prints: in the column `CODE`, with place and hint, or as `code` in `--json`.

```
$ droidgate lint docs/examples/lint/app_functions_v2.xml
  LEVEL    COUNT  CODE                      RULE              PLACE
  error    1      appfunctions-missing-id   AppFunctions 3.2  docs/examples/lint/app_functions_v2.xml:7
...
```

Where a meaning states a rule, the finding reports that it is broken. `lint` has the levels `note`, `warning`
and `error`, `diff` the weights `text-only`, `compatible`, `not-decided`, `breaking` and `security`. A
conversion has [levels](../concepts/levels.md): those that a code can have are in brackets.
"""
_EXIT_CODES_INTRODUCTION = """\
# Exit codes

All commands exit with the same codes. Test for them in scripts:

```
$ droidgate lint docs/examples/lint/app_functions_v2.xml > lint.txt; echo $?
1
```
"""
_DIVERGENCES_INTRODUCTION = """\
# Where specifications and apps differ

droidgate writes by the specification, and reads what apps ship. Look up the row that a finding `lenient-read`
names. In a row marked *Lenient* the reader accepts more than the specification; `--strict` refuses it, and
the writer keeps to the specification, or to what was read.

Where a line is missing, the specification says nothing, or nothing was seen in apps. Other rows have what
is read and written; `mappings/droidgate_mappings/tables/divergences` has all of it, and the sources.
"""
_MATRIX_INTRODUCTION = """\
# Support matrix

What a conversion keeps. Look up the format that you write: its first table has what all its dialects do, the
second one where they differ. What is in neither is kept. `yes` is kept, perhaps on a condition; any other
word is the
[level](../concepts/levels.md) of the loss, with what is written instead. `droidgate formats --matrix` prints
the same, and `droidgate formats` what each dialect is.
"""
_CLI_INTRODUCTION = """\
# Commands

`droidgate help COMMAND` prints the help of a command; this page has all of them. [Exit codes](exit-codes.md)
are the same everywhere, and [configuration](configuration.md) sets defaults of options. Every command takes
`-q`, `-v` and `-h`, and each with `--json` takes `--json-schema`.

- **Streams**: data goes to standard output; progress, warnings and errors to standard error. An error is one
  line with its place, and a `hint:` line. `NO_COLOR` and `FORCE_COLOR` are respected.
- **Length**: a page has about a screen. A list that was asked for, such as the findings of `lint`, is
  shortened on a terminal only, a report such as that of `convert` everywhere. `--details` and `--json` have
  everything.
- **Files** that a command writes end its report: `created: PATH`, `updated: PATH` or `unchanged: PATH`. These
  lines go to standard error where standard output has a document, an artifact (`-o -`), a diff or outputs of
  a call.
- **Verbose**: `-v` prints on standard error, with the arguments of calls. `-v` and `-q` work before the
  command, too.
"""
_AREAS = {
    "droidgate_mappings.formats.leniency": "Reading",
    "droidgate.sources": "Reading",
    "droidgate.cli.descriptors.run_lint": "Checking",
    "droidgate.migration.project_packing": "Packing",
    "droidgate_android.apk.pack": "Packing",
    "droidgate_mappings.fit": "Conversion from one protocol to another",
    "droidgate_mappings.compare": "Differences between two versions",
    "droidgate_mappings.text_safety": "Marks on texts",
    "droidgate.coverage.security_findings": "Security marks of a scan",
    "droidgate_shim.builder": "Building a shim",
    "droidgate.shims.source_apps": "Building a shim",
    "droidgate.calls": "Calls",
    "droidgate.coverage.report": "Comparing ecosystems",
    "droidgate_android.apk": "Reading",
    "droidgate_mappings.json_schema": "Reading",
    "droidgate_mappings.translate": "Conversion from one protocol to another",
    "droidgate.converting": "Conversion from one protocol to another",
    "droidgate.agents": "Checking a live tool app",
    "droidgate_android.projects": "Reading",
    "droidgate_mappings.values": "Checking JSON Schemas",
}


def import_everything() -> None:
    """Import every module of ours, so that every finding code is declared."""
    for root in SOURCE_ROOTS:
        for package in (CHECKOUT / root).glob("*/__init__.py"):
            name = package.parent.name
            for module in pkgutil.walk_packages([str(package.parent)], f"{name}."):
                if not module.name.endswith("__main__"):
                    importlib.import_module(module.name)


def pages() -> dict[str, str]:
    """Return path below docs/ to text, for every generated page."""
    import_everything()
    made: dict[str, Callable[[], str]] = {
        "reference/cli.md": cli_page,
        "reference/divergences.md": divergences_page,
        "reference/exit-codes.md": exit_codes_page,
        "reference/findings.md": findings_page,
        "reference/support-matrix.md": support_matrix_page,
    }
    written = {name: page() for name, page in made.items()}
    written["llms.txt"] = llms_page()
    written |= _run_script("terminal_pictures")["pictures"]()
    written["images/architecture.svg"] = _run_script("architecture")["draw_layers"]()
    return written


def llms_page() -> str:
    """Return the index for language models, in the form of llmstxt.org: the links of docs/README.md."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [f"# {project['name']}", "", f"> {project['description']}", ""]
    for line in (CHECKOUT / "docs" / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            lines += [line, ""]
        elif row := re.fullmatch(r"\| ([^|]+) \| (.+) \|", line):
            lines += [f"- {link}: {row[1]}" for link in re.findall(r"\[[^]]+\]\([^)]+\)", row[2])]
        elif line.startswith("["):
            lines += [f"- {line}"]
        elif not line and lines[-1].startswith("- "):
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def with_parts(text: str) -> str:
    """Return a page's text with its generated parts as they should be."""
    for name, part in PARTS.items():
        start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        pattern = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
        if pattern.search(text):
            # Split, since a replacement's backslashes would be read as references to groups.
            text = f"{start}\n{part()}{end}".join(pattern.split(text))
    return text


def findings_page() -> str:
    """Return the page about finding codes."""
    parts = [NOTE, _FINDINGS_INTRODUCTION]
    areas: dict[str, list[FindingCode]] = {}
    for code in sorted(FINDING_CODES.values(), key=lambda item: item.code):
        areas.setdefault(_area(code.module), []).append(code)
    order = [*dict.fromkeys(_AREAS.values()), *sorted(areas.keys() - set(_AREAS.values()))]
    for area in order:
        if area in areas:
            lines = [f"- `{each.code}`: {_line(each.meaning)}{_levels(each)}" for each in areas[area]]
            parts += [f"## {area}\n", "\n".join(lines) + "\n"]
    return "\n".join(parts)


def _levels(code: FindingCode) -> str:
    levels = [f"`{level}`" for level in levels_of(code.code)]
    return f" ({', '.join(levels)})" if levels else ""


def _area(module: str) -> str:
    for prefix, area in _AREAS.items():
        if module == prefix or module.startswith(f"{prefix}."):
            return area
    package = module.partition(".")[0]
    format_ = load_formats().get(package.removeprefix("droidgate_").replace("_", "-"))
    return f"Checking {format_.title}" if format_ is not None else f"`{module}`"


def divergences_page() -> str:
    """Return the page about what specifications say and apps do."""
    parts = [NOTE, _DIVERGENCES_INTRODUCTION]
    rows: dict[str, list[DivergenceRow]] = {}
    for row in load_divergences().values():
        rows.setdefault(row.format, []).append(row)
    for format_id, members in rows.items():
        format_ = load_formats().get(format_id)
        parts.append(f"## {format_.title if format_ is not None else format_id.capitalize()}\n")
        parts += [_divergence(row) for row in members]
    return "\n".join(parts)


def _divergence(row: DivergenceRow) -> str:
    items = {"read": row.read} if row.lenient else {"read": row.read, "written": row.written}
    stated = {name: text for name, text in items.items() if text and text != "-"}
    if row.lenient or "read" not in stated:
        seen = {"specification": row.says, "seen": row.seen}
        stated = {name: text for name, text in seen.items() if text and text != "-"} | stated
    question = f"{'*Lenient.* ' if row.lenient else ''}{_line(row.question)}"
    lines = [f"### {row.id}", "", question, ""]
    lines += [f"- {name}: {_line(text)}" for name, text in stated.items()]
    return "\n".join(lines) + "\n"


def support_matrix_page() -> str:
    """Return the page about what each dialect can carry."""
    matrix = _matrix(make_matrix(load_formats().values()))
    return f"{NOTE}\n{_MATRIX_INTRODUCTION}\n{formats_part()}\n{matrix}"


def formats_part() -> str:
    """Return which dialects are read and which are written, with the reasons of single ones that are not."""
    lists: dict[str, list[str]] = {"read and written": [], "only written": [], "only read": []}
    for format_ in load_formats().values():
        can = {dialect.id: can_write(format_, dialect.id) for dialect in format_.dialects}
        for dialect in format_.dialects:
            name = f"`{format_.id}+{dialect.id}`"
            if dialect.readable:
                lists["read and written" if can[dialect.id] else "only read"].append(name)
            else:
                lists["only written"].append(f"{name} ({dialect.not_read_because})")
    return _table(("", "dialects"), [(title, ", ".join(names)) for title, names in lists.items()])


def _matrix(matrix: SupportMatrix) -> str:
    """Return for each format what all its dialects do alike, and a table of what they do differently.

    Features with equal cells share a line, and dialects with equal cells a column.
    """
    parts = []
    for format_ in load_formats().values():
        own = [at for at, column in enumerate(matrix.columns) if column.partition("+")[0] == format_.id]
        if not own:
            continue
        features: dict[tuple[str, ...], dict[str, list[str]]] = {}
        for row in matrix.rows:
            cells = tuple(cell_text(row.cells[at]) for at in own)
            features.setdefault(cells, {}).setdefault(row.group, []).append(row.feature)
        alike = {cells[0]: groups for cells, groups in features.items() if len({*cells}) == 1}
        differing = {cells: groups for cells, groups in features.items() if len({*cells}) > 1}
        dialects: dict[tuple[str, ...], list[str]] = {}
        for at, column in enumerate(own):
            name = f"`{matrix.columns[column].partition('+')[2]}`"
            dialects.setdefault(tuple(cells[at] for cells in differing), []).append(name)
        parts.append(f"## {format_.title}\n")
        rows = [(cell, _features(groups)) for cell, groups in alike.items() if cell != "yes"]
        parts.append(_table(("in all dialects", "features"), rows))
        if differing:
            columns = (*map(", ".join, dialects.values()), "features")
            cells_of = zip(*dialects, strict=True)
            rows_of = zip(cells_of, map(_features, differing.values()), strict=True)
            parts.append(_table(columns, [(*cells, features) for cells, features in rows_of]))
    return "\n".join(parts)


def _features(groups: dict[str, list[str]]) -> str:
    return "; ".join(f"{group}: {', '.join(features)}" for group, features in groups.items())


def exit_codes_page() -> str:
    """Return the page about exit codes."""
    table = _table(("code", "meaning"), [(str(int(item)), item.meaning) for item in ExitCode])
    return f"{NOTE}\n{_EXIT_CODES_INTRODUCTION}\n{table}"


def cli_page() -> str:
    """Return the page about commands: options that many of them share are explained once."""
    commands = _commands()
    counted = Counter(key for _, command, _ in commands for key in map(_shared_key, command.params) if key)
    # Of several options with one name, the most frequent one is shared, so that its name says which it is.
    usual = {key[0]: key for key, times in reversed(counted.most_common()) if times >= _SHARED_FROM}
    shared = [key for key in counted if usual.get(key[0]) == key]
    rows = [
        (f"`{', '.join(names)}{f' {metavar}' if metavar else ''}`", f"{text}{default}")
        for names, text, default, metavar in shared
    ]
    rows.append(("`-h, --help`", "Show this message and exit"))
    parts = [NOTE, _CLI_INTRODUCTION, "## Options of several commands\n", _table(("option", "meaning"), rows)]
    for path, command, context in commands:
        if context.parent and hasattr(command, "commands"):
            continue
        also = []
        for parameter in command.params if context.parent else ():
            if _shared_key(parameter) in shared:
                parameter.hidden = True
                also += [f"`{name}`" for name in parameter.opts if name not in _OF_EVERY_COMMAND]
        command.add_help_option = context.parent is None
        parts.append(f"## {path}\n\n```text\n{_help_text(command, context)}\n```\n")
        parts += [f"Also {', '.join(also)}.\n"] if also else []
    return "\n".join(parts)


def _shared_key(parameter: Any) -> tuple[tuple[str, ...], str, str, str | None] | None:
    """Return names, help, default and value of an option, by which it is known again in another command."""
    if getattr(parameter, "hidden", True) or not parameter.opts[0].startswith("-"):
        return None
    default = f"; {str(parameter.default).removesuffix('.0')} by default" if parameter.default else ""
    return (*parameter.opts,), parameter.help, default, parameter.metavar


def _help_text(command: Any, context: Any) -> str:
    """Return the help of a command; without a line of usage that says nothing but its name."""
    text: str = command.get_help(context).strip("\n")
    text = text.removeprefix(f"Usage: {context.command_path} [OPTIONS]\n\n")
    return "\n".join(line.rstrip() for line in text.splitlines())


def _commands() -> list[tuple[str, Any, Any]]:
    """Return what a user types, the command and its context, for the program and each command."""
    root = typer.main.get_command(build_app())
    found: list[tuple[str, Any, Any]] = []
    pending: list[tuple[str, Any, Any]] = [("droidgate", root, None)]
    while pending:
        path, command, parent = pending.pop(0)
        context = command.context_class(
            command,
            info_name=path.rpartition(" ")[2],
            help_option_names=["-h", "--help"],
            parent=parent,
            terminal_width=WIDTH,
            max_content_width=WIDTH,
        )
        found.append((path, command, context))
        inner = getattr(command, "commands", {})
        # The commands of a group follow it.
        pending[:0] = [(f"{path} {name}", item, context) for name, item in inner.items() if not item.hidden]
    return found


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [
        _row(columns),
        _row(["---"] * len(columns)),
        *(_row([_cell(cell) for cell in row]) for row in rows),
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """Return a text as a table's cell."""
    return _line(text).replace("|", "\\|")


def _line(text: str) -> str:
    """Return a text as one line; what looks like HTML outside backticks is shown as it is."""
    spans = re.split(r"(`[^`]*`)", " ".join(text.split()))
    escaped = (
        span if span.startswith("`") else span.replace("<", "&lt;").replace(">", "&gt;") for span in spans
    )
    return "".join(escaped)


_FILES = "--html out/july.html --csv out/tables"
_ASK = 'droidgate catalog sql out/june "{}"'

TOUR: dict[str, tuple[str, ...]] = {
    "inspect": ("droidgate inspect device_shim/apps/clock-in",),
    "convert": ("droidgate convert device_shim/apps/clock-in --to mmcp -o out",),
    "migrate": (
        "droidgate migrate device_shim/apps/pdf-tool --to mobile-mcp --into device_shim/apps/weather",
    ),
    "lint": ("droidgate lint docs/examples/lint/app_functions_v2.xml",),
    "diff": ("droidgate diff docs/examples/diff/old.json docs/examples/diff/new.json --fail-on breaking",),
    "scan": (
        "mkdir -p out && cp docs/examples/diff/old.json out/server.json",
        "droidgate scan device_shim/apps out/server.json --catalog out/june",
    ),
    "sql": (_ASK.format("SELECT package, protocol, dialect, capabilities FROM providers ORDER BY ALL"),),
    "losses": (
        _ASK.format(
            "SELECT target, level, count(*) AS capabilities FROM conversions "
            "WHERE target IN ('mcp+2025-11-25', 'mobile-mcp+1.0') GROUP BY ALL ORDER BY ALL"
        ),
    ),
    "coverage": ("droidgate coverage out/june",),
    "scan again": (
        "cp docs/examples/diff/new.json out/server.json",
        "droidgate scan device_shim/apps out/server.json --catalog out/july --known out/june",
    ),
    "files": (
        f"droidgate coverage out/july --since out/june {_FILES} > out/july.txt",
        "grep -c created: out/july.txt",
    ),
    "changes": ("sed -n '/^Since/,/^Protocols/{/^Protocols/!p}' out/july.txt",),
}
"""The commands of the README and the guides; the steps are taken in this order, in one folder."""


@functools.cache
def take_tour() -> dict[str, list[tuple[str, list[str]]]]:
    """Run each step of the tour; return its commands with the lines that they really print.

    The commands run as they are written, in a shell, next to this checkout's samples and docs; what they
    write is left in `out` for the next step.
    """
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name in ("device_shim", "docs"):
            (folder / name).symlink_to(CHECKOUT / name)
        return {name: take_step(commands, folder) for name, commands in TOUR.items()}


def take_step(commands: Sequence[str], folder: Path) -> list[tuple[str, list[str]]]:
    """Run a step's commands in a folder, and return them with what each prints.

    Raises:
        RuntimeError: a command fails, or the step prints nothing at all. To end with 1, which says that a
            threshold is reached, is not a failure.
    """
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    program = programs / "droidgate"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m droidgate "$@"\n')
    program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "DROIDGATE_HOME": str(folder / "home"),
    }
    taken = []
    for command in commands:
        run = subprocess.run(  # noqa: S602
            command,
            shell=True,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode not in (ExitCode.OK, ExitCode.FINDINGS):
            raise RuntimeError(f"{command} ended with {run.returncode}: {run.stderr or run.stdout}")
        taken.append((command, [line.rstrip() for line in run.stdout.rstrip().splitlines()]))
    if not any(printed for _, printed in taken):
        raise RuntimeError(f"{'; '.join(commands)} printed nothing")
    return taken


def shell_block(taken: Iterable[tuple[str, list[str]]], *, shown: int | None = None) -> str:
    """Return commands with what they printed as a block of Markdown, cut after so many lines of each."""
    lines = []
    for command, printed in taken:
        left_out = 0 if shown is None else max(0, len(printed) - shown)
        lines += [f"$ {command}", *printed[: len(printed) - left_out]]
        lines += [f"... ({left_out} more lines)"] if left_out else []
    return "\n".join(["```", *lines, "```", ""])


def _tour_part(step: str, *, shown: int | None = None) -> str:
    return shell_block(take_tour()[step], shown=shown)


_PHONE_COMMANDS: Final = {
    "devices": "droidgate devices",
    "discover": "droidgate discover",
    "why app": "droidgate why --app dev.droidgate.sample.notes",
    "why agent": "droidgate why clock_in_today --agent mcp-client",
    "install": "droidgate shim install --from adb:/dev.droidgate.sample.weather",
    "call": "droidgate shim call currentWeather location=Berlin",
    "call function": "droidgate call summarizeNotes --yes",
    "call explained": "droidgate call currentWeather location=Berlin --explain",
}


@functools.cache
def ask_phone() -> dict[str, str]:
    """Run the commands of the guides on one virtual phone; return a block of Markdown for each.

    Raises:
        RuntimeError: a command fails.
    """
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("ADB_", "ANDROID_"))
    }
    blocks = {}
    with tempfile.TemporaryDirectory() as folder, start_phone(server_port=0) as phone:
        ports = {"DROIDGATE_HOME": folder, "ANDROID_ADB_SERVER_PORT": str(phone.server_port)}
        for name, command in _PHONE_COMMANDS.items():
            run = subprocess.run(
                [sys.executable, "-m", "droidgate", *shlex.split(command)[1:]],
                env={**inherited, **ports},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            if run.returncode not in {ExitCode.OK, ExitCode.FINDINGS}:
                raise RuntimeError(f"{command} ended with {run.returncode}: {run.stderr}")
            # In a column, the shorter serial takes the room of the other one.
            serial, longest = "127.0.0.1:5600", len(phone.serial)
            shown = run.stdout.replace(f"{phone.serial}  ", f"{serial:<{longest}}  ")
            shown = shown.replace(phone.serial, serial).replace(f"{folder}/config", "~/.config/droidgate")
            blocks[name] = shell_block([(command, [line.rstrip() for line in shown.splitlines()])])
    return blocks


def _phone_block(name: str) -> str:
    return ask_phone()[name]


def _without_open_gates() -> str:
    """Return the answer about one agent, of its open gates the first three."""
    lines = _phone_block("why agent").splitlines()
    is_open = [line for line in lines if line.startswith("  open  ")]
    return (
        "\n".join(
            [
                f"  ... ({len(is_open) - 3} more open gates)" if line == is_open[3] else line
                for line in lines
                if line not in is_open[4:]
            ]
        )
        + "\n"
    )


def gates_part() -> str:
    """Return the table of the gates between agents and capabilities."""
    rows = [(f"`{gate.id}`", gate.title, gate.owner) for gate in load_gates().values()]
    return _table(("gate", "open where", "who can open it"), rows)


def _run_script(name: str) -> dict[str, Any]:
    return runpy.run_path(str(CHECKOUT / "scripts" / f"{name}.py"))


def benchmark_part(path: Path, table: str) -> str:
    """Return a table that a benchmark measured, with the day and the machine, from its JSON."""
    measured = json.loads(path.read_text(encoding="utf-8"))
    columns = measured["tables"][table]["columns"]
    rows = [
        [format(value, how) for value, how in zip(row, columns.values(), strict=True)]
        for row in measured["tables"][table]["rows"]
    ]
    if [*columns][:2] == ["from", "to"]:
        # One figure, in brackets the other one, for each pair.
        columns = ["from, to", *dict.fromkeys(row[1] for row in rows)]
        figures = {(row[0], row[1]): f"{row[2]} ({row[3]})" for row in rows}
        sources = dict.fromkeys(row[0] for row in rows)
        rows = [[source, *(figures[source, target] for target in columns[1:])] for source in sources]
    when = f"{measured['date']}, {measured['cores']} cores, load {measured['load']}"
    note = f"`{path.stem}.py`, {when}, Python {measured['python']}."
    return f"\n{_table(tuple(columns), rows)}\n{note}\n\n"


def _benchmark_parts() -> dict[str, Callable[[], str]]:
    return {
        f"benchmark: {path.stem} {table}": functools.partial(benchmark_part, path, table)
        for path in sorted(MEASURED.glob("*.json"))
        for table in json.loads(path.read_text(encoding="utf-8"))["tables"]
    }


def catalog_part() -> str:
    """Return the tables of a catalog with their columns as the code has them, shared columns once."""
    counted = Counter(map(_catalog_row, (column for table in TABLES.values() for column in table.columns)))
    shared = [row for row, times in counted.items() if times > 1]
    parts = ["### Columns of several tables\n", _table(_CATALOG_COLUMNS, shared)]
    for table in TABLES.values():
        key = ", ".join(f"`{item}`" for item in table.key)
        rows = [row for column in table.columns if (row := _catalog_row(column)) not in shared]
        others = [f"`{column.name}`" for column in table.columns if _catalog_row(column) in shared]
        also = f" Also {', '.join(others)}." if others else ""
        parts += [
            f"### {table.name}\n",
            f"{table.meaning} Key: {key}.{also}\n",
            _table(_CATALOG_COLUMNS, rows),
        ]
    return "\n".join(parts)


_CATALOG_COLUMNS = ("column", "type", "meaning")


def _catalog_row(column: CatalogColumn) -> tuple[str, str, str]:
    return f"`{column.name}`", column.type + (" or null" if column.nullable else ""), column.meaning


PARTS: dict[str, Callable[[], str]] = {
    "catalog tables": catalog_part,
    **{f"phone: {name}": functools.partial(_phone_block, name) for name in _PHONE_COMMANDS},
    "phone: why agent": _without_open_gates,
    "phone: discover": lambda: shell_block(
        [("droidgate discover", _phone_block("discover").splitlines()[2:-1])], shown=14
    ),
    "gates": gates_part,
    **{f"tour: {step}": functools.partial(_tour_part, step) for step in TOUR},
    "tour: migrate": functools.partial(_tour_part, "migrate", shown=21),
    "tour: coverage": functools.partial(_tour_part, "coverage", shown=20),
    "tour: scan again": functools.partial(_tour_part, "scan again", shown=2),
    **_benchmark_parts(),
}
"""The generated parts that a page may have."""

PAGES_WITH_PARTS = [
    path for path in (CHECKOUT / "docs").rglob("*.md") if "\n<!-- end of " in path.read_text(encoding="utf-8")
]


def whole_pages() -> dict[Path, str]:
    """Return every file that is generated as a whole, with the text it should have."""
    return {CHECKOUT / "docs" / name: text for name, text in pages().items()}


def pages_with_parts() -> dict[Path, str]:
    """Return every page that has generated parts, with the text it should have; this takes the whole tour."""
    return {path: with_parts(path.read_text(encoding="utf-8")) for path in PAGES_WITH_PARTS}


def main(arguments: Sequence[str]) -> int:
    """Write or check; return the exit code."""
    only_check = "--check" in arguments
    stale = [
        (path, text)
        for path, text in {**whole_pages(), **pages_with_parts()}.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    for path, text in stale:
        print(path.relative_to(CHECKOUT))
        if not only_check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return 1 if stale and only_check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
