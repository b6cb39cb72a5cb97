"""How shims are made, as a user chooses it and `shim sync` keeps it; what makes them is not imported."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from droidgate_mappings.model.types import Frozen

EVERY_PROTOCOL: Final = "all"
"""What `--format` takes in addition to formats."""


class ShimOptions(Frozen):
    """How shims are made.

    Attributes:
        protocols: Formats whose apps get a shim: `app-actions`, `appfunctions`, `mmcp`, `mobile-mcp`, or
            `all`. By default all but `mobile-mcp`, whose apps agents reach by themselves; with `only` or
            `advertise` all.
        only: Ids of the capabilities to offer, alone or behind their package and a slash
            (`com.example/createNote`); all where it is empty.
        aggregate: One shim for all apps, in place of one for each.
        advertise: Protocols other than Mobile-MCP by which agents reach the shim: `mmcp`, `mmcp-broadcast`,
            `appfunctions`.
        deadline_ms: How long a call may take, in milliseconds; 30 s, a broadcast 10 s, where it is None.
        signer: SHA-256 of the certificate that will sign the app of a project, which has none yet.
        key: PEM file of the key that signs; by default the user's own, which is made at the first use.
    """

    protocols: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    aggregate: bool = False
    advertise: frozenset[str] = frozenset()
    deadline_ms: int | None = None
    signer: str | None = None
    key: Path | None = None
