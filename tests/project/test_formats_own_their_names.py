"""No module outside the adapters knows a protocol by its name, but for those listed here."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from droidgate_mappings.formats.format import load_formats
from requirements_of_tests import CHECKOUT

ROOTS = ("gateway/droidgate", "device_shim/droidgate_shim")

_SERVING = (*("application", "documents", "phone_tools", "plan", "questions", "results", "search", "tools"),)
_ENGINE = ("backends", "engine", "requests", "responses", "routes")

NAMED = {
    "droidgate/cli/demo/demonstrating.py": "the demo shows one migration, to one protocol",
    "droidgate/cli/demo/demonstration_server.py": "names a Python package that the server needs",
    "droidgate/cli/serve/serving.py": "names a Python package that the server needs",
    "droidgate/cli/serve/serving_mobile_agent.py": "names a Python package that the server needs",
    "droidgate/cli/shim/shim_command.py": "words of an option, which --help prints without loading formats",
    "droidgate_shim/builder/shim_manifest.py": "kinds of the engine's backends, as routes.json has them",
    "droidgate_shim/engine/routes.py": "kinds of the engine's backends, as routes.json has them",
    "droidgate/shims/shim_facts.py": "kinds of the engine's backends, as routes.json has them",
}
"""Modules in which a text equals the id of a format, and why it is not a list of formats."""

IMPORTED = {
    "droidgate/calls/commands.py": "lists of MobileAgent's commands, which no other protocol has",
    "droidgate/calls/targets.py": "commands of the phone itself, which no app declares",
    "droidgate/cli/calls/calling_commands.py": "prints what MobileAgent's commands did",
    **dict.fromkeys(
        (f"droidgate/serving/{name}.py" for name in _SERVING),
        "an MCP server speaks MCP by that adapter's wire",
    ),
    **dict.fromkeys(
        (f"droidgate_shim/engine/{name}.py" for name in _ENGINE), "the engine speaks by the adapters' wires"
    ),
    "droidgate/serving/mobile_agent/server.py": "an MCP server names the revisions as that adapter does",
    "droidgate/shims/calling.py": "a call over the host route is a request of Mobile-MCP",
    "droidgate_shim/builder/routes.py": "every shim has a Mobile-MCP descriptor that its routes fit",
    "droidgate_shim/builder/shim_manifest.py": "actions of what is called are the protocols' own",
}
"""Modules that import an adapter, and why they know it."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for root in ROOTS:
        for path in sorted((CHECKOUT / root).rglob("*.py")):
            name = path.relative_to(CHECKOUT / Path(root).parent).as_posix()
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def adapters() -> set[str]:
    return {path.name for path in (CHECKOUT / "adapters").iterdir() if (path / "format.py").is_file()}


def imports_of(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]
        elif isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)


@cache
def found() -> tuple[frozenset[str], frozenset[str]]:
    """Return the modules that name a format, and those that import an adapter."""
    ids, packages = set(load_formats()), adapters()
    named, imported = set(), set()
    for name, tree in modules():
        texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        if any(isinstance(text, str) and text in ids for text in texts):
            named.add(name)
        if packages.intersection(imports_of(tree)):
            imported.add(name)
    return frozenset(named), frozenset(imported)


@pytest.mark.slow
def test_a_format_is_named_outside_its_adapter_for_a_reason_only() -> None:
    assert found()[0] == set(NAMED)


def test_an_adapter_is_imported_from_above_for_a_reason_only() -> None:
    assert found()[1] == set(IMPORTED)


def test_each_reason_is_a_sentence() -> None:
    assert all(len(reason.split()) > 4 for reason in (*NAMED.values(), *IMPORTED.values()))
