"""Comparing sets of capabilities: which provider became which, what changed in each capability, which callers
a new access rule keeps out or lets in, and what one side cannot show because a part of it was not read.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from droidgate_mappings.compare.changes import (
    ACCESS_OPENED,
    ACCESS_TIGHTENED,
    CAPABILITY_ADDED,
    CAPABILITY_REMOVED,
    DEFINITION_CHANGED,
    DIALECT_CHANGED,
    EFFECT_CHANGED,
    NOTATION_CHANGED,
    OUTPUT_ADDED,
    OUTPUT_REMOVED,
    PROVIDER_ADDED,
    PROVIDER_REMOVED,
    SAME,
    TEXT_CHANGED,
    At,
    CapabilityComparison,
    Change,
    Comparison,
    Difference,
    Effect,
    Holds,
    NotCompared,
    ProviderComparison,
    Side,
    Weight,
    heaviest,
)
from droidgate_mappings.compare.type_changes import TypeComparison, compare_extensions
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.reachability import Protection, enabled_configurations, protection_of_level
from droidgate_mappings.model.capability import (
    Capability,
    CapabilitySet,
    Provider,
    declaration_of,
    definitions_of,
)
from droidgate_mappings.model.json_values import Json, json_equal, pointer_token
from droidgate_mappings.model.names import qualified_class
from droidgate_mappings.model.types import Type
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.loading import find_binding
from droidgate_mappings.text.configured_flags import joined_qualifiers, value_for_qualifier
from droidgate_mappings.text.counted_nouns import amount

MatchKey = tuple[str | None, ...]


def pair_providers(
    olds: Sequence[Provider], news: Sequence[Provider]
) -> tuple[list[tuple[Provider, Provider]], list[Provider], list[Provider]]:
    """Return the pairs, the old providers without a partner, the new ones without."""
    olds, news = _join_unplaced(olds, news), _join_unplaced(news, olds)
    waiting: defaultdict[MatchKey, list[Provider]] = defaultdict(list)
    for old in olds:
        waiting[_key(old)].append(old)
    pairs: list[tuple[Provider, Provider]] = []
    added: list[Provider] = []
    for new in news:
        candidates = waiting[_key(new)]
        if candidates:
            pairs.append((candidates.pop(0), new))
        else:
            added.append(new)
    removed = [candidate for candidates in waiting.values() for candidate in candidates]
    are_alone = len(olds) == len(news) == 1
    for protocol in dict.fromkeys(item.protocol for item in added):
        befores = [item for item in removed if item.protocol == protocol]
        afters = [item for item in added if item.protocol == protocol]
        if len(befores) == len(afters) == 1 and _may_be_one(befores[0], afters[0], are_alone=are_alone):
            pairs.append((befores[0], afters[0]))
            removed = [item for item in removed if item.protocol != protocol]
            added = [item for item in added if item.protocol != protocol]
    return pairs, removed, added


def _join_unplaced(side: Sequence[Provider], other: Sequence[Provider]) -> list[Provider]:
    """Return a side where each provider without a component is part of the one that it is in on the other.

    Source code may not say which component runs a function; what a build makes of it does. A component of
    another protocol may have the same capabilities, as that of a migrated app does: it is another provider.
    """
    joined = {id(item): item for item in side}
    for item in side:
        if item.component is not None or not item.capabilities:
            continue
        if any(_key(each) == _key(item) and share_capability(item, each) for each in other):
            continue
        ids = {each.id for each in item.capabilities}
        keys = {
            _key(each)
            for each in other
            if _key(each)[:2] == _key(item)[:2] and ids <= {capability.id for capability in each.capabilities}
        }
        home = next((each for each in side if each.component is not None and _key(each) in keys), None)
        if home is not None:
            joined[id(home)] = _with_capabilities_of(joined[id(home)], item)
            del joined[id(item)]
    return list(joined.values())


def _with_capabilities_of(home: Provider, provider: Provider) -> Provider:
    home_ids = {each.id for each in home.capabilities}
    further = tuple(each for each in provider.capabilities if each.id not in home_ids)
    return home.changed(
        {
            "capabilities": (*home.capabilities, *further),
            "definitions": {**provider.definitions, **home.definitions},
        }
    )


def _key(provider: Provider) -> MatchKey:
    component = provider.component and qualified_class(provider.component, provider.package)
    return provider.protocol, provider.package, component


def _may_be_one(before: Provider, after: Provider, *, are_alone: bool) -> bool:
    keys = zip(_key(before)[1:], _key(after)[1:], strict=True)
    if not all(left is None or right is None or left == right for left, right in keys):
        return False
    return are_alone or before.package == after.package is not None or share_capability(before, after)


def share_capability(before: Provider, after: Provider) -> bool:
    """Return whether two providers have a capability of one id, so that one may have become the other."""
    return not {each.id for each in before.capabilities}.isdisjoint(each.id for each in after.capabilities)


_LINE: Final = re.compile(r"(?::\d+){1,2}\Z")


@dataclass(frozen=True, slots=True)
class Unread:
    """A part of a source that was not read.

    Attributes:
        place: `path`, `path:line` or `path:line:column`.
        reason: Why it was not read.
        ids: The capabilities in it; None where they are not known.
        is_whole: It is all of the source.
    """

    place: str
    reason: str
    ids: frozenset[str] | None = None
    is_whole: bool = False

    def may_hold(self, capability: Capability, provider: Provider) -> bool:
        """Return whether a capability of the other side may be in the part.

        Without known ids it may where both files have one name, or where they are of different kinds, as
        Kotlin in a source tree and the functions file in an APK are.
        """
        if self.ids is not None:
            return capability.id in self.ids
        source = capability.source or provider.source
        if self.is_whole or source is None:
            return True
        own_name, other_name = self._name, posixpath.basename(source.path)
        return own_name == other_name or posixpath.splitext(own_name)[1] != posixpath.splitext(other_name)[1]

    def is_likely_to_hold(self, capability: Capability, provider: Provider) -> bool:
        """Return whether a part that may hold a capability is known to, or has its file's name."""
        source = capability.source or provider.source
        return self.ids is not None or (source is not None and self._name == posixpath.basename(source.path))

    @property
    def _name(self) -> str:
        return posixpath.basename(_LINE.sub("", self.place))


def leave_out_unread(
    side: CapabilitySet, other: CapabilitySet, unread: Collection[Unread], missing_from: Side
) -> tuple[CapabilitySet, tuple[NotCompared, ...]]:
    """Return one side without the capabilities that the other side may have in a part that was not read.

    Args:
        side: The side that has them.
        other: The side that was not read completely.
        unread: What was not read of it.
        missing_from: Which side that is.
    """
    if not unread:
        return side, ()
    packages: dict[tuple[str, str], set[str | None]] = {}
    for item in other.providers:
        for each in item.capabilities:
            packages.setdefault((item.protocol, each.id), set()).add(item.package)
    left_out: list[NotCompared] = []
    providers: list[Provider] = []
    for provider in side.providers:
        capabilities: list[Capability] = []
        for capability in provider.capabilities:
            parts = [item for item in unread if item.may_hold(capability, provider)]
            likely = (item for item in parts if item.is_likely_to_hold(capability, provider))
            unread_part = next(likely, parts[0] if parts else None)
            others = packages.get((provider.protocol, capability.id), set())
            is_there = bool(others & {provider.package, None}) or (provider.package is None and bool(others))
            if unread_part is None or is_there:
                capabilities.append(capability)
            else:
                left_out.append(
                    NotCompared(
                        id=capability.id,
                        protocol=provider.protocol,
                        package=provider.package,
                        component=provider.component,
                        missing_from=missing_from,
                        place=unread_part.place,
                        reason=unread_part.reason,
                    )
                )
        if capabilities or not provider.capabilities:
            providers.append(_with_capabilities(provider, capabilities))
    return side.changed({"providers": tuple(providers)}), tuple(left_out)


def _with_capabilities(provider: Provider, capabilities: list[Capability]) -> Provider:
    """Return a provider with some of its capabilities, without the definitions that only the others reach."""
    if len(capabilities) == len(provider.capabilities):
        return provider
    gone = definitions_of(provider.capabilities, provider.definitions)
    gone -= definitions_of(capabilities, provider.definitions)
    definitions = {name: definition for name, definition in provider.definitions.items() if name not in gone}
    return provider.changed({"capabilities": tuple(capabilities), "definitions": definitions})


@dataclass(frozen=True, slots=True)
class _Shift:
    """What a new rule does to callers: it keeps some out that could call, it lets in others, or both."""

    tightens: bool
    opens: bool


def compare_access(
    old: Provider | Capability, old_pointer: str, new: Provider | Capability, new_pointer: str
) -> Iterator[Change]:
    """Yield the changes of a provider's or capability's access rules.

    A rule that keeps callers out is `breaking`; a rule that lets in other callers is `security`. A replaced
    permission does both, so it has a change of each weight, and its protection level is that of another one.
    Where only Android binds a component, `exported` says nothing about its callers.
    """
    is_bound = isinstance(old, Provider) and find_binding(old.protocol) is not None
    is_same_permission = getattr(old.access, "permission", None) == getattr(new.access, "permission", None)
    for field in type(old.access).model_fields:
        before, after = getattr(old.access, field), getattr(new.access, field)
        if before != after and (is_same_permission or field != "protection_level"):
            pointers = (f"{old_pointer}/access/{field}", f"{new_pointer}/access/{field}")
            is_silent = is_bound and field == "exported"
            shift = _Shift(tightens=False, opens=False) if is_silent else _SHIFTS[field](before, after)
            yield from _changes_of(field, before, after, pointers, shift)


def _changes_of(
    field: str, before: Any, after: Any, pointers: tuple[str, str], shift: _Shift
) -> Iterator[Change]:
    effects = []
    if shift.tightens:
        subject = "all callers are" if _is_closed(field, after) else "some callers are"
        effects.append((ACCESS_TIGHTENED, Weight.BREAKING, f"{subject} refused now"))
    if shift.opens:
        effects.append((ACCESS_OPENED, Weight.SECURITY, "other callers are accepted now"))
    for code, weight, meaning in effects or [
        (NOTATION_CHANGED, Weight.TEXT_ONLY, "the same callers are accepted")
    ]:
        yield Change(
            code=code,
            weight=weight,
            message=f"{_change_words(field, before, after)}: {meaning}",
            old_pointer=pointers[0],
            new_pointer=pointers[1],
            old=before,
            new=after,
        )


def _is_closed(field: str, rule: Any) -> bool:
    """Return whether a rule refuses every other app, at first or always."""
    if field == "enabled":
        return enabled_configurations(rule) == ()
    return field in _CLOSED and rule == _CLOSED[field]


def _change_words(field: str, before: Any, after: Any) -> str:
    if isinstance(before, Mapping) or isinstance(after, Mapping):
        return f"{_TITLES[field]}: {_configuration_words(before)} -> {_configuration_words(after)}"
    return f"{_TITLES[field]} changed from {_word(before)} to {_word(after)}"


def _configuration_words(value: bool | Mapping[str, bool]) -> str:  # noqa: FBT001
    if isinstance(value, Mapping):
        return ", ".join(
            f"{qualifier or 'by default'} {_configuration_words(entry)}" for qualifier, entry in value.items()
        )
    return "yes" if value else "no"


def _word(value: Any) -> str:
    if value is None:
        return "not stated"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _shift_of_openness(before: bool, after: bool) -> _Shift:  # noqa: FBT001
    return _Shift(tightens=before and not after, opens=after and not before)


def _exported(before: bool | None, after: bool | None) -> _Shift:  # noqa: FBT001
    # Android exports a component that has an intent filter and does not state it.
    return _shift_of_openness(before is not False, after is not False)


def _enabled(before: Any, after: Any) -> _Shift:
    rules = [rule if isinstance(rule, Mapping) else {"": rule} for rule in (before, after)]
    qualifiers = joined_qualifiers(*rules)
    if qualifiers is None:
        return _Shift(tightens=True, opens=True)
    # Android enables a component whose resource has no value.
    values = [
        [value_for_qualifier(rule, qualifier) is not False for rule in rules] for qualifier in qualifiers
    ]
    shifts = [_shift_of_openness(old, new) for old, new in values]
    return _Shift(
        tightens=any(shift.tightens for shift in shifts), opens=any(shift.opens for shift in shifts)
    )


def _permission(before: str | None, after: str | None) -> _Shift:
    return _Shift(tightens=after is not None, opens=before is not None)


def _protection_level(before: str | None, after: str | None) -> _Shift:
    olds, news = (_HOLDERS.get(protection_of_level(level)) for level in (before, after))
    if before is None or after is None or olds is None or news is None:
        return _Shift(tightens=True, opens=True)
    if olds != news:
        return _Shift(tightens=news < olds, opens=news > olds)
    # Each further word lets in holders of one more kind.
    words, other_words = set(before.split("|")), set(after.split("|"))
    return _Shift(tightens=not words <= other_words, opens=not other_words <= words)


def _restriction(before: Any, after: Any) -> _Shift:
    return _shift_of_openness(not before, not after)


def _access_level(before: str | None, after: str | None) -> _Shift:
    olds, news = _OPENNESS.get(before), _OPENNESS.get(after)
    if olds is None or news is None:
        return _Shift(tightens=True, opens=True)
    return _Shift(tightens=news < olds, opens=news > olds)


_OPENNESS: Final[Mapping[str | None, int]] = {"self": 0, "system": 1, "androidTrusted": 2, None: 2}
"""How many callers an access level lets in; another word may let in any."""

_HOLDERS: Final = {Protection.SIGNATURE: 0, Protection.DANGEROUS: 1, Protection.NORMAL: 2}
"""How many apps can hold a permission of a protection level."""

_CLOSED: Final[Mapping[str, Any]] = {"exported": False, "enabled_by_default": False, "access_level": "self"}
"""The values that refuse every other app."""

_SHIFTS: Final[Mapping[str, Callable[[Any, Any], _Shift]]] = {
    "exported": _exported,
    "enabled": _enabled,
    "permission": _permission,
    "protection_level": _protection_level,
    "enabled_by_default": _shift_of_openness,
    "restrict_callers": _restriction,
    "scope": _restriction,
    "access_level": _access_level,
}

_TITLES: Final = {
    "exported": "exported",
    "enabled": "enabled",
    "permission": "the required permission",
    "protection_level": "the protection level of the required permission",
    "enabled_by_default": "enabled by default",
    "restrict_callers": "the restriction of callers",
    "scope": "the scope",
    "access_level": "the access level",
}


Weighing = Callable[[Effect], Weight]


def _weigh_input(effect: Effect) -> Weight:
    """Return the weight where callers give the value: inputs."""
    return _weight_of(effect, effect.kept)


def _weigh_output(effect: Effect) -> Weight:
    """Return the weight where callers take the value: outputs."""
    return _weight_of(effect, effect.known)


def _weight_of(effect: Effect, holds: Holds) -> Weight:
    if holds is Holds.UNKNOWN:
        return Weight.NOT_DECIDED
    if holds is Holds.NO:
        return Weight.BREAKING
    return Weight.TEXT_ONLY if effect == SAME else Weight.COMPATIBLE


def _unreached(_: Effect) -> Weight:
    return Weight.TEXT_ONLY


_PROMISES: Final = {"read_only": True, "destructive": False, "idempotent": True, "open_world": False}
"""The value of each effect that a caller may rely on."""


def compare_sets(
    old: CapabilitySet,
    new: CapabilitySet,
    *,
    unread_old: Collection[Unread] = (),
    unread_new: Collection[Unread] = (),
) -> Comparison:
    """Compare two sets of capabilities.

    Providers belong together by protocol, package and component (whose class name counts with its package),
    or where one side does not say the package or component and nothing else of that protocol is left. The
    order of providers and of capabilities says nothing.

    Args:
        old: What was declared.
        new: What is declared now.
        unread_old: What was not read of the old side; a capability that may be in it is not new.
        unread_new: What was not read of the new side; a capability that may be in it is not gone.
    """
    shown_old, not_in_new = leave_out_unread(old, new, unread_new, "new")
    shown_new, not_in_old = leave_out_unread(new, old, unread_old, "old")
    compared = _compare_shown(shown_old, shown_new)
    return compared.changed({"not_compared": (*not_in_new, *not_in_old)})


def _compare_shown(old: CapabilitySet, new: CapabilitySet) -> Comparison:
    pairs, removed, added = pair_providers(old.providers, new.providers)
    comparisons: list[ProviderComparison] = []
    same_capabilities = 0
    for before, after in pairs:
        compared, same = _compare_providers(before, after)
        same_capabilities += same
        if compared is not None:
            comparisons.append(compared)
    unchanged = len(pairs) - len(comparisons)
    comparisons += [_whole_provider(item, is_new=True) for item in added]
    comparisons += [_whole_provider(item, is_new=False) for item in removed]
    return Comparison(
        providers=tuple(comparisons), unchanged_providers=unchanged, unchanged_capabilities=same_capabilities
    )


_MOST_NAMED: Final = 10
"""Capabilities that are named in the message about a whole provider."""


def _whole_provider(provider: Provider, *, is_new: bool) -> ProviderComparison:
    count = len(provider.capabilities)
    counted = amount(count, "capability", "capabilities")
    message = f"the provider is {'new' if is_new else 'gone'}, with {counted}"
    ids = [capability.id for capability in provider.capabilities]
    if ids:
        message += f": {', '.join(ids[:_MOST_NAMED])}"
    if count > _MOST_NAMED:
        message += f" and {count - _MOST_NAMED} more"
    change = _whole(PROVIDER_ADDED if is_new else PROVIDER_REMOVED, message, "", provider, is_new=is_new)
    return ProviderComparison(
        protocol=provider.protocol,
        package=provider.package,
        component=provider.component,
        name=_name_of(provider),
        status="added" if is_new else "removed",
        weight=change.weight,
        changes=(change,),
        capabilities=(),
    )


def _name_of(provider: Provider) -> str | None:
    file = None if provider.source is None else provider.source.path.rpartition("/")[2]
    return provider.name or file


def _whole(code: str, message: str, pointer: str, part: Provider | Capability, *, is_new: bool) -> Change:
    """Return the change of something that is new or gone."""
    declared = declaration_of(part)
    weight, values = (Weight.COMPATIBLE, (None, declared)) if is_new else (Weight.BREAKING, (declared, None))
    return _change(code, weight, message, (pointer, pointer), *values)


def _change(
    code: str, weight: Weight, message: str, pointers: tuple[str, str], before: Json, after: Json
) -> Change:
    """Return a change; a side without a value has no pointer."""
    return Change(
        code=code,
        weight=weight,
        message=message,
        old_pointer=None if before is None else pointers[0],
        new_pointer=None if after is None else pointers[1],
        old=before,
        new=after,
    )


def _compare_providers(old: Provider, new: Provider) -> tuple[ProviderComparison | None, int]:
    changes = [
        *_compare_texts(old, "", new, "", ("name", "description", "instructions")),
        *_compare_dialects(old, new),
        *compare_access(old, "", new, ""),
    ]
    changes += _weighed(compare_extensions(old.extensions, "", new.extensions, ""), _weigh_input)
    changes += _compare_unreached(old, new)
    pairing = _Capabilities(old, new)
    capabilities = pairing.compare()
    if not changes and not capabilities:
        return None, pairing.unchanged
    compared = ProviderComparison(
        protocol=new.protocol,
        package=new.package or old.package,
        component=new.component or old.component,
        name=_name_of(new),
        status="changed",
        weight=heaviest(
            [*(change.weight for change in changes), *(capability.weight for capability in capabilities)]
        ),
        changes=tuple(changes),
        capabilities=tuple(capabilities),
    )
    return compared, pairing.unchanged


def _compare_dialects(old: Provider, new: Provider) -> list[Change]:
    if old.dialect == new.dialect:
        return []
    before, after = _wires(old), _wires(new)
    same_calls = before is not None and after is not None and (before == after or before <= after)
    message = f"the dialect {old.dialect} became {new.dialect}"
    if not same_calls:
        message += ", whose calls look different"
    change = Change(
        code=DIALECT_CHANGED,
        weight=Weight.COMPATIBLE if same_calls else Weight.BREAKING,
        message=message,
        old_pointer="/dialect",
        new_pointer="/dialect",
        old=old.dialect,
        new=new.dialect,
    )
    return [change]


def _wires(provider: Provider) -> set[str] | None:
    format_ = load_formats().get(provider.protocol)
    if format_ is None:
        return None
    return next((set(dialect.wire) for dialect in format_.dialects if dialect.id == provider.dialect), None)


def _compare_unreached(old: Provider, new: Provider) -> list[Change]:
    """Compare the definitions that no type refers to; a keyword that does reports its own change."""
    reached = definitions_of(old.capabilities, old.definitions)
    reached |= definitions_of(new.capabilities, new.definitions)
    changes: list[Change] = []
    comparison = TypeComparison(old.definitions, new.definitions)
    for name in dict.fromkeys([*old.definitions, *new.definitions]):
        if name in reached:
            continue
        pointer = f"/definitions/{pointer_token(name)}"
        before, after = old.definitions.get(name), new.definitions.get(name)
        if before is None or after is None:
            message = f"the definition {name!r} is {'new' if before is None else 'gone'}"
            values = (_declared(before), _declared(after))
            changes.append(
                _change(DEFINITION_CHANGED, Weight.TEXT_ONLY, message, (pointer, pointer), *values)
            )
        else:
            changes += _weighed(comparison.compare_roots(At(before, pointer), At(after, pointer)), _unreached)
    return changes


def _declared(type_: Type | None) -> Json:
    return None if type_ is None else declaration_of(type_)


class _Capabilities:
    """The capabilities of two providers that belong together."""

    def __init__(self, old: Provider, new: Provider) -> None:
        self.old = old
        self.new = new
        self.unchanged = 0

    def compare(self) -> list[CapabilityComparison]:
        """Return the capabilities that are not as they were, in the new order, removed ones last."""
        waiting: defaultdict[str, list[tuple[int, Capability]]] = defaultdict(list)
        for position, capability in enumerate(self.old.capabilities):
            waiting[capability.id].append((position, capability))
        comparisons: list[CapabilityComparison] = []
        added: list[tuple[int, Capability]] = []
        for position, after in enumerate(self.new.capabilities):
            if not waiting[after.id]:
                added.append((position, after))
                continue
            old_position, before = waiting[after.id].pop(0)
            changes = self.compare_pair(
                before, f"/capabilities/{old_position}", after, f"/capabilities/{position}"
            )
            if changes:
                comparisons.append(_changed(after.id, changes))
            else:
                self.unchanged += 1
        removed = [pair for pairs in waiting.values() for pair in pairs]
        comparisons += [self.whole(position, item, removed, is_new=True) for position, item in added]
        comparisons += [
            self.whole(position, item, added, is_new=False)
            for position, item in sorted(removed, key=lambda item: item[0])
        ]
        return comparisons

    def whole(
        self, position: int, capability: Capability, others: Iterable[tuple[int, Capability]], *, is_new: bool
    ) -> CapabilityComparison:
        """Report an added or removed capability, and whether another id names the same."""
        twin = next(
            (counterpart.id for _, counterpart in others if _same_but_id(capability, counterpart)), None
        )
        message = "the capability is new" if is_new else "the capability is gone"
        if twin is not None:
            message += (
                f"; it looks like {twin!r} under another id" if is_new else f"; {twin!r} looks the same"
            )
        code = CAPABILITY_ADDED if is_new else CAPABILITY_REMOVED
        change = _whole(code, message, f"/capabilities/{position}", capability, is_new=is_new)
        return CapabilityComparison(
            id=capability.id, status="added" if is_new else "removed", weight=change.weight, changes=(change,)
        )

    def compare_pair(
        self, old: Capability, old_pointer: str, new: Capability, new_pointer: str
    ) -> list[Change]:
        """Return the changes of one capability."""
        changes = _compare_texts(old, old_pointer, new, new_pointer, ("title", "description", "version"))
        input_differences = self.comparison().compare_arguments(
            At(old.input, f"{old_pointer}/input"), At(new.input, f"{new_pointer}/input")
        )
        changes += _weighed(input_differences, _weigh_input)
        changes += self.compare_outputs(
            old.output, f"{old_pointer}/output", new.output, f"{new_pointer}/output"
        )
        changes += _compare_effects(old, old_pointer, new, new_pointer)
        changes += compare_access(old, old_pointer, new, new_pointer)
        changes += _weighed(
            compare_extensions(old.extensions, old_pointer, new.extensions, new_pointer), _weigh_input
        )
        return changes

    def comparison(self) -> TypeComparison:
        """Return a comparison of types without findings so far."""
        return TypeComparison(self.old.definitions, self.new.definitions)

    def compare_outputs(
        self, before: Type | None, old_pointer: str, after: Type | None, new_pointer: str
    ) -> list[Change]:
        """Compare results; a result where there was none, or void, is an addition."""
        if before is None and after is None:
            return []
        was_empty, is_empty = before is None or before.kind == "null", after is None or after.kind == "null"
        if before is not None and after is not None and was_empty == is_empty:
            return _weighed(
                self.comparison().compare_roots(At(before, old_pointer), At(after, new_pointer)),
                _weigh_output,
            )
        removed = is_empty and not was_empty
        message = "no result is declared any more" if removed else "a result is declared now"
        if was_empty and is_empty:
            message = f"that nothing is returned is {'now' if before is None else 'no longer'} said"
        code = OUTPUT_REMOVED if after is None or removed else OUTPUT_ADDED
        weight = Weight.BREAKING if removed else Weight.COMPATIBLE
        pointers = (old_pointer, new_pointer)
        return [_change(code, weight, message, pointers, _declared(before), _declared(after))]


def _changed(capability_id: str, changes: list[Change]) -> CapabilityComparison:
    weight = heaviest(change.weight for change in changes)
    return CapabilityComparison(id=capability_id, status="changed", weight=weight, changes=tuple(changes))


def _same_but_id(left: Capability, right: Capability) -> bool:
    declared, other = declaration_of(left), declaration_of(right)
    return json_equal({**declared, "id": ""}, {**other, "id": ""}) and len(declared) > 1


def _compare_texts(
    old: Provider | Capability,
    old_pointer: str,
    new: Provider | Capability,
    new_pointer: str,
    names: Iterable[str],
) -> list[Change]:
    changes = []
    for name in names:
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            pointers = (f"{old_pointer}/{name}", f"{new_pointer}/{name}")
            message = f"the {name} changed"
            changes.append(_change(TEXT_CHANGED, Weight.TEXT_ONLY, message, pointers, before, after))
    return changes


def _compare_effects(old: Capability, old_pointer: str, new: Capability, new_pointer: str) -> list[Change]:
    changes = []
    for name, promise in _PROMISES.items():
        before: Json = getattr(old.effects, name, None)
        after: Json = getattr(new.effects, name, None)
        if before is after:
            continue
        taken_back = before is promise
        weight = Weight.BREAKING if taken_back else Weight.COMPATIBLE
        message = f"the hint {name.replace('_', ' ')!r} is {'taken back' if taken_back else 'another'}"
        pointers = (f"{old_pointer}/effects/{name}", f"{new_pointer}/effects/{name}")
        changes.append(_change(EFFECT_CHANGED, weight, message, pointers, before, after))
    return changes


def _weighed(differences: Iterable[Difference], weigh: Weighing) -> list[Change]:
    return [_weighed_change(difference, weigh) for difference in differences]


def _weighed_change(difference: Difference, weigh: Weighing) -> Change:
    effect, message = difference.effect, difference.message
    weight = weigh(effect)
    if weight is Weight.NOT_DECIDED:
        message += f"; not decided: {effect.reason}"
    values = effect.gone if weigh is _weigh_input else effect.come if weigh is _weigh_output else ()
    return Change(
        code=difference.code,
        weight=weight,
        message=message,
        old_pointer=difference.old_pointer,
        new_pointer=difference.new_pointer,
        old=difference.old,
        new=difference.new,
        examples=values if weight is Weight.BREAKING else (),
    )
