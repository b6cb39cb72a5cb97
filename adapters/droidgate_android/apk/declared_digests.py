"""Digests of what an APK declares, by which a shim notices a change of an app (shim.md 5).

It is made from what the APK holds, as the shim on the phone makes it from what is installed: never from a
rendered text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

from droidgate_android.apk.archive import Archive
from droidgate_android.apk.binary_xml import parse_binary_xml
from droidgate_android.apk.reader import Apk
from droidgate_android.apk.resource_values import NameOf, value_text
from droidgate_android.apk.xml_tree import REFERENCE_TYPES, TypedValue, ValueType, XmlAttribute, XmlElement
from droidgate_mappings.formats.application import MetaData
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import canonical_json
from droidgate_mappings.text.aapt_text import signed_int

_OF_FRAMEWORK: Final = "@android:"


def recipe_digest(recipe: str, content: bytes) -> str:
    """Return the digest of what a component declares: what it was made from, and the SHA-256 of that."""
    return f"{recipe}:{hashlib.sha256(content).hexdigest()}"


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
    if value.type in REFERENCE_TYPES and value.data:
        name = name_of(value.data)
        if name is None:
            raise InputError(f"a descriptor refers to the resource {value.data:#010x}, which is not there")
        return f"@{name.removeprefix(_OF_FRAMEWORK)}" if name.startswith(_OF_FRAMEWORK) else name
    if value.text is not None:
        return value.text
    if value.type in REFERENCE_TYPES:
        return "@0"
    if value.type == ValueType.ATTRIBUTE:
        return f"?{signed_int(value.data)}"
    text = value_text(value, name_of)
    if text is None:
        raise InputError(f"a descriptor has a value of the type {value.type}, which is not text")
    return text


def events_of_entry(apk: Apk, archive: Archive, entry: str, data: bytes) -> bytes:
    """Return a compiled XML entry of an APK as the bytes that are hashed (shim.md 5, `mobile-mcp`).

    Raises:
        InputError: it is broken, or refers to a resource that is not there.
    """
    root = parse_binary_xml(data, path=archive.place_of(entry), budget=apk.budget)
    return "".join(_events(root, apk.name_of)).encode("utf-8", "surrogatepass")


def value_behind(apk: Apk, reference: str | None) -> TypedValue | None:
    """Return the value of `@type/name` in the default configuration, None where there is none."""
    table = apk.resources
    identifier = table.find(reference) if table is not None and reference is not None else None
    return None if identifier is None else apk.resolve(TypedValue(ValueType.REFERENCE, identifier))


def entry_behind(apk: Apk, reference: str | None, meta: MetaData | None) -> tuple[Archive, str]:
    """Return the file that a reference leads to, as its archive and its name there.

    Raises:
        InputError: it leads to no file of the APK.
    """
    value = value_behind(apk, reference)
    part = apk.part_with(value.text) if value is not None and value.text else None
    if value is None or value.text is None or part is None:
        place = meta.place if meta is not None and meta.place is not None else apk.name
        raise InputError(f"the descriptor {reference} is not a file of the APK", place=str(place))
    return part.archive, value.text
