"""The rules that Mobile-MCP descriptors and services are held against.

An error is a MUST, or something called required, of the specification; a warning is what does not work with
the authors' prototype agent or on an Android release (reference mobile-mcp-and-mmcp 2.3, 2.7); a note is the
rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from droidgate.model.capability import Place
from droidgate.model.findings import Finding, Level, finding_code

RULES: Final[dict[str, Rule]] = {}
"""Every rule by id, in the order of the specification."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its id, the section of the specification (or reference) behind it, how grave, and what it asks
    for.
    """

    id: str
    section: str
    level: Level
    asks: str

    def broken(
        self, message: str, *, pointer: str = "", source: Place | None = None, hint: str | None = None
    ) -> Finding:
        """Return the finding that something breaks the rule."""
        return Finding(
            code=self.id,
            level=self.level,
            pointer=pointer,
            message=message,
            hint=hint,
            source=source,
            rule=f"Mobile-MCP {self.section}",
        )


def _rule(rule_id: str, section: str, level: Level, asks: str) -> Rule:
    RULES[rule_id] = Rule(finding_code(rule_id, asks, __name__), section, level, asks)
    return RULES[rule_id]


def sorted_by_place(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in the order of their places."""
    return tuple(
        sorted(findings, key=lambda one: (one.source.path, one.source.line or 0) if one.source else ("", 0))
    )


_E, _W, _N = Level.ERROR, Level.WARNING, Level.NOTE

ONE_SERVICE: Final = _rule(
    "mobile-mcp-one-service", "1.1", _E, "A tool has exactly one service for Mobile-MCP"
)
ACTION: Final = _rule(
    "mobile-mcp-action", "1.1.1", _E, "The service's intent filter names mobile.mcp.SERVICE"
)
IN_SERVICE: Final = _rule(
    "mobile-mcp-meta-data-in-service", "1.1", _E, "The meta-data stand inside the service element"
)
NAME: Final = _rule("mobile-mcp-tool-name", "1.1.2", _E, "The service has meta-data mobile.mcp.tool.name")
NAME_TEXT: Final = _rule("mobile-mcp-tool-name-text", "1.1.2", _E, "The tool's name is a string for a device")
DESCRIPTION: Final = _rule(
    "mobile-mcp-tool-description", "1.1.3", _E, "The service has meta-data mobile.mcp.tool.description"
)
DESCRIPTION_TEXT: Final = _rule(
    "mobile-mcp-tool-description-text", "1.1.3", _E, "The tool's description is a string for a device"
)
DESCRIPTOR: Final = _rule(
    "mobile-mcp-tool-capabilities", "1.1.4", _E, "The service has meta-data mobile.mcp.tool.capabilities"
)
DESCRIPTOR_REFERENCE: Final = _rule(
    "mobile-mcp-xml-resource",
    "1.1.4, 1.2",
    _E,
    "The descriptor is given as a resource, and is an XML resource",
)
DESCRIPTOR_FILE: Final = _rule(
    "mobile-mcp-descriptor-file",
    "1.1.4",
    _E,
    "The descriptor that the meta-data points to is there and can be read",
)
WELL_FORMED: Final = _rule("mobile-mcp-well-formed", "1.2", _E, "The descriptor is well-formed XML")
ROOT: Final = _rule("mobile-mcp-root", "1.2.1", _E, "The root element is mobile-mcp-capabilities")
VERSION: Final = _rule("mobile-mcp-version", "1.2.1", _E, 'The root has version="1.0"')
ID: Final = _rule("mobile-mcp-capability-id", "1.2.2", _E, "A capability has an id")
UNIQUE_ID: Final = _rule(
    "mobile-mcp-capability-id-unique", "1.2.2", _E, "A capability's id stands once in a tool"
)
CAPABILITY_DESCRIPTION: Final = _rule(
    "mobile-mcp-capability-description", "1.2.2", _E, "A capability has a description"
)
CAPABILITY_VERSION: Final = _rule("mobile-mcp-capability-version", "1.2.2", _E, "A capability has a version")
ONE_ELEMENT: Final = _rule(
    "mobile-mcp-one-input-output", "1.2.2", _E, "A capability has at most one input and one output"
)
PARAM_NAME: Final = _rule("mobile-mcp-param-name", "1.2.2", _E, "A parameter or output has a name")
PARAM_TYPE: Final = _rule("mobile-mcp-param-type", "1.2.2", _E, "A parameter or output has a type")
PARAM_REQUIRED: Final = _rule(
    "mobile-mcp-param-required", "1.2.2", _E, 'A parameter has required="true" or required="false"'
)
PARAM_DESCRIPTION: Final = _rule(
    "mobile-mcp-param-description", "1.2.2", _E, "A parameter or output has a description"
)
UNIQUE_NAME: Final = _rule(
    "mobile-mcp-param-name-unique", "3.1", _W, "A parameter's name stands once: arguments are a map by name"
)
KNOWN_TYPE: Final = _rule(
    "mobile-mcp-param-type-known",
    "reference row 5",
    _N,
    "A type is one of the six words that agents are known to use",
)
UNKNOWN_PART: Final = _rule(
    "mobile-mcp-unknown-part",
    "1.2",
    _N,
    "A descriptor holds only the elements and attributes of the specification",
)
NOT_EMPTY: Final = _rule(
    "mobile-mcp-no-capability", "1.2", _N, "A descriptor declares at least one capability"
)
NO_REFERENCE: Final = _rule(
    "mobile-mcp-text-reference",
    "reference 2.7",
    _W,
    "A text of the descriptor is literal: an agent sees the number of a reference, not its text",
)
SAME_TEXT: Final = _rule(
    "mobile-mcp-text-changes",
    "reference 2.7",
    _W,
    "A text of the descriptor is written so that a device gives the same text",
)
TEXT_LENGTH: Final = _rule(
    "mobile-mcp-text-too-long",
    "aapt2",
    _W,
    "A text of the descriptor has at most 32,767 bytes; longer ones are lost",
)
EXPORTED: Final = _rule(
    "mobile-mcp-exported", "2; 3.1", _W, "The service is exported, or no other app can bind or start it"
)
ENABLED: Final = _rule("mobile-mcp-enabled", "2", _W, "The service is enabled, or no query finds it")
NO_PERMISSION: Final = _rule(
    "mobile-mcp-permission",
    "reference 2.2",
    _W,
    "The service asks for no permission that the prototype agent lacks",
)
FOREGROUND_TYPE: Final = _rule(
    "mobile-mcp-foreground-type",
    "reference 2.7",
    _W,
    "The service has a foregroundServiceType: agents start it in the foreground, and Android 14 asks for one",
)
