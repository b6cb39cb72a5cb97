"""The indexer's two parsers of one document file, by release (reference appfunctions 2.a, 2.b, 3.2).

`index_text` is what AOSP's AppFunctionDocumentParserImpl does: with a schema `parseIntoMapForGivenSchemas`,
without one `parseIntoMap`. What AppSearch itself then refuses (a document's size, a property's number of
values) is left out too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from droidgate_android.app_search.events import Event, IndexerError, PullParser
from droidgate_android.app_search.indexer_reports import Ignored, IgnoredKind, IndexedDocument, Properties
from droidgate_android.app_search.schemas import AppSearchSchema
from droidgate_android.projects.indexed_text import (
    java_trim,
    parse_boolean,
    parse_integer,
    to_lower_camel_case,
)
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.app_functions import (
    IndexerLimits,
    Release,
    SchemaProperty,
    SchemaTypes,
    load_indexing,
    load_schema_types,
)

_LONG_BITS = 64
_INT_BITS = 32


@dataclass(frozen=True, slots=True)
class FileSetting:
    """What the indexer knows when it opens a file.

    Attributes:
        release: Whose rules.
        package: The app.
        path: How places name the file.
        service: Class name of the service, `@null` for a file of the application, None where nothing is
            known.
        limits: The limits in force.
    """

    release: Release
    package: str
    path: str
    service: str | None
    limits: IndexerLimits

    def place(self, line: int | None) -> Place:
        """Return the place of a line of the file."""
        return Place(path=self.path, line=line)

    @property
    def of_application(self) -> bool:
        """The file belongs to the application, not to a service."""
        return self.service == load_indexing().names.application_service


@dataclass(slots=True)
class FileOutcome:
    """The documents of one file by key, in the file's order, and what was read over."""

    documents: dict[str, IndexedDocument] = field(default_factory=dict)
    ignored: list[Ignored] = field(default_factory=list)

    def keep(self, document: IndexedDocument, release: Release) -> None:
        """Put a document in, over one of the same key."""
        key = document.id if release.key == "id" else document.function_id or ""
        earlier = self.documents.pop(key, None)
        if earlier is not None:
            message = f"another document of the app with the id {key!r} comes later and takes its place"
            self.ignored.append(Ignored(_kind_of(earlier), key, "overwritten", message, earlier.place))
        self.documents[key] = document


def _kind_of(document: IndexedDocument) -> IgnoredKind:
    return "function" if document.is_function else "document"


def index_text(
    text: str | Sequence[Event], schema: AppSearchSchema | None, setting: FileSetting
) -> FileOutcome:
    """Read one file.

    Args:
        text: The file's text, or its steps.
        schema: The schema in force; None for the parser of v1's fixed tags.
        setting: Release, app and file.

    Raises:
        IndexerError: the whole file yields nothing.
    """
    parser = PullParser(text)
    types: SchemaTypes = schema.types if schema is not None else {}
    outcome = FileOutcome()
    while parser.event.type != "end-document":
        type_name = _document_type(parser.event, types)
        if type_name is not None:
            if len(outcome.documents) >= setting.limits.documents_per_file:
                outcome.ignored.append(_beyond_limit(parser, types, setting))
                break
            if schema is None:
                document = _read_fixed(parser, setting)
            else:
                document = _DynamicReader(parser, types, setting, outcome.ignored).read(type_name)
            outcome.keep(document, setting.release)
        parser.next()
    _refuse(outcome, types or load_schema_types("android"), setting.limits)
    return outcome


def _document_type(event: Event, types: SchemaTypes) -> str | None:
    names = load_indexing().names
    if event.type != "start":
        return None
    if event.name == names.function_alias:
        return names.function_type
    return event.name if event.name in types else None


def _beyond_limit(parser: PullParser, types: SchemaTypes, setting: FileSetting) -> Ignored:
    first, count = parser.event, 0
    while parser.event.type != "end-document":
        if _document_type(parser.event, types) is not None:
            count += 1
            parser.skip_element()
        parser.next()
    limit = setting.limits.documents_per_file
    message = f"the file has {count} more than the {limit} functions and components that are kept of one file"
    return Ignored("document", first.name, "over-limit", message, setting.place(first.line))


def _refuse(outcome: FileOutcome, types: SchemaTypes, limits: IndexerLimits) -> None:
    for key, document in list(outcome.documents.items()):
        properties: Json = document.properties
        reason, message = "bad-count", _find_bad_count(properties, document.type, types)
        if message is None and _count_bytes(properties) > limits.document_bytes:
            reason, message = "too-large", f"the document has more than {limits.document_bytes} bytes"
        if message is not None:
            del outcome.documents[key]
            outcome.ignored.append(Ignored(_kind_of(document), document.id, reason, message, document.place))


def _find_bad_count(properties: Mapping[str, list[Json]], type_name: str, types: SchemaTypes) -> str | None:
    for name, property_ in types.get(type_name, {}).items():
        values = properties.get(name, [])
        if property_.cardinality == "required" and not values:
            return f"{type_name} has no {name}"
        if property_.cardinality != "repeated" and len(values) > 1:
            return f"{type_name} has {len(values)} values of {name}, and the schema allows one"
        for value in values:
            if property_.document_type is not None and isinstance(value, dict):
                inner = _find_bad_count(value, property_.document_type, types)
                if inner is not None:
                    return inner
    return None


def _count_bytes(value: Json) -> int:
    if isinstance(value, dict):
        return sum(len(key) + _count_bytes(item) for key, item in value.items())
    if isinstance(value, list):
        return sum(map(_count_bytes, value))
    return len(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else 8


def _base_properties(setting: FileSetting) -> Properties:
    qualified = load_indexing().names.application_qualified_id.format(package=setting.package)
    return {"packageName": [setting.package], "mobileApplicationQualifiedId": [qualified]}


def java_hash(text: str) -> int:
    """Return `String.hashCode` of a text: signed, 32 bits, over UTF-16 units."""
    number = 0
    data = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(data[::2], data[1::2], strict=True):
        number = (31 * number + (high << 8 | low)) & 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number


def _read_fixed(parser: PullParser, setting: FileSetting) -> IndexedDocument:
    """Read an `<appfunction>` with the fixed tags; the parser is at its start, and then at its end."""
    names, tags = load_indexing().names, load_indexing().fixed_tags
    start = parser.event
    properties: Properties = {**_base_properties(setting), "enabledByDefault": [True]}
    while not (parser.event.type == "end" and parser.event.name == names.function_alias):
        event = parser.event
        if event.type == "start" and event.name in tags:
            tag = tags[event.name]
            text = java_trim(parser.next_text())
            properties[tag.property] = [_read_value(text, tag.kind, event)]
        parser.next()
    values = properties.get("functionId")
    if values is None:
        message = "an <appfunction> has no <function_id>"
        raise IndexerError("missing-id", message, line=start.line, name=names.function_type)
    return IndexedDocument(
        id=str(values[0]),
        type=names.function_type,
        properties=properties,
        enabled=bool(properties["enabledByDefault"][0]),
        place=setting.place(start.line),
    )


def _read_value(text: str, kind: str, event: Event) -> Json:
    if kind == "boolean":
        return parse_boolean(text)
    if kind == "string":
        return text
    bits = _INT_BITS if kind == "int" else _LONG_BITS
    number = parse_integer(text, bits)
    if number is None:
        message = f"<{event.name}> holds {text[:40]!r}, which is not a whole number of {bits} bits"
        raise IndexerError("bad-number", message, line=event.line, name=event.name)
    return number


@dataclass(slots=True)
class _Document:
    """A document or nested document while it is read."""

    type_name: str
    start: Event
    id: str | None = None
    values: dict[str, list[tuple[str, Event]]] = field(default_factory=dict)
    nested: dict[str, list[Json]] = field(default_factory=dict)


class _DynamicReader:
    def __init__(
        self, parser: PullParser, types: SchemaTypes, setting: FileSetting, ignored: list[Ignored]
    ) -> None:
        self._parser = parser
        self._types = types
        self._setting = setting
        self._release = setting.release
        self._ignored = ignored

    def read(self, type_name: str) -> IndexedDocument:
        """Read the document whose start is current; the parser is at its end afterwards."""
        read = self._read_element(type_name)
        function_type = load_indexing().names.function_type
        properties = _base_properties(self._setting)
        is_function = type_name == function_type
        if is_function:
            self._check_reserved(read)
            properties |= self._function_properties()
        properties |= self._properties_of(read)
        document_id = read.id if read.id is not None else str(properties.get("functionId", [""])[0])
        if is_function and self._release.function_id == "id":
            properties["functionId"] = [document_id]
        if is_function:
            self._check_scope(properties, read.start)
        enabled = properties.get("enabledByDefault", [self._release.enabled_when_missing])
        return IndexedDocument(
            id=document_id,
            type=type_name,
            properties=properties,
            enabled=bool(enabled[0]) if is_function else None,
            place=self._setting.place(read.start.line),
        )

    def _read_element(self, type_name: str) -> _Document:
        read = _Document(type_name, self._parser.event)
        properties = self._types[type_name]
        self._parser.next()
        while self._parser.event.type != "end-document":
            event = self._parser.event
            if event.type == "start":
                self._take_tag(event, read, properties)
            # Android compares names, not depths: where unknown tags are entered, an inner tag of the same
            # name ends it.
            elif event.type == "end" and event.name == read.start.name:
                self._require_id(read)
                return read
            self._parser.next()
        message = f"<{read.start.name}> does not end"
        raise IndexerError("malformed-xml", message, line=read.start.line, name=read.start.name)

    def _take_tag(self, event: Event, read: _Document, properties: Mapping[str, SchemaProperty]) -> None:
        name = to_lower_camel_case(event.name)
        property_ = properties.get(name)
        id_first = self._release.function_id == "id"
        if id_first and name in self._release.id_tags:
            self._take_id(read)
        elif property_ is not None and property_.document_type is not None:
            nested = self._read_element(property_.document_type)
            read.nested.setdefault(name, []).append(self._properties_of(nested))
        elif property_ is not None:
            read.values.setdefault(name, []).append((java_trim(self._parser.next_text()), event))
        elif event.name in self._release.id_tags:
            self._take_id(read)
        else:
            self._take_unknown(event, read)

    def _take_id(self, read: _Document) -> None:
        text = java_trim(self._parser.next_text())
        if text:
            read.id = text

    def _take_unknown(self, event: Event, read: _Document) -> None:
        message = f"<{event.name}> is not a property of {read.type_name}"
        if self._release.unknown_tag == "reject":
            raise IndexerError("unknown-tag", message, line=event.line, name=event.name)
        place = self._setting.place(event.line)
        self._ignored.append(Ignored("tag", event.name, "unknown-tag", message, place))
        if self._release.unknown_tag == "skip":
            self._parser.skip_element()

    def _require_id(self, read: _Document) -> None:
        if read.id is None and self._release.id_tags:
            tag = read.start.name
            message = f"<{tag}> has no <id> with text"
            raise IndexerError("missing-id", message, line=read.start.line, name=read.type_name)

    def _properties_of(self, read: _Document) -> Properties:
        kinds = self._types[read.type_name]
        properties: Properties = {
            name: [_read_value(text, kinds[name].kind, event) for text, event in values]
            for name, values in read.values.items()
        }
        return {**properties, **read.nested}

    def _check_reserved(self, read: _Document) -> None:
        if not self._release.scoped:
            return
        for name in ("serviceName", "packageNameHash"):
            if name in read.values:
                line = read.values[name][0][1].line
                message = f"the file sets {name}, which only the indexer may set"
                raise IndexerError("reserved-property", message, line=line, name=name)

    def _function_properties(self) -> Properties:
        if not self._release.scoped:
            return {}
        properties: Properties = {
            "packageNameHash": [java_hash(self._setting.package)],
            "enabledByDefault": [not self._setting.of_application],
        }
        if self._setting.service is not None:
            properties["serviceName"] = [self._setting.service]
        if not self._setting.of_application:
            properties["scope"] = ["global"]
        return properties

    def _check_scope(self, properties: Properties, start: Event) -> None:
        if not self._release.scoped:
            return
        scope = str(properties["scope"][0]) if "scope" in properties else None
        allowed = {"global", "activity"} if self._setting.of_application else {"global"}
        if scope not in allowed:
            value = "no <scope>" if scope is None else f"the scope {scope!r}"
            level = "the application's" if self._setting.of_application else "a service's"
            message = f"<{start.name}> has {value}, and {level} functions have {' or '.join(sorted(allowed))}"
            raise IndexerError("bad-scope", message, line=start.line, name=scope)
        if self._setting.of_application and properties["enabledByDefault"][0]:
            message = f"<{start.name}> is enabled by default, which no function of the application may be"
            raise IndexerError("enabled-application-function", message, line=start.line)
