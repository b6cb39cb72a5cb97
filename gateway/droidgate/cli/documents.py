"""The documents that `--json` prints and `convert` writes; their JSON Schemas are published from here.

Each has a `schema` of the form `droidgate.NAME/VERSION`. The version rises when a reader of the old form
would break.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from typing import Final, Literal

from pydantic import Field

from droidgate.cli.json_output import Document
from droidgate.compare import Comparison, Weight
from droidgate.model.capability import Provider
from droidgate.model.errors import InputError
from droidgate.model.findings import Finding
from droidgate.model.names import NameEntry
from droidgate_mappings.capacity import Capacity

VERSION: Final = version("droidgate")


class Problem(Document):
    """Something below a source that could not be read; the rest was."""

    message: str
    place: str | None
    hint: str | None

    @classmethod
    def all_of(cls, errors: Iterable[InputError]) -> tuple[Problem, ...]:
        """Return errors as parts of a document."""
        return tuple(cls(message=one.message, place=one.place, hint=one.hint) for one in errors)


class InspectDocument(Document):
    """What `inspect --json` prints: the capability model of everything that was read."""

    schema_id: Literal["droidgate.inspect/1"] = Field(default="droidgate.inspect/1", alias="schema")
    droidgate: str = VERSION
    digest: str
    providers: tuple[Provider, ...]
    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]


class Target(Document):
    """What a conversion writes."""

    format: str
    dialect: str


class Origin(Document):
    """The provider that was converted."""

    protocol: str
    dialect: str | None
    package: str | None
    component: str | None
    place: str | None
    digest: str


class WrittenFile(Document):
    """A file of a conversion: its path below the output folder, what it is, and the digest of its bytes."""

    path: str
    role: str
    sha256: str


class Crossing(Document):
    """What became of one provider.

    Attributes:
        source: The provider.
        files: What was written, paths below the output folder.
        digest: Digest of the declaration as the target holds it.
        counts: How many findings there are of each level.
        findings: Each difference between the source and what was written, at its leaf.
    """

    source: Origin
    files: tuple[WrittenFile, ...]
    digest: str
    counts: dict[str, int]
    findings: tuple[Finding, ...]


class FidelityDocument(Document):
    """`fidelity.json`, and what `convert --json` prints: what a conversion cost.

    Attributes:
        reading: What the readers had to bend.
        problems: What could not be read.
        crossings: One for each provider.
    """

    schema_id: Literal["droidgate.fidelity/1"] = Field(default="droidgate.fidelity/1", alias="schema")
    droidgate: str = VERSION
    target: Target
    reading: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    crossings: tuple[Crossing, ...]


class NameMap(Document):
    """The renamed things of one provider."""

    source: Origin
    names: tuple[NameEntry, ...]


class NamesDocument(Document):
    """`names.json`: the name map of a conversion, from each written name back to the source's."""

    schema_id: Literal["droidgate.names/1"] = Field(default="droidgate.names/1", alias="schema")
    droidgate: str = VERSION
    target: Target
    providers: tuple[NameMap, ...]


class ChangedFile(Document):
    """One file that a migration changes: its path below the project, and the change as a unified diff."""

    path: str
    is_new: bool
    diff: str


class MigrationDocument(Document):
    """What `migrate --json` prints.

    Attributes:
        project: The project folder.
        written: The changes were applied.
        reading: What the readers had to bend.
        problems: What could not be read.
        crossings: What became of the provider.
        changes: The files that are changed or made; empty where all is there already.
        notes: What its author has to do besides.
    """

    schema_id: Literal["droidgate.migration/1"] = Field(default="droidgate.migration/1", alias="schema")
    droidgate: str = VERSION
    target: Target
    project: str
    written: bool
    reading: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    crossings: tuple[Crossing, ...]
    changes: tuple[ChangedFile, ...]
    notes: tuple[str, ...]


class LintDocument(Document):
    """What `lint --json` prints."""

    schema_id: Literal["droidgate.lint/1"] = Field(default="droidgate.lint/1", alias="schema")
    droidgate: str = VERSION
    counts: dict[str, int]
    findings: tuple[Finding, ...]


class DiffDocument(Document):
    """What `diff --json` prints.

    Attributes:
        weight: The heaviest change, None where nothing changed.
        counts: How many changes there are of each weight.
        comparison: Every change.
        problems: What could not be read on either side.
    """

    schema_id: Literal["droidgate.diff/1"] = Field(default="droidgate.diff/1", alias="schema")
    droidgate: str = VERSION
    weight: Weight | None
    counts: dict[str, int]
    comparison: Comparison
    problems: tuple[Problem, ...]


class DialectRecord(Document):
    """One dialect: whether it is read and written, and why where it is not."""

    id: str
    summary: str
    wire: tuple[str, ...]
    read: bool
    written: bool
    not_read_because: str | None
    not_written_because: str | None
    capacity: Capacity | None


class FormatRecord(Document):
    """One format; its first dialect is the default for writing."""

    id: str
    title: str
    dialects: tuple[DialectRecord, ...]


class MatrixCell(Document):
    """What becomes of one feature in one dialect: `yes`, or a level of finding, and what is written
    instead.
    """

    value: str
    note: str | None


class MatrixRow(Document):
    """One feature; a cell for each column."""

    group: str
    feature: str
    cells: tuple[MatrixCell, ...]


class Matrix(Document):
    """The support matrix; columns are spelled as `--to` takes them."""

    columns: tuple[str, ...]
    rows: tuple[MatrixRow, ...]


class FormatsDocument(Document):
    """What `formats --json` prints."""

    schema_id: Literal["droidgate.formats/1"] = Field(default="droidgate.formats/1", alias="schema")
    droidgate: str = VERSION
    formats: tuple[FormatRecord, ...]
    matrix: Matrix


PUBLISHED: Final[dict[str, type[Document]]] = {
    "inspect": InspectDocument,
    "convert": FidelityDocument,
    "names": NamesDocument,
    "migrate": MigrationDocument,
    "lint": LintDocument,
    "diff": DiffDocument,
    "formats": FormatsDocument,
}
"""Command, or file, to the document whose schema is published under that name."""
