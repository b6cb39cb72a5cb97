"""What `droidgate serve --plan --json` prints."""

from __future__ import annotations

from typing import Literal

from droidgate.cli.output.json_output import Document, PublishedDocument


class PlannedAppPart(Document):
    """The tools of one app.

    Attributes:
        app: Its package, after its phone's serial number and a slash where several phones are served.
        tools: How many.
        tokens: Estimate of what a model is given for them: the bytes of their JSON divided by four.
    """

    app: str
    tools: int
    tokens: int


class ServedPart(Document):
    """What a client is given.

    Attributes:
        mode: `all` for every tool by itself, `search` for three that find, describe and call the others.
        tools: How many.
        tokens: Estimate of what a model is given for them.
    """

    mode: Literal["all", "search"]
    tools: int
    tokens: int


class ServePlanDocument(PublishedDocument, schema="droidgate.serve-plan/1"):
    """What serving the apps of phones costs a model.

    Attributes:
        apps: The apps, the most expensive first.
        tools: How many tools all of them have.
        tokens: Estimate for all of them.
        served: What a client is given.
    """

    apps: tuple[PlannedAppPart, ...]
    tools: int
    tokens: int
    served: ServedPart
