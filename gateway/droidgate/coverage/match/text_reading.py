"""Capabilities as matching takes them: each text read once, all in one order."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from droidgate.coverage.match.features import CapabilityText, FeatureMaker, Features, declared_text, parts_of
from droidgate.coverage.match.match_words import Vocabulary


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
        reader = TextReader()
        shared: dict[str, str] = {}
        for capability in capabilities:
            reading.keys.append(capability.key)
            reading.packages.append(shared.setdefault(capability.package, capability.package))
            reading.protocols.append(shared.setdefault(capability.protocol, capability.protocol))
            reading.names.append(capability.name)
            reading.text_of.append(reader.add(declared_text(capability)))
        reading.features = reader.features
    if any(key >= other for key, other in zip(reading.keys, reading.keys[1:], strict=False)):
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


class TextReader:
    """Reads texts, each different one once.

    Attributes:
        features: What each text comes to, by its number.
    """

    def __init__(self) -> None:
        self.features: list[Features] = []
        self._vocabulary = Vocabulary()
        self._maker = FeatureMaker()
        self._numbers: dict[str, int] = {}

    def add(self, text: str) -> int:
        """Return the number of a text; equal texts have one."""
        number = self._numbers.setdefault(text, len(self.features))
        if number == len(self.features):
            self.features.append(self._maker.features(text, parts_of(text, self._vocabulary)))
        return number


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
