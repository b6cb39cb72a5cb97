"""The rows of a catalog: what a scan finds in each file, typed, in a fixed order (docs/reference/catalog.md).

A row holds no time and no place of the machine. Except in `sources` it depends only on the content that was
read, and is kept under the digest of that content, its unit. So two equal files have one set of rows, and a
scan gives the same rows wherever, however often and with however many workers it runs. The JSON texts in
columns are read strictly, since a catalog may come from somebody else.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING
from types import UnionType
from typing import Any, Final, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from pydantic import ValidationError

from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import Frozen
from droidgate_mappings.records import dataclass, field, fields
from droidgate_mappings.text.json_text import WRITTEN, parse_json
from droidgate_mappings.text.shown_paths import join_shown

_LINE: Final = re.compile(r"(.*):([1-9][0-9]{0,8})", re.DOTALL)


def place_in(source: str, kind: str, place: str) -> Place:
    """Return the place of a row.

    Args:
        source: The source, as a user would write it; that of code is its folder with a pattern.
        kind: The source's kind.
        place: The file inside the source, with the line; a descriptor has no files in it.
    """
    match = _LINE.fullmatch(place)
    inner, line = (place, None) if match is None else (match[1], int(match[2]))
    if kind == "descriptor" or not inner:
        return Place(path=source, line=line)
    if kind == "code":
        return Place(path=join_shown(posixpath.dirname(source), inner), line=line)
    if kind == "module":
        return Place(path=posixpath.normpath(f"{source}/{inner}"), line=line)
    return Place(path=f"{source.rstrip('/')}!/{inner}", line=line)


Part = TypeVar("Part", bound=Frozen)

_SCAN_AGAIN = "scan the apps again into a new folder"


def read_part(kind: type[Part], text: str) -> Part:
    """Return the part of the model that a column holds, such as a `Provider`.

    Raises:
        InputError: the column holds something else.
    """
    try:
        return kind.model_validate(read_json_column(text))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = "/".join(map(str, first["loc"]))
        message = f"a row of the catalog does not hold a {kind.__name__}: {first['msg']} (at {where})"
        raise InputError(message, hint=_SCAN_AGAIN) from None


def read_json_column(text: str) -> dict[str, Json]:
    """Return the JSON object that a column holds.

    Raises:
        InputError: the column holds something else.
    """
    value = parse_json(text, path="a row of the catalog", limits=WRITTEN)
    if not isinstance(value, dict):
        raise InputError("a row of the catalog does not hold a JSON object", hint=_SCAN_AGAIN)
    return value


SCHEMA_VERSION: Final = 5
"""Rises when a reader of an older catalog would break."""

LEFT_OUT: Final = "left-out"
"""The outcome for a shim, or another app of droidgate itself, that was not asked for."""

OWN_APP: Final = "it is a shim or another app of droidgate itself; --include-shims includes it"
"""The reason for that."""

_SQL_TYPES: Final = {str: "VARCHAR", int: "BIGINT", bool: "BOOLEAN"}


_VARIANTS: Final = (
    "Source sets of flavours and build types that alone have it; empty where the default variant has it"
)


def column(meaning: str, *, default: Any = MISSING) -> Any:
    """Return a field of a row with what it means, one sentence without a period."""
    return field(metadata={"meaning": meaning}, default=default)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """A file, module or installed app that was looked at, whatever the outcome."""

    source: str = column("Where it was found, as the user would write it; of an absolute path the last part")
    kind: str = column(
        "`apk`, `descriptor`, `module`, `code` (source code of a folder outside of its modules) or "
        "`installed`; `unknown` where it was not opened"
    )
    digest: str | None = column(
        "SHA-256 by which the content is known again: of a signed APK its size and end, else of everything; "
        "null where it was not read"
    )
    size: int | None = column("Bytes")
    unit: str | None = column("The unit of its rows, null where it has none")
    outcome: str = column(
        "`read`, `part` (a split, read with its base), `left-out` (an app of droidgate itself, such as a "
        "shim), `no-descriptor`, `unreadable`, `too-slow`, `too-much-memory`, "
        "`crashed`, or `out-of-time` (not read before the end of the scan)"
    )
    reason: str | None = column("Why it is not `read`")


@dataclass(frozen=True, slots=True, kw_only=True)
class AppRow:
    """An application: an APK with its splits, a module with its source sets, an installed app."""

    unit: str = column("The unit")
    app: int = column("Position in the unit, from 0")
    package: str | None = column("Application id")
    version_code: int | None = column("`android:versionCode` with its major half")
    version_name: str | None = column("`android:versionName`; known from an APK")
    label: str | None = column("The application's label in the default language")
    description: str | None = column("The application's description")
    minimum_sdk: int | None = column("`android:minSdkVersion`")
    target_sdk: int | None = column("`android:targetSdkVersion`")
    signers: tuple[str, ...] = column("SHA-256 of each signing certificate")
    signers_verified: bool | None = column(
        "The signature was verified and is right, false where it is not or cannot be verified; null where it "
        "was not checked: the app declares nothing, has no signature, or a phone checked it at installation",
        default=None,
    )
    enabled: bool | None = column(
        "`android:enabled` of the application: where it is false, no component of it runs until somebody "
        "enables it; of an installed app whether it is enabled for the user in front, null where the phone "
        "does not say"
    )
    has_launcher: bool = column("It has an enabled activity that launchers show")
    components: int = column("How many components it has")
    sdk: int | None = column("API level of the phone that has it; null without a phone", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRow:
    """What one component, or one descriptor, declares in one protocol."""

    unit: str = column("The unit")
    provider: int = column("Position in the unit, from 0")
    app: int | None = column("The application, null for a descriptor without an app")
    protocol: str = column("Id of the format")
    dialect: str | None = column("The written form")
    package: str | None = column("Application id")
    component: str | None = column("Class of the component as it is declared")
    component_kind: str | None = column("`activity`, `service`, `receiver`, `provider` or `application`")
    exported: bool | None = column("Other apps may address the component; null without a manifest")
    enabled: bool | None = column("`android:enabled` in one configuration at least; null without a manifest")
    enabled_in: str | None = column(
        "The resource qualifiers in which the component is enabled; null where it is enabled in all"
    )
    permission: str | None = column(
        "What a caller has to hold: `android:permission`, else that of the application"
    )
    protection: str | None = column(
        "Who can hold it: every app (`normal`), every app that the user grants it (`dangerous`), no ordinary "
        "app (`signature`), or `unknown`; null without a permission"
    )
    actions: tuple[str, ...] = column("Actions of its intent filters, sorted")
    name: str | None = column("Human-readable name")
    description: str | None = column("What it offers")
    instructions: str | None = column("How models should use it")
    capabilities: int = column("How many it declares")
    digest: str = column("Digest of the declaration, as `inspect --json` prints it")
    declaration: str = column("The provider in the capability model as JSON, without places and state")
    place: str | None = column("File inside the unit, with the line")
    variants: tuple[str, ...] = column(_VARIANTS, default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityRow:
    """One callable."""

    unit: str = column("The unit")
    provider: int = column("The provider")
    capability: int = column("Position in the provider, from 0")
    protocol: str = column("Id of the format")
    dialect: str | None = column("The written form")
    package: str | None = column("Application id")
    id: str = column("The name that it is called by")
    title: str | None = column("Human-readable name")
    description: str | None = column("What it does")
    version: str | None = column("Its own version")
    parameters: str = column("Shape of what a call takes, such as `text:string, count?:int32`")
    output: str | None = column("Shape of what a call returns, null where nothing is declared")
    parameter_count: int = column("Parameters, those inside of objects too")
    required_count: int = column("Required parameters")
    undescribed_count: int = column("Parameters without a description")
    untyped_count: int = column("Parameters of which nothing says what they are")
    read_only: bool | None = column("It changes nothing, as far as it says")
    destructive: bool | None = column("It may destroy, as far as it says")
    idempotent: bool | None = column("Repeating it changes nothing more, as far as it says")
    open_world: bool | None = column("It deals with the world outside the app, as far as it says")
    enabled: bool | None = column("Whether a phone says that it can be called now, else null")
    access: str = column("Its own access rules that are not the default, a JSON object")
    flags: str = column("Further facts of its own format, a JSON object")
    tool_bytes: int | None = column(
        "UTF-8 bytes of its entry in MCP's `tools/list` as canonical JSON, without `_meta`"
    )
    token_estimate: int | None = column("An estimate: those bytes divided by four, rounded up")
    digest: str = column("Digest of the capability's declaration")
    pin: str | None = column(
        "What an approval by user 0 would be remembered by; null without a signer, or where the signature is "
        "not right"
    )
    place: str | None = column("File inside the unit, with the line")
    variants: tuple[str, ...] = column(_VARIANTS, default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionRow:
    """What it costs to write one capability in one dialect, by its own writer; made when it is asked for."""

    unit: str = column("The unit")
    provider: int = column("The provider")
    capability: int = column("The capability")
    target: str = column("`FORMAT+DIALECT`")
    level: str = column("The gravest finding on the capability and what it refers to; `exact` without one")
    provider_level: str = column("The gravest finding on the provider's own fields; `exact` without one")
    read: int = column("Findings of level `read` on the capability")
    renamed: int = column("Findings of level `renamed`")
    moved: int = column("Findings of level `moved`")
    defaulted: int = column("Findings of level `defaulted`")
    widened: int = column("Findings of level `widened`")
    narrowed: int = column("Findings of level `narrowed`")
    dropped: int = column("Findings of level `dropped`")
    impossible: int = column("Findings of level `impossible`")
    security: int = column(
        "Findings of level `security`: access rules of the capability and its provider that nothing enforces"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """What a reader accepted beyond the specification, what a linter reports, what looks unsafe."""

    unit: str = column("The unit")
    finding: int = column("Position in the unit, from 0")
    origin: str = column("`reading`, `lint` or `security`")
    provider: int | None = column("The provider, where the finding is on one")
    capability: int | None = column("The capability, where the finding is on one")
    code: str = column("Its stable code (docs/reference/findings.md)")
    level: str = column("How grave")
    pointer: str = column("Where: JSON Pointer or XPath")
    message: str = column("One sentence")
    hint: str | None = column("The fix")
    rule: str | None = column("The rule or the row of the divergence registry behind it")
    releases: tuple[str, ...] = column(
        "Ids of the Android releases that it is true of, oldest first; empty where it depends on none"
    )
    place: str | None = column("File inside the unit, with the line")
    variants: tuple[str, ...] = column(_VARIANTS, default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemRow:
    """A part of a unit that could not be read; the rest was."""

    unit: str = column("The unit")
    problem: int = column("Position in the unit, from 0")
    message: str = column("One sentence")
    hint: str | None = column("The fix")
    place: str | None = column("File inside the unit, with the line")


Row: TypeAlias = SourceRow | AppRow | ProviderRow | CapabilityRow | ConversionRow | FindingRow | ProblemRow


@dataclass(frozen=True, slots=True)
class CatalogColumn:
    """A column: its name, DuckDB's type, whether it may be null, and what it means."""

    name: str
    type: str
    nullable: bool
    meaning: str


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table of a catalog.

    Attributes:
        name: Its name.
        row: The class of its rows.
        key: The columns that identify its rows; it is sorted by them.
    """

    name: str
    row: type[Row]
    key: tuple[str, ...]

    @property
    def meaning(self) -> str:
        """What a row is, one sentence."""
        return (self.row.__doc__ or "").partition("\n")[0]

    @property
    def columns(self) -> tuple[CatalogColumn, ...]:
        """Its columns, in order."""
        return tuple(_columns_of(self.row))


TABLES: Final[Mapping[str, CatalogTable]] = {
    item.name: item
    for item in (
        CatalogTable("sources", SourceRow, ("source",)),
        CatalogTable("apps", AppRow, ("unit", "app")),
        CatalogTable("providers", ProviderRow, ("unit", "provider")),
        CatalogTable("capabilities", CapabilityRow, ("unit", "provider", "capability")),
        CatalogTable("conversions", ConversionRow, ("unit", "provider", "capability", "target")),
        CatalogTable("findings", FindingRow, ("unit", "finding")),
        CatalogTable("problems", ProblemRow, ("unit", "problem")),
    )
}
"""Every table by name."""


def _columns_of(row: type[Row]) -> Iterator[CatalogColumn]:
    hints = get_type_hints(row)
    for member in fields(row):
        hint = hints[member.name]
        nullable = isinstance(hint, UnionType)
        base = next(part for part in get_args(hint) if part is not type(None)) if nullable else hint
        sql = "VARCHAR[]" if get_origin(base) is tuple else _SQL_TYPES[base]
        yield CatalogColumn(member.name, sql, nullable, member.metadata["meaning"])
