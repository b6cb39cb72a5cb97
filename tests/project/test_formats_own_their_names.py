"""No module outside the adapters knows a protocol by its name, but for those listed here."""

import ast
from pathlib import Path

from droidgate_mappings.formats.format import load_formats
from requirements_of_tests import CHECKOUT

_SERVING = (
    "phone_tools",
    "questions",
    "search",
    "server_application",
    "tool_documents",
    "tool_results",
    "tools",
)
_ENGINE = ("backends", "engine", "requests", "responses", "routes")

NAMED = {
    "droidgate/cli/demo/demonstrating.py": "shows one migration, to one protocol; names a Python package",
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
    "droidgate/cli/calls/calling_batch.py": "prints what MobileAgent's commands did",
    **{
        f"droidgate/serving/{name}.py": "an MCP server speaks MCP by that adapter's wire" for name in _SERVING
    },
    **{f"droidgate_shim/engine/{name}.py": "the engine speaks by the adapters' wires" for name in _ENGINE},
    "droidgate/serving/mobile_agent/mobile_agent_server.py": "names MCP's revisions as that adapter does",
    "droidgate/shims/calling.py": "a call over the host route is a request of Mobile-MCP",
    "droidgate_shim/builder/route_building.py": "every shim has a Mobile-MCP descriptor that its routes fit",
    "droidgate_shim/builder/shim_manifest.py": "actions of what is called are the protocols' own",
}
"""Modules that import an adapter, and why they know it."""


def test_formats_are_named_and_imported_outside_their_adapters_for_a_reason_only() -> None:
    ids = load_formats().keys()
    adapters = {path.parent.name for path in (CHECKOUT / "adapters").glob("*/format.py")}
    named, imported = set(), set()
    for root in (CHECKOUT / "gateway/droidgate", CHECKOUT / "device_shim/droidgate_shim"):
        for path in root.rglob("*.py"):
            nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
            if ids & {
                node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
            }:
                named.add(path.relative_to(root.parent))
            modules = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
            modules |= {item.name for node in nodes if isinstance(node, ast.Import) for item in node.names}
            if adapters & {module.partition(".")[0] for module in modules}:
                imported.add(path.relative_to(root.parent))
    assert named == set(map(Path, NAMED))
    assert imported == set(map(Path, IMPORTED))
