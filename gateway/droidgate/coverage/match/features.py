"""What is compared of a capability: what it does, to what, with which parameters, in which words. Each text
is read once, all in one order.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from droidgate.coverage.match.match_words import Vocabulary, Word
from droidgate_mappings.records import dataclass

UNKNOWN_VERB: Final = "?"
"""Begins an action that no word is known for."""

_PARAMETER: Final = re.compile(r"(?<![^\s,:?{}()\[\]|&])([^\s,:?{}()\[\]|&]++)\??:")
_LONGEST_COMPARED: Final = 320
_LONGEST_PARAMETERS: Final = 600
NAME_WEIGHT: Final = 1.0
_FIRST_WEIGHT: Final = 0.8
_LATER_WEIGHT: Final = 0.35
_LONGEST_NAME: Final = 160
_FEW_WORDS: Final = 2
_FEWEST_LETTERS: Final = 3
_MOST_PARTS: Final = 3
_TOP_LEVELS: Final = re.compile("android|androidx|com|org|net|io|dev|app|me|ai|co|[a-z]{2}")
"""Begins of names that are packages."""


@dataclass(frozen=True, slots=True)
class CapabilityText:
    """A capability as matching reads it: a row of a catalog.

    Attributes:
        key: Identifies it; results name it, and equal inputs are ordered by it.
        package: The app; another id where it has no application id.
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


@dataclass(frozen=True, slots=True, eq=False)
class Sense:
    """What is done, and to what; texts that say the same share one.

    Attributes:
        actions: Ids of what it does; what its name says first. `?rebur` where no known word says it, and name
            and description begin with unknown ones, that of the name being `rebur`: it may be a verb.
        objects: Ids of what it does it to, with weights; stems where no word of it is known.
        heads: The objects that it is about before all others.
        doubtful: The objects of the name that it may not be about: that of `delete_event_log` is a log.
    """

    actions: tuple[str, ...]
    objects: tuple[tuple[str, float], ...]
    heads: frozenset[str]
    doubtful: frozenset[str] = frozenset()


@dataclass(slots=True, eq=False)
class Features:
    """What a capability's text comes to. Not frozen: a frozen one takes thrice as long to make.

    Attributes:
        sense: What it does, to what.
        roles: Roles of its parameters; the stem of a parameter whose role is not known.
        terms: Everything said in name and description, sorted: stems of words without a meaning, else the
            meanings with `!` (action) or `:` (object) before them.
        name: What the words of its name mean, sorted; stop words too, by which `clock_in_today` is not
            `make_up_clock_in`.
        text: What was read.
    """

    sense: Sense
    roles: frozenset[str]
    terms: tuple[str, ...]
    name: tuple[str, ...]
    text: str

    def says_something(self) -> bool:
        """Return whether there is anything to compare: a meaning, a word of three letters, or one of a
        script that needs fewer. `a` and `b2` of a shrunken app say nothing, nor do `get` and an emoji.
        """
        return any(len(term) >= _FEWEST_LETTERS or not term.isascii() for term in self.terms)


TextParts: TypeAlias = tuple[
    tuple[str, ...],
    tuple[tuple[str, float], ...],
    frozenset[str],
    frozenset[str],
    frozenset[str],
    tuple[str, ...],
    tuple[str, ...],
]
"""What features are made of: actions, objects, heads, doubtful objects, roles, terms and name."""


def local_name(name: str) -> str:
    """Return the part of a name that says what it does: of `com.x.NoteFunctions#createNote` the method.

    A package before it is left out, a namespace is not: `cancel.booking` says as much as `cancel_booking`.
    """
    tail = name.rpartition("#")[2].rpartition("/")[2]
    parts = tail.split(".")
    if len(parts) <= _MOST_PARTS and not _TOP_LEVELS.fullmatch(parts[0]):
        return " ".join(parts)
    return parts[-1] or tail


def declared_text(capability: CapabilityText) -> str:
    """Return the text that features are made of; equal texts have equal features."""
    description = (capability.description or "")[:_LONGEST_COMPARED]
    return f"{_names(capability.name)}\n{description}\n{capability.parameters[:_LONGEST_PARAMETERS]}"


def parts_of(text: str, vocabulary: Vocabulary) -> TextParts:
    """Return the parts of the features of a declared text."""
    written_name, _, rest = text.partition("\n")
    description, _, parameters = rest.rpartition("\n")
    holder, _, own = written_name.rpartition("#")
    name_words = vocabulary.words_of(own)
    name = _Reading(vocabulary, name_words)
    described = _Reading(vocabulary, vocabulary.words_of(description))
    telling = [word for word in name_words if not word.stop]
    holder_words = vocabulary.words_of(holder) if holder and len(telling) < _FEW_WORDS else []
    weights = _object_weights(name, described, holder_words)
    heads = _heads(name, described, holder_words)
    if not heads:
        # Of a thing that no word is known for, the words themselves are what it is about.
        heads = frozenset((name.unknown or described.unknown)[:_FEW_WORDS])
        weights.update(dict.fromkeys(heads, _FIRST_WEIGHT))
    actions = tuple(dict.fromkeys([*name.actions[:1], *described.actions[:1]]))
    if not actions and name.begins_unknown and described.begins_unknown is not False:
        actions = (f"{UNKNOWN_VERB}{name.unknown[0]}",)
    return (
        actions,
        tuple(sorted(weights.items())),
        heads,
        frozenset(name.modifiers),
        _roles(parameters, vocabulary),
        tuple(sorted({*name.terms(vocabulary), *described.terms(vocabulary)})),
        tuple(sorted({word.opening or word.meaning for word in name_words})),
    )


class FeatureMaker:
    """Makes features of their parts, of which equal ones are kept once."""

    def __init__(self) -> None:
        self._senses: dict[tuple[object, ...], Sense] = {}
        self._kept: dict[Hashable, Any] = {}

    def features(self, text: str, parts: TextParts) -> Features:
        """Return the features of a text, given their parts."""
        *sense_parts, roles, terms, name = parts
        key = tuple(sense_parts)
        sense = self._senses.get(key)
        if sense is None:
            sense = self._senses[key] = Sense(*parts[:4])
        intern = self._kept.setdefault
        return Features(sense, intern(roles, roles), terms, intern(name, name), text)


def features_of(text: str, vocabulary: Vocabulary) -> Features:
    """Return the features of a declared text."""
    return FeatureMaker().features(text, parts_of(text, vocabulary))


class _Reading:
    """The words of a name or a description with what they mean together."""

    __slots__ = (
        "actions",
        "begins_unknown",
        "modifiers",
        "objects",
        "opens",
        "phrase_objects",
        "unknown",
    )

    def __init__(self, vocabulary: Vocabulary, words: list[Word]) -> None:
        self.unknown = [word.stem for word in words if word.is_unknown]
        self.phrase_objects: list[str] = []
        acting: list[tuple[int, str]] = []
        objects: list[tuple[int, str]] = []
        covered: set[int] = set()
        firsts: set[int] = set()
        phrase_places: set[int] = set()
        ends: dict[int, int] = {}
        for first, last, action, object_ in vocabulary.phrases_of(words):
            covered |= {first, last}
            firsts.add(first)
            if action:
                acting.append((first, action))
            if object_:
                phrase_places |= {first, last}
                ends[first] = last
                objects.append((first, object_))
                self.phrase_objects.append(object_)
        opening, self.begins_unknown = _find_opening(words, covered)
        self.opens = bool(opening)
        acting += opening
        verbs: list[tuple[int, str]] = []
        either: list[tuple[int, str]] = []
        phrased: list[tuple[int, str]] = []
        nouns: list[tuple[int, str]] = []
        for place, word in enumerate(words):
            if not word.is_known:
                continue
            if word.action and place in firsts:
                # `generate` is a verb in "generate an image", `rate` is not one in "heart rate".
                phrased.append((place, word.action))
            elif word.action and place not in covered:
                # `call` is a verb in "call a contact", and is not one in "end the call".
                (either if word.object else verbs).append((place, word.action))
            if word.object and place not in phrase_places:
                nouns.append((place, word.object))
        if not (acting or verbs):
            # After a word that nobody knows, which may be the verb, it is what something is done to.
            verbs = either[:1] if not self.begins_unknown else []
        if not (acting or verbs):
            verbs = phrased[:1]
        acting = sorted(acting + verbs)
        self.actions = list(dict.fromkeys([action for _, action in acting]))
        others = [noun for noun in nouns if not acting or noun[0] != acting[0][0]]
        # Of `make_call` the object is the call; of `order_shelves` it is the shelves, and unknown.
        alone = [] if self.unknown else nouns
        objects = sorted(objects + others) if others or objects else alone
        verb = min((place for place, _ in acting), default=len(words))
        self.modifiers = _modifiers(words, objects, ends, verb)
        self.objects = list(dict.fromkeys([object_ for _, object_ in objects]))

    def terms(self, vocabulary: Vocabulary) -> list[str]:
        actions, objects = vocabulary.action_terms, vocabulary.object_terms
        if self.opens and not (self.objects or self.unknown):
            # `get` alone does not say what.
            return [actions[action] for action in self.actions[1:]]
        return [
            *[actions[action] for action in self.actions],
            *[objects[object_] for object_ in self.objects],
            *self.unknown,
        ]


def _find_opening(words: list[Word], covered: set[int]) -> tuple[list[tuple[int, str]], bool | None]:
    """Return the stop word that says what is done, if a text begins with one, and whether it begins with a
    word that nobody knows; None where it has stop words alone.
    """
    opening_words: list[tuple[int, str]] = []
    for place, word in enumerate(words):
        if not word.stop or place in covered:
            return opening_words, word.is_unknown and place not in covered
        if word.opening and not opening_words:
            opening_words.append((place, word.opening))
    return opening_words, None


def _modifiers(
    words: list[Word], objects: list[tuple[int, str]], ends: dict[int, int], verb: int
) -> set[str]:
    """Return the objects that another noun follows wherever they are: that is what such a text is about.

    Args:
        words: The words of the text.
        objects: Its objects, by the position of their first word.
        ends: The position of the last word of each object that has two.
        verb: The position of its verb; a verb behind an object may be a noun.
    """
    heads: set[str] = set()
    for place, object_ in objects:
        follower = words[ends.get(place, place) + 1 :][:1]
        is_noun = any(
            word.is_unknown or (word.object not in {None, object_}) or (word.action and verb < place)
            for word in follower
            if not (word.stop or word.is_aspect)
        )
        # A name begins with its verb: `order_list_items` orders, and does not list orders.
        is_verb = place == 0 < verb and words[0].action is not None
        if not (is_noun or is_verb):
            heads.add(object_)
    return {object_ for _, object_ in objects} - heads


def _names(name: str) -> str:
    """Return what of a name is read: the class without its package, `#` and the method; or the name."""
    holder, separator, method = name.rpartition("#")
    if not separator:
        return local_name(name)[:_LONGEST_NAME].replace("\n", " ")
    parts = (holder.rpartition(".")[2][:_LONGEST_NAME], method[:_LONGEST_NAME])
    return "#".join(parts).replace("\n", " ")


def _object_weights(name: _Reading, described: _Reading, holder: list[Word]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for place, object_ in enumerate(described.objects):
        weights[object_] = _LATER_WEIGHT if place else _FIRST_WEIGHT
    for word in holder:
        if word.object:
            weights.setdefault(word.object, _LATER_WEIGHT)
    for object_ in described.phrase_objects:
        weights[object_] = _FIRST_WEIGHT
    for object_ in name.objects:
        weights[object_] = NAME_WEIGHT
    return weights


def _heads(name: _Reading, described: _Reading, holder: list[Word]) -> frozenset[str]:
    heads = {*name.objects, *name.phrase_objects, *described.phrase_objects, *described.objects[:1]}
    if not heads:
        heads = {word.object for word in holder if word.object}
    return frozenset(heads)


def _roles(parameters: str, vocabulary: Vocabulary) -> frozenset[str]:
    all_roles: list[str] = []
    for part in parameters.split():
        roles = vocabulary.roles.get(part)
        if roles is None:
            roles = _roles_in(part, vocabulary)
            vocabulary.keep_roles(part, roles)
        all_roles += roles
    return frozenset(all_roles)


def _roles_in(part: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the roles of a part of a shape, mostly one parameter with its type."""
    roles: list[str] = []
    for name in _PARAMETER.findall(part):
        for word in vocabulary.words_of(name):
            if word.roles:
                roles += word.roles
            elif not word.stop:
                roles.append(vocabulary.object_terms[word.object] if word.object else word.stem)
    return tuple(roles)


@dataclass(slots=True)
class CapabilityTexts:
    """Capabilities, sorted by their keys; those that declare the same text share its features.

    Attributes:
        keys: The key of each.
        packages: The app of each.
        protocols: The format of each.
        names: The id of each.
        text_of: The text of each: a place in `features`.
        features: What each text comes to; in the order of the first capability that declares it.
    """

    keys: list[str]
    packages: list[str]
    protocols: list[str]
    names: list[str]
    text_of: list[int]
    features: list[Features]


def read_capabilities(capabilities: Iterable[CapabilityText]) -> CapabilityTexts:
    """Read the texts of capabilities.

    Args:
        capabilities: All of them; a key that comes twice is taken once.
    """
    with without_collections():
        reading = CapabilityTexts([], [], [], [], [], [])
        vocabulary, maker = Vocabulary(), FeatureMaker()
        numbers: dict[str, int] = {}
        shared: dict[str, str] = {}
        for capability in capabilities:
            reading.keys.append(capability.key)
            reading.packages.append(shared.setdefault(capability.package, capability.package))
            reading.protocols.append(shared.setdefault(capability.protocol, capability.protocol))
            reading.names.append(capability.name)
            text = declared_text(capability)
            reading.text_of.append(numbers.setdefault(text, len(numbers)))
            if len(numbers) > len(reading.features):
                reading.features.append(maker.features(text, parts_of(text, vocabulary)))
    if any(key >= following for key, following in zip(reading.keys, reading.keys[1:], strict=False)):
        return _in_order(reading)
    return reading


@contextmanager
def without_collections() -> Iterator[None]:
    """Keep the garbage collector from looking through millions of parts: they hold no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _in_order(reading: CapabilityTexts) -> CapabilityTexts:
    """Return capabilities by their keys, each key once, and the texts by their first capability."""
    places = {key: place for place, key in enumerate(reading.keys)}
    order = [places[key] for key in sorted(places)]
    numbers: dict[int, int] = {}
    text_of = [numbers.setdefault(reading.text_of[place], len(numbers)) for place in order]
    return CapabilityTexts(
        keys=[reading.keys[place] for place in order],
        packages=[reading.packages[place] for place in order],
        protocols=[reading.protocols[place] for place in order],
        names=[reading.names[place] for place in order],
        text_of=text_of,
        features=[reading.features[number] for number in numbers],
    )
