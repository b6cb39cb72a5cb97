"""The tables of each format, read from TOML, typed and validated as they are loaded."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Self, TypeVar

from pydantic import Field, ValidationError, model_validator

from droidgate_mappings.model.types import TYPE_KINDS, Frozen
from droidgate_mappings.tables.capacity import Capacity

Table = TypeVar("Table", bound=Frozen)


class DialectTable(Frozen):
    """One dialect.

    Attributes:
        id: Stable id.
        summary: One line for users.
        wire: Ids of the wire dialects that belong to it, most usual first.
        interface: In which way its capabilities are called (`droidgate_mappings.tables.reach`), None where
            only the protocol's own agent calls them.
        readable: It has a static descriptor.
        not_read_because: Why it is not read, where it is not.
        not_written_because: Why it is not written, where it is not.
        most_capabilities: How many capabilities its readers take at once, where that is limited.
        capacity: What it carries; None where it is not written.
    """

    id: str
    summary: str
    wire: tuple[str, ...] = ()
    interface: str | None = None
    readable: bool = True
    not_read_because: str | None = None
    not_written_because: str | None = None
    most_capabilities: int | None = None
    capacity: Capacity | None = None

    @model_validator(mode="after")
    def _check_capacity(self) -> Self:
        """Check that it says what it carries, or why it is not written."""
        if (self.capacity is None) is (self.not_written_because is None):
            message = f"the dialect {self.id!r} has either a capacity or the reason why it is not written"
            raise ValueError(message)
        return self


class WordTable(Frozen):
    """The type words of a format.

    Attributes:
        write: Kind -> the word that is written.
        read: Lower-case word -> kind; every written word is among them.
    """

    write: dict[str, str] = {}
    read: dict[str, str] = {}


class BindingPermissions(Frozen):
    """The permissions of a protocol whose components only Android binds, for callers that it checks.

    Attributes:
        component: `android:permission` of every component.
        caller: The permission that Android requires of callers.
    """

    component: str
    caller: str


class FormatTables(Frozen):
    """Everything that is data about one format.

    Attributes:
        id: Stable id.
        title: Name to show users.
        dialects: The default for writing first.
        words: Its type words.
        names: Its protocol's constants: actions, meta-data names, extras, keys.
        manifest_names: Keys of `names` whose values are actions, meta-data and properties of manifests today.
        numbers: Its numeric type codes, where it has them: code as text -> kind.
        notations: Facts of its `extensions` that only record how a file was written; without them another
            format loses nothing of the declaration.
        file_names: Those of the notations that name files inside of an app, which no caller sees; comparing
            two apps leaves them out.
        ways_to_call: Facts of the `extensions` of capabilities that say how they may be called, as
            `fact/member`: for each value the ways; that of capabilities without the fact is first.
        labels: Facts of the `extensions` of capabilities and types that a description keeps in another
            format, each with its label there.
        binding: The permissions by which Android itself separates callers from components, where it does.
        returns_text: A capability that does not declare its output returns text.
        declared_by_apps: Apps declare their capabilities in it; else it is made of them, and a coverage
            report does not compare it.
    """

    id: str
    title: str
    dialects: tuple[DialectTable, ...] = Field(min_length=1)
    words: WordTable = WordTable()
    names: dict[str, str] = {}
    manifest_names: tuple[str, ...] = ()
    numbers: dict[str, str] = {}
    notations: frozenset[str] = frozenset()
    file_names: frozenset[str] = frozenset()
    ways_to_call: dict[str, dict[str, frozenset[str]]] = {}
    labels: dict[str, str] = {}
    binding: BindingPermissions | None = None
    returns_text: bool = False
    declared_by_apps: bool = True


class DivergenceRow(Frozen):
    """One difference between what a specification says and what is seen, and what droidgate does about it.

    Attributes:
        id: Stable id, such as `M08`.
        format: Id of the format; the name of the row's file.
        question: What is unclear or different.
        source: Section of the specification, or paragraph of the public code it was seen in.
        says: What the specification says, or None where it is silent.
        seen: What real apps do, or None.
        written: What droidgate writes.
        read: What it accepts.
        lenient: A reader bends a rule by this row (through `allow`); other rows only document a choice.
        linted_as: Codes of the lint rules that report the same cause; linting shows one of the two.
    """

    id: str
    format: str
    question: str
    source: str
    says: str | None = None
    seen: str | None = None
    written: str
    read: str
    lenient: bool
    linted_as: frozenset[str] = frozenset()


def read_table_file(name: str) -> dict[str, Any]:
    """Return one of the package's TOML files as a dict.

    Args:
        name: Path below the package, such as `formats/mmcp.toml`.
    """
    return tomllib.loads(files("droidgate_mappings.tables").joinpath(name).read_text(encoding="utf-8"))


def load_table(name: str, model: type[Table]) -> Table:
    """Return one of the package's TOML files as a model.

    Args:
        name: Path below the package.
        model: What it has to fit.

    Raises:
        ValueError: the TOML does not fit; the message names file and key.
    """
    try:
        return model.model_validate(read_table_file(name))
    except ValueError as error:
        message = f"droidgate_mappings/tables/{name}: {error}"
        raise ValueError(message) from error


@cache
def load_format_tables(format_id: str) -> FormatTables:
    """Return a format's tables; dialects that are written inherit `[capacity]` and state what differs.

    Raises:
        ValueError: the TOML does not fit the schema; the message names table and key.
    """
    raw = read_table_file(f"formats/{format_id}.toml")
    base = raw.pop("capacity", {})
    for dialect in raw["dialects"]:
        if "capacity" in dialect or (base and "not_written_because" not in dialect):
            stated = dialect.get("capacity", {})
            types = {**_complete(base.get("types", {})), **_complete(stated.get("types", {}))}
            dialect["capacity"] = {**base, **stated, "types": types}
            outputs = stated.get("outputs")
            if outputs is not None:
                dialect["capacity"]["outputs"] = {**outputs, "types": _complete(outputs["types"])}
    try:
        return FormatTables.model_validate(raw)
    except ValidationError as error:
        message = f"droidgate_mappings/tables/formats/{format_id}.toml: {error}"
        raise ValueError(message) from error


def _complete(rows: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return how kinds of types are written: where nothing else is stated, as themselves.

    Args:
        rows: What is stated, by kind; `*` is what all kinds have that do not state it.
    """
    usual = rows.get("*", {})
    kinds = TYPE_KINDS if "*" in rows else rows
    return {kind: {"written_as": kind, **usual, **rows.get(kind, {})} for kind in kinds}


@cache
def find_format_tables(format_id: str) -> FormatTables | None:
    """Return a format's tables, None where it has none here."""
    if not files("droidgate_mappings.tables").joinpath(f"formats/{format_id}.toml").is_file():
        return None
    return load_format_tables(format_id)


def find_binding(format_id: str) -> BindingPermissions | None:
    """Return the permissions of a format whose components only Android binds, None of every other format."""
    tables = find_format_tables(format_id)
    return None if tables is None else tables.binding


@cache
def load_divergences() -> dict[str, DivergenceRow]:
    """Return the divergence registry by id: the rows of `divergences/*.toml`, files in order of name.

    Raises:
        ValueError: a row does not fit the schema.
    """
    rows: dict[str, DivergenceRow] = {}
    folder = files("droidgate_mappings.tables").joinpath("divergences")
    for file in sorted(folder.iterdir(), key=lambda path: path.name):
        if not file.name.endswith(".toml"):
            continue
        for raw in tomllib.loads(file.read_text(encoding="utf-8"))["divergence"]:
            row = DivergenceRow.model_validate({**raw, "format": file.name.removesuffix(".toml")})
            rows[row.id] = row
    return rows
