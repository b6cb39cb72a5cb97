"""Made-up names and descriptions of capabilities, with the spread of real ones.

Words are drawn by Zipf's law: a few verbs and nouns are everybody's, most are rare. About two thirds of the
verbs come from one shared list, the others are an app's own words.
"""

import itertools
import random
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass

_SHARED_VERBS = """
get create add send search list open delete update start stop set find play show share save book read cancel
edit pause resume order call export import sync scan print
"""
_NOUNS = """
note task message event photo song contact file order timer alarm route product list playlist recipe workout
reservation ticket ride document account balance payment invoice parcel flight hotel table light door
thermostat battery network setting device album video clip caption project board card comment review rating
reminder calendar meeting guest group channel episode podcast station map place address weather forecast
alert step pulse sleep meal plan budget expense transfer coupon cart wishlist store booking
"""
SHARED_VERBS = tuple(_SHARED_VERBS.split())
NOUNS = tuple(_NOUNS.split())
PLACES = ("inbox", "folder", "archive", "room", "library", "history", "drafts", "team", "family", "trip")
ADVERBS = ("", "", "", " now", " later", " for the user", " at once", " in the background", " by its name")
PARAMETERS = (
    ("title", "string"), ("text", "string"), ("query", "string"), ("id", "string"), ("count", "int32"),
    ("date", "string"), ("place", "string"), ("amount", "double"), ("enabled", "boolean"),
    ("recipient", "string"), ("note", "string"), ("minutes", "int32"),
)  # fmt: skip
_SYLLABLES = tuple(
    first + last for first, last in itertools.product("bdfgklmnprstvz", ("a", "e", "i", "o", "ur"))
)
_OWN_WORDS = 40_000
_OWN_VERBS = 0.35
_OWN_NOUNS = 0.4


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: str
    description: str
    required: bool


@dataclass(frozen=True)
class MadeCapability:
    """A capability: its words, apart from how a protocol spells them."""

    verb: str
    noun: str
    description: str
    parameters: tuple[Parameter, ...]
    verb_is_shared: bool

    @property
    def snake_name(self) -> str:
        return f"{self.verb}_{self.noun}"

    @property
    def camel_name(self) -> str:
        return self.verb + "".join(part.capitalize() for part in self.noun.split("_"))


class Names:
    """Draws capabilities; the same seed draws the same ones."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._own_words = [self._made_up() for _ in range(_OWN_WORDS)]
        self._own_limits = _zipf_limits(_OWN_WORDS)
        self._verb_limits = _zipf_limits(len(SHARED_VERBS))
        self._noun_limits = _zipf_limits(len(NOUNS))

    def reseed(self, seed: str) -> None:
        """Draw from here on what this seed draws, from the words that are there."""
        self._random.seed(seed)

    def capability(self) -> MadeCapability:
        draw = self._random
        shared = draw.random() >= _OWN_VERBS
        verb = self._drawn(SHARED_VERBS, self._verb_limits) if shared else self._own_word()
        noun = self._own_word() if draw.random() < _OWN_NOUNS else self._drawn(NOUNS, self._noun_limits)
        if draw.random() < 0.2:
            noun = f"{noun}_{draw.choice(PLACES)}"
        spoken = noun.replace("_", " of the ")
        description = f"{verb.capitalize()}s the {spoken}{draw.choice(ADVERBS)}, as {self._own_word()} does."
        parameters = tuple(
            Parameter(name, kind, f"The {name} of the {spoken}", draw.random() < 0.6)
            for name, kind in draw.sample(PARAMETERS, draw.choice((0, 1, 1, 2, 2, 3, 4)))
        )
        return MadeCapability(verb, noun, description, parameters, shared)

    def capabilities(self, count: int) -> list[MadeCapability]:
        """Return that many, no two of one name."""
        by_name: dict[str, MadeCapability] = {}
        while len(by_name) < count:
            item = self.capability()
            by_name.setdefault(item.snake_name, item)
        return list(by_name.values())

    def _drawn(self, words: Sequence[str], limits: Sequence[float]) -> str:
        return words[bisect(limits, self._random.random() * limits[-1])]

    def _own_word(self) -> str:
        return self._drawn(self._own_words, self._own_limits)

    def _made_up(self) -> str:
        return "".join(self._random.choices(_SYLLABLES, k=self._random.choice((2, 3, 3, 4))))


def _zipf_limits(count: int) -> list[float]:
    """Return the running sums of 1, 1/2, 1/3..., from which a rank is drawn."""
    return list(itertools.accumulate(1 / rank for rank in range(1, count + 1)))
