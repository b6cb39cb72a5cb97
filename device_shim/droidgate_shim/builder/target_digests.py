"""The digest of what a source app declares, by which the shim notices a change (docs/shim.md 5).

It is made from what the APK holds, as the shim on the phone makes it from what is installed: never from a
rendered text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final

from droidgate.apk.archive import Archive
from droidgate.apk.binary_xml import parse_binary_xml
from droidgate.apk.budgets import MAX_XML_BYTES
from droidgate.apk.file_kinds import is_binary_xml
from droidgate.apk.reader import Apk
from droidgate.apk.values import NameOf, signed, value_text
from droidgate.apk.xml_tree import TypedValue, ValueType, XmlAttribute, XmlElement
from droidgate.application import Component, MetaData
from droidgate.model.errors import InputError
from droidgate.model.json_values import Json, canonical_json
from droidgate_appfunctions.constants import NAMES as FUNCTION_NAMES
from droidgate_mmcp.tables import NAMES as MMCP_NAMES
from droidgate_mobile_mcp.constants import KEYS

_REFERENCES: Final = frozenset({ValueType.REFERENCE, ValueType.DYNAMIC_REFERENCE})
_OF_FRAMEWORK: Final = "@android:"
_FUNCTION_PROPERTIES: Final = tuple(
    FUNCTION_NAMES[name] for name in ("property_v2", "property_v1", "property_schema")
)

DiscoveredTool = tuple[str, str | None, str | None]
"""What a discovery's answer says of one tool: name, description, and the JSON text of its parameters."""


def mmcp_digest(apk: Apk, component: Component) -> str:
    """Return the digest of a component's `mMCP_manifest`.

    Raises:
        InputError: there is none, or it cannot be read.
    """
    meta = component.find_meta_data(MMCP_NAMES["manifest_meta_data"])
    if meta is None:
        raise InputError("the component has no mMCP manifest", place=str(component.place or apk.name))
    if isinstance(meta.value, str):
        return _digest("mmcp", meta.value.encode("utf-8", "surrogatepass"))
    reference = meta.resource or meta.raw_value
    if reference is not None and reference.startswith("@string/"):
        text = apk.text_of(_value_behind(apk, reference))
        if text is not None:
            return _digest("mmcp", text.encode("utf-8", "surrogatepass"))
    archive, entry = _entry_behind(apk, reference, meta)
    data = archive.read_entry(entry, MAX_XML_BYTES)
    if not is_binary_xml(data):
        return _digest("mmcp", data)
    return _digest("mmcp", _events_of(apk, archive, entry, data))


def mobile_mcp_digest(apk: Apk, component: Component) -> str:
    """Return the digest of a service's capabilities XML.

    Raises:
        InputError: there is none, or it is not an XML resource.
    """
    meta = component.find_meta_data(*KEYS["capabilities"])
    reference = None if meta is None else meta.resource
    archive, entry = _entry_behind(apk, reference, meta)
    data = archive.read_entry(entry, MAX_XML_BYTES)
    if not is_binary_xml(data):
        message = f"the descriptor {reference} is not an XML resource, so a phone cannot compare it"
        raise InputError(message, place=archive.place_of(entry), hint="Move it to res/xml")
    return _digest("mobile-mcp", _events_of(apk, archive, entry, data))


def assets_digest(apk: Apk, component: Component) -> str:
    """Return the digest of the assets that a component's properties name as its functions and their schema.

    Raises:
        InputError: they name none, or one cannot be read.
    """
    named = [item for item in map(component.find_property, _FUNCTION_PROPERTIES) if item is not None]
    names = [name for item in named for name in _asset_names(item)]
    if not names:
        message = "no asset holds the functions, so a phone cannot compare them"
        raise InputError(message, place=str(component.place or apk.name))
    content = hashlib.sha256()
    for name in names:
        part = apk.part_with(f"assets/{name}")
        if part is not None:
            content.update(part.archive.read_entry(f"assets/{name}", MAX_XML_BYTES))
    return f"assets({','.join(names)}):{content.hexdigest()}"


def broadcast_digest(tools: Sequence[DiscoveredTool]) -> str:
    """Return the digest of a discovery's answer, tools in the order answered.

    An absent description is empty, absent parameters are `{}`.
    """
    entries: list[Json] = [
        [name, description or "", "{}" if parameters is None else parameters]
        for name, description, parameters in tools
    ]
    return _digest("broadcast", canonical_json({"tools": entries}).encode("utf-8", "surrogatepass"))


def xml_events(root: XmlElement, name_of: NameOf) -> str:
    """Return an XML resource as the text that is hashed (docs/shim.md 5, `mobile-mcp`).

    Args:
        root: Its root element.
        name_of: Gives `@type/name` for a resource id.

    Raises:
        InputError: an attribute refers to nothing, whose name a phone could not find.
    """
    return "".join(_events(root, name_of))


def _events(element: XmlElement, name_of: NameOf) -> Iterator[str]:
    yield f"<{element.tag}"
    for attribute in sorted(element.attributes, key=_attribute_order):
        name = attribute.name if attribute.namespace is None else f"{{{attribute.namespace}}}{attribute.name}"
        yield f" {name}={canonical_json(_attribute_text(attribute.value, name_of))}"
    yield ">"
    for child in element.children:
        if isinstance(child, XmlElement):
            yield from _events(child, name_of)
        elif text := child.strip():
            yield canonical_json(text)
    yield f"</{element.tag}>"


def _attribute_order(attribute: XmlAttribute) -> tuple[str, str]:
    return attribute.namespace or "", attribute.name


def _attribute_text(value: TypedValue, name_of: NameOf) -> str:
    """Return a reference as `@type/entry`, another value as `XmlResourceParser.getAttributeValue` does."""
    if value.type in _REFERENCES and value.data:
        name = name_of(value.data)
        if name is None:
            raise InputError(f"a descriptor refers to the resource {value.data:#010x}, which is not there")
        return f"@{name.removeprefix(_OF_FRAMEWORK)}" if name.startswith(_OF_FRAMEWORK) else name
    if value.text is not None:
        return value.text
    if value.type in _REFERENCES:
        return "@0"
    if value.type == ValueType.ATTRIBUTE:
        return f"?{signed(value.data)}"
    text = value_text(value, name_of)
    if text is None:
        raise InputError(f"a descriptor has a value of the type {value.type}, which is not text")
    return text


def _events_of(apk: Apk, archive: Archive, entry: str, data: bytes) -> bytes:
    root = parse_binary_xml(data, path=archive.place_of(entry), budget=apk.budget)
    return xml_events(root, apk.name_of).encode("utf-8", "surrogatepass")


def _value_behind(apk: Apk, reference: str | None) -> TypedValue | None:
    table = apk.resources
    identifier = table.find(reference) if table is not None and reference is not None else None
    return None if identifier is None else apk.resolve(TypedValue(ValueType.REFERENCE, identifier))


def _entry_behind(apk: Apk, reference: str | None, meta: MetaData | None) -> tuple[Archive, str]:
    value = _value_behind(apk, reference)
    part = apk.part_with(value.text) if value is not None and value.text else None
    if value is None or value.text is None or part is None:
        place = meta.place if meta is not None and meta.place is not None else apk.name
        raise InputError(f"the descriptor {reference} is not a file of the APK", place=str(place))
    return part.archive, value.text


def _asset_names(stated: MetaData) -> list[str]:
    if not isinstance(stated.value, str):
        return []
    return [name for part in stated.value.split(",") if (name := part.strip())]


def _digest(recipe: str, content: bytes) -> str:
    return f"{recipe}:{hashlib.sha256(content).hexdigest()}"
