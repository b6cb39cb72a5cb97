"""Who may call what: grants, denied by default (shim-engine.md 3, step 4, and 8).

Only a bound caller is known, by the uid that sent the message. The sender of a start is unknown: the
callback's creator says where the answer goes, and nothing about who asks (reference android-runtime 0.3).
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, StrictInt, StrictStr, ValidationError

from droidgate_mappings.formats.installed import SYNC_SHIMS
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import Frozen
from droidgate_mappings.records import dataclass, field, replace
from droidgate_mappings.values.failures import CallError, Failure
from droidgate_shim.engine.routes import Route, Target, unreadable
from droidgate_shim.engine.strict_json import BUILT, parse_strict

Carrier = Literal["start", "bind"]

NO_GRANT: Final = Failure("denied", "the user has not allowed this app to call this capability")
_SWITCHED_OFF: Final = Failure("disabled", "the user has switched the capability off")
ANY_APP: Final = "any-app"
EVERYTHING: Final = "*"

_Count = Annotated[StrictInt, Field(ge=0)]


class Grant(Frozen):
    """A caller's uid, or `any-app`, and a capability's id, or `*`; any other text has no rights."""

    caller: StrictInt | StrictStr
    capability: StrictStr


class CallLimits(Frozen):
    """How much callers may ask for.

    Attributes:
        open: Calls that may be open at once.
        open_per_caller: Of these, one caller's.
        burst: Requests that one caller may send at once.
        per_minute: Requests that one caller may send each minute from then on.
    """

    open: _Count = 32
    open_per_caller: _Count = 8
    burst: _Count = 30
    per_minute: _Count = 120


class _PolicyFile(Frozen):
    grants: tuple[Grant, ...] = ()
    switched_off: tuple[StrictStr, ...] = ()
    app: Json = None
    limits: CallLimits = Field(default_factory=CallLimits)


@dataclass(frozen=True, slots=True)
class Policy:
    """What the user allows.

    Attributes:
        grants: Caller's uid or `any-app` -> ids of capabilities, or `*`.
        switched_off: Ids of capabilities that are switched off.
        limits: How much callers may ask for.
    """

    grants: dict[int | str, frozenset[str]] = field(default_factory=dict)
    switched_off: frozenset[str] = frozenset()
    limits: CallLimits = field(default_factory=CallLimits)

    def is_granted(self, route: Route | None, carrier: Carrier, caller: int) -> bool:
        """Return whether a request has a grant.

        Where its capability does not exist (`route` is None): whether its caller has a grant of any kind, and
        so may learn that. A start's caller is the creator of its callback, who need not be the sender: its
        grants count only for a capability that is declared read-only, whose answer reaches nobody else.
        """
        is_own_counted = carrier == "bind" or route is None or route.is_read_only
        return (is_own_counted and self._holds(caller, route)) or self._holds(ANY_APP, route)

    def check_switch(self, capability: str) -> None:
        """Raise where a capability is switched off.

        Raises:
            CallError: `disabled`.
        """
        if capability in self.switched_off:
            raise CallError(_SWITCHED_OFF)

    def _holds(self, caller: int | str, route: Route | None) -> bool:
        granted = self.grants.get(caller, frozenset())
        return bool(granted) and (route is None or route.id in granted or EVERYTHING in granted)


@dataclass(frozen=True, slots=True)
class CallPermission:
    """What lets a call go out: a grant, which may end while the call waits, or a yes to this one call.

    Attributes:
        route: How the call is carried out.
        carrier: How its request came.
        caller: The request's uid.
        is_approved: It needs no grant.
    """

    route: Route
    carrier: Carrier
    caller: int
    is_approved: bool

    def allowed_once(self) -> CallPermission:
        """Return what a user's yes to this one call makes of it."""
        return replace(self, is_approved=True)

    def check(self, policy: Policy, installed: Target | None) -> None:
        """Compare what holds now with what the call was allowed for.

        Raises:
            CallError: `denied`, `disabled`, `unavailable` or `needs_approval`.
        """
        if not self.is_approved and not policy.is_granted(self.route, self.carrier, self.caller):
            raise CallError(NO_GRANT)
        policy.check_switch(self.route.id)
        check_target(self.route.target, installed)


def check_target(approved: Target, installed: Target | None) -> None:
    """Compare what is installed with what was approved; another version passes if it has the same digest.

    Raises:
        CallError: `unavailable` or `needs_approval`.
    """
    if installed is None:
        raise CallError(Failure("unavailable", f"{approved.package} is not installed"))
    is_other = installed.signer != approved.signer
    if is_other or installed.digest != approved.digest:
        fact = "is signed by another" if is_other else "declares something else"
        way = f"the phone's owner has to run {SYNC_SHIMS}"
        message = f"{approved.package} {fact} than its shim was built for; {way}"
        raise CallError(Failure("unavailable" if is_other else "needs_approval", message))


def parse_policy(text: str) -> Policy:
    """Return the policy of `assets/policy.json`.

    Raises:
        InputError: it is not JSON, or not a policy, with the place of what is wrong.
    """
    return read_policy(parse_strict(text, path="policy.json", limits=BUILT))


def read_policy(document: Json) -> Policy:
    """Return the policy of a parsed document.

    Raises:
        InputError: it is not a policy, with the place of what is wrong.
    """
    if not isinstance(document, dict):
        raise InputError("it is not a JSON object", place="policy.json")
    try:
        read = _PolicyFile.model_validate(document)
    except (ValidationError, RecursionError) as error:
        raise unreadable(error, "policy.json") from None
    grants: dict[int | str, set[str]] = {}
    for grant in read.grants:
        grants.setdefault(grant.caller, set()).add(grant.capability)
    frozen = {caller: frozenset(capabilities) for caller, capabilities in grants.items()}
    return Policy(frozen, frozenset(read.switched_off), read.limits)
