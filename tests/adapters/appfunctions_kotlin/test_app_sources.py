"""What is read from the Kotlin files of real apps stays what it is, by digest of source and model."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator

import pytest

from adapters.appfunctions_kotlin.kotlin_pairs import read, rows, source
from droidgate_mappings.model.capability import CapabilitySet
from requirements_of_tests import require

pytestmark = pytest.mark.requires("corpus")


def _readings() -> Iterator[str]:
    corpus = require("corpus")
    apps: dict[str, list[str]] = defaultdict(list)
    for row in rows(corpus):
        if row.kind == "app" or row.repo == "temoki/appfunction_sample":
            apps[row.repo].append(row.file)
    for app, files in sorted(apps.items()):
        sources = [source(corpus, file) for file in files if file.endswith(".kt")]
        reading = read(sources)
        declared = CapabilitySet(providers=reading.providers)
        counts = [
            f"{len(item.capabilities)} functions, {len(item.definitions)} types"
            for item in declared.providers
        ]
        notes = [f"{item.code}: {item.message}" for item in reading.findings]
        notes += [f"problem: {item.message}" for item in reading.problems]
        yield f"{app}\t{'; '.join(counts)}\t{declared.content_digest()}\t{'; '.join(notes)}\n"
        for item in sources:
            yield f"\t{item.path}\t{hashlib.sha256(item.data).hexdigest()}\n"


def test_each_app_of_the_corpus_reads_as_it_did(golden: Callable[[str, str], None]) -> None:
    golden("corpus/appfunctions_kotlin.tsv", "".join(_readings()))


def test_every_app_declares_functions_without_a_finding_or_problem() -> None:
    lines = [line.split("\t") for line in _readings() if not line.startswith("\t")]
    assert len(lines) == 11
    assert all(counts and not notes.strip() for _, counts, _, notes in lines)
