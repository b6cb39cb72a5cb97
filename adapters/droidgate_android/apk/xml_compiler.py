"""Text XML of an app's source to the tree that is compiled, as aapt2 does it (XmlDom.cpp, XmlFlattener)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Protocol

from lxml import etree

from droidgate_android.apk.typed_values import Symbols, compile_value, string_value
from droidgate_android.apk.xml_tree import ANDROID_NAMESPACE, TypedValue, XmlAttribute, XmlElement
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.framework_attributes import AttributeFormat, AttributeType, attribute_type
from droidgate_mappings.text.aapt_text import read_plain_attribute
from droidgate_mappings.text.xml_text import TOOLS, Element

AUTO_NAMESPACE: Final = "http://schemas.android.com/apk/res-auto"
INLINE_NAMESPACE: Final = "http://schemas.android.com/aapt"

_ASCII_SPACE: Final = " \t\n\v\f\r"
_APP_NAMESPACE = re.compile(r"http://schemas\.android\.com/apk/(?:prv/)?res/(?P<package>[^/]+)")
_PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")
_TOOLS_NAMESPACE: Final = TOOLS.strip("{}")
_REMOVED: Final = frozenset({"remove", "removeAll"})


class AppSymbols(Symbols, Protocol):
    """The resources of the app that a document belongs to."""

    def find_attribute(self, name: str) -> AttributeType | None:
        """Return the app's own attribute of that name, None where it declares none."""


@dataclass(frozen=True, slots=True)
class XmlCompiler:
    """Compiles documents of one app.

    Attributes:
        symbols: The app's resources.
        package: The app's package, whose namespace its own attributes may be in.
        placeholders: The values of `${name}`; None where placeholders are text.
    """

    symbols: AppSymbols
    package: str
    placeholders: Mapping[str, str] | None = field(default=None)

    def compile(self, root: Element, path: str) -> XmlElement:
        """Return the tree of a parsed document.

        Raises:
            InputError: a reference leads nowhere, an attribute does not exist or does not take its value.
        """
        compiled = self._compile_element(root, path)
        pending = [(root, compiled)]
        while pending:
            source, target = pending.pop()
            _add_text(target, source.text)
            for child in source:
                if isinstance(child.tag, str) and not _is_removed(child):
                    element = self._compile_element(child, path)
                    target.children.append(element)
                    pending.append((child, element))
                _add_text(target, child.tail)
        return compiled

    def _compile_element(self, element: Element, path: str) -> XmlElement:
        name = etree.QName(element)
        place = f"{path}:{element.sourceline}"
        if name.namespace == INLINE_NAMESPACE:
            message = f"<aapt:{name.localname}> is not compiled"
            raise InputError(message, place=place, hint="put what it holds into a file of its own")
        attributes = [
            self._compile_attribute(str(key), str(value), place)
            for key, value in element.attrib.items()
            if not str(key).startswith(TOOLS)
        ]
        return XmlElement(name.localname, name.namespace, attributes, line=element.sourceline or 0)

    def _compile_attribute(self, key: str, raw: str, place: str) -> XmlAttribute:
        name = etree.QName(key)
        declared = self._declared(name.namespace, name.localname, place)
        formats = AttributeFormat.ANY if declared is None else declared.formats
        values = {} if declared is None else declared.values
        filled = self._filled(raw, place)
        value = compile_value(filled, formats, self.symbols, place, values)
        if value is None and AttributeFormat.STRING not in formats:
            message = f"{name.localname} cannot be {filled[:100]!r}"
            raise InputError(message, place=place, hint=f"it takes: {_listed(formats, values)}")
        return XmlAttribute(
            name.namespace,
            name.localname,
            string_value(read_plain_attribute(filled)) if value is None else value,
            0 if declared is None else declared.id,
        )

    def _declared(self, namespace: str | None, name: str, place: str) -> AttributeType | None:
        if namespace is None:
            return None
        if namespace == ANDROID_NAMESPACE:
            declared = attribute_type(name)
            owner = "Android 16"
        else:
            own = _APP_NAMESPACE.fullmatch(namespace)
            if namespace != AUTO_NAMESPACE and (own is None or own["package"] != self.package):
                return None
            declared = self.symbols.find_attribute(name)
            owner = "the app"
        if declared is None:
            message = f"{owner} has no attribute {name}"
            hint = "attributes of libraries are not known here; declare it with <attr> in res/values"
            raise InputError(message, place=place, hint=None if namespace == ANDROID_NAMESPACE else hint)
        return declared

    def _filled(self, raw: str, place: str) -> str:
        placeholders = self.placeholders
        if placeholders is None or "${" not in raw:
            return raw

        def fill(match: re.Match[str]) -> str:
            value = placeholders.get(match[1])
            if value is None:
                message = f"nothing says what ${{{match[1]}}} means"
                hint = "set it in manifestPlaceholders of the build file"
                raise InputError(message, place=place, hint=hint)
            return value

        return _PLACEHOLDER.sub(fill, raw)


def _is_removed(element: Element) -> bool:
    return element.get(f"{TOOLS}node") in _REMOVED or etree.QName(element).namespace == _TOOLS_NAMESPACE


def _add_text(element: XmlElement, text: str | None) -> None:
    """Add a text as aapt2 keeps it: none that is blank, and no more than one blank at either end."""
    if text is None:
        return
    trimmed = text.strip(_ASCII_SPACE)
    if trimmed:
        before = " " if text[0] in _ASCII_SPACE else ""
        after = " " if text[-1] in _ASCII_SPACE else ""
        element.children.append(f"{before}{trimmed}{after}")


def _listed(formats: AttributeFormat, values: Mapping[str, int]) -> str:
    words = [str(item.name).lower() for item in AttributeFormat if item in formats and item.bit_count() == 1]
    return ", ".join([*(word for word in words if word not in {"enum", "flags"}), *values])


def set_attribute(
    element: XmlElement, name: str, value: TypedValue, namespace: str | None = ANDROID_NAMESPACE
) -> None:
    """Give an element an attribute, in place of the one of that name that it has.

    Raises:
        KeyError: Android has no such attribute.
    """
    declared = attribute_type(name) if namespace == ANDROID_NAMESPACE else None
    if namespace == ANDROID_NAMESPACE and declared is None:
        raise KeyError(name)
    other_attributes = [
        attribute
        for attribute in element.attributes
        if (attribute.namespace, attribute.name) != (namespace, name)
    ]
    resource_id = 0 if declared is None else declared.id
    element.attributes = [*other_attributes, XmlAttribute(namespace, name, value, resource_id)]
