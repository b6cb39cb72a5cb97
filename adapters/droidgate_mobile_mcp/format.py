"""The Mobile-MCP format as the registry sees it."""

from __future__ import annotations

import re
from typing import Final

from droidgate_mappings.formats.format import Format, SourceFile, lazily
from droidgate_mobile_mcp.constants import FORMS, TABLES
from droidgate_mobile_mcp.discovery import LOOKS_FOR, call_routes
from droidgate_mobile_mcp.read import read_file
from droidgate_mobile_mcp.read_application import read_application

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
    weigh=lazily("droidgate_mobile_mcp.write:weigh"),
    lint_file=lazily("droidgate_mobile_mcp.lint:lint_file"),
    lint_application=lazily("droidgate_mobile_mcp.lint_application:lint_application"),
    write_handlers=lazily("droidgate_mobile_mcp.handlers:write_handlers"),
    looks_for=LOOKS_FOR,
    call_routes=call_routes,
    shim_frontends={TABLES.id: lazily("droidgate_mobile_mcp.shim_frontend:advertise")},
    shim_backend=lazily("droidgate_mobile_mcp.shim_backend:MobileMcpBackend"),
    endings=(".xml", ".json"),
)
