"""Capabilities as matching takes them: each text read once, all in one order."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Self

from droidgate.computer.cores import usable_cores
from droidgate.coverage.match.features import CapabilityText, FeatureMaker, Features, declared_text, parts_of
from droidgate.coverage.match.match_words import Vocabulary
from droidgate.coverage.match.reading_process import ReadingProcess

MANY_TEXTS: Final = 20_000
"""From so many on a second process is worth its start."""

_AT_ONCE: Final = 2_000
_AHEAD: Final = 2
"""Lots that the second process has at once, so that it never waits for the next one."""


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


def read_capabilities(
    capabilities: Iterable[CapabilityText],
    *,
    processes: int | None = None,
) -> CapabilityTexts:
    """Read the texts of capabilities.

    Args:
        capabilities: All of them; a key that comes twice is taken once.
        processes: How many processes read, 1 or 2; by default 2 where this one may use more than one core.
            Two are used only for many texts, and come to the same.
    """
    with without_collections(), TextReader(processes or min(2, usable_cores())) as reader:
        reading = CapabilityTexts([], [], [], [], [], [])
        shared: dict[str, str] = {}
        for capability in capabilities:
            reading.keys.append(capability.key)
            reading.packages.append(shared.setdefault(capability.package, capability.package))
            reading.protocols.append(shared.setdefault(capability.protocol, capability.protocol))
            reading.names.append(capability.name)
            reading.text_of.append(reader.add(declared_text(capability)))
        reading.features = reader.features()
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
    """Reads texts in lots, alone or with a second process; use it as a context, so that that one ends."""

    def __init__(self, processes: int) -> None:
        self._is_alone = processes < 2  # noqa: PLR2004 - one is this one
        self._vocabulary = Vocabulary()
        self._maker = FeatureMaker()
        self._numbers: dict[str, int] = {}
        self._waiting: list[str] = []
        self._features: list[Features | None] = []
        self._second: ReadingProcess | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._second is not None:
            self._second.end()

    def add(self, text: str) -> int:
        """Return the number of a text; equal texts have one."""
        known = len(self._numbers)
        number = self._numbers.setdefault(text, known)
        if number == known:
            self._waiting.append(text)
            if len(self._waiting) == _AT_ONCE:
                self._read_batch()
        return number

    def features(self) -> list[Features]:
        """Return the features of all texts, in the order of their numbers; nothing is added after that."""
        self._read_here(len(self._features), self._waiting)
        self._numbers.clear()
        if self._second is not None:
            self._take(self._second, 0)
        return [feature for feature in self._features if feature is not None]

    def _read_batch(self) -> None:
        first, batch = len(self._features), self._waiting
        self._waiting = []
        if not self._is_alone and self._second is None and first >= MANY_TEXTS:
            try:
                self._second = ReadingProcess()
            except OSError:
                self._is_alone = True
        if self._second is not None and self._second.is_alive:
            self._take(self._second, _AHEAD)
            if len(self._second.batches) < _AHEAD:
                self._second.give(first, batch)
                self._features += [None] * len(batch)
                return
        self._read_here(first, batch)

    def _read_here(self, first: int, batch: list[str]) -> None:
        """Read a batch in this process."""
        read, make, vocabulary = parts_of, self._maker.features, self._vocabulary
        self._features[first : first + len(batch)] = [make(text, read(text, vocabulary)) for text in batch]

    def _take(self, second: ReadingProcess, most_left: int) -> None:
        """Take what the second process has read, and wait for more until so many batches are left."""
        while second.batches and (len(second.batches) > most_left or second.has_read()):
            (first, batch), read = second.take()
            if read is None:
                self._read_here(first, batch)
            else:
                make = self._maker.features
                self._features[first : first + len(batch)] = list(map(make, batch, read))


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
