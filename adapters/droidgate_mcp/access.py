"""Access rules in `_meta`: no MCP client or server acts on them, and they come back when the list is read."""

from __future__ import annotations

from typing import Final, TypeVar

from pydantic import ValidationError

from droidgate_mappings.model.capability import CapabilityAccess, ComponentAccess
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json

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
