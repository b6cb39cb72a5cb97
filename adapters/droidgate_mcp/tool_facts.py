"""The names of the facts that a tool or a document has beyond the model: one fact
for each member.

A member of a tool is named as it is, a member of its `annotations` or of `_meta` by its JSON Pointer, such as
`/_meta/com.example~1cost`. So is a member whose name starts with a slash. Access rules are in `_meta`: no MCP
client or server acts on them, and they come back when the list is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from pydantic import ValidationError

from droidgate_mappings.model.capability import CapabilityAccess, ComponentAccess
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json, pointer_name, pointer_token

_Access = TypeVar("_Access", ComponentAccess, CapabilityAccess)

_ALLOWED_TEXTS: Final = {"scope": {"activity"}, "access_level": {"self", "system", "androidTrusted"}}
_MAX_SHOWN: Final = 200
_HINT: Final = "correct it, or remove `access` to let every caller use it"


def stated_rules(access: ComponentAccess | CapabilityAccess) -> dict[str, Json]:
    """Return the rules that are not the default, as JSON."""
    default = type(access)()
    return {name: value for name, value in access if value != getattr(default, name)}


def read_access(kind: type[_Access], stated: Json, place: str) -> _Access:
    """Read access rules.

    Args:
        kind: The class of the rules.
        stated: The member `access`; None without one.
        place: Where the member is, for an error.

    Raises:
        InputError: the member is not an object, or a rule is unknown or has another kind of value.
    """
    if stated is None:
        return kind()
    try:
        access = kind.model_validate(stated, strict=True)
    except ValidationError as error:
        raise InputError(_describe(error), place=place, hint=_HINT) from None
    for name, allowed in _ALLOWED_TEXTS.items():
        value = getattr(access, name, None)
        if value is not None and value not in allowed:
            message = f"'access/{name}' in droidgate's `_meta` is not an access rule: {value!r}"
            raise InputError(message, place=place, hint=f"use one of {', '.join(sorted(allowed))}")
    return access


def _describe(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    rule = "/".join(["access", *(str(part) for part in problem["loc"][:1])])
    reason = problem.get("ctx", {}).get("error")
    why = "is not an access rule" if reason is None else f"{reason}"
    return f"{rule!r} in droidgate's `_meta` {why}: {repr(problem['input'])[:_MAX_SHOWN]}"


CACHE_DEFAULTS: Final = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
"""What a 2026-07-28 result must say, at its strictest."""

HINTS: Final = {
    "readOnlyHint": "read_only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open_world",
}
"""Member of a tool's annotations -> field of `Effects`."""


def document_fact(dialect_id: str) -> str:
    """Return the name of the provider's fact that keeps a document's shape; a document is of one dialect."""
    return f"document {dialect_id}"


META_POINTER: Final = "/_meta"
"""Prefix of the facts that keep `_meta` of a tool, or of the object that holds the tools."""

ANNOTATIONS_POINTER: Final = "/annotations"
"""Prefix of the facts that keep further members of a tool's annotations."""

TITLE_FACT: Final = "title"
"""Where the title is: `annotations`, or `both` where the tool states it there too; absent where it is not."""

ANNOTATIONS_FACT: Final = "annotations"
"""An empty object, where the source's annotations are one."""

_LAYOUT_FACTS: Final = frozenset({TITLE_FACT, ANNOTATIONS_FACT})
_CONTAINERS: Final = (f"{META_POINTER}/", f"{ANNOTATIONS_POINTER}/")


def name_members(members: Mapping[str, Json], container: str) -> dict[str, Json]:
    """Return the members of `_meta` or `annotations` as facts.

    Args:
        members: Name and value of each member.
        container: JSON Pointer of the object that holds them.
    """
    return {f"{container}/{pointer_token(name)}": value for name, value in members.items()}


def members_of_container(facts: Mapping[str, Json], container: str) -> dict[str, Json]:
    """Return the members that `name_members` named, from all facts."""
    prefix = f"{container}/"
    return {
        pointer_name(fact.removeprefix(prefix)): value
        for fact, value in facts.items()
        if fact.startswith(prefix)
    }


def name_member(name: str) -> str:
    """Return the name of the fact that keeps a member of a tool."""
    return f"/{pointer_token(name)}" if name.startswith("/") else name


def is_member(fact: str) -> bool:
    """Return whether a fact keeps a member of the tool itself, with the value that the member has."""
    return fact not in _LAYOUT_FACTS and not fact.startswith(_CONTAINERS)


def member_name(fact: str) -> str:
    """Return the member of a name that `name_member` made."""
    return pointer_name(fact[1:]) if fact.startswith("/") else fact
