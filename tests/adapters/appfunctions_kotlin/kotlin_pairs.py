"""The corpus of Kotlin sources: inputs of Jetpack's compiler with its outputs or messages, and app files."""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from droidgate_appfunctions.kotlin.kotlin_sources import read_sources
from droidgate_mappings.formats.format import Reading, SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.text.xml_text import Element, child_elements, parse_xml
from mappings.fit.capacities import write_for
from requirements_of_tests import PartMissingError, find

PREFIX = "androidx__androidx__appfunctions__appfunctions-compiler__src__test__test-data__"
_COMPANIONS = re.compile(r"compiled with ([^;]*?)(?: \(compiled|;|$)")

Node = tuple[str, str, tuple["Node", ...]]
"""An element: its tag, its text where it has no children, and its children."""


@dataclass(frozen=True)
class KotlinRow:
    """One row of the corpus's index."""

    file: str
    repo: str
    kind: str
    outputs: tuple[str, ...]
    error: str
    note: str

    @property
    def name(self) -> str:
        return self.file.removeprefix(f"{PREFIX}input__").rpartition(".")[0]


def rows(corpus: Path, kind: str | None = None) -> Iterator[KotlinRow]:
    with (corpus / "appfunctions_kotlin" / "index.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            outputs = tuple(filter(None, row["outputs"].split(";")))
            entry = KotlinRow(row["file"], row["repo"], row["kind"], outputs, row["error"], row["note"])
            if kind in {None, entry.kind}:
                yield entry


def names(kind: str) -> list[str]:
    """Return the names of a kind's rows, or one name for all where the corpus is missing."""
    try:
        return [row.name for row in rows(find("corpus"), kind)]
    except PartMissingError:
        return ["corpus"]


def companions(corpus: Path, row: KotlinRow) -> list[str]:
    """Return the other inputs that the compiler's test compiles with one."""
    paths = {item.name: item.file for item in rows(corpus) if item.file.startswith(f"{PREFIX}input__")}
    stated = _COMPANIONS.search(row.note)
    names = stated[1].split(", ") if stated is not None else []
    files: list[str] = []
    for name in names:
        path = name.strip().replace("/", "__")
        files.append(paths.get(path) or paths[path.rpartition("__")[2]])
    return files


def source(corpus: Path, file: str) -> SourceFile:
    return SourceFile(file, (corpus / "appfunctions_kotlin" / file).read_bytes())


def read(files: Sequence[SourceFile]) -> Reading:
    return read_sources(files, [], ReadingContext())


def kotlin(*texts: str) -> Reading:
    """Read Kotlin texts, the first of them as `1.kt`."""
    return read([SourceFile(f"{number}.kt", text.encode()) for number, text in enumerate(texts, start=1)])


def written(provider: Provider, dialect: str) -> str:
    """Return the functions file that a provider is written as."""
    writing = write_for(provider.model_copy(update={"component": None}), f"appfunctions+{dialect}")
    [text] = [artifact.text for artifact in writing.artifacts if "<appfunctions" in artifact.text]
    return text


def canonical(text: str | bytes) -> Node:
    """Return a functions file without what is between its elements."""
    return _node(parse_xml(text if isinstance(text, str) else text.decode(), path="file.xml"))


def _node(element: Element) -> Node:
    children = child_elements(element)
    return str(element.tag), "" if children else element.text or "", tuple(map(_node, children))


def mapped(node: Node, change: Callable[[Node], Node | None]) -> Node | None:
    """Return a node with a change applied to each node inside it, then to itself; None leaves one out."""
    tag, text, children = node
    mapped_children = (mapped(child, change) for child in children)
    return change((tag, text, tuple(item for item in mapped_children if item is not None)))
