"""What `droidgate install-client --json` prints."""

from __future__ import annotations

from typing import Any, Literal

from droidgate.cli.output.json_output import PublishedDocument


class InstallClientDocument(PublishedDocument, schema="droidgate.install-client/1"):
    """A change of a client's settings.

    Attributes:
        client: Id of the client.
        path: Its settings.
        status: What became of them; `would change` where they were not written.
        entry: The entry of the server; None where it is removed.
        diff: The change as a unified diff.
        backup: Where the settings before are.
        next_step: What the user does next.
    """

    client: str
    path: str
    status: Literal["created", "updated", "unchanged", "would change"]
    entry: dict[str, Any] | None
    diff: str
    backup: str | None
    next_step: str
