"""The Mobile-MCP format as the registry has it, with what to look for on a phone and what calls from a
computer need (reference mobile-mcp-and-mmcp 7).
"""

from __future__ import annotations

import re
from typing import Final

from droidgate_mappings.formats.format import Format, SourceFile, lazily
from droidgate_mappings.formats.installed import CallRoute, ComponentQuery, DeviceFacts
from droidgate_mappings.model.capability import Provider
from droidgate_mobile_mcp.protocol_names import ACTIONS, FORMS, TABLES
from droidgate_mobile_mcp.read import read_file
from droidgate_mobile_mcp.read_application import read_application

LOOKS_FOR: Final = tuple(ComponentQuery("service", action) for action in ACTIONS)

_SERVED: Final = frozenset(dialect.id for dialect in TABLES.dialects if dialect.id != "pre-spec")

_SHIM: Final = (
    "a shim (`droidgate shim install --from adb: --protocol mobile-mcp`), which can pass a callback"
)


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
    found = _ROOT.match(head)
    if found is None:
        return 0
    if found["own"]:
        return _CERTAIN
    if found["older"]:
        return _LIKELY if b"<capability" in head else 0
    return _POSSIBLE


FORMAT: Final = Format(
    tables=TABLES,
    detect=detect,
    read_file=read_file,
    read_application=read_application,
    write=lazily("droidgate_mobile_mcp.write:write"),
    find_losses=lazily("droidgate_mobile_mcp.write:find_losses"),
    lint_file=lazily("droidgate_mobile_mcp.lint:lint_file"),
    lint_application=lazily("droidgate_mobile_mcp.lint:lint_application"),
    write_handlers=lazily("droidgate_mobile_mcp.handlers:write_handlers"),
    looks_for=LOOKS_FOR,
    call_routes=call_routes,
    shim_frontends={TABLES.id: lazily("droidgate_mobile_mcp.shim_frontend:advertise")},
    shim_backend=lazily("droidgate_mobile_mcp.shim_backend:MobileMcpBackend"),
    endings=(".xml", ".json"),
)
