import errno
import itertools
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from droidgate.coverage.match import match_words, reading_process, text_reading
from droidgate.coverage.match.capability_groups import Scorer, match_capabilities
from droidgate.coverage.match.features import CapabilityText, declared_text, features_of, parts_of
from droidgate.coverage.match.match_words import Vocabulary
from droidgate.coverage.match.reading_process import ReadingProcess
from gateway.coverage_match.labelled_pairs import capability_text, labelled_pairs
from gateway.synthetic_ecosystem.names import Names


def _made(count: int) -> Iterator[CapabilityText]:
    names = Names(seed=3)
    for number in range(count):
        made = names.capability()
        shape = ", ".join(f"{parameter.name}:{parameter.kind}" for parameter in made.parameters)
        yield CapabilityText(
            f"k{number:06}", f"com.app{number // 8}", "mmcp", made.snake_name, made.description, shape
        )


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have all batches but the first two go to the second process."""
    monkeypatch.setattr(text_reading, "MANY_TEXTS", 100)
    monkeypatch.setattr(text_reading, "_AT_ONCE", 50)
    monkeypatch.setattr(text_reading, "_AHEAD", 1_000)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return a list: for each batch given to a second process, whether that process read it."""
    reported: list[bool] = []
    take = ReadingProcess.take

    def watched(self: ReadingProcess) -> Any:
        answer = take(self)
        reported.append(answer[1] is not None)
        return answer

    monkeypatch.setattr(ReadingProcess, "take", watched)
    return reported


@pytest.mark.slow
@pytest.mark.usefixtures("small_batches")
def test_two_processes_come_to_what_one_comes_to(taken: list[bool]) -> None:
    item = match_capabilities(_made(3_000), processes=1)
    assert taken == []
    assert match_capabilities(_made(3_000), processes=2) == item
    assert taken == [True] * 57


@pytest.mark.slow
@pytest.mark.usefixtures("small_batches")
def test_what_a_second_process_that_dies_has_not_read_is_read_here(
    monkeypatch: pytest.MonkeyPatch, taken: list[bool]
) -> None:
    give, given = ReadingProcess.give, itertools.count()

    def kill_at_the_third(self: ReadingProcess, first: int, batch: list[str]) -> None:
        if next(given) == 2:
            while not (self._folder / f"{self.batches[1][0]}.read").exists():
                time.sleep(0.01)
            self._process.kill()
            self._process.wait()
        give(self, first, batch)

    item = match_capabilities(_made(3_000), processes=1)
    monkeypatch.setattr(ReadingProcess, "give", kill_at_the_third)
    assert match_capabilities(_made(3_000), processes=2) == item
    assert taken == [True, True, False]


@pytest.mark.usefixtures("small_batches")
def test_what_does_not_fit_on_the_disk_is_read_here(
    monkeypatch: pytest.MonkeyPatch, taken: list[bool]
) -> None:
    def fill_up(_path: Path, _value: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    item = match_capabilities(_made(3_000), processes=1)
    monkeypatch.setattr(reading_process, "_write", fill_up)
    assert match_capabilities(_made(3_000), processes=2) == item
    assert taken == [False]


@pytest.mark.usefixtures("small_batches", "taken")
def test_where_no_process_can_be_started_all_is_read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    item = match_capabilities(_made(1_000), processes=1)
    monkeypatch.setattr("subprocess.Popen", refuse)
    assert match_capabilities(_made(1_000), processes=2) == item


@pytest.mark.usefixtures("small_batches")
def test_nothing_is_left_of_a_second_process_when_the_source_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[ReadingProcess] = []

    class Watched(ReadingProcess):
        def __init__(self) -> None:
            super().__init__()
            started.append(self)

    def broken() -> Iterator[CapabilityText]:
        yield from _made(1_000)
        raise LookupError

    monkeypatch.setattr(text_reading, "ReadingProcess", Watched)
    with pytest.raises(LookupError):
        match_capabilities(broken(), processes=2)
    (process,) = started
    assert process._process.returncode is not None
    assert not process._folder.exists()


def test_few_texts_start_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subprocess.Popen", None)
    assert match_capabilities(_made(200), processes=2).capabilities == 200


def test_capabilities_are_read_by_their_keys_each_once() -> None:
    texts = list(_made(300))
    mixed = [*texts, *texts[:40]]
    random.Random(2).shuffle(mixed)
    kept, other = text_reading.read_capabilities(texts), text_reading.read_capabilities(mixed)
    assert kept.keys == other.keys == [item.key for item in texts]
    assert kept.text_of == other.text_of
    assert [item.text for item in kept.features] == [item.text for item in other.features]
    assert kept.names == other.names


def test_words_are_forgotten_before_they_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [declared_text(item) for item in _made(300)]
    vocabulary = Vocabulary()
    expected = [parts_of(text, vocabulary) for text in texts]
    assert len(vocabulary._known) > 20
    monkeypatch.setattr(match_words, "MOST_KEPT", 20)
    forgetful = Vocabulary()
    assert [parts_of(text, forgetful) for text in texts] == expected
    assert max(len(forgetful._known), len(forgetful._parts), len(forgetful.roles)) <= 20


def test_the_order_in_which_rarities_are_added_changes_no_sum() -> None:
    """A set yields its words in an order that differs from run to run."""
    sides = [side for pair in labelled_pairs("tune") for side in (pair.left, pair.right)]
    vocabulary = Vocabulary()
    features = [features_of(declared_text(capability_text(side)), vocabulary) for side in sides]
    scorer = Scorer(features)
    rarities = [
        scorer.rarity(term) for term in sorted({term for feature in features for term in feature.terms})
    ]
    sums = set()
    for seed in range(50):
        random.Random(seed).shuffle(rarities)
        sums.add(sum(rarities))
    assert len(sums) == 1
