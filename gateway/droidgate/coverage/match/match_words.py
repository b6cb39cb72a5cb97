"""Words of names and descriptions, reduced to stems and to what they mean."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Final

from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.taxonomy import Meaning, load_words

# Vowel signs of Indic scripts and their like: parts of words, and no letters to `re`.
_SIGNS: Final = "".join(
    item
    for item in map(chr, range(0x300, 0x3100))
    if unicodedata.category(item)[0] == "M" and not unicodedata.combining(item)
)
_WORD: Final = re.compile(
    rf"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_A-Za-z](?:[^\W\d_A-Za-z]|[{_SIGNS}])*"
)
_PARTICLES: Final = frozenset({"on", "off", "up", "down", "in", "out", "away"})
_REACH_OF_PARTICLE: Final = 4
_LONGEST_WORD: Final = 40
_LONGEST_SHORT: Final = 3
MOST_KEPT: Final = 1 << 17
"""So many words are remembered; natural language has fewer, and made-up ones shall not fill the memory."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is compared.

    Attributes:
        stem: Its stem, lower case without accents.
        stop: It says nothing by itself.
        opening: Id of what is done, where a text that begins with it says that.
        action: Id of what is done, where it is a word for that.
        object: Id of what it is done to.
        roles: Ids of a parameter's roles.
        is_head: Phrases begin with it.
        is_short: It is too short to have an ending; one that ends a phrase is not met by longer words, as
            that of `get rid` is not by `ride`.
        meaning: Its object, else its action, else its stem.
        is_known: It says something, and it is known what.
        is_unknown: It says something, and it is not known what.
        is_aspect: It leaves a text about the object before it.
    """

    stem: str
    stop: bool
    opening: str | None
    action: str | None
    object: str | None
    roles: tuple[str, ...]
    is_head: bool
    is_short: bool
    meaning: str
    is_known: bool
    is_unknown: bool
    is_aspect: bool


def stem_of(word: str) -> str:
    """Return the stem of a lower-case word, by English endings only: `notes` and `note` are one word."""
    if len(word) <= _LONGEST_SHORT:
        return word
    for ending, put in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")):
        if word.endswith(ending):
            return word[: -len(ending)] + put
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and any(letter in "aeiouy" for letter in rest):  # noqa: PLR2004
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word  # noqa: PLR2004


def noun_forms(word: str) -> Iterator[str]:
    """Yield a lower-case word and what it may be the English plural of, the likelier first.

    Meanings are looked up by these and not by stems: `plan` and `plane` have one stem.
    """
    yield word
    if len(word) <= _LONGEST_SHORT:
        return
    if word.endswith("s") and not word.endswith("ss"):
        yield word[:-1]
    if word.endswith("ies"):
        yield word[:-3] + "y"
    elif word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        yield word[:-2]


def verb_forms(word: str) -> Iterator[str]:
    """Yield a lower-case word and what it may be an English form of, as a verb, the likelier first."""
    yield from noun_forms(word)
    for ending in ("ing", "ed", "ied"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and any(letter in "aeiouy" for letter in rest):  # noqa: PLR2004
            yield rest + ("y" if ending == "ied" else "e")
            yield rest
            if rest[-1] == rest[-2]:
                yield rest[:-1]


def plain_text(text: str) -> str:
    """Return a text without accents and typographic variants (NFKD)."""
    if text.isascii():
        return text
    return "".join(item for item in unicodedata.normalize("NFKD", text) if not unicodedata.combining(item))


class Vocabulary:
    """The words seen so far and what they mean; each is looked up once."""

    def __init__(self) -> None:
        """Begin with the words of the taxonomy."""
        words = load_words()
        self._stop = {stem_of(word) for word in words.stop} | set(words.stop)
        self._aspects = frozenset(words.aspects)
        self._opening = {word: action.id for action in words.actions for word in action.opening}
        self._actions = {word: action.id for action in words.actions for word in action.words}
        self._objects = {word: object_.id for object_ in words.objects for word in object_.words}
        self._roles: dict[str, tuple[str, ...]] = {}
        for stem, role in _stems(words.roles):
            self._roles[stem] = (*self._roles.get(stem, ()), role)
        self._action_phrases = dict(_phrases(words.actions))
        self._object_phrases = dict(_phrases(words.objects))
        self._heads = {first for first, *_ in (*self._action_phrases, *self._object_phrases)}
        self._known: dict[str, Word] = {}
        self._parts = _Parts(self._words_in)
        self.roles: Final[dict[str, tuple[str, ...]]] = {}
        """Of parts of parameter shapes that were seen."""
        self.action_terms: Final = {action.id: sys.intern(f"!{action.id}") for action in words.actions}
        self.object_terms: Final = {object_.id: sys.intern(f":{object_.id}") for object_ in words.objects}

    def words_of(self, text: str) -> list[Word]:
        """Return the words of a text in order, the same for `createNote`, `create_note` and `Create note`."""
        return list(chain.from_iterable(map(self._parts.__getitem__, text.replace("_", " ").split())))

    def _words_in(self, part: str) -> tuple[Word, ...]:
        cache = self._known
        words = []
        for written in _WORD.findall(plain_text(part)):
            word = cache.get(written)
            if word is None:
                if len(cache) >= MOST_KEPT:
                    cache.clear()
                word = cache[written] = self._look_up(written.lower()[:_LONGEST_WORD])
            words.append(word)
        return tuple(words)

    def keep_roles(self, part: str, roles: tuple[str, ...]) -> None:
        """Remember the roles in a part of a parameter shape."""
        if len(self.roles) >= MOST_KEPT:
            self.roles.clear()
        if len(part) <= _LONGEST_WORD:
            self.roles[part] = roles

    def phrases_of(self, words: list[Word]) -> Iterator[tuple[int, int, str | None, str | None]]:
        """Yield the phrases among words: positions of first and last word, the action, the object."""
        for position in [place for place, word in enumerate(words) if word.is_head]:
            for following in _phrase_ends(words, position):
                pair = (words[position].stem, words[following].stem, words[following].is_short)
                action, object_ = self._action_phrases.get(pair), self._object_phrases.get(pair)
                if action or object_:
                    yield position, following, action, object_

    def _look_up(self, lower: str) -> Word:
        stem = sys.intern(stem_of(lower))
        # A letter by itself is an index, or what is left of a name in a shrunken app.
        is_letter = len(lower) == 1 and lower.isascii()
        stop = is_letter or lower in self._stop or stem in self._stop
        is_short = len(lower) <= _LONGEST_SHORT
        action = _first_known(self._actions, verb_forms(lower))
        object_ = _first_known(self._objects, noun_forms(lower))
        return Word(
            stem=stem,
            stop=stop,
            opening=self._opening.get(lower),
            action=action,
            object=object_,
            roles=self._roles.get(stem, ()),
            is_head=stem in self._heads,
            is_short=is_short,
            meaning=object_ or action or stem,
            is_known=not stop and bool(action or object_),
            is_unknown=not (stop or action or object_),
            is_aspect=lower in self._aspects,
        )


class _Parts(dict[str, tuple[Word, ...]]):
    """The words of parts of texts, between blanks; parts of one word are kept, others are too many."""

    def __init__(self, words_in: Callable[[str], tuple[Word, ...]]) -> None:
        super().__init__()
        self._words_in = words_in

    def __missing__(self, part: str) -> tuple[Word, ...]:
        words = self._words_in(part)
        if len(words) <= 1 and len(part) <= _LONGEST_WORD:
            if len(self) >= MOST_KEPT:
                self.clear()
            self[part] = words
        return words


@cache
def actions_alike() -> dict[str, frozenset[str]]:
    """Return for each action those that differ from it only in the way of speaking."""
    alike: dict[str, set[str]] = {action.id: set() for action in load_words().actions}
    for action in load_words().actions:
        for like in action.like:
            alike[action.id].add(like)
            alike[like].add(action.id)
    return {name: frozenset(others) for name, others in alike.items()}


def _first_known(meanings: Mapping[str, str], forms: Iterable[str]) -> str | None:
    return next((meanings[form] for form in forms if form in meanings), None)


def _stems(meanings: Iterable[Meaning]) -> Iterator[tuple[str, str]]:
    for meaning in meanings:
        for word in meaning.words:
            yield stem_of(word), meaning.id


def _phrases(meanings: Iterable[Meaning]) -> Iterator[tuple[tuple[str, str, bool], str]]:
    for meaning in meanings:
        for phrase in meaning.phrases:
            first, last = phrase.split()
            yield (stem_of(first), stem_of(last), len(last) <= _LONGEST_SHORT), meaning.id


def _phrase_ends(words: list[Word], position: int) -> Iterator[int]:
    """Yield the positions of the words that may end a phrase: the next one, the next one that says something,
    and a particle a little later, as in `turn the light on`.
    """
    telling = False
    for following in range(position + 1, min(position + _REACH_OF_PARTICLE + 1, len(words))):
        word = words[following]
        if following == position + 1 or word.stem in _PARTICLES or not (telling or word.stop):
            yield following
        telling = telling or not word.stop
