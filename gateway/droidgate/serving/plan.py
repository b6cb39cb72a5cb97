"""What serving tools costs a model: an estimate of tokens for each app."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from droidgate.coverage.conversions import estimate_tokens
from droidgate.serving.tools import ServedTool
from droidgate_mappings.model.json_values import canonical_json
from droidgate_mcp.tables import MODERN


@dataclass(frozen=True, slots=True)
class PlannedApp:
    """The tools of one app.

    Attributes:
        group: The app's package, after its phone's serial number where there are several phones.
        tools: How many.
        tokens: Estimate of what a model is given for them, as in the coverage report.
    """

    group: str
    tools: int
    tokens: int


def plan_tokens(tools: Iterable[ServedTool]) -> tuple[PlannedApp, ...]:
    """Return the cost of each app's tools, the most expensive first."""
    sizes: dict[str, list[int]] = {}
    for tool in tools:
        text = canonical_json(dict(tool.documents[MODERN]))
        size = estimate_tokens(len(text.encode("utf-8", "surrogatepass"))) or 0
        sizes.setdefault(tool.group, []).append(size)
    apps = (PlannedApp(group, len(tokens), sum(tokens)) for group, tokens in sizes.items())
    return tuple(sorted(apps, key=lambda app: (-app.tokens, app.group)))
