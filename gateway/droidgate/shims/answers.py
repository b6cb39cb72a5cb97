"""What a shim answers to its host, typed (shim.md 3 and 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import Frozen

TargetState = Literal["as-approved", "absent", "other-signer", "changed", "disabled"]
"""What a shim answers; `disabled` is what Android answers the host."""


class AppOfShim(Frozen):
    """An app behind a shim, as it was when the shim was built."""

    package: str
    label: str | None
    signer: str
    version_code: int


class Hello(Frozen):
    """Which shim answers.

    Attributes:
        application_id: Its own.
        build: Digest of what it was built from.
        sdk: The device's API level.
        routes: Ids of its capabilities.
        sources: The apps behind it.
    """

    application_id: str
    build: str
    sdk: int
    routes: tuple[str, ...]
    sources: tuple[AppOfShim, ...]


class GrantedCaller(Frozen):
    """An app that was granted something: its package and the SHA-256 of its certificate."""

    package: str
    signer: str


class ListedGrant(Frozen):
    """Who may call what, and since when, in ms since 1970; a capability `*` is all of them."""

    caller: GrantedCaller | Literal["any-app"]
    capability: str
    since: int


class AppState(Frozen):
    """What became of an app behind the shim."""

    package: str
    state: TargetState
    version_code: int | None


class Access(Frozen):
    """What Android allows the shim."""

    notifications: bool
    overlay: bool
    battery_exempt: bool
    execute_app_functions: bool


class StatusAnswer(Hello):
    """Which shim answers, and how it is.

    Attributes:
        grants: Who may call what.
        switched_off: Ids of capabilities that the user switched off.
        asking: The user is asked where a grant is missing.
        open: How many calls are open.
        targets: What became of the apps behind it.
        access: What Android allows it.
    """

    grants: tuple[ListedGrant, ...]
    switched_off: tuple[str, ...]
    asking: bool
    open: int
    targets: tuple[AppState, ...]
    access: Access


BroadcastTool: TypeAlias = tuple[str, str | None, str | None]
"""A tool's name, its description, and its parameters as JSON text, as a receiver of broadcasts lists them."""


class BroadcastTools(Frozen):
    """The tools that a receiver listed, in its order."""

    tools: tuple[BroadcastTool, ...]


CallStage = Literal["waiting", "window", "app"]


class Progress(Frozen):
    """How far an open call has come; None where no call of the id is open."""

    stage: CallStage | None


class CallTrace(Frozen):
    """What went to an app and came from it.

    Attributes:
        to: The component or package that was called.
        id: The id of the outgoing Mobile-MCP request; None for other calls.
        sent: What went to it, as a vector has it (shim-engine.md 9).
        origin: The extras that name the caller.
        answers: What came from it, each as a vector has it; `failure` where it could not be called.
    """

    to: str
    id: str | None
    sent: Json
    origin: Mapping[str, str]
    answers: tuple[Json, ...]


class CallAnswer(Frozen):
    """The answer of a call.

    Attributes:
        response: The text of the response.
        trace: None where it was not asked for, nothing went to the app, or the trace is too long.
    """

    response: str
    trace: CallTrace | None = None
