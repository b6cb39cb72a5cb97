"""What is compared of a capability: what it does, to what, with which parameters, in which words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from droidgate.coverage.match.words import Vocabulary, Word

_PARAMETER: Final = re.compile(r"([^\s,:?{}()\[\]|&]+)\??:")
_LONGEST_DESCRIPTION: Final = 320
_LONGEST_PARAMETERS: Final = 600
_NAME_WEIGHT: Final = 1.0
_FIRST_WEIGHT: Final = 0.8
_LATER_WEIGHT: Final = 0.35
_FEW_WORDS: Final = 2
_LONGEST_KEPT: Final = 40


@dataclass(frozen=True, slots=True)
class CapabilityText:
    """A capability as matching reads it: a row of a catalog.

    Attributes:
        key: Tells it from all others; results name it, and equal inputs are ordered by it.
        package: The app; what else tells apps apart where there is no application id.
        protocol: Id of the format.
        name: The id that it is called by.
        description: What it does, in words.
        parameters: Shape of what a call takes, as a catalog's rows have it: `text:string, count?:int32`.
    """

    key: str
    package: str
    protocol: str
    name: str
    description: str | None = None
    parameters: str = ""


@dataclass(frozen=True, slots=True)
class Features:
    """What a capability's text comes to.

    Attributes:
        actions: Ids of what it does; what its name says first.
        objects: Ids of what it does it to, with weights; stems where no word of it is known.
        heads: The objects that it is about before all others.
        roles: Roles of its parameters; the stem of a parameter whose role is not known.
        terms: Everything said in name and description, sorted: stems of words without a meaning, else the
            meanings with `!` (action) or `:` (object) before them.
        name: What the words of its name mean, sorted.
        text: What was read.
    """

    actions: tuple[str, ...]
    objects: tuple[tuple[str, float], ...]
    heads: frozenset[str]
    roles: frozenset[str]
    terms: tuple[str, ...]
    name: tuple[str, ...]
    text: str


def local_name(name: str) -> str:
    """Return the part of a name that says what it does: of `com.x.NoteFunctions#createNote` the method."""
    tail = name.rpartition("#")[2].rpartition("/")[2]
    return tail.rpartition(".")[2] or tail


def declared_text(capability: CapabilityText) -> str:
    """Return the text that features are made of; equal texts have equal features."""
    description = (capability.description or "")[:_LONGEST_DESCRIPTION]
    return f"{_names(capability.name)}\n{description}\n{capability.parameters[:_LONGEST_PARAMETERS]}"


def features_of(text: str, vocabulary: Vocabulary) -> Features:
    """Return the features of a declared text."""
    written_name, _, rest = text.partition("\n")
    description, _, parameters = rest.rpartition("\n")
    holder, _, own = written_name.rpartition("#")
    name = _Reading(vocabulary, vocabulary.words_of(own))
    said = _Reading(vocabulary, vocabulary.words_of(description))
    holder_words = vocabulary.words_of(holder) if holder and len(name.telling) < _FEW_WORDS else []
    weights = _object_weights(name, said, holder_words)
    heads = _heads(name, said, holder_words)
    if not heads:
        # Of a thing that no word is known for, the words themselves are what it is about.
        heads = frozenset((name.unknown or said.unknown)[:_FEW_WORDS])
        weights.update(dict.fromkeys(heads, _FIRST_WEIGHT))
    kept = vocabulary.kept
    return Features(
        actions=kept(tuple(dict.fromkeys([*name.actions[:1], *said.actions[:1]]))),
        objects=kept(tuple(sorted(weights.items()))),
        heads=kept(heads),
        roles=kept(_roles(parameters, vocabulary)),
        terms=tuple(sorted({*name.terms(vocabulary), *said.terms(vocabulary)})),
        name=kept(tuple(sorted({word.meaning for word in name.telling}))),
        text=text,
    )


class _Reading:
    """The words of a name or a description with what they mean together."""

    __slots__ = ("actions", "objects", "phrase_objects", "telling", "unknown")

    def __init__(self, vocabulary: Vocabulary, words: list[Word]) -> None:
        self.telling = [word for word in words if not word.stop]
        self.unknown = [word.stem for word in self.telling if word.is_unknown]
        self.phrase_objects: list[str] = []
        acting: list[tuple[int, str]] = []
        things: list[tuple[int, str]] = []
        covered: set[int] = set()
        named: set[int] = set()
        for first, last, action, thing in vocabulary.phrases_of(words):
            covered |= {first, last}
            if action:
                acting.append((first, action))
            if thing:
                named |= {first, last}
                things.append((first, thing))
                self.phrase_objects.append(thing)
        verbs: list[tuple[int, str]] = []
        either: list[tuple[int, str]] = []
        nouns: list[tuple[int, str]] = []
        for place, word in enumerate(words):
            if word.stop or word.is_unknown:
                continue
            if word.action and place not in covered:
                # `call` is a verb in "call a contact" and none in "end the call".
                (either if word.object else verbs).append((place, word.action))
            if word.object and place not in named:
                nouns.append((place, word.object))
        acting = sorted(acting + (verbs or ([] if acting else either[:1])))
        self.actions = list(dict.fromkeys([action for _, action in acting]))
        others = [one for one in nouns if not acting or one[0] != acting[0][0]]
        things = sorted(things + others) if others or things else nouns
        self.objects = list(dict.fromkeys([thing for _, thing in things]))

    def terms(self, vocabulary: Vocabulary) -> list[str]:
        actions, objects = vocabulary.action_terms, vocabulary.object_terms
        return [
            *[actions[one] for one in self.actions],
            *[objects[one] for one in self.objects],
            *self.unknown,
        ]


def _names(name: str) -> str:
    """Return what of a name is read: the class without its package, `#` and the method; or the name."""
    holder, separator, method = name.rpartition("#")
    if not separator:
        return local_name(name).replace("\n", " ")
    return f"{holder.rpartition('.')[2]}#{method}".replace("\n", " ")


def _object_weights(name: _Reading, said: _Reading, holder: list[Word]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for place, thing in enumerate(said.objects):
        weights[thing] = _LATER_WEIGHT if place else _FIRST_WEIGHT
    for word in holder:
        if word.object:
            weights.setdefault(word.object, _LATER_WEIGHT)
    for thing in said.phrase_objects:
        weights[thing] = _FIRST_WEIGHT
    for thing in name.objects:
        weights[thing] = _NAME_WEIGHT
    return weights


def _heads(name: _Reading, said: _Reading, holder: list[Word]) -> frozenset[str]:
    found = {*name.objects, *name.phrase_objects, *said.phrase_objects, *said.objects[:1]}
    if not found:
        found = {word.object for word in holder if word.object}
    return frozenset(found)


def _roles(parameters: str, vocabulary: Vocabulary) -> frozenset[str]:
    found: list[str] = []
    for part in parameters.split():
        roles = vocabulary.roles.get(part)
        if roles is None:
            roles = _roles_in(part, vocabulary)
            if len(part) <= _LONGEST_KEPT:
                vocabulary.roles[part] = roles
        found += roles
    return frozenset(found)


def _roles_in(part: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the roles of a part of a shape, mostly one parameter with its type."""
    found: list[str] = []
    for name in _PARAMETER.findall(part):
        for word in vocabulary.words_of(name):
            if word.roles:
                found += word.roles
            elif not word.stop:
                found.append(vocabulary.object_terms[word.object] if word.object else word.stem)
    return tuple(found)
