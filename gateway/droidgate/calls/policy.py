"""Which calls are allowed, denied or asked about: the user's rules, and what is said of effects.

The rules are in `policy.toml` in the user's configuration folder, and nowhere else: a file in the working
folder could be a stranger's. Without the file, capabilities that only read are allowed, where the user says
that they only read; everything else is asked about.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from droidgate.calls.subjects import (
    CallEffect,
    CallSubject,
    CapabilityKey,
    check_client,
    glob_matches,
    matches_capability,
    may_name_capability,
    suggest_capability,
)
from droidgate.computer.private_files import read_private
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.model.types import Frozen
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.nearest_names import suggest_name
from droidgate_mappings.text.toml_text import read_toml
from droidgate_mappings.user_folders import configuration_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from droidgate_mappings.model.capability import Capability

FILE_NAME: Final = "policy.toml"
_LARGEST: Final = 1 << 18

RuleKind = Literal["deny", "ask", "allow"]
_MOST_DECISIONS: Final = 4096
"""Decisions that are kept; many rules take as long as the rest of a call."""
_STRONGEST_FIRST: Final[tuple[RuleKind, ...]] = ("deny", "ask", "allow")


def _one_or_more(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Patterns = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_one_or_more)]
"""One pattern, or a list of which one has to match."""

_ANY: Final = ("*",)


class _Place(Frozen):
    """Which capabilities, on which phones."""

    device: Patterns = _ANY
    user: tuple[int, ...] | None = None
    package: Patterns = _ANY
    component: Patterns = _ANY
    protocol: Patterns = _ANY
    capability: Patterns = _ANY

    @field_validator("protocol")
    @classmethod
    def _check_protocols(cls, patterns: Patterns) -> Patterns:
        formats = load_formats()
        for pattern in patterns:
            if not any(_match(_widened((pattern,)), name) for name in formats):
                raise ValueError(f"unknown protocol {pattern!r}; {suggest_name(pattern, formats)}")
        return patterns

    @model_validator(mode="after")
    def _check_condition(self) -> _Place:
        conditions = self.model_fields_set - {"decision", "effect_is", "reason"}
        if not conditions:
            message = 'no condition; write capability = "*" for all capabilities'
            raise ValueError(message)
        return self

    @property
    def is_restrictive(self) -> bool:
        """Whether fewer calls are made because of it, so that it holds for all that could be meant."""
        raise NotImplementedError

    def is_about(self, serial: str, user: int) -> bool:
        """Return whether a phone and a user of it are meant."""
        return self._match(self.device, serial) and (self.user is None or user in self.user)

    def covers(self, serial: str, key: CapabilityKey) -> bool:
        """Return whether a capability on a phone is meant.

        `capability` names it as `droidgate call` does. What is restrictive is taken widely: its patterns
        match short names, too; the case of letters and blanks around a pattern make no difference.
        """
        names = may_name_capability if self.is_restrictive else matches_capability
        return (
            self.is_about(serial, key.user)
            and self._match(self.package, key.package)
            and self._match(self.component, key.component)
            and self._match(self.protocol, key.protocol)
            and any(names(pattern, key, serial=serial) for pattern in self._read_as(self.capability))
        )

    def suggestion(self, every: Iterable[tuple[str, CapabilityKey]]) -> str:
        """Return the question whether `capability` is misspelled, behind `; `; else nothing."""
        keys = [key for _, key in every]
        unknown = (text for text in self.capability if not any(matches_capability(text, key) for key in keys))
        questions = (suggest_capability(text, keys) for text in unknown)
        return next((f"; {question}" for question in questions if question is not None), "")

    def _read_as(self, patterns: Patterns) -> Patterns:
        return _widened(patterns) if self.is_restrictive else patterns

    def _match(self, patterns: Patterns, value: str) -> bool:
        """Return whether a pattern matches a value; for what is restrictive, whether it may be meant."""
        return _match(self._read_as(patterns), value.casefold() if self.is_restrictive else value)


@cache
def _widened(patterns: Patterns) -> Patterns:
    """Return the patterns of a rule as they are read where they are taken widely."""
    return tuple(
        dict.fromkeys(text for each in patterns for text in (each.casefold(), each.strip().casefold()))
    )


def _match(patterns: Iterable[str], value: str) -> bool:
    return any(glob_matches(pattern, value) for pattern in patterns)


class Rule(_Place):
    """One rule: what is decided for calls that meet all of its conditions.

    Attributes:
        decision: `allow`, `ask` or `deny`.
        device, user, package, component, protocol, capability: Patterns; what is not stated is any.
        effect: One or more of `reads`, `writes`, `unknown`; None is any.
        client: Patterns of who calls.
        reason: Shown to who is refused or asked.
    """

    decision: RuleKind
    effect: Annotated[tuple[CallEffect, ...], BeforeValidator(_one_or_more)] | None = None
    client: Patterns = _ANY
    reason: str | None = None

    @field_validator("client")
    @classmethod
    def _check_clients(cls, patterns: Patterns, info: ValidationInfo) -> Patterns:
        for pattern in patterns:
            try:
                check_client(pattern if info.data.get("decision") == "allow" else pattern.strip().casefold())
            except UsageError as error:
                raise ValueError(f"{error.message}; {error.hint}") from None
        return patterns

    @property
    def is_restrictive(self) -> bool:
        """Whether it denies or asks."""
        return self.decision != "allow"

    def meets(self, subject: CallSubject) -> bool:
        """Return whether a call meets all conditions."""
        return (
            self.covers(subject.serial, subject.key)
            and (self.effect is None or subject.effect in self.effect)
            and self._match(self.client, subject.client)
        )


class EffectStatement(_Place):
    """What calls of some capabilities may do, as the user says."""

    effect_is: Literal["reads", "writes"] = Field(alias="is")

    @property
    def is_restrictive(self) -> bool:
        """Whether the capabilities write."""
        return self.effect_is == "writes"


class PolicyFile(Frozen):
    """What `policy.toml` may hold.

    Attributes:
        rule: The rules.
        effect: What the user says that capabilities do.
        believe_hints_of: Patterns of packages whose own hints about effects are believed.
        programs_may_approve: `droidgate pins approve --yes` needs no terminal.
    """

    rule: tuple[Rule, ...] = ()
    effect: tuple[EffectStatement, ...] = ()
    believe_hints_of: Patterns = ()
    programs_may_approve: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy says of a call.

    Attributes:
        kind: `allow`: make it. `deny`: refuse it. `ask`: make it if it is pinned, else ask for an approval.
        rule: The rule that decides: `rule 2 of /home/me/.config/droidgate/policy.toml`, or `default`.
        reason: One sentence for who calls, without a period.
    """

    kind: RuleKind
    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class Policy:
    """The user's policy.

    Attributes:
        settings: What the file holds.
        place: The file.
    """

    settings: PolicyFile = field(default_factory=PolicyFile)
    place: str = FILE_NAME
    _decisions: dict[CallSubject, Decision] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def load(cls, folder: Path | None = None) -> Policy:
        """Return the user's policy, the default one where the file does not exist.

        Args:
            folder: Where `policy.toml` is; the user's configuration folder by default.

        Raises:
            InputError: the file cannot be read, another user may write it, or it has a mistake.
        """
        path = (configuration_folder() if folder is None else folder) / FILE_NAME
        data = read_private(path, largest=_LARGEST, may_be_link=True)
        if data is None:
            return cls(place=str(path))
        return cls(read_toml(data, PolicyFile, path=str(path)), str(path))

    def effect_of(
        self, capability: Capability, key: CapabilityKey, *, serial: str, is_ours: bool = False
    ) -> CallEffect:
        """Return what a call may do: the user's word, else the app's hints where the user believes them.

        Where several statements of the user apply and differ, it writes. Nothing is guessed from names.

        Args:
            capability: What is called.
            key: Which capability of the phone it is.
            serial: The phone.
            is_ours: The hints are droidgate's own, not an app's.
        """
        effects = {statement.effect_is for statement in self.settings.effect if statement.covers(serial, key)}
        if effects:
            return CallEffect.WRITES if "writes" in effects else CallEffect.READS
        read_only = None if capability.effects is None else capability.effects.read_only
        is_believed = is_ours or _match(self.settings.believe_hints_of, key.package)
        if read_only is None or not is_believed:
            return CallEffect.UNKNOWN
        return CallEffect.READS if read_only else CallEffect.WRITES

    def decide(self, subject: CallSubject) -> Decision:
        """Return what the policy says of a call: the strongest of all rules that it meets.

        `deny` is the strongest, then `ask`, then `allow`; the order of the rules makes no difference.
        """
        decision = self._decisions.get(subject)
        if decision is None:
            # Clients give themselves any name.
            if len(self._decisions) >= _MOST_DECISIONS:
                self._decisions.clear()
            decision = self._decisions[subject] = self._decide(subject)
        return decision

    def _decide(self, subject: CallSubject) -> Decision:
        met = [(number, rule) for number, rule in enumerate(self.settings.rule, 1) if rule.meets(subject)]
        by_rule = {rule.decision: (number, rule) for number, rule in reversed(met)}
        for kind in _STRONGEST_FIRST:
            if kind in by_rule:
                number, rule = by_rule[kind]
                return Decision(kind, f"rule {number} of {self.place}", rule.reason or _REASONS[kind])
        if subject.effect is CallEffect.READS:
            return Decision("allow", "default", "the capability only reads")
        return Decision("ask", "default", _ASKED[subject.effect])

    @property
    def has_rules(self) -> bool:
        """Whether the file has any rule or statement."""
        return bool(self.settings.rule or self.settings.effect)

    def unmatched(self, installed: Iterable[tuple[str, CapabilityKey]]) -> tuple[str, ...]:
        """Return which rules and statements are about a phone and match none of its capabilities.

        Args:
            installed: Every capability, with the serial of its phone.

        Returns:
            A sentence each, without a period.
        """
        every = tuple(installed)
        phones = {(serial, key.user) for serial, key in every}
        entries: list[tuple[str, _Place]] = [
            (f'rule {number} (decision = "{rule.decision}")', rule)
            for number, rule in enumerate(self.settings.rule, 1)
        ]
        entries += [
            (f'effect {number} (is = "{statement.effect_is}")', statement)
            for number, statement in enumerate(self.settings.effect, 1)
        ]
        about = [(name, place) for name, place in entries if any(place.is_about(*phone) for phone in phones)]
        return tuple(
            f"{part} of {self.place} matches no capability that is installed{place.suggestion(every)}"
            for name, whole in about
            for part, place in _unmatched_parts(name, whole, every)
        )


def _unmatched_parts(
    name: str, place: _Place, every: Sequence[tuple[str, CapabilityKey]]
) -> Iterator[tuple[str, _Place]]:
    """Yield an entry that covers nothing; of any other, each of its patterns that adds nothing to it."""
    if not any(place.covers(serial, key) for serial, key in every):
        yield name, place
        return
    for condition in ("package", "component", "protocol", "capability"):
        patterns: Patterns = getattr(place, condition)
        for pattern in patterns if len(patterns) > 1 else ():
            part = place.changed({condition: (pattern,)})
            if not any(part.covers(serial, key) for serial, key in every):
                yield f"{condition} {pattern!r} in {name}", part


_REASONS: Final[dict[RuleKind, str]] = {
    "deny": "a rule of the policy denies it",
    "ask": "a rule of the policy requires an approval",
    "allow": "a rule of the policy allows it",
}
_ASKED: Final = {
    CallEffect.WRITES: "a capability that writes requires an approval",
    CallEffect.UNKNOWN: "a capability whose effects are not known requires an approval",
}
