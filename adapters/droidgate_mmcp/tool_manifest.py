"""The manifest JSON: what `mMCP_manifest` holds (mMCP spec sections 1 and 2, and the draft's form)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Never

from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.json_schema import read_schema
from droidgate_mappings.model.capability import Capability, Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json, one_line_json, pointer_token, readable_json
from droidgate_mappings.model.types import ObjectType, Type
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.json_text import parse_json
from droidgate_mappings.text.xml_text import NOT_XML
from droidgate_mmcp.format import BROADCAST, CURRENT, DRAFT, FORMAT_ID, NAMES, TEXT_FIELDS, TEXT_KEYS
from droidgate_mmcp.type_words import (
    as_properties,
    is_flat_map,
    is_property_map,
    looks_like_schema,
    read_word_map,
    without_form_note,
)

MANIFEST_KEYS: Final = frozenset({*TEXT_KEYS.values(), "protocolVersion", "tools"})
TOOL_KEYS: Final = frozenset({"name", "description", "parameters", "return"})

_MAJOR = re.compile(r"\s*[vV]?(\d{1,9})(?:\.\d{1,9})*\s*")


def write_json(value: Json, *, lines: bool = False) -> str:
    r"""Return a JSON value's text.

    Characters that XML 1.0 cannot hold, halves of surrogate pairs among them, are written as `\uXXXX`, so the
    text can be in an XML attribute and in UTF-8, and means the same.

    Args:
        value: A JSON value; numbers are written digit for digit.
        lines: One member a line, indented by two; else one line without blanks.

    Raises:
        ValueError: the value holds NaN or an infinity.
    """
    text = readable_json(value) if lines else one_line_json(value)
    return NOT_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def parse_manifest(text: str, place: Place, context: ReadingContext, *, hint: str | None = None) -> Json:
    """Parse a manifest's JSON text; raw control characters inside its strings are accepted by row M36.

    Args:
        text: The JSON text.
        place: Where it begins.
        context: Takes the deviations that were accepted.
        hint: What to say about text that is not JSON; None for the parser's own hint.

    Raises:
        InputError: the text is not JSON.
    """
    try:
        return parse_json(text, path=place.path)
    except InputError as error:
        if not _has_controls(text):
            raise _placed(error, place, hint) from None
    try:
        value = parse_json(text, path=place.path, lenient_controls=True)
    except InputError as error:
        raise _placed(error, place, hint) from None
    context.allow(
        "M36",
        "a string of the manifest JSON holds raw control characters, such as line breaks; they are kept",
        source=place,
        hint="write line breaks inside strings as \\n, and double the backslash in the Android manifest",
    )
    return value


def _placed(error: InputError, place: Place, hint: str | None) -> InputError:
    """Return the error with its place; rows and columns of JSON inside XML are not those of the file."""
    is_whole_file = place.line in {None, 1}
    return InputError(
        error.message, place=error.place if is_whole_file else str(place), hint=hint or error.hint
    )


def _has_controls(text: str) -> bool:
    return any(character < " " for character in text)


def read_manifest(value: Json, place: Place, context: ReadingContext) -> Provider:
    """Read a manifest's JSON value; package, component and name are not in it.

    Args:
        value: The JSON value.
        place: Where the manifest is; tools add their JSON Pointer.
        context: Takes the deviations that were accepted.

    Raises:
        InputError: no manifest, or a tool that cannot be called or understood.
    """
    return MmcpManifestReader(place, context).read(value)


def dialect_of_manifest(manifest: Mapping[str, Json]) -> str:
    """Return the dialect a manifest is written in, by the keys that only a draft has."""
    tools = manifest.get("tools")
    returns = isinstance(tools, list) and any(
        isinstance(tool, Mapping) and "return" in tool for tool in tools
    )
    return DRAFT if returns or TEXT_KEYS[DRAFT] in manifest else CURRENT


@dataclass(slots=True)
class MmcpManifestReader:
    """Reads one manifest, or the tools of one broadcast answer."""

    place: Place
    context: ReadingContext
    dialect: str = CURRENT
    definitions: dict[str, Type] = field(default_factory=dict)

    def read(self, manifest: Json) -> Provider:
        """Return the manifest's provider.

        Raises:
            InputError: the value is not a manifest.
        """
        if not isinstance(manifest, Mapping):
            self.refuse(
                "", "the manifest is not a JSON object", "it is an object with `instructions` and `tools`"
            )
        self.dialect = dialect_of_manifest(manifest)
        facts: dict[str, Any] = {}
        self.read_version(manifest, facts)
        text = self.read_manifest_text(manifest, facts)
        unknown = {key: value for key, value in manifest.items() if key not in MANIFEST_KEYS}
        if unknown:
            facts["keys"] = unknown
        capabilities = self.read_tools(manifest)
        texts: dict[str, Any] = {TEXT_FIELDS[self.dialect]: text}
        return Provider(
            protocol=FORMAT_ID,
            dialect=self.dialect,
            source=self.place,
            definitions=self.definitions,
            capabilities=capabilities,
            extensions={FORMAT_ID: facts} if facts else {},
            **texts,
        )

    def refuse(self, pointer: str, message: str, hint: str | None = None) -> Never:
        """Raise the error of a place in the manifest."""
        where = f"{message} (at {pointer})" if pointer else message
        raise InputError(where, place=str(self.place), hint=hint)

    def allow(self, row: str, message: str, pointer: str, *, lost: bool = False) -> None:
        """Accept a deviation at a place in the manifest."""
        self.context.allow(row, message, pointer=pointer, source=self.place, lost=lost)

    def read_version(self, manifest: Mapping[str, Json], facts: dict[str, Any]) -> None:
        """Check `protocolVersion` (row M33)."""
        version = manifest.get("protocolVersion", NAMES["protocol_version"])
        if version == NAMES["protocol_version"] and isinstance(version, str):
            return
        text = str(version) if isinstance(version, str | int | float) else ""
        match = _MAJOR.fullmatch(text)
        if match is None or int(match[1]) != 1:
            message = f"the manifest speaks protocol version {write_json(version)[:100]}"
            self.refuse("/protocolVersion", message, "droidgate knows version 1.0")
        facts["protocolVersion"] = version
        message = f"protocol version {write_json(version)} is read as 1.0"
        self.allow("M33", message, "/protocolVersion")

    def read_manifest_text(self, manifest: Mapping[str, Json], facts: dict[str, Any]) -> str | None:
        """Return what the manifest says about the app (row M34)."""
        texts = {key: self.read_text(manifest, key, f"/{key}") for key in TEXT_KEYS.values()}
        own, other = texts[TEXT_KEYS[self.dialect]], texts[TEXT_KEYS[CURRENT]]
        if self.dialect == CURRENT or other is None:
            if own is None:
                self.allow("S52", f"the manifest has no `{TEXT_KEYS[self.dialect]}`", "")
            return own
        if own is None:
            facts["text_key"] = TEXT_KEYS[CURRENT]
            self.allow("M34", "`instructions` is read as the draft's `appDescription`", "/instructions")
            return other
        facts["instructions"] = other
        self.allow("M34", "the draft has `appDescription`, so `instructions` is only kept", "/instructions")
        return own

    def read_text(self, part: Mapping[str, Json], key: str, pointer: str) -> str | None:
        """Return a text; a null counts as missing."""
        text = part.get(key)
        if text is not None and not isinstance(text, str):
            self.refuse(pointer, f"`{key}` is not a string", "write it as a JSON string")
        return text

    def read_tools(self, manifest: Mapping[str, Json]) -> tuple[Capability, ...]:
        """Return the tools, each with a name of its own."""
        tools = manifest.get("tools")
        if not isinstance(tools, list):
            self.refuse(
                "/tools", "the manifest has no array `tools`", "list the tools there; it may be empty"
            )
        capabilities = tuple(
            self.context.read_each(
                enumerate(tools),
                lambda each: self.read_tool(each[1], each[0]),
                lambda each: f"{self.place}:/tools/{each[0]}",
            )
        )
        seen: set[str] = set()
        for position, capability in enumerate(capabilities):
            if capability.id in seen:
                message = f"two tools are called {capability.id!r}"
                self.refuse(
                    f"/tools/{position}/name", message, "a call names only the tool; give each its own name"
                )
            seen.add(capability.id)
        return capabilities

    def read_tool(self, tool: Json, position: int) -> Capability:
        """Return one tool."""
        pointer = f"/tools/{position}"
        if not isinstance(tool, Mapping):
            self.refuse(
                pointer, "a tool is not a JSON object", "a tool has `name`, `description` and `parameters`"
            )
        name = tool.get("name")
        if not isinstance(name, str) or not name:
            self.refuse(f"{pointer}/name", "a tool has no `name`", "name it; calls use the name")
        description = self.read_text(tool, "description", f"{pointer}/description")
        if description is None:
            self.allow("S53", f"the tool {name!r} has no description", pointer)
        facts: dict[str, Any] = {}
        input_type = self.read_parameters(tool, name, f"{pointer}/parameters", facts)
        output = (
            self.read_return(tool["return"], name, f"{pointer}/return", facts) if "return" in tool else None
        )
        unknown = {key: value for key, value in tool.items() if key not in TOOL_KEYS}
        if unknown:
            facts["keys"] = unknown
        return Capability(
            id=name,
            description=description,
            input=input_type,
            output=output,
            source=Place(path=self.place.path, line=self.place.line, inner=pointer),
            extensions={FORMAT_ID: facts} if facts else {},
        )

    def read_parameters(
        self, tool: Mapping[str, Json], name: str, pointer: str, facts: dict[str, Any]
    ) -> Type:
        """Return what a tool takes, in whichever of the forms of row M37, and keep an unusual form's name."""
        value: Any = tool.get("parameters")
        form = form_of(value)
        if form is None:
            self.refuse(
                pointer, f"the parameters of {name!r} are not a JSON Schema", "write a JSON Schema object"
            )
        if form in {"schema", "properties"}:
            schema = without_form_note(value) if form == "schema" else as_properties(value)
            input_type, definitions = read_schema(schema, definitions=self.definitions)
            self.definitions.update(definitions)
        else:
            input_type = read_word_map(value) if form == "flat" else ObjectType()
        usual = usual_form(self.dialect, input_type)
        if form != usual and self.dialect != BROADCAST:
            facts["parameters"] = form
        if form not in {usual, "schema"} or (self.dialect == BROADCAST and form == "schema"):
            self.allow("M37", f"the tool {name!r} {_FORM_READ[form]}", pointer)
        return input_type

    def read_return(self, value: Json, name: str, pointer: str, facts: dict[str, Any]) -> Type | None:
        """Return what a draft's tool returns (row M38)."""
        if not isinstance(value, Mapping) or looks_like_schema(value):
            facts["return"] = value
            message = (
                f"the `return` of {name!r} is not a map of type words; it is kept, and counts as not declared"
            )
            self.allow("M38", message, pointer)
            return None
        output = read_word_map(value, capital=True)
        for key, property_ in output.properties.items():
            if property_.type.kind == "any" and property_.extensions:
                message = f"{value[key]!r} is not a type word; {key!r} may be anything"
                self.allow("M38", message, f"{pointer}/{pointer_token(key)}")
        return output


_FORM_READ: Final = {
    "missing": "has no parameters key; it is read as a tool that takes none",
    "empty": "has empty parameters; it is read as a tool that takes none",
    "flat": "has a flat map of type words as parameters; all of them are read as required",
    "properties": "has a map of schemas as parameters; it is read as the `properties` of an object",
    "schema": "answers with a JSON Schema, where the client expects a flat map of type words",
}


def form_of(value: Json) -> str | None:
    """Return the form of `parameters`: `missing`, `empty`, `flat` for a map of type words, `properties` for a
    map of schemas, `schema`; None for anything else.
    """
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "schema"
    if not isinstance(value, Mapping):
        return None
    if not value:
        return "empty"
    if is_flat_map(value):
        return "flat"
    return "properties" if is_property_map(value) else "schema"


def usual_form(dialect: str, taken: Type) -> str:
    """Return the form in which a dialect writes an input (row M37)."""
    if dialect == CURRENT:
        return "schema"
    if taken == ObjectType():
        return "empty"
    return "flat" if dialect == BROADCAST else "schema"
