"""The wire dialects of Mobile-MCP: one class of flags for every form that requests and responses have had
(reference mobile-mcp-and-mmcp 1, 2.4, 2.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from droidgate_mobile_mcp.protocol_names import NAMES, TABLES

Transport = Literal["start", "bind", "aidl"]


@dataclass(frozen=True, slots=True)
class WireDialect:
    """One form of requests and responses.

    Attributes:
        id: Stable id, as in the reference.
        transports: How it travels: a started service with a PendingIntent, a Messenger, or an AIDL call.
        wrapped: Request and response are in a document that names their version.
        arguments_key: The capability's key that holds the arguments; None where they are next to the
            capability's id.
        arguments_as_text: The arguments are JSON text inside the JSON.
        outputs_as_list: Outputs are a list of name, type and value; else an object.
        request_extra: Extra or Bundle key of the request; None where the text itself is the argument of a
            call.
        response_extra: The same of the response.
        not_served_because: Why droidgate neither sends nor answers it; None where it does.
    """

    id: str
    transports: tuple[Transport, ...]
    wrapped: bool = False
    arguments_key: Literal["args", "input"] | None = None
    arguments_as_text: bool = False
    outputs_as_list: bool = False
    request_extra: str | None = None
    response_extra: str | None = None
    not_served_because: str | None = None

    @property
    def served(self) -> bool:
        """Whether droidgate sends and answers it."""
        return self.not_served_because is None


def _specified(dialect_id: str, key: Literal["args", "input"], *, outputs_as_list: bool) -> WireDialect:
    return WireDialect(
        dialect_id,
        ("bind", "start"),
        wrapped=True,
        arguments_key=key,
        outputs_as_list=outputs_as_list,
        request_extra=NAMES["request_extra"],
        response_extra=NAMES["response_extra"],
    )


def _prototype(
    dialect_id: str, transport: Transport, key: Literal["args", "input"], *, outputs_as_list: bool
) -> WireDialect:
    return WireDialect(
        dialect_id,
        (transport,),
        arguments_key=key,
        arguments_as_text=True,
        outputs_as_list=outputs_as_list,
        request_extra=NAMES["prototype_request_extra"],
        response_extra=NAMES["prototype_response_extra"],
    )


def _pre_spec(dialect_id: str, transport: Transport, reason: str) -> WireDialect:
    by_extra = transport != "aidl"
    return WireDialect(
        dialect_id,
        (transport,),
        request_extra=NAMES["command_extra"] if by_extra else None,
        response_extra=NAMES["result_extra"] if by_extra else None,
        not_served_because=reason,
    )


S0: Final = _specified("S0", "args", outputs_as_list=True)
S1: Final = _specified("S1", "input", outputs_as_list=False)
MM_4: Final = _prototype("MM-4", "start", "args", outputs_as_list=True)
MM_5: Final = _prototype("MM-5", "start", "input", outputs_as_list=False)
MM_6: Final = _prototype("MM-6", "bind", "input", outputs_as_list=False)
MM_6_ARGS: Final = _prototype("MM-6-args", "bind", "args", outputs_as_list=True)
MM_0: Final = _pre_spec(
    "MM-0", "aidl", "its interface is private to the prototype, and a call returns nothing"
)
MM_1: Final = _pre_spec("MM-1", "aidl", "its interface is private to the prototype, and requests have no id")
MM_2: Final = _pre_spec(
    "MM-2",
    "start",
    "the prototype had it for days before the specification, and arguments mix with the capability's id",
)
MM_2B: Final = _pre_spec("MM-2b", "start", "a benchmark's form: two callbacks answer each request")
MM_3: Final = _pre_spec(
    "MM-3", "bind", "a branch of the prototype had it for days, and a dropped connection leaves requests open"
)

WIRE_DIALECTS: Final[dict[str, WireDialect]] = {
    item.id: item for item in (S0, S1, MM_4, MM_5, MM_6, MM_6_ARGS, MM_0, MM_1, MM_2, MM_2B, MM_3)
}
"""Every wire dialect by id, those that are served first."""

WIRE_OF_DIALECT: Final[dict[str, tuple[WireDialect, ...]]] = {
    dialect.id: tuple(WIRE_DIALECTS[item] for item in dialect.wire) for dialect in TABLES.dialects
}
"""Dialect of the descriptor -> its wire dialects, most usual first (table `formats/mobile-mcp.toml`)."""
