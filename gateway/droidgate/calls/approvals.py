"""Asking somebody whether a call may be made."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Final

from droidgate.calls.pins import PinState
from droidgate.calls.policy import Decision
from droidgate.calls.subjects import (
    CLIENT_PREFIX,
    EVERY_CLIENT,
    CallSubject,
    CapabilityKey,
    Pin,
    literal_pattern,
)
from droidgate_mappings.model.capability import Capability
from droidgate_mappings.model.json_values import Json, one_line_json
from droidgate_mappings.records import dataclass
from droidgate_mappings.text_safety import json_escape, visible_json


def approving_command(key: CapabilityKey, serial: str, client: str) -> str:
    """Return the command that approves a capability; for one MCP client, where that is meant."""
    pattern, phone = map(shlex.quote, (literal_pattern(key), serial))
    is_for_one = client.startswith(CLIENT_PREFIX) and client != EVERY_CLIENT
    caller = f" --client {shlex.quote(client)}" if is_for_one else ""
    return f"droidgate pins approve {pattern} --serial {phone}{caller}"


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A call that needs an approval.

    Attributes:
        subject: The call.
        capability: What is called, as its app declares it; its texts are the app's.
        arguments: Name -> value, as they will be sent.
        pin: What an approval holds for.
        state: Whether an earlier version of the capability was approved.
        decision: Why the policy requires an approval.
        is_asked_anew: The app was replaced after the user had answered.
        call: Id of the first attempt of the call in the audit log.
    """

    subject: CallSubject
    capability: Capability
    arguments: Mapping[str, Json]
    pin: Pin
    state: PinState
    decision: Decision
    is_asked_anew: bool = False
    call: str = ""

    @property
    def change(self) -> str:
        """What the user knows otherwise, one sentence without a period; empty where nothing changed."""
        if self.is_asked_anew:
            return "the app was replaced after you answered, so you are asked again"
        return "the app has changed since you approved it" if self.state.kind == "changed" else ""

    @property
    def fix(self) -> str:
        """The command that approves the capability; if an MCP client calls, for that client only."""
        return approving_command(self.subject.key, self.subject.serial, self.subject.client)


@dataclass(frozen=True, slots=True)
class Approval:
    """The answer.

    Attributes:
        allowed: The call may be made.
        remember: Later calls of the capability, as it is declared now, may be made too.
        message: Why it may not, one sentence without a period; empty for the usual words.
        token: The failure token where it may not: `needs_approval` where nobody answered, `denied` where
            somebody said no.
    """

    allowed: bool
    remember: bool = False
    message: str = ""
    token: str = "needs_approval"  # noqa: S105 - a failure token, no secret


Approver = Callable[[ApprovalRequest], Approval]
"""Asks for an approval, on the thread of the call, before anything is sent."""


def refuse(request: ApprovalRequest) -> Approval:
    """Refuse, since nobody can be asked."""
    changed = "has changed since it was approved" if request.state.kind == "changed" else "is not approved"
    return Approval(allowed=False, message=f"{request.subject.capability} {changed}")


MAX_ARGUMENTS: Final = 1_000
"""Most arguments that a question has."""

_LONGEST_NAME: Final = 80
_LONGEST_STRING: Final = 200
_LONGEST_VALUE: Final = 1_000
_SHORTEST_STRING: Final = 20
_DEEPEST: Final = 16
_ROOM: Final = 40_000
"""Characters for all values of a question."""

_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_BLANKS: Final = re.compile(r"(?<= ) |[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000]")


@dataclass(frozen=True, slots=True)
class ShownArguments:
    """Arguments as a user is asked about them.

    Attributes:
        lines: One for each argument: `NAME (LENGTH): VALUE`, with the length in characters. No value or name
            can look like another line.
        is_cut: A name or a value is not whole; its length is that of all of it.
    """

    lines: tuple[str, ...]
    is_cut: bool


def shown_arguments(arguments: Mapping[str, Json]) -> ShownArguments:
    """Return arguments for a question, each in its own line: a long one takes no room from the others."""
    longest = max(_SHORTEST_STRING, min(_LONGEST_STRING, _ROOM // max(1, len(arguments))))
    most = _LONGEST_VALUE * longest // _LONGEST_STRING
    lines: list[str] = []
    is_cut = False
    for name, value in arguments.items():
        shown_name = name if _PLAIN_NAME.fullmatch(name) else _visible_line(name)
        if len(name) > _LONGEST_NAME:
            shown_name = f"{_visible_line(name[:_LONGEST_NAME])}... (a name of {len(name):,} characters)"
        text = _cut_strings(value, longest)
        length = len(value if isinstance(value, str) else one_line_json(value))
        is_whole = text == _visible_line(value)
        if len(text) > most and not isinstance(value, str):
            text, is_whole = f"{text[:most]}...", False
        lines.append(f"{shown_name} ({length:,}): {text}{'' if is_whole else ' (cut)'}")
        is_cut = is_cut or not is_whole or len(name) > _LONGEST_NAME
    return ShownArguments(tuple(lines), is_cut)


def refuse_unshowable(request: ApprovalRequest) -> Approval | None:
    """Refuse a call that has more arguments than a question can show; return None for any other."""
    count = len(request.arguments)
    if count <= MAX_ARGUMENTS:
        return None
    message = f"the call has {count:,} arguments, and a question shows {MAX_ARGUMENTS:,}"
    return Approval(allowed=False, message=message)


def _visible_line(value: Json) -> str:
    """Return a JSON text in one line in which nothing is hidden, and no blanks are next to each other."""
    return _BLANKS.sub(lambda match: json_escape(match[0]), visible_json(one_line_json(value)))


def _cut_strings(value: Json, longest: int, depth: int = 0) -> str:
    """Return the text of a value in which each long string is cut by itself; dots behind its quote say so."""
    if depth > _DEEPEST:
        return _visible_line(value)
    if isinstance(value, str):
        return _visible_line(value) if len(value) <= longest else f"{_visible_line(value[:longest])}..."
    if isinstance(value, dict):
        members = (
            f"{_cut_strings(name, longest)}:{_cut_strings(item, longest, depth + 1)}"
            for name, item in value.items()
        )
        return f"{{{','.join(members)}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(_cut_strings(item, longest, depth + 1) for item in value)}]"
    return _visible_line(value)
