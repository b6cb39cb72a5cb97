"""The resources that `res/values` files declare (aapt2, ResourceParser.cpp): declarations first, then values.

Both steps are apart because a value may name a resource that a later file declares.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from lxml import etree

from droidgate_android.apk.resource_table_writer import CompiledBag, CompiledValue
from droidgate_android.apk.typed_values import Symbols, compile_value, integer_value, string_value
from droidgate_android.apk.xml_tree import TypedValue, ValueType
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.framework_attributes import (
    AttributeFormat,
    AttributeType,
    attribute_type,
    formats_of,
)
from droidgate_mappings.text.aapt_text import integer_in, read_string_resource
from droidgate_mappings.text.xml_text import Element, child_elements

_code = partial(finding_code, module=__name__)

STYLED_STRING: Final = _code(
    "styled-string", "A string resource with markup (`<b>`, `<i>`, ...) is packed as plain text"
)
PRODUCT_LEFT_OUT: Final = _code(
    "product-left-out", "A resource for another product than the default one is not packed"
)

ID_VALUE: Final = TypedValue(ValueType.INT_BOOLEAN, 0)
"""The value of every id."""

APOSTROPHE: Final = _code(
    "unescaped-apostrophe", "A string resource holds an apostrophe that Android's own compiler refuses"
)

UNICODE_ESCAPE: Final = _code(
    "broken-unicode-escape", "A string resource holds a \\u that Android's own compiler refuses"
)

_XLIFF: Final = "urn:oasis:names:tc:xliff:document:1.2"
_BARE_APOSTROPHE = re.compile(r"""\A(?>[^'"\\]|\\.|"(?:[^"\\]|\\.)*")*+'""", re.DOTALL)
# As aapt2 reads them: a backslash and its letter, then four digits, or fewer at the end of the text.
_BROKEN_ESCAPE = re.compile(
    r"\A(?>[^\\]|\\[^u]|\\u[0-9A-Fa-f]{4}|\\\Z)*+\\u(?![0-9A-Fa-f]{0,3}\s*\Z)", re.DOTALL
)
_ARRAY_TAGS: Final = frozenset({"array", "string-array", "integer-array"})
_IGNORED_TAGS: Final = frozenset({"eat-comment", "skip"})
_UNTEXTED_TAGS: Final = frozenset({*_IGNORED_TAGS, "attr", "declare-styleable"})
_FORMATS: Final[Mapping[str, AttributeFormat]] = {
    "string": AttributeFormat.STRING,
    "bool": AttributeFormat.BOOLEAN,
    "integer": AttributeFormat.INTEGER,
    "color": AttributeFormat.COLOR,
    "dimen": AttributeFormat.FLOAT | AttributeFormat.FRACTION | AttributeFormat.DIMENSION,
    "fraction": AttributeFormat.FLOAT | AttributeFormat.FRACTION | AttributeFormat.DIMENSION,
    "drawable": AttributeFormat.COLOR,
    "array": AttributeFormat.ANY,
    "string-array": AttributeFormat.STRING,
    "integer-array": AttributeFormat.INTEGER,
}
_ITEM_TYPES: Final = frozenset(
    {*_FORMATS, "id", "layout", "mipmap", "anim", "animator", "menu", "raw", "xml", "font", "interpolator"}
) - {"array", "string-array", "integer-array"}
_FORMAT_KEY: Final = 0x01000000
_MINIMUM_KEY: Final = 0x01000001
_MAXIMUM_KEY: Final = 0x01000002
_ARRAY_KEY: Final = 0x02000000
_QUANTITIES: Final = {
    word: 0x01000004 + number for number, word in enumerate(("other", "zero", "one", "two", "few", "many"))
}


@dataclass(frozen=True, slots=True)
class Declaration:
    """One resource that a values file declares.

    Attributes:
        kind: Its type.
        name: Its name.
        element: What declares it.
        path: The file.
    """

    kind: str
    name: str
    element: Element
    path: str

    @property
    def place(self) -> str:
        """Where it is."""
        return f"{self.path}:{self.element.sourceline}"


def read_declarations(root: Element, path: str, findings: list[Finding]) -> Iterator[Declaration]:
    """Yield what a values file declares, the attributes and ids inside its elements included.

    Raises:
        InputError: an element declares nothing that is known.
    """
    if root.tag != "resources":
        message = f"the root element is <{root.tag!s}>, not <resources>"
        raise InputError(message, place=f"{path}:{root.sourceline}")
    for element in child_elements(root):
        product = element.get("product", "default")
        if product not in {"default", ""}:
            message = f"{_required_name(element, path)} for the product {product} is left out"
            findings.append(_finding_at(PRODUCT_LEFT_OUT, message, element, path))
        elif element.tag not in _IGNORED_TAGS:
            yield from _read_declaration(element, path)


def _finding_at(code: str, message: str, element: Element, path: str) -> Finding:
    place = Place(path=path, line=element.sourceline)
    return Finding(code=code, level=Level.WARNING, pointer="", message=message, source=place)


def _read_declaration(element: Element, path: str) -> Iterator[Declaration]:
    kind = str(element.tag)
    name = _required_name(element, path)
    if kind == "declare-styleable":
        for attribute in element.iterchildren("attr"):
            yield from _read_attribute(attribute, path)
    elif kind == "attr":
        yield from _read_attribute(element, path)
    elif kind in _ARRAY_TAGS:
        yield Declaration("array", name, element, path)
    elif kind == "item":
        yield Declaration(_item_type(element, path), name, element, path)
    elif kind in {*_FORMATS, "id", "style", "plurals"}:
        yield Declaration(kind, name, element, path)
    else:
        message = f"<{kind}> is not packed"
        hint = "declare it in another way, or build this app with Android's own tools"
        raise InputError(message, place=f"{path}:{element.sourceline}", hint=hint)


def _read_attribute(element: Element, path: str) -> Iterator[Declaration]:
    name = _required_name(element, path)
    if name.startswith("android:"):
        return
    yield Declaration("attr", name, element, path)
    for word in child_elements(element):
        yield Declaration("id", _required_name(word, path), word, path)


def _item_type(element: Element, path: str) -> str:
    kind = element.get("type", "")
    if kind not in _ITEM_TYPES:
        message = f"<item> has no type that is packed: {kind!r}"
        raise InputError(message, place=f"{path}:{element.sourceline}")
    return kind


def _required_name(element: Element, path: str) -> str:
    name = element.get("name")
    if not name:
        message = f"<{element.tag!s}> has no name"
        raise InputError(message, place=f"{path}:{element.sourceline}")
    return name


def read_attribute_types(declarations: list[Declaration]) -> dict[str, AttributeType]:
    """Return the attributes that the declarations make, by name, their ids still 0.

    An attribute that several styleables name is declared where its format is.

    Raises:
        InputError: an unknown format, a word without a number, or two formats for one attribute.
    """
    types: dict[str, AttributeType] = {}
    for declaration in declarations:
        if declaration.kind != "attr":
            continue
        read = _read_attribute_type(declaration)
        earlier_type = types.get(declaration.name)
        if earlier_type is None or earlier_type.formats == AttributeFormat.ANY:
            types[declaration.name] = read
        elif read.formats not in {earlier_type.formats, AttributeFormat.ANY}:
            raise InputError(
                f"the attribute {declaration.name} has another format elsewhere", place=declaration.place
            )
    return types


def _formats(words: str, place: str) -> AttributeFormat:
    try:
        return formats_of(words)
    except KeyError as error:
        raise InputError(f"{error.args[0]} is not a format of a value", place=place) from None


def _read_attribute_type(declaration: Declaration) -> AttributeType:
    words = declaration.element.get("format")
    formats = AttributeFormat(0) if words is None else _formats(words, declaration.place)
    values: dict[str, int] = {}
    for word in child_elements(declaration.element):
        number = integer_in(word.get("value", ""))
        name = _required_name(word, declaration.path)
        if number is None or word.tag not in {"enum", "flag"}:
            message = f"{name} is not a word with a number"
            raise InputError(message, place=f"{declaration.path}:{word.sourceline}")
        values[name] = number & 0xFFFFFFFF
        formats |= AttributeFormat.ENUM if word.tag == "enum" else AttributeFormat.FLAGS
    return AttributeType(0, declaration.name, formats or AttributeFormat.ANY, values)


def report_refused_texts(root: Element, path: str) -> Iterator[Finding]:
    """Yield a finding for each text of a file of `res/values` that aapt2 refuses for what is in it."""
    for element in child_elements(root):
        if element.tag not in _UNTEXTED_TAGS:
            for item in list(element.iterchildren("item")) or [element]:
                text = "".join(map(str, item.itertext(etree.Element)))
                yield from _refusals(text, f"{element.tag!s}/{element.get('name')}", item, path)


def _refusals(text: str, name: str, element: Element, path: str) -> Iterator[Finding]:
    for code, pattern, message, hint in (
        (APOSTROPHE, _BARE_APOSTROPHE, f"an apostrophe in {name} is neither escaped nor quoted",
            "write \\' for it, or put the whole text into double quotes"),
        (UNICODE_ESCAPE, _BROKEN_ESCAPE, f"\\u in {name} has fewer than four hexadecimal digits",
            "write four digits, or \\\\u for a backslash and a letter"),
    ):  # fmt: skip
        if pattern.match(text):
            yield _finding_at(code, message, element, path).changed({"level": Level.ERROR, "hint": hint})


class ValueCompiler:
    """Compiles declarations.

    Args:
        symbols: Where references lead.
        attributes: The app's own attributes with their ids.
        findings: Takes the findings.
    """

    def __init__(
        self, symbols: Symbols, attributes: Mapping[str, AttributeType], findings: list[Finding]
    ) -> None:
        self._symbols = symbols
        self._attributes = attributes
        self._findings = findings

    def compile(self, declaration: Declaration) -> CompiledValue:
        """Return the value that a declaration gives its resource.

        Raises:
            InputError: it is not of its type, or a reference leads nowhere.
        """
        element, kind = declaration.element, str(declaration.element.tag)
        if declaration.kind == "id":
            return ID_VALUE
        if kind in _ARRAY_TAGS:
            items = enumerate(self._items(declaration, element, _FORMATS[kind]))
            return CompiledBag(tuple((_ARRAY_KEY | number, value) for number, value in items))
        compilers: Mapping[str, Callable[[Declaration], CompiledValue]] = {
            "attr": self._attribute,
            "plurals": self._plurals,
            "style": self._style,
        }
        compiler = compilers.get(declaration.kind)
        if compiler is not None:
            return compiler(declaration)
        formats = _FORMATS.get(declaration.kind, AttributeFormat.REFERENCE)
        stated = element.get("format")
        return self._value(
            declaration, element, formats if stated is None else _formats(stated, declaration.place)
        )

    def _items(
        self, declaration: Declaration, element: Element, formats: AttributeFormat
    ) -> list[TypedValue]:
        return [self._value(declaration, item, formats) for item in element.iterchildren("item")]

    def _plurals(self, declaration: Declaration) -> CompiledBag:
        items = []
        for item in declaration.element.iterchildren("item"):
            key = _QUANTITIES.get(item.get("quantity", ""))
            if key is None:
                message = f"{item.get('quantity')!r} is not a quantity; there are: {', '.join(_QUANTITIES)}"
                raise InputError(message, place=f"{declaration.path}:{item.sourceline}")
            items.append((key, self._value(declaration, item, AttributeFormat.STRING)))
        return CompiledBag(tuple(sorted(items, key=lambda pair: pair[0])))

    def _attribute(self, declaration: Declaration) -> CompiledBag:
        declared = self._attributes[declaration.name]
        items = [(_FORMAT_KEY, integer_value(int(declared.formats)))]
        for key, limit in ((_MINIMUM_KEY, "min"), (_MAXIMUM_KEY, "max")):
            number = integer_in(declaration.element.get(limit, ""))
            if number is not None:
                items.append((key, integer_value(number)))
        words = [
            (self._symbols.resolve(f"@id/{word}", declaration.place), integer_value(number))
            for word, number in declared.values.items()
        ]
        return CompiledBag(tuple(items + sorted(words, key=lambda pair: pair[0])))

    def _style(self, declaration: Declaration) -> CompiledBag:
        items: dict[int, TypedValue] = {}
        for item in declaration.element.iterchildren("item"):
            place = f"{declaration.path}:{item.sourceline}"
            attribute = self._attribute_of_style(_required_name(item, declaration.path), place)
            items[attribute.id] = self._value(declaration, item, attribute.formats, attribute.values)
        return CompiledBag(tuple(sorted(items.items())), self._parent_of(declaration))

    def _attribute_of_style(self, name: str, place: str) -> AttributeType:
        own_name = name.removeprefix("android:")
        type_ = attribute_type(own_name) if own_name != name else self._attributes.get(name)
        if type_ is None:
            raise InputError(f"there is no attribute {name}", place=place)
        return type_

    def _parent_of(self, declaration: Declaration) -> int:
        stated = declaration.element.get("parent")
        if stated is None:
            stated = declaration.name.rpartition(".")[0]
        if not stated:
            return 0
        package, _, name = stated.lstrip("@?*").rpartition(":")
        name = name.removeprefix("style/")
        return self._symbols.resolve(
            f"@{package}:style/{name}" if package else f"@style/{name}", declaration.place
        )

    def _value(
        self,
        declaration: Declaration,
        element: Element,
        formats: AttributeFormat,
        values: Mapping[str, int] | None = None,
    ) -> TypedValue:
        text = self._text_of(element, declaration)
        place = f"{declaration.path}:{element.sourceline}"
        value = compile_value(text, formats, self._symbols, place, values or {})
        if value is not None:
            return value
        if AttributeFormat.STRING in formats:
            name = f"{declaration.kind}/{declaration.name}"
            self._findings += _refusals(text, name, element, declaration.path)
            return string_value(read_string_resource(text))
        message = f"{declaration.kind}/{declaration.name} cannot be {text.strip()[:100]!r}"
        raise InputError(message, place=place)

    def _text_of(self, element: Element, declaration: Declaration) -> str:
        for inner in element.iterdescendants(etree.Element):
            if etree.QName(inner).namespace != _XLIFF:
                message = f"the markup of {declaration.kind}/{declaration.name} is left out"
                self._findings.append(_finding_at(STYLED_STRING, message, element, declaration.path))
                break
        return "".join(map(str, element.itertext(etree.Element)))
