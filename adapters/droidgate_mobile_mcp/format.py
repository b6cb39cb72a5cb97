"""The Mobile-MCP format as the registry has it: its names and which of them each dialect's files use
(specification 1; reference mobile-mcp-and-mmcp 2.2), what to look for on a phone, and what calls from a
computer need (reference 7).
"""

from __future__ import annotations

import re
from typing import Final, Literal

from droidgate_mappings.formats.format import CallSupport, Format, PhoneSupport, SourceFile, lazily
from droidgate_mappings.formats.installed import CallRoute, ComponentQuery, DeviceFacts
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.loading import FormatTables, load_format_tables

TABLES: Final[FormatTables] = load_format_tables("mobile-mcp")
FORMAT_ID: Final = TABLES.id
NAMES: Final = TABLES.names
WORDS: Final = TABLES.words

MetaRole = Literal["name", "description", "capabilities"]
ROLES: Final[tuple[MetaRole, ...]] = ("name", "description", "capabilities")


@dataclass(frozen=True, slots=True)
class DescriptorForm:
    """What a dialect's files are made of.

    Attributes:
        root: Name of the root element.
        version: The root's version, or None where it has none.
        action: Action of the service's intent filter.
        keys: Role -> name of the meta-data.
    """

    root: str
    version: str | None
    action: str
    keys: dict[MetaRole, str]


def _form(prefix: str, version: str | None) -> DescriptorForm:
    return DescriptorForm(
        root=NAMES[f"{prefix}root"],
        version=version,
        action=NAMES[f"{prefix}service_action"],
        keys={role: NAMES[f"{prefix}tool_{role}"] for role in ROLES},
    )


_SPECIFIED: Final = _form("", NAMES["version"])
_PROTOTYPE: Final = _form("", None)
_PRE_SPEC: Final = _form("pre_spec_", None)

FORMS: Final[dict[str, DescriptorForm]] = {
    "1.0": _SPECIFIED,
    "1.0-input": _SPECIFIED,
    "prototype": _PROTOTYPE,
    "pre-spec": _PRE_SPEC,
}
"""Dialect id -> its form."""

ACTIONS: Final = (_SPECIFIED.action, _PRE_SPEC.action)
"""Every action by which a service is found, the specified one first."""

KEYS: Final[dict[MetaRole, tuple[str, ...]]] = {
    role: (_SPECIFIED.keys[role], _PRE_SPEC.keys[role]) for role in ROLES
}
"""Role -> every meta-data name, the specified one first."""

SAME_MAJOR: Final = re.compile(r"1(\.[0-9]+)*")
"""The root versions that are read as 1.0 (row M08)."""

LOOKS_FOR: Final = tuple(ComponentQuery("service", action) for action in ACTIONS)

_SERVED: Final = frozenset(dialect.id for dialect in TABLES.dialects if dialect.id != "pre-spec")

_SHIM: Final = "a shim, which can pass a callback"


def call_routes(provider: Provider, facts: DeviceFacts) -> tuple[CallRoute, ...]:
    """Return the one way there is: through an app on the phone.

    A request carries a PendingIntent or a Messenger for the answer, which no shell command can pass. Whether
    the component lets anybody call is the rule of `droidgate_mappings.formats.reachability`.
    """
    needs = [] if facts.is_behind_a_shim(provider.package) else [_SHIM]
    if provider.dialect not in _SERVED:
        needs.append("an older wire form, which is read and not called")
    return (CallRoute("shim-service", "shim: service", not needs, tuple(needs)),)


_LOOKED_AT: Final = 65_536
_NOT_ELEMENT: Final = rb"(?:\xef\xbb\xbf)?(?:\s+|<\?(?>.*?\?>)|<!--(?>.*?-->))*+"
_ROOT: Final = re.compile(
    _NOT_ELEMENT
    + b"<(?:(?P<own>%s)|(?P<older>%s)|(?P<part>capability))[\\s/>]"
    % (FORMS["1.0"].root.encode(), FORMS["pre-spec"].root.encode()),
    re.DOTALL,
)
_CERTAIN, _LIKELY, _POSSIBLE = 100, 70, 50


def detect(source: SourceFile) -> int:
    """Return how sure its root element makes us that a file is a capability descriptor."""
    head = source.data[:_LOOKED_AT]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        head = head.decode("utf-16", "ignore").encode()
    match = _ROOT.match(head)
    if match is None:
        return 0
    if match["own"]:
        return _CERTAIN
    if match["older"]:
        return _LIKELY if b"<capability" in head else 0
    return _POSSIBLE


FORMAT: Final = Format(
    tables=TABLES,
    detect=detect,
    read_file=lazily("droidgate_mobile_mcp.read:read_file"),
    endings=(".xml", ".json"),
    write=lazily("droidgate_mobile_mcp.write:write"),
    lint_file=lazily("droidgate_mobile_mcp.lint:lint_file"),
    read_application=lazily("droidgate_mobile_mcp.read:read_application"),
    lint_application=lazily("droidgate_mobile_mcp.lint:lint_application"),
    find_losses=lazily("droidgate_mobile_mcp.write:find_losses"),
    write_handlers=lazily("droidgate_mobile_mcp.handlers:write_handlers"),
    phones=PhoneSupport(looks_for=LOOKS_FOR),
    calls=CallSupport(
        call_routes=call_routes,
        shim_backend=lazily("droidgate_mobile_mcp.shim_backend:MobileMcpBackend"),
        shim_frontends={TABLES.id: lazily("droidgate_mobile_mcp.shim_frontend:advertise")},
    ),
)
