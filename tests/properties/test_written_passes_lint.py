"""What the formats of components write has no error and no warning of their own linter.

What is left is a fact of the source: a text that is empty, a JSON Schema that is not valid, or an access rule
that keeps callers out.
"""

from random import Random

import pytest

from droidgate.sources.android_project import application_from_tree
from droidgate_mappings.fit.provider_fit import is_restriction
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.model.findings import Level
from strategies import random_provider

SEEDS = 300
OF_THE_SOURCE = {
    "mobile-mcp": {"mobile-mcp-capability-description", "mobile-mcp-capability-version",
        "mobile-mcp-param-description", "mobile-mcp-tool-description", "mobile-mcp-tool-name"},
    "mmcp": {"mmcp-parameters-schema"},
}  # fmt: skip
ACCESS = {
    "mobile-mcp-exported": "exported",
    "mobile-mcp-enabled": "enabled",
    "mobile-mcp-permission": "permission",
    "mmcp-exported": "exported",
    "mmcp-enabled": "enabled",
    "mmcp-permission": "permission",
}
"""Rule -> the access rule of the source that it warns of."""


@pytest.mark.slow
@pytest.mark.parametrize("format_id", OF_THE_SOURCE)
def test_a_linter_warns_only_of_what_the_source_has(format_id: str) -> None:
    item = load_formats()[format_id]
    assert item.write is not None
    assert item.lint_application is not None
    for seed in range(SEEDS):
        provider = random_provider(Random(seed), size=15)
        writing = item.write(provider, item.dialects[0])
        tree = {part.path: part.text.encode() for part in writing.artifacts if part.role != "document"}
        for finding in item.lint_application(application_from_tree(tree)):
            if finding.level is Level.NOTE:
                continue
            if finding.code in ACCESS:
                rule = ACCESS[finding.code]
                assert is_restriction(rule, getattr(provider.access, rule)), f"seed {seed}: {finding.message}"
                continue
            assert finding.code in OF_THE_SOURCE[format_id], f"seed {seed}: {finding.message}"
            if format_id == "mobile-mcp":
                assert "empty" in finding.message
