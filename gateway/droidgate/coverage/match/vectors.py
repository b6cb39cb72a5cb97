"""Words that the taxonomy does not know, through a local folder of word vectors (optional).

Vectors are read as GloVe and fastText publish them: text files with a word and its numbers on each line,
parted by blanks. Nothing is fetched. Only words are looked up, each once, so that what a capability costs
stays the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from droidgate.computer.optional_packages import need
from droidgate.coverage.match.features import CapabilityText, declared_text
from droidgate.coverage.match.words import Vocabulary
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.tables.taxonomy import load_words

ENDINGS: Final = (".txt", ".vec")
LEAST_LIKENESS: Final = 0.6
"""Cosine of two vectors from which on the words are taken for one."""

MOST_WORDS: Final = 20_000
"""Of the unknown words, so many of the most usual are looked up."""

_FEWEST_NUMBERS: Final = 2

_NEAREST: Final = """
    SELECT unknown.word, known.word
    FROM unknown, known
    WHERE list_cosine_similarity(unknown.vector, known.vector) >= ?
    QUALIFY row_number() OVER (
        PARTITION BY unknown.word
        ORDER BY list_cosine_similarity(unknown.vector, known.vector) DESC, known.word
    ) = 1
    ORDER BY unknown.word
"""


def more_words(capabilities: Iterable[CapabilityText], folder: Path) -> dict[str, str]:
    """Return for words without a meaning the word of the taxonomy that is nearest, where one is near enough.

    Args:
        capabilities: Where the words come from.
        folder: Holds files `*.txt` or `*.vec`.

    Returns:
        What `match_capabilities` and `UseCases` take as `more_words`.

    Raises:
        InputError: the folder holds no vectors, or a line that is none.
        UsageError: DuckDB is not installed.
    """
    known = {word for action in (*load_words().actions, *load_words().objects) for word in action.words}
    unknown = set(_unknown_words(capabilities))
    vectors = _read_vectors(folder, known | unknown)
    duckdb = need("duckdb", "coverage")
    with duckdb.connect() as database:
        for table, words in (("known", known), ("unknown", unknown)):
            database.execute(f"CREATE TABLE {table} (word VARCHAR, vector FLOAT[])")
            rows = [(word, vectors[word]) for word in sorted(words) if word in vectors]
            if rows:
                database.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)
        return dict(database.execute(_NEAREST, [LEAST_LIKENESS]).fetchall())


def _unknown_words(capabilities: Iterable[CapabilityText]) -> list[str]:
    vocabulary = Vocabulary()
    counted: Counter[str] = Counter()
    for capability in capabilities:
        counted.update(vocabulary.unknown_in(declared_text(capability).rpartition("\n")[0]))
    ordered = sorted(counted, key=lambda word: (-counted[word], word))
    return ordered[:MOST_WORDS]


def _read_vectors(folder: Path, words: set[str]) -> dict[str, list[float]]:
    vectors: dict[str, list[float]] = {}
    length = 0
    for place, word, numbers in _lines(folder):
        if word not in words or word in vectors:
            continue
        try:
            vector = [float(number) for number in numbers]
        except ValueError:
            raise InputError("it is not a line of a word and numbers", place=place) from None
        length = length or len(vector)
        if len(vector) != length:
            raise InputError(f"its vector has {len(vector)} numbers, the first has {length}", place=place)
        vectors[word] = vector
    return vectors


def _lines(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    files = sorted(path for path in folder.glob("*") if path.suffix in ENDINGS) if folder.is_dir() else []
    if not files:
        hint = "name a folder with files *.txt or *.vec: a word and its numbers on each line"
        raise InputError("it holds no word vectors", place=str(folder), hint=hint)
    for path in files:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                word, *numbers = line.rstrip().split(" ")
                # The first line of a fastText file says how many words and numbers follow.
                if len(numbers) >= _FEWEST_NUMBERS:
                    yield f"{path}:{number}", word.lower(), numbers
