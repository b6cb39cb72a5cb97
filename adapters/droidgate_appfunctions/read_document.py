"""Reading a functions file: its dialect, its functions, components and data types (reference 2.a to 2.e), and
the tags that the schema in force does not declare (3.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from lxml import etree

from droidgate_android.projects.indexed_text import to_lower_camel_case
from droidgate_android.projects.xml_roots import parse_roots
from droidgate_appfunctions.fields import (
    ElementSource,
    Fields,
    check_noise,
    element_text,
    kept_element,
    local_name,
)
from droidgate_appfunctions.format import (
    APP_LEVEL,
    FORMAT_ID,
    KIND_OF_NUMBER,
    NAMES,
    PLATFORM,
    TABLES,
    UNUSED,
    V1,
    V2,
    V2_LEGACY,
)
from droidgate_appfunctions.pattern_matcher import fact_of_patterns, pattern_of
from droidgate_appfunctions.schema import SearchSchema
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, CapabilityAccess, Place
from droidgate_mappings.model.errors import BudgetError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import (
    SCALAR_KINDS,
    AllOfType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    RefType,
    ScalarType,
    Type,
    as_extensions,
)
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.app_functions import load_indexing
from droidgate_mappings.tables.loading import read_table_file
from droidgate_mappings.text.xml_text import Element, child_elements, decode_xml, xpath_of

MAX_TYPE_DEPTH: Final = 64
"""Types inside types; no compiler writes more than a few levels, and references carry recursion."""

_INT32: Final = range(-(2**31), 2**31)


def read_type(
    element: Element, source: ElementSource, *, depth: int = 0, definition: bool = False, member: bool = False
) -> Type:
    """Read a `dataTypeMetadata`, `itemType`, `valueType`, `allOf` or `oneOf` element.

    Args:
        element: The element.
        source: The file.
        depth: How many types it is in.
        definition: It is a definition of the components, whose `isNullable` is always true and says nothing.
        member: It is a member of an all-of or one-of. Jetpack merges the properties of members, or picks
            one by its class name, and reads the outer type's `isNullable` only (2.c, References and
            components).

    Raises:
        InputError: a value that Android does not read either, such as a number that is not one.
        BudgetError: more than `MAX_TYPE_DEPTH` levels.
    """
    if depth > MAX_TYPE_DEPTH:
        message = f"types are nested more than {MAX_TYPE_DEPTH} levels deep"
        raise BudgetError(message, place=str(source.place(element)))
    fields = Fields(element, source)
    number = fields.integer("type")
    facts: dict[str, Json] = {}
    document_id = fields.document_id()
    if document_id is not None:
        facts["id"] = document_id
    common: dict[str, Any] = {
        "nullable": _read_nullable(fields, facts, definition=definition, member=member),
        "description": fields.text("description"),
    }
    kind = _known_kind(number, fields)
    if kind is None:
        facts["type"] = number
        return OpaqueType(**common, extensions=_all_facts(fields, facts))
    shape = _read_shape(kind, fields, facts, depth)
    extensions = _all_facts(fields, facts)
    if kind in SCALAR_KINDS:
        return ScalarType(kind=kind, **common, **shape, extensions=extensions)  # type: ignore[arg-type]
    read: Type = _CLASSES[kind](**common, **shape, extensions=extensions)
    return read


def _known_kind(number: int | None, fields: Fields) -> str | None:
    """Return the kind of a type number; None, with a finding, where it is not known."""
    if number is None:
        message = "a data type without <type>; it is kept as a value of no known class"
        hint = "write its number in <type>; Android leaves out the function, or the components, that hold it"
        fields.source.allow("A31", message, fields.element, hint)
        return None
    kind = KIND_OF_NUMBER.get(number)
    if kind is None:
        message = f"type {number} is unknown; it is kept as a value of no known class"
        fields.source.allow("A08", message, fields.element)
    elif kind == "ref" and not any(element_text(item).strip() for item in fields.peek("dataTypeReference")):
        message = "a reference without <dataTypeReference>; it is kept as a value of no known class"
        fields.source.allow("A31", message, fields.element, "name a data type of the components")
        return None
    return kind


_CLASSES: Final[Mapping[str, Any]] = {
    "array": ArrayType,
    "object": ObjectType,
    "ref": RefType,
    "all-of": AllOfType,
    "one-of": OneOfType,
    "opaque": OpaqueType,
}


def _all_facts(fields: Fields, facts: dict[str, Json]) -> dict[str, dict[str, Json]]:
    unread_elements = fields.rest()
    if unread_elements:
        facts["typeElements"] = unread_elements
    return as_extensions(FORMAT_ID, facts)


def _read_nullable(fields: Fields, facts: dict[str, Json], *, definition: bool, member: bool) -> bool:
    stated = fields.flag("isNullable")
    if stated is None or (definition and not stated) or (member and stated):
        facts["isNullable"] = stated
    return bool(stated) and not definition and not member


def _read_shape(kind: str, fields: Fields, facts: dict[str, Json], depth: int) -> dict[str, Any]:
    source = fields.source
    if kind == "string":
        return _read_string(fields, facts)
    if kind == "int32":
        return _read_int_enum(fields)
    if kind == "array":
        items = fields.child("itemType")
        if items is None:
            source.allow("A10", "a list without an item type", fields.element)
            return {}
        return {"items": read_type(items, source, depth=depth + 1)}
    if kind == "object":
        return _read_object(fields, facts, depth)
    if kind == "ref":
        return {"name": fields.word("dataTypeReference")}
    if kind == "all-of":
        members = tuple(
            read_type(item, source, depth=depth + 1, member=True) for item in fields.many("allOf")
        )
        return {"members": members, "qualified_name": fields.text("objectQualifiedName")}
    if kind == "one-of":
        name = fields.text("objectQualifiedName")
        if name is None:
            source.allow("A11", "a one-of without <objectQualifiedName>", fields.element)
        elements = fields.many("oneOf")
        alternatives = tuple(read_type(element, source, depth=depth + 1, member=True) for element in elements)
        return {"alternatives": alternatives, "qualified_name": name}
    if kind == "opaque":
        return {"class_name": fields.text("objectQualifiedName")}
    return {}


def _read_string(fields: Fields, facts: dict[str, Json]) -> dict[str, Any]:
    shape: dict[str, Any] = {}
    if fields.has("enumValues"):
        shape["enum"] = tuple(fields.words("enumValues"))
    for name in ("pattern", "format"):
        # An empty one constrains nothing and is left to `rest`.
        if any(element_text(item).strip() for item in fields.peek(name)):
            shape[name] = fields.word(name)
    if fields.has("patterns"):
        patterns = [_read_pattern(item, fields.source) for item in fields.many("patterns")]
        shape.setdefault("pattern", pattern_of(patterns))
        facts[fact_of_patterns(patterns, shape["pattern"])] = patterns
    return shape


def _read_pattern(element: Element, source: ElementSource) -> Json:
    fields = Fields(element, source)
    pattern: dict[str, Json] = {}
    document_id = fields.document_id()
    if document_id is not None:
        pattern["id"] = document_id
    value, number = fields.text("value"), fields.integer("type")
    if value is not None:
        pattern["value"] = value
    if number is not None:
        pattern["type"] = number
    unread_elements = fields.rest()
    if unread_elements:
        pattern["elements"] = unread_elements
    return pattern


def _read_int_enum(fields: Fields) -> dict[str, Any]:
    words = [element_text(item).strip() for item in fields.peek("enumValues")]
    if not words:
        return {}
    if all(map(_is_plain_integer, words)):
        return {"enum": tuple(int(word) for word in fields.words("enumValues"))}
    fields.source.allow(
        "A23", "enum values that are not 32-bit integers; Jetpack drops the function for them", fields.element
    )
    return {}


def _is_plain_integer(word: str) -> bool:
    digits = word.removeprefix("-")
    small = digits.isascii() and digits.isdigit() and len(digits) < 11  # noqa: PLR2004 - digits of 2**31
    return small and int(word) in _INT32 and str(int(word)) == word


def _read_object(fields: Fields, facts: dict[str, Json], depth: int) -> dict[str, Any]:
    properties: dict[str, Property] = {}
    required = fields.words("required")
    for name, element, inner in read_entries(fields, "properties"):
        facts_of_part = part_facts(inner)
        type_ = read_type(element, fields.source, depth=depth + 1)
        facts_of_part.update(left_of_part(inner))
        properties[name] = Property(
            type=type_, required=name in required, extensions=as_extensions(FORMAT_ID, facts_of_part)
        )
    if required != [name for name in properties if properties[name].required]:
        facts["requiredOrder" if properties.keys() >= set(required) else "required"] = required
    return {"properties": properties, "qualified_name": fields.text("objectQualifiedName")}


def read_entries(fields: Fields, tag: str) -> Iterator[tuple[str, Element, Fields]]:
    """Take the children of a tag that have a name and a type: parameters, properties or data types.

    Yields:
        The name, the `<dataTypeMetadata>`, and what else the entry says. An entry without one of the two is
        left to `rest` (row A32).
    """
    source = fields.source
    names: set[str] = set()
    for element in fields.many(tag):
        inner = Fields(element, source)
        name, data_type = inner.word("name"), inner.child("dataTypeMetadata")
        if not name or data_type is None:
            missing = "<name>" if not name else "<dataTypeMetadata>"
            message = f"<{tag}> without {missing}; it is kept as written, and no part of the signature"
            source.allow("A32", message, element, f"give it a {missing}")
            fields.leave(tag, element)
            continue
        if name in names:
            message = f"duplicate name {name!r} of <{tag}>; only the last one is read"
            source.allow("A12", message, element, lost=True)
        names.add(name)
        yield name, data_type, inner


def part_facts(fields: Fields) -> dict[str, Json]:
    """Take the document id of a parameter or property as a fact of it."""
    document_id = fields.document_id()
    return {} if document_id is None else {"id": document_id}


def left_of_part(fields: Fields) -> dict[str, Json]:
    """Return the unknown elements of a parameter or property as a fact of it."""
    unread_elements = fields.rest()
    return {"partElements": unread_elements} if unread_elements else {}


UNREAD_TAG: Final = finding_code(
    "unread-tag",
    "A tag that Android's parser skips, of a version 1 file or next to the functions; it is kept as written",
    __name__,
)

_ALWAYS_READ: Final = frozenset({"id", "functionId", "scope"})
"""Tags that every document may have; `scope` has rules of its own (rows A14 and A15)."""
_MAX_TAGS: Final = 100

Tag = tuple[str, str]
"""A document type, and a tag of it."""


def report_unknown_tags(
    functions: Iterable[Element],
    components: Iterable[Element],
    source: ElementSource,
    *,
    dialect: str,
    schema: SearchSchema | None = None,
) -> None:
    """Report each tag that the schema in force does not declare, once for each type of document.

    Args:
        functions: The elements of functions.
        components: The elements of components.
        source: The file, and how lenient to be.
        dialect: The dialect of the file; version 1 has fixed tags, and no release refuses another one.
        schema: The app's own schema; without it, every tag that a known schema declares is known.

    Raises:
        InputError: the reading is strict, and a release drops the file for the tag.
    """
    if dialect == V1:
        _report_version_1(functions, source)
        return
    by_tag: dict[Tag, list[Element]] = {}
    pending = [(function, NAMES["function_document"]) for function in functions]
    pending += [(component, NAMES["component_document"]) for component in components]
    declared_types = schema or _known_schemas()
    while pending:
        element, type_name = pending.pop()
        properties = declared_types.get(type_name, {})
        for child in child_elements(element):
            name = to_lower_camel_case(local_name(child))
            stated = properties.get(name)
            if stated is not None:
                word = str(stated["type"])
                if "appfn:" in word:
                    pending.append((child, word.partition(":")[2]))
            elif name not in _ALWAYS_READ:
                by_tag.setdefault((type_name, local_name(child)), []).append(child)
    for message, element in _messages(by_tag, "is not a property of {type} in the schema"):
        hint = "remove it, or declare it in the schema; Android 16 QPR1 and QPR2 drop the whole file for it"
        source.allow("A38", message, element, hint)


def _report_version_1(functions: Iterable[Element], source: ElementSource) -> None:
    tags = load_indexing().fixed_tags.keys() | {"id"}
    by_tag: dict[Tag, list[Element]] = {}
    for function in functions:
        for child in child_elements(function):
            tag = local_name(child)
            if tag not in tags:
                by_tag.setdefault((NAMES["function"], tag), []).append(child)
    for message, element in _messages(by_tag, "is not a tag of version 1, so Android does not read it"):
        if any(local_name(inner) in tags for inner in element.iter(etree.Element)):
            message += "; Android 16 reads the tags of version 1 inside it as the function's own"  # noqa: PLW2901
        _report_unread(element, message, source)


def report_unread_elements(elements: Iterable[Element], source: ElementSource) -> None:
    """Report each tag once of the elements that are in the place of functions and are not functions."""
    by_tag: dict[Tag, list[Element]] = {}
    for element in elements:
        by_tag.setdefault((NAMES["root"], local_name(element)), []).append(element)
    for message, element in _messages(by_tag, "is not a function, so Android does not read it"):
        _report_unread(element, message, source, hint=f"write a function as <{NAMES['function']}>")


def _report_unread(element: Element, message: str, source: ElementSource, *, hint: str | None = None) -> None:
    source.context.findings.append(
        Finding(
            code=UNREAD_TAG,
            level=Level.READ,
            pointer=xpath_of(element),
            message=message,
            source=source.place(element),
            hint=hint,
            rule="A39",
        )
    )


def _messages(elements_by_tag: Mapping[Tag, list[Element]], problem: str) -> Iterator[tuple[str, Element]]:
    """Yield what is wrong with each tag, and where it is first; many tags share the last message."""
    kinds = list(elements_by_tag.items())
    for (type_name, tag), elements in kinds[:_MAX_TAGS]:
        times = f" ({len(elements)} times)" if len(elements) > 1 else ""
        yield f"<{tag}> {problem.format(type=type_name)}{times}", min(elements, key=_line)
    if len(kinds) > _MAX_TAGS:
        _, elements = kinds[_MAX_TAGS]
        yield f"{len(kinds) - _MAX_TAGS} more tags are not known", elements[0]


def _line(element: Element) -> int:
    return element.sourceline or 0


@cache
def _known_schemas() -> SearchSchema:
    """Return the properties that any schema declares: Android's own, and those of each known library."""
    schemas: dict[str, dict[str, dict[str, Json]]] = {}
    tables = [read_table_file("app_functions/schemas.toml")["android"]]
    tables += read_table_file("app_functions/written_schemas.toml").values()
    for types in tables:
        for name, properties in types.items():
            schemas.setdefault(name, {}).update(properties)
    return schemas


_FUNCTION_TAGS: Final = frozenset({NAMES["function"], NAMES["function_document"]})
_COMPONENT_TAG: Final = NAMES["component_document"]
_DOCUMENT_TAGS: Final = frozenset({*_FUNCTION_TAGS, _COMPONENT_TAG})
_PARALLEL: Final = "paramNames"
_SCOPES: Final = frozenset({"global", "activity"})


@dataclass(slots=True)
class FunctionsFile:
    """What one functions file, or several read as one, declares."""

    dialect: str
    place: Place
    capabilities: dict[str, Capability] = field(default_factory=dict)
    definitions: dict[str, Type] = field(default_factory=dict)
    facts: dict[str, Json] = field(default_factory=dict)
    components: list[Json] = field(default_factory=list)

    def all_facts(self) -> dict[str, Json]:
        """Return the facts of the file; how components are spread over documents is one if unusual."""
        usual = [[UNUSED, None]] if self.definitions else []
        documents = self.components
        if len(documents) == 1:
            documents = [[documents[0][0], None, *documents[0][2:]]]
        return self.facts if documents == usual else {**self.facts, "components": documents}


def parse_document(text: str | bytes, path: str, context: ReadingContext) -> Element:
    """Parse a file of ours.

    Elements outside the root element are put into it (row A01).

    Raises:
        InputError: Android's parser cannot read it to its end.
    """
    decoded = text if isinstance(text, str) else decode_xml(text, path=path)
    roots = parse_roots(decoded, path=path)
    if len(roots) == 1:
        return roots[0]
    document_roots = [item for item in roots if local_name(item) != "version"] or roots[:1]
    first = min(roots, key=lambda root: (root is document_roots[0], root.sourceline or 0))
    context.allow(
        "A01",
        f"<{local_name(first)}> is outside the root element, which is not well-formed XML",
        pointer=f"/{local_name(first)}",
        source=Place(path=path, line=first.sourceline),
        hint="put it into <appfunctions>; Android's parser reads on, and nothing else does",
    )
    root = document_roots[0]
    wrapper = root.getparent()
    if wrapper is not None and local_name(root) != NAMES["root"] and len(document_roots) > 1:
        return wrapper
    for other in roots:
        if other is not root:
            root.extend(child_elements(other) if other.tag == root.tag else [other])
    if wrapper is not None:
        wrapper.remove(root)
    return root


def find_documents(root: Element) -> tuple[list[Element], list[Element], list[Element]]:
    """Return the functions, components and unknown elements of a file, at any depth (reference 3.2).

    An element around functions or components is none of the unknown ones: it says nothing.
    """
    functions: list[Element] = []
    components: list[Element] = []
    unknown: list[Element] = []
    around = _elements_around_documents(root)
    pending = [root]
    while pending:
        element = pending.pop()
        name = to_lower_camel_case(local_name(element))
        if name in _FUNCTION_TAGS:
            functions.append(element)
        elif name == _COMPONENT_TAG:
            components.append(element)
        elif element is root or element in around:
            pending.extend(reversed(child_elements(element)))
        else:
            unknown.append(element)
    return functions, components, unknown


def _elements_around_documents(root: Element) -> set[Element]:
    around: set[Element] = set()
    for element in root.iter(*(f"{{*}}{tag}" for tag in _DOCUMENT_TAGS)):
        parent = element.getparent()
        while parent is not None and parent not in around:
            around.add(parent)
            parent = parent.getparent()
    return around


def read_functions_file(
    root: Element, source: ElementSource, *, level: str | None = None, schema: SearchSchema | None = None
) -> FunctionsFile:
    """Read a functions file.

    Args:
        root: Its root element.
        source: Its path, and how lenient to be.
        level: `service` or `application` where a manifest's property names the file, else None.
        schema: The app's own schema, where it is known.

    Raises:
        InputError: a part that Android's own readers refuse too.
    """
    check_noise(root, source)
    functions, components, unknown = find_documents(root)
    dialect = APP_LEVEL if level == "application" else detect_dialect(functions, components, level)
    file = FunctionsFile(dialect=dialect, place=Place(path=source.path, line=root.sourceline))
    reader = FunctionReader(source, dialect)
    pairs = source.context.read_each(
        functions,
        lambda each: (each, reader.read(each)),
        lambda each: f"{source.path}:{each.sourceline}",
    )
    for element, capability in pairs:
        if capability.id in file.capabilities:
            message = f"duplicate function {capability.id!r}; only the last one is read"
            source.allow("A13", message, element, lost=True)
        file.capabilities[capability.id] = capability
    for element in components:
        _read_components(element, source, file)
    _read_unknown(unknown, file, source)
    report_unknown_tags(functions, components, source, dialect=dialect, schema=schema)
    return file


def _read_unknown(elements: Iterable[Element], file: FunctionsFile, source: ElementSource) -> None:
    unread_elements: list[Element] = []
    for element in elements:
        if local_name(element) == "version" and "version" not in file.facts:
            file.facts["version"] = element_text(element).strip()
        else:
            unread_elements.append(element)
    if unread_elements:
        file.facts["rootElements"] = [kept_element(element) for element in unread_elements]
        report_unread_elements(unread_elements, source)


def detect_dialect(functions: list[Element], components: list[Element], level: str | None) -> str:
    """Return the dialect of a file by the tags of its functions."""
    raw = [{local_name(child) for child in child_elements(function)} for function in functions]
    tags = [{to_lower_camel_case(item) for item in each} for each in raw]
    if level != "service" and any("scope" in each for each in tags):
        return APP_LEVEL
    if any(_PARALLEL in each for each in tags):
        return PLATFORM
    if not functions:
        return V2
    if not components and all("function_id" in item and "id" not in item for item in raw):
        return V2_LEGACY if any(map(_has_signature, functions)) else V1
    if not components and any("id" not in each and "functionId" not in each for each in tags):
        return V1
    if components or any(each & {"parameters", "response"} for each in tags):
        snake = any(
            "_" in item and to_lower_camel_case(item) in _SCALAR_TAGS for each in raw for item in each
        )
        return V2_LEGACY if snake else V2
    return PLATFORM


def _has_signature(function: Element) -> bool:
    """Return whether a function has a parameter or response as the dynamic schema writes them."""
    documents = {"parameters": "dataTypeMetadata", "response": "valueType"}
    return any(
        documents.get(to_lower_camel_case(local_name(child))) == to_lower_camel_case(local_name(inner))
        for child in child_elements(function)
        for inner in child_elements(child)
    )


_SCALAR_TAGS: Final = frozenset(
    {"functionId", "enabledByDefault", "schemaName", "schemaCategory", "schemaVersion", "accessLevel"}
)


@dataclass(slots=True)
class FunctionReader:
    """Reads the functions of one file in one dialect."""

    source: ElementSource
    dialect: str

    def read(self, element: Element) -> Capability:
        """Read one function.

        Raises:
            InputError: it has no id, or a part that Android refuses too.
        """
        fields = Fields(element, self.source)
        if self.dialect == V1:
            return self._read_v1(fields)
        facts: dict[str, Json] = {}
        name = self._read_id(fields, facts)
        access = CapabilityAccess(
            scope=self._read_scope(fields), enabled_by_default=self._read_enabled(fields, facts)
        )
        description = fields.text("description")
        if self.dialect == PLATFORM:
            if fields.has("parameters", "response"):
                message = "<parameters> or <response> in a file of parallel lists; they are kept as written"
                self.source.allow("A34", message, fields.element, "say all parameters of a file in one style")
            parameters, output = self._read_parallel(fields), None
        else:
            parameters, output = self._read_parameters(fields), self._read_response(fields, facts)
            access = access.changed({"access_level": fields.word("accessLevel")})
            _read_jetpack_facts(fields, facts)
        return self._capability(
            fields, facts, access, id=name, description=description, input=parameters, output=output
        )

    def _capability(
        self, fields: Fields, facts: dict[str, Json], access: CapabilityAccess, **declared: Any
    ) -> Capability:
        _read_schema_facts(fields, facts)
        restricted = fields.flag("restrictCallersWithExecuteAppFunctions")
        unread_elements = fields.rest()
        if unread_elements:
            facts["elements"] = unread_elements
        return Capability(
            **declared,
            access=access.changed({"restrict_callers": restricted}),
            source=self.source.place(fields.element),
            extensions=as_extensions(FORMAT_ID, facts),
        )

    def _read_v1(self, fields: Fields) -> Capability:
        name = fields.word("functionId")
        if not name:
            message = "a function without <function_id>"
            hint = "name it; Android reads nothing from the whole file"
            raise self.source.error(message, fields.element, hint)
        facts: dict[str, Json] = {}
        access = CapabilityAccess(enabled_by_default=self._read_enabled(fields, facts))
        return self._capability(fields, facts, access, id=name)

    def _read_id(self, fields: Fields, facts: dict[str, Json]) -> str:
        document, name = fields.word("id"), fields.word("functionId")
        if not document and not name:
            message = "a function without <id>"
            hint = "name it; Android reads nothing from the whole file"
            raise self.source.error(message, fields.element, hint)
        if not document:
            message = f"the function {name!r} has no <id>; before Android 17 the whole file is dropped for it"
            self.source.allow("A05", message, fields.element)
        elif not name:
            message = f"the function {document!r} has no <functionId>; Android 16 finds it by that"
            self.source.allow("A06", message, fields.element)
        elif document != name:
            facts["documentId"] = document
        return name or document or ""

    def _read_scope(self, fields: Fields) -> str | None:
        if self.dialect != APP_LEVEL:
            if fields.has("scope"):
                message = "a function of a service has a <scope>, which Android sets itself; it is left out"
                self.source.allow("A14", message, fields.element, lost=True)
                fields.many("scope")
            return None
        scope = fields.word("scope")
        if scope not in _SCOPES:
            message = "a function of the application without a known <scope>; read as global"
            hint = "write <scope>global</scope>; Android drops the whole file without it"
            self.source.allow("A15", message, fields.element, hint, lost=bool(scope))
            return None
        return None if scope == "global" else scope

    def _read_enabled(self, fields: Fields, facts: dict[str, Json]) -> bool:
        enabled = fields.flag("enabledByDefault")
        if self.dialect == APP_LEVEL:
            if enabled:
                message = "a function of the application is never enabled by default; it is left out"
                hint = "remove it; Android drops the whole file for it"
                self.source.allow("A16", message, fields.element, hint, lost=True)
        elif enabled is None:
            facts["enabledByDefaultAbsent"] = True
        return enabled is not False

    def _read_parameters(self, fields: Fields) -> ObjectType:
        parameters: dict[str, Property] = {}
        for name, element, inner in read_entries(fields, "parameters"):
            facts = part_facts(inner)
            type_ = read_type(element, self.source, depth=1)
            type_ = with_description(type_, inner.text("description"))
            required = inner.flag("isRequired")
            if required is None:
                facts["isRequired"] = None
            facts.update(left_of_part(inner))
            parameters[name] = Property(
                type=type_, required=bool(required), extensions=as_extensions(FORMAT_ID, facts)
            )
        return ObjectType(properties=parameters)

    def _read_response(self, fields: Fields, facts: dict[str, Json]) -> Type | None:
        element = fields.child("response")
        if element is None:
            message = "a function without <response>; Jetpack's agents do not see it"
            self.source.allow("A09", message, fields.element)
            return None
        inner = Fields(element, self.source)
        value = inner.child("valueType")
        if value is None:
            message = "<response> without <valueType>; it is left out, and no output is declared"
            hint = "give it a <valueType>, of type 0 for void"
            self.source.allow("A32", message, element, hint, lost=True)
            return None
        document_id = inner.document_id()
        if document_id is not None:
            facts["responseId"] = document_id
        nullable = inner.flag("isNullable")
        if nullable is not None:
            facts["responseIsNullable"] = nullable
        output = read_type(value, self.source, depth=1)
        output = with_description(output, inner.text("description"))
        unread_elements = inner.rest()
        if unread_elements:
            facts["responseElements"] = unread_elements
        return output

    def _read_parallel(self, fields: Fields) -> ObjectType:
        names, words = fields.words("paramNames"), fields.words("paramTypes")
        flags = [fields.read_flag(item) for item in fields.many("paramRequired")]
        if not len(names) == len(words) == len(flags):
            message = f"{len(names)} names, {len(words)} types and {len(flags)} flags of parameters"
            hint = "each parameter has one of each; a missing one shifts all that follow"
            lost = max(len(words), len(flags)) > len(names)
            self.source.allow("A17", message, fields.element, hint, lost=lost)
        parameters: dict[str, Property] = {}
        for position, name in enumerate(names):
            if name in parameters:
                message = f"duplicate parameter {name!r}; only the last one is read"
                self.source.allow("A12", message, fields.element, lost=True)
            word = words[position] if position < len(words) else TABLES.words.write["string"]
            required = position < len(flags) and flags[position]
            parameters[name] = _read_word(word, required=required)
        return ObjectType(properties=parameters)


def _read_word(word: str, *, required: bool) -> Property:
    declared_kind = TABLES.words.read.get(word.lower())
    kind = declared_kind or "string"
    fact = "paramType" if declared_kind is None else "paramWord"
    facts: dict[str, Json] = {} if TABLES.words.write[kind] == word else {fact: word}
    return Property(
        type=ScalarType(kind=kind),  # type: ignore[arg-type]
        required=required,
        extensions=as_extensions(FORMAT_ID, facts),
    )


def _read_schema_facts(fields: Fields, facts: dict[str, Json]) -> None:
    for name in ("schemaCategory", "schemaName"):
        word = fields.word(name)
        if word is not None:
            facts[name] = word
    for name in ("schemaVersion", "displayNameStringRes"):
        number = fields.integer(name)
        if number is not None:
            facts[name] = number


def _read_jetpack_facts(fields: Fields, facts: dict[str, Json]) -> None:
    enforced = fields.flag("isCompatEnforcementEnabled")
    if enforced is not None:
        facts["isCompatEnforcementEnabled"] = enforced
    element = fields.child("deprecation")
    if element is None:
        return
    inner = Fields(element, fields.source)
    document_id = inner.document_id()
    if document_id is not None:
        facts["deprecationId"] = document_id
    facts["deprecation"] = inner.text("message")
    unread_elements = inner.rest()
    if unread_elements:
        facts["deprecationElements"] = unread_elements


def with_description(type_: Type, text: str | None) -> Type:
    """Return a type with the description of the parameter or response it belongs to.

    The outer text wins. Where the type's own element has one, a fact says so: `typeDescription` where both
    have one, `descriptionInside` where only the type has.
    """
    if type_.description is None:
        return type_ if text is None else type_.changed({"description": text})
    facts = dict(type_.extensions.get(FORMAT_ID, {}))
    if text is None:
        facts["descriptionInside"] = True
        return type_.changed({"extensions": as_extensions(FORMAT_ID, facts)})
    facts["typeDescription"] = type_.description
    return type_.changed({"description": text, "extensions": as_extensions(FORMAT_ID, facts)})


def _read_components(element: Element, source: ElementSource, file: FunctionsFile) -> None:
    fields = Fields(element, source)
    names: list[str] = []
    for name, item, inner in read_entries(fields, "dataTypes"):
        if name in file.definitions and name not in names:
            message = f"duplicate data type {name!r} in two documents; only the last one is read"
            source.allow("A12", message, item, lost=True)
        facts: dict[str, Json] = {}
        document_id = inner.document_id()
        if document_id is not None:
            facts["nameId"] = document_id
        definition = read_type(item, source, depth=1, definition=True)
        unread_elements = inner.rest()
        if unread_elements:
            facts["nameElements"] = unread_elements
        if facts:
            facts = {**definition.extensions.get(FORMAT_ID, {}), **facts}
            definition = definition.changed({"extensions": as_extensions(FORMAT_ID, facts)})
        file.definitions[name] = definition
        if name not in names:
            names.append(name)
    entry: list[Json] = [fields.document_id() or UNUSED, names]
    unread_elements = fields.rest()
    if unread_elements:
        entry.append(unread_elements)
    file.components.append(entry)


def merge_files(files: list[FunctionsFile], context: ReadingContext) -> FunctionsFile:
    """Return several files of one component as one, as the indexer's map of documents does (reference 1.1).

    Args:
        files: At least one, in the order in which they are named.
        context: Takes the findings about functions and data types of two of them.
    """
    merged = files[0]
    for other in files[1:]:
        for name in sorted(other.capabilities.keys() & merged.capabilities.keys()):
            place = other.capabilities[name].source
            message = f"duplicate function {name!r} in two files; only the last one is read"
            context.allow("A13", message, source=place, lost=True)
        for name in sorted(other.definitions.keys() & merged.definitions.keys()):
            if other.definitions[name] != merged.definitions[name]:
                message = f"duplicate data type {name!r} in two files; only the last one is read"
                context.allow("A12", message, source=other.place, lost=True)
        merged.capabilities.update(other.capabilities)
        merged.definitions.update(other.definitions)
        merged.components.extend(other.components)
        _merge_facts(merged.facts, other.facts)
    return merged


def _merge_facts(facts: dict[str, Json], others: dict[str, Json]) -> None:
    root_elements = list(others.get("rootElements", ()))
    version = others.get("version")
    if version is not None and facts.setdefault("version", version) != version:
        root_elements.insert(0, ["version", version])
    if root_elements:
        facts["rootElements"] = [*facts.get("rootElements", ()), *root_elements]
