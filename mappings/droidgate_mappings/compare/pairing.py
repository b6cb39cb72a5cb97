"""Which provider of one side became which of the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from droidgate_mappings.model.capability import Provider

Key = tuple[str | None, ...]


def pair_providers(
    olds: Sequence[Provider], news: Sequence[Provider]
) -> tuple[list[tuple[Provider, Provider]], list[Provider], list[Provider]]:
    """Return the pairs, the old providers without a partner, the new ones without."""
    olds, news = _join_unplaced(olds, news), _join_unplaced(news, olds)
    waiting: defaultdict[Key, list[Provider]] = defaultdict(list)
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
    for protocol in dict.fromkeys(item.protocol for item in added):
        befores = [item for item in removed if item.protocol == protocol]
        afters = [item for item in added if item.protocol == protocol]
        if len(befores) == len(afters) == 1 and _may_be_one(befores[0], afters[0]):
            pairs.append((befores[0], afters[0]))
            removed = [item for item in removed if item.protocol != protocol]
            added = [item for item in added if item.protocol != protocol]
    return pairs, removed, added


def _join_unplaced(side: Sequence[Provider], other: Sequence[Provider]) -> list[Provider]:
    """Return a side where each provider without a component is part of the one that it is in on the other.

    Source code may not say which component runs a function; what a build makes of it does.
    """
    joined = {id(item): item for item in side}
    for item in side:
        if item.component is not None or not item.capabilities:
            continue
        ids = {each.id for each in item.capabilities}
        keys = {_key(each) for each in other if ids <= {capability.id for capability in each.capabilities}}
        home = next((each for each in side if each.component is not None and _key(each) in keys), None)
        if home is not None and home.package == item.package:
            joined[id(home)] = _with_capabilities_of(joined[id(home)], item)
            del joined[id(item)]
    return list(joined.values())


def _with_capabilities_of(home: Provider, provider: Provider) -> Provider:
    known = {each.id for each in home.capabilities}
    further = tuple(each for each in provider.capabilities if each.id not in known)
    return home.model_copy(
        update={
            "capabilities": (*home.capabilities, *further),
            "definitions": {**provider.definitions, **home.definitions},
        }
    )


def _key(provider: Provider) -> Key:
    component = provider.component
    if component is not None and provider.package is not None:
        if component.startswith("."):
            component = provider.package + component
        elif "." not in component:
            component = f"{provider.package}.{component}"
    return provider.protocol, provider.package, component


def _may_be_one(before: Provider, after: Provider) -> bool:
    keys = zip(_key(before)[1:], _key(after)[1:], strict=True)
    return all(left is None or right is None or left == right for left, right in keys)
