"""The rules that Mobile-MCP descriptors and services are held against.

An error is a MUST or a requirement of the specification. A warning is what does not work with
the authors' prototype agent or on an Android release (reference mobile-mcp-and-mmcp 2.3, 2.7); a note is the
rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.lint_rules import LintRules


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
_error = partial(_BOOK.declare, Level.ERROR)
_warning = partial(_BOOK.declare, Level.WARNING)
_note = partial(_BOOK.declare, Level.NOTE)

RULES: Final = _BOOK.by_id
"""Every rule by id, in the order of the specification."""

ONE_SERVICE: Final = _error("mobile-mcp-one-service", "1.1", "A tool has exactly one service for Mobile-MCP")
ACTION: Final = _error("mobile-mcp-action", "1.1.1", "The service's intent filter names mobile.mcp.SERVICE")
IN_SERVICE: Final = _error(
    "mobile-mcp-meta-data-in-service", "1.1", "The meta-data is inside the service element"
)
NAME: Final = _error("mobile-mcp-tool-name", "1.1.2", "The service has meta-data mobile.mcp.tool.name")
NAME_TEXT: Final = _error("mobile-mcp-tool-name-text", "1.1.2", "The tool's name is a string for a device")
DESCRIPTION: Final = _error(
    "mobile-mcp-tool-description", "1.1.3", "The service has meta-data mobile.mcp.tool.description"
)
DESCRIPTION_TEXT: Final = _error(
    "mobile-mcp-tool-description-text", "1.1.3", "The tool's description is a string for a device"
)
DESCRIPTOR: Final = _error(
    "mobile-mcp-tool-capabilities", "1.1.4", "The service has meta-data mobile.mcp.tool.capabilities"
)
DESCRIPTOR_REFERENCE: Final = _error(
    "mobile-mcp-xml-resource", "1.1.4, 1.2", "The descriptor is given as a resource, and is an XML resource"
)
DESCRIPTOR_FILE: Final = _error(
    "mobile-mcp-descriptor-file",
    "1.1.4",
    "The descriptor that the meta-data points to is there and can be read",
)
WELL_FORMED: Final = _error("mobile-mcp-well-formed", "1.2", "The descriptor is well-formed XML")
ROOT: Final = _error("mobile-mcp-root", "1.2.1", "The root element is mobile-mcp-capabilities")
VERSION: Final = _error("mobile-mcp-version", "1.2.1", 'The root has version="1.0"')
ID: Final = _error("mobile-mcp-capability-id", "1.2.2", "A capability has an id")
UNIQUE_ID: Final = _error("mobile-mcp-capability-id-unique", "1.2.2", "A capability's id is unique in a tool")
CAPABILITY_DESCRIPTION: Final = _error(
    "mobile-mcp-capability-description", "1.2.2", "A capability has a description"
)
CAPABILITY_VERSION: Final = _error("mobile-mcp-capability-version", "1.2.2", "A capability has a version")
ONE_ELEMENT: Final = _error(
    "mobile-mcp-one-input-output", "1.2.2", "A capability has at most one input and one output"
)
IN_PLACE: Final = _error(
    "mobile-mcp-part-in-place",
    "1.2.2",
    "Capabilities are inside the root, parameters inside input or output, in no namespace",
)
PARAM_NAME: Final = _error("mobile-mcp-param-name", "1.2.2", "A parameter or output has a name")
PARAM_TYPE: Final = _error("mobile-mcp-param-type", "1.2.2", "A parameter or output has a type")
PARAM_REQUIRED: Final = _error(
    "mobile-mcp-param-required", "1.2.2", 'A parameter has required="true" or required="false"'
)
PARAM_DESCRIPTION: Final = _error(
    "mobile-mcp-param-description", "1.2.2", "A parameter or output has a description"
)
UNIQUE_NAME: Final = _warning(
    "mobile-mcp-param-name-unique", "3.1", "A parameter's name is unique: arguments are a map by name"
)
KNOWN_TYPE: Final = _note(
    "mobile-mcp-param-type-known",
    "reference row 5",
    "A type is one of the six words that agents are known to use",
)
UNKNOWN_PART: Final = _note(
    "mobile-mcp-unknown-part",
    "1.2",
    "A descriptor holds only the elements and attributes of the specification",
)
NOT_EMPTY: Final = _note("mobile-mcp-no-capability", "1.2", "A descriptor declares at least one capability")
NO_REFERENCE: Final = _warning(
    "mobile-mcp-text-reference",
    "reference 2.7",
    "A text of the descriptor is literal: an agent sees the number of a reference, not its text",
)
SAME_TEXT: Final = _warning(
    "mobile-mcp-text-changes",
    "reference 2.7",
    "A text of the descriptor is written so that a device gives the same text",
)
TEXT_LENGTH: Final = _warning(
    "mobile-mcp-text-too-long",
    "aapt2",
    "A text of the descriptor has at most 32,767 bytes; longer ones are lost",
)
EXPORTED: Final = _warning(
    "mobile-mcp-exported", "2; 3.1", "The service is exported, or no other app can bind or start it"
)
ENABLED: Final = _warning("mobile-mcp-enabled", "2", "The service is enabled, or no query finds it")
NO_PERMISSION: Final = _warning(
    "mobile-mcp-permission",
    "reference 2.2",
    "The service asks for no permission that the prototype agent lacks",
)
FOREGROUND_TYPE: Final = _note(
    "mobile-mcp-foreground-type",
    "reference 2.7",
    "A service that agents may start in the foreground has a foregroundServiceType, as Android 14 requires",
)
