"""The records of a comparison, the codes of changes, and what a comparison of two types can be about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum, auto
from functools import partial
from typing import Final, Literal

from droidgate_mappings.model.findings import FINDING_CODES, Finding, Graded, finding_code
from droidgate_mappings.model.json_values import Json, pointer_token
from droidgate_mappings.model.types import Frozen, Type
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text_safety import html_table


class Holds(Enum):
    """Whether a statement about all values holds."""

    YES = auto()
    NO = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Effect:
    """How the set of allowed values changed.

    Attributes:
        kept: Every old value is still allowed.
        known: Every value that is allowed was allowed before.
        is_harmless: Something changed that is in no value, and hurts nobody.
        is_fixed: It counts whatever the values of the whole are: callers lose something.
        reason: Why one of the two is not known.
        gone: A value that was allowed and is not; empty where none can be shown.
        come: A value that is allowed and was not; empty where none can be shown.
    """

    kept: Holds
    known: Holds
    is_harmless: bool = False
    is_fixed: bool = False
    reason: str | None = None
    gone: tuple[Json, ...] = field(default=(), compare=False)
    come: tuple[Json, ...] = field(default=(), compare=False)


SAME: Final = Effect(Holds.YES, Holds.YES)
"""Not at all: words or spelling."""
HARMLESS: Final = Effect(Holds.YES, Holds.YES, is_harmless=True)
WIDER: Final = Effect(Holds.YES, Holds.NO)
NARROWER: Final = Effect(Holds.NO, Holds.YES)
LOST: Final = Effect(Holds.NO, Holds.NO, is_fixed=True)
"""Something is gone that callers gave or took."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between two types, before it is known whether they are given or taken."""

    code: str
    effect: Effect
    message: str
    old_pointer: str | None
    new_pointer: str | None
    old: Json = None
    new: Json = None


@dataclass(frozen=True, slots=True)
class At:
    """A type and its JSON Pointer."""

    type: Type
    pointer: str

    def inner(self, type_: Type, *tokens: str | int) -> At:
        """Return a type inside this one."""
        return At(type_, "/".join((self.pointer, *(pointer_token(str(token)) for token in tokens))))

    def all(self, types: Sequence[Type], word: str) -> list[At]:
        """Return the types of a list inside this one."""
        return [self.inner(type_, word, position) for position, type_ in enumerate(types)]


_code = partial(finding_code, module=__name__)


class Weight(Graded):
    """What a change means for a caller that was written against the old declaration."""

    TEXT_ONLY = "text-only"
    """Only words for users and language models, or the way something is written down, changed."""
    COMPATIBLE = "compatible"
    """Calls that were right stay right, and their results are still understood."""
    NOT_DECIDED = "not-decided"
    """Whether it breaks callers is not known; the message says why. It counts as breaking."""
    BREAKING = "breaking"
    """A call that was right may be refused, or its result may be something the caller does not expect."""
    SECURITY = "security"
    """Callers that were refused are accepted. It reaches every threshold."""


WEIGHTS: Final = tuple(Weight)
"""The weights, lightest first."""


def heaviest(weights: Iterable[Weight]) -> Weight:
    """Return the greatest of some weights, `text-only` where there is none."""
    return max(weights, default=Weight.TEXT_ONLY)


class Change(Frozen):
    """One difference at one place.

    Attributes:
        code: Stable id, such as `property-removed`.
        weight: What it means for callers.
        message: One sentence, without a period.
        old_pointer: JSON Pointer in the old provider, None for what was added.
        new_pointer: JSON Pointer in the new provider, None for what was removed.
        old: The old value, None for what was added.
        new: The new value, None for what was removed.
        examples: Where values make it breaking, one of them: an old input that is refused now, or a new
            result that was not allowed. Empty where none can be shown.
    """

    code: str
    weight: Weight
    message: str
    old_pointer: str | None = None
    new_pointer: str | None = None
    old: Json = None
    new: Json = None
    examples: tuple[Json, ...] = ()


ChangeStatus = Literal["added", "removed", "changed"]


class CapabilityComparison(Frozen):
    """A capability that is not as it was; `changes` is never empty."""

    id: str
    status: ChangeStatus
    weight: Weight
    changes: tuple[Change, ...]


class ProviderComparison(Frozen):
    """A provider that is not as it was.

    Attributes:
        protocol: Its format.
        package: Its application, as the new side (where there is one) says it.
        component: Its component, likewise.
        name: Its own name, or the file that declares it, likewise.
        status: What happened to it.
        weight: The heaviest of its changes.
        changes: Changes of the provider itself; for an added or removed one that fact alone.
        capabilities: Its capabilities that are not as they were; empty for an added or removed provider.
    """

    protocol: str
    package: str | None
    component: str | None
    name: str | None = None
    status: ChangeStatus
    weight: Weight
    changes: tuple[Change, ...]
    capabilities: tuple[CapabilityComparison, ...]


Side = Literal["old", "new"]


class NotCompared(Frozen):
    """A capability of one side that the other side may have in a part that was not read.

    Attributes:
        id: Its id.
        protocol: Its format.
        package: Its application.
        component: Its component.
        missing_from: The side that was not read completely.
        place: What was not read of that side: `path` or `path:line`.
        reason: Why it was not read.
    """

    id: str
    protocol: str
    package: str | None
    component: str | None
    missing_from: Side
    place: str
    reason: str


class ProtocolChange(Frozen):
    """A provider that is declared in another protocol now.

    Attributes:
        package: Its application, as the new side says it, or the old one.
        component: Its component now.
        old_component: Its component before.
        old_protocol: Its format before.
        protocol: Its format now.
        change: The change of the protocol itself; its weight is breaking, since each caller has to follow.
        findings: What a conversion of the old provider into the new protocol changes; only what differs
            beyond that is among the changes of the provider. Pointers are those of the old provider.
        capabilities: Ids of the old provider's capabilities, to which pointers refer by position.
    """

    package: str | None
    component: str | None
    old_component: str | None
    old_protocol: str
    protocol: str
    change: Change
    findings: tuple[Finding, ...]
    capabilities: tuple[str, ...]


class Comparison(Frozen):
    """Everything that changed between two sets of capabilities.

    Attributes:
        providers: Those that are not as they were, in the new set's order, removed ones last.
        unchanged_providers: How many are as they were.
        unchanged_capabilities: How many are as they were, in all providers that both sides have.
        not_compared: Capabilities of one side that the other may have in a part that was not read.
        protocol_changes: Providers that are declared in another protocol now. What differs beyond the
            protocol is in `providers`, as changes from what a conversion of the old provider gives.
    """

    providers: tuple[ProviderComparison, ...] = ()
    unchanged_providers: int = 0
    unchanged_capabilities: int = 0
    not_compared: tuple[NotCompared, ...] = ()
    protocol_changes: tuple[ProtocolChange, ...] = ()

    def __repr__(self) -> str:
        """Return one line: the heaviest weight, and what there is, counted."""
        counts = f"changes={len(self.all_changes())}, unchanged_capabilities={self.unchanged_capabilities}"
        return f"<Comparison {self.weight() or 'without changes'}: {counts}>"

    def _repr_html_(self) -> str:
        """Return a table of the changes, for notebooks."""
        rows = [(item.change, item.package, item.component, "") for item in self.protocol_changes]
        for item in self.providers:
            rows += [(change, item.package, item.component, "") for change in item.changes]
            for each in item.capabilities:
                rows += [(change, item.package, item.component, each.id) for change in each.changes]
        return html_table(
            ("weight", "app", "component", "capability", "code", "message"),
            ((change.weight, *names, change.code, change.message) for change, *names in rows),
        )

    __str__ = __repr__

    def all_changes(self) -> tuple[Change, ...]:
        """Return every change: of protocols, then provider by provider."""
        return tuple(item.change for item in self.protocol_changes) + tuple(
            change
            for provider in self.providers
            for changes in (provider.changes, *(capability.changes for capability in provider.capabilities))
            for change in changes
        )

    def weight(self) -> Weight | None:
        """Return the heaviest weight, None where nothing changed; an old capability that is not compared is
        not decided.
        """
        weights = [provider.weight for provider in self.providers]
        weights += [item.change.weight for item in self.protocol_changes]
        weights += [Weight.NOT_DECIDED for item in self.not_compared if item.missing_from == "new"]
        return heaviest(weights) if weights else None


PROTOCOL_CHANGED: Final = _code(
    "protocol-changed", "The same app declares its capabilities in another protocol"
)
PROVIDER_ADDED: Final = _code("provider-added", "A component declares capabilities that did not before")
PROVIDER_REMOVED: Final = _code(
    "provider-removed", "A component and all its capabilities are gone, or answer to another name"
)
CAPABILITY_ADDED: Final = _code("capability-added", "A capability that was not there before")
CAPABILITY_REMOVED: Final = _code("capability-removed", "A capability is gone, or answers to another id")
DIALECT_CHANGED: Final = _code(
    "dialect-changed",
    "The declaration is written in another dialect; breaking where its calls look different",
)
PROPERTY_ADDED: Final = _code(
    "property-added", "A parameter or a returned value is new; breaking for a required parameter"
)
PROPERTY_REMOVED: Final = _code("property-removed", "A parameter or a returned value is gone")
REQUIRED_CHANGED: Final = _code(
    "required-changed", "A value must be given that could be left out, or the other way round"
)
TYPE_CHANGED: Final = _code(
    "type-changed", "Values of another kind; breaking where old and new values differ to the caller's cost"
)
NULLABLE_CHANGED: Final = _code("nullable-changed", "Null is allowed that was not, or no longer")
ENUM_CHANGED: Final = _code("enum-changed", "Another list of allowed values")
PATTERN_CHANGED: Final = _code("pattern-changed", "Another pattern that text has to match")
FORMAT_CHANGED: Final = _code("format-changed", "Another format word")
KEYWORD_CHANGED: Final = _code("keyword-changed", "Another value of a JSON Schema keyword, such as a bound")
ITEMS_CHANGED: Final = _code("items-changed", "What an array holds is now said, or no longer")
ALTERNATIVE_ADDED: Final = _code("alternative-added", "A choice has one alternative more")
ALTERNATIVE_REMOVED: Final = _code("alternative-removed", "A choice has one alternative less")
MEMBER_ADDED: Final = _code("member-added", "A value has to fit one more part of an all-of")
MEMBER_REMOVED: Final = _code("member-removed", "A value has to fit one part less of an all-of")
EXCLUSIVE_CHANGED: Final = _code(
    "exclusive-changed", "Exactly one alternative applies where several could, or the other way round"
)
CLASS_CHANGED: Final = _code("class-changed", "Another class name of an object")
DEFINITION_RENAMED: Final = _code("definition-renamed", "The same type goes by another name")
DEFINITION_CHANGED: Final = _code("definition-changed", "A definition changed that no capability reaches")
CALLING_CHANGED: Final = _code(
    "calling-changed", "A capability may be called in other ways; breaking where one is refused now"
)
OUTPUT_ADDED: Final = _code("output-added", "A result is declared where none was")
OUTPUT_REMOVED: Final = _code("output-removed", "A result is no longer declared")
EFFECT_CHANGED: Final = _code(
    "effect-changed", "Another hint about side effects; breaking where a promise is taken back"
)
TEXT_CHANGED: Final = _code("text-changed", "Other words for users and language models")
ORDER_CHANGED: Final = _code("order-changed", "The same things in another order")
NOTATION_CHANGED: Final = _code("notation-changed", "The same meaning, written down in another way")
ACCESS_TIGHTENED: Final = _code(
    "access-tightened",
    "An access rule refuses callers that were accepted; a replaced permission is opened too",
)
ACCESS_OPENED: Final = _code(
    "access-opened",
    "An access rule accepts callers that were refused; a replaced permission is tightened too",
)
EXTENSION_CHANGED: Final = _code("extension-changed", "Another fact that only one format knows")

CODES: Final = frozenset(code.code for code in FINDING_CODES.values() if code.module == __name__)
"""The codes that a change can have."""
