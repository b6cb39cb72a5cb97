"""The rules that Mobile-MCP descriptors and services are held against.

An error is a MUST or a requirement of the specification. A warning is what does not work with
the authors' prototype agent or on an Android release (reference mobile-mcp-and-mmcp 2.3, 2.7); a note is the
rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from droidgate.model.findings import Finding, Level
from droidgate.model.lint_rules import LintRules


def sorted_by_place(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in the order of their places."""
    return tuple(
        sorted(
            findings,
            key=lambda finding: (
                (finding.source.path, finding.source.line or 0) if finding.source else ("", 0)
            ),
        )
    )


_BOOK: Final = LintRules("Mobile-MCP", __name__)
_rule = _BOOK.declare

RULES: Final = _BOOK.by_id
"""Every rule by id, in the order of the specification."""

_E, _W, _N = Level.ERROR, Level.WARNING, Level.NOTE

ONE_SERVICE: Final = _rule(
    "mobile-mcp-one-service", _E, "1.1", "A tool has exactly one service for Mobile-MCP"
)
ACTION: Final = _rule(
    "mobile-mcp-action", _E, "1.1.1", "The service's intent filter names mobile.mcp.SERVICE"
)
IN_SERVICE: Final = _rule(
    "mobile-mcp-meta-data-in-service", _E, "1.1", "The meta-data is inside the service element"
)
NAME: Final = _rule("mobile-mcp-tool-name", _E, "1.1.2", "The service has meta-data mobile.mcp.tool.name")
NAME_TEXT: Final = _rule("mobile-mcp-tool-name-text", _E, "1.1.2", "The tool's name is a string for a device")
DESCRIPTION: Final = _rule(
    "mobile-mcp-tool-description", _E, "1.1.3", "The service has meta-data mobile.mcp.tool.description"
)
DESCRIPTION_TEXT: Final = _rule(
    "mobile-mcp-tool-description-text", _E, "1.1.3", "The tool's description is a string for a device"
)
DESCRIPTOR: Final = _rule(
    "mobile-mcp-tool-capabilities", _E, "1.1.4", "The service has meta-data mobile.mcp.tool.capabilities"
)
DESCRIPTOR_REFERENCE: Final = _rule(
    "mobile-mcp-xml-resource",
    _E,
    "1.1.4, 1.2",
    "The descriptor is given as a resource, and is an XML resource",
)
DESCRIPTOR_FILE: Final = _rule(
    "mobile-mcp-descriptor-file",
    _E,
    "1.1.4",
    "The descriptor that the meta-data points to is there and can be read",
)
WELL_FORMED: Final = _rule("mobile-mcp-well-formed", _E, "1.2", "The descriptor is well-formed XML")
ROOT: Final = _rule("mobile-mcp-root", _E, "1.2.1", "The root element is mobile-mcp-capabilities")
VERSION: Final = _rule("mobile-mcp-version", _E, "1.2.1", 'The root has version="1.0"')
ID: Final = _rule("mobile-mcp-capability-id", _E, "1.2.2", "A capability has an id")
UNIQUE_ID: Final = _rule(
    "mobile-mcp-capability-id-unique", _E, "1.2.2", "A capability's id is unique in a tool"
)
CAPABILITY_DESCRIPTION: Final = _rule(
    "mobile-mcp-capability-description", _E, "1.2.2", "A capability has a description"
)
CAPABILITY_VERSION: Final = _rule("mobile-mcp-capability-version", _E, "1.2.2", "A capability has a version")
ONE_ELEMENT: Final = _rule(
    "mobile-mcp-one-input-output", _E, "1.2.2", "A capability has at most one input and one output"
)
IN_PLACE: Final = _rule(
    "mobile-mcp-part-in-place",
    _E,
    "1.2.2",
    "Capabilities are inside the root, parameters inside input or output, in no namespace",
)
PARAM_NAME: Final = _rule("mobile-mcp-param-name", _E, "1.2.2", "A parameter or output has a name")
PARAM_TYPE: Final = _rule("mobile-mcp-param-type", _E, "1.2.2", "A parameter or output has a type")
PARAM_REQUIRED: Final = _rule(
    "mobile-mcp-param-required", _E, "1.2.2", 'A parameter has required="true" or required="false"'
)
PARAM_DESCRIPTION: Final = _rule(
    "mobile-mcp-param-description", _E, "1.2.2", "A parameter or output has a description"
)
UNIQUE_NAME: Final = _rule(
    "mobile-mcp-param-name-unique", _W, "3.1", "A parameter's name is unique: arguments are a map by name"
)
KNOWN_TYPE: Final = _rule(
    "mobile-mcp-param-type-known",
    _N,
    "reference row 5",
    "A type is one of the six words that agents are known to use",
)
UNKNOWN_PART: Final = _rule(
    "mobile-mcp-unknown-part",
    _N,
    "1.2",
    "A descriptor holds only the elements and attributes of the specification",
)
NOT_EMPTY: Final = _rule(
    "mobile-mcp-no-capability", _N, "1.2", "A descriptor declares at least one capability"
)
NO_REFERENCE: Final = _rule(
    "mobile-mcp-text-reference",
    _W,
    "reference 2.7",
    "A text of the descriptor is literal: an agent sees the number of a reference, not its text",
)
SAME_TEXT: Final = _rule(
    "mobile-mcp-text-changes",
    _W,
    "reference 2.7",
    "A text of the descriptor is written so that a device gives the same text",
)
TEXT_LENGTH: Final = _rule(
    "mobile-mcp-text-too-long",
    _W,
    "aapt2",
    "A text of the descriptor has at most 32,767 bytes; longer ones are lost",
)
EXPORTED: Final = _rule(
    "mobile-mcp-exported", _W, "2; 3.1", "The service is exported, or no other app can bind or start it"
)
ENABLED: Final = _rule("mobile-mcp-enabled", _W, "2", "The service is enabled, or no query finds it")
NO_PERMISSION: Final = _rule(
    "mobile-mcp-permission",
    _W,
    "reference 2.2",
    "The service asks for no permission that the prototype agent lacks",
)
FOREGROUND_TYPE: Final = _rule(
    "mobile-mcp-foreground-type",
    _N,
    "reference 2.7",
    "A service that agents may start in the foreground has a foregroundServiceType, as Android 14 requires",
)
