"""AppFunctions as data: each release's indexer, the schemas, the error codes and the shell's texts."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, Literal

from pydantic import Field

from droidgate_mappings.model.types import Frozen
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.loading import load_table, read_table_file

PropertyKind = Literal["string", "long", "boolean", "document"]
Cardinality = Literal["repeated", "optional", "required"]
FileRole = Literal["v1", "v2"]

KnownSchema = Literal["android", "scoped", "jetpack", "platform"]

CARDINALITIES: Final[Mapping[int, Cardinality]] = {1: "repeated", 2: "optional", 3: "required"}
"""AppSearch's numbers for how many values a property has."""

SCHEMA_KINDS: Final[Mapping[str, PropertyKind]] = {
    "xs:string": "string",
    "xs:long": "long",
    "xs:int": "long",
    "xs:boolean": "boolean",
}
"""The type words of an app's schema."""


class IndexerLimits(Frozen):
    """The indexer's limits (reference appfunctions 3.1).

    Attributes:
        documents_per_file: Functions and components kept of one file; reading stops there.
        schema_types: Document types of one schema; more, and the schema is rejected.
        document_bytes: Size of one document in AppSearch.
    """

    documents_per_file: int = Field(gt=0)
    schema_types: int = Field(gt=0)
    document_bytes: int = Field(gt=0)


class Release(Frozen):
    """How one release indexes; `releases.toml` says what each word means."""

    id: str
    title: str
    sdk: str
    linted: bool
    services: Literal["last", "all"]
    needs_permission: bool
    application_level: bool
    choice: Literal["schema", "v2-first"]
    fixed_parser: bool
    resources: frozenset[FileRole]
    unknown_tag: Literal["enter", "reject", "skip"]
    id_tags: tuple[str, ...]
    function_id: Literal["property", "id"]
    key: Literal["id", "functionId"]
    enabled_when_missing: bool
    scoped: bool


class FixedTag(Frozen):
    """One tag of v1's fixed parser: the property it fills, and how its text is read."""

    property: str
    kind: Literal["string", "long", "int", "boolean"]


class IndexingNames(Frozen):
    """Names of the manifest and of the indexer's documents."""

    service_action: str
    bind_permission: str
    v1: str
    v2: str
    schema_: str = Field(alias="schema")
    app_metadata: str
    function_type: str
    function_alias: str
    component_type: str
    metadata_root: str
    jetpack_schema_file: str
    application_service: str
    application_qualified_id: str


class IndexingTables(Frozen):
    """Everything in `releases.toml`."""

    current: str
    limits: IndexerLimits
    releases: tuple[Release, ...]
    names: IndexingNames
    fixed_tags: dict[str, FixedTag]

    def release(self, release_id: str) -> Release:
        """Return a release.

        Raises:
            KeyError: there is none of that id.
        """
        for release in self.releases:
            if release.id == release_id:
                return release
        raise KeyError(release_id)

    def of_sdk(self, sdk: str) -> tuple[Release, ...]:
        """Return the releases of an SDK level such as `36.1`, oldest first; for a newer level, the newest."""
        sdk_releases = tuple(release for release in self.releases if release.sdk == sdk)
        newest = self.releases[-1]
        is_newer = tuple(map(int, sdk.split("."))) > tuple(map(int, newest.sdk.split(".")))
        return sdk_releases or ((newest,) if is_newer else ())

    def linted(self) -> tuple[Release, ...]:
        """Return the releases that lint speaks about, oldest first."""
        return tuple(release for release in self.releases if release.linted)


@dataclass(frozen=True, slots=True)
class SchemaProperty:
    """One property of a schema type; `document_type` names the type of a nested document."""

    kind: PropertyKind
    cardinality: Cardinality = "optional"
    document_type: str | None = None


SchemaTypes = Mapping[str, Mapping[str, SchemaProperty]]
"""The types of a schema: type -> property -> what it holds."""


class ErrorCode(Frozen):
    """One error code and its constant's name."""

    code: int
    name: str


class ErrorCodes(Frozen):
    """The error codes."""

    codes: tuple[ErrorCode, ...]


class ShellFailure(Frozen):
    """A text that the shell prints instead of a result.

    Attributes:
        pattern: Searched in the output, with multi-line anchors; a group `code` is an error code.
        token: The failure token, where no code says another.
        code: The error code that the text means, or None.
    """

    pattern: str
    token: str
    code: int | None = None


class ShellTexts(Frozen):
    """The shell's texts: notices that change nothing, and failures in the order in which they are tried."""

    notices: tuple[str, ...]
    failures: tuple[ShellFailure, ...]


@cache
def load_indexing() -> IndexingTables:
    """Return what each release's indexer does.

    Raises:
        ValueError: the TOML does not fit the schema.
    """
    return load_table("app_functions/releases.toml", IndexingTables)


@cache
def load_error_codes() -> dict[int, ErrorCode]:
    """Return the error codes by number.

    Raises:
        ValueError: the TOML does not fit the schema.
    """
    return {code.code: code for code in load_table("app_functions/error_codes.toml", ErrorCodes).codes}


@cache
def load_shell_texts() -> ShellTexts:
    """Return the shell's texts.

    Raises:
        ValueError: the TOML does not fit the schema.
    """
    return load_table("app_functions/shell_texts.toml", ShellTexts)


@cache
def load_schema_types(name: KnownSchema) -> dict[str, dict[str, SchemaProperty]]:
    """Return the types of a known schema.

    Args:
        name: `android` is what Android itself declares, `scoped` what release 17 adds to that; `jetpack` is
            what the newest androidx.appfunctions ships, `platform` what a hand-written app of the article's
            style does.
    """
    file = "schemas" if name in {"android", "scoped"} else "written_schemas"
    raw: dict[str, dict[str, dict[str, Any]]] = read_table_file(f"app_functions/{file}.toml")[name]
    return {
        type_name: {key: _read_property(attributes) for key, attributes in properties.items()}
        for type_name, properties in raw.items()
    }


def _read_property(attributes: Mapping[str, Any]) -> SchemaProperty:
    cardinality = CARDINALITIES[attributes.get("cardinality", 2)]
    word = attributes["type"]
    if word in SCHEMA_KINDS:
        return SchemaProperty(SCHEMA_KINDS[word], cardinality)
    return SchemaProperty("document", cardinality, word.partition(":")[2])
