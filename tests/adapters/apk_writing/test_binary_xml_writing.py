"""Trees to compiled XML and back, and what Android's own look-up would see of them."""

import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from adapters.apk_writing.packed_samples import EVERYTHING, pack_tree, signing_key
from droidgate_android.apk.binary_xml import parse_binary_xml
from droidgate_android.apk.binary_xml_writer import write_binary_xml
from droidgate_android.apk.file_kinds import is_binary_xml
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.reader import open_apk
from droidgate_android.apk.xml_tree import ANDROID_NAMESPACE, TypedValue, ValueType, XmlAttribute, XmlElement
from droidgate_mappings.tables.framework_attributes import attribute_id
from requirements_of_tests import require
from titled_rows import titled

NO_ID = 1 << 32
TEXTS = st.text(max_size=12) | st.sampled_from(["", "😀", '{"a": "\\n"}'])
NAMES = st.text("abcXYZ.-_", min_size=1, max_size=6)
NUMBER_TYPES = st.sampled_from([item for item in ValueType if item != ValueType.STRING])
VALUES = st.builds(lambda text: TypedValue(ValueType.STRING, 0, text), TEXTS) | st.builds(
    TypedValue, NUMBER_TYPES, st.integers(0, 0xFFFFFFFF), st.none() | TEXTS
)
FRAMEWORK_ATTRIBUTES = st.sampled_from(["name", "value", "exported", "label", "permission", "description"])


def _framework_attribute(name: str, value: TypedValue) -> XmlAttribute:
    return XmlAttribute(ANDROID_NAMESPACE, name, value, attribute_id(name) or 0)


ATTRIBUTES = (
    st.builds(_framework_attribute, FRAMEWORK_ATTRIBUTES, VALUES)
    | st.builds(XmlAttribute, st.none() | st.sampled_from(["urn:a", "urn:b"]), NAMES, VALUES, st.just(0))
    | st.builds(XmlAttribute, st.just("urn:a"), NAMES, VALUES, st.integers(0x7F010000, 0x7F010003))
)


def _elements(children: st.SearchStrategy[list[XmlElement | str]]) -> st.SearchStrategy[XmlElement]:
    attributes = st.lists(ATTRIBUTES, max_size=5, unique_by=lambda item: (item.namespace, item.name))
    return st.builds(
        XmlElement, NAMES, st.none() | st.just("urn:a"), attributes, children, st.integers(0, 70_000)
    )


TREES = st.recursive(
    _elements(st.builds(list)), lambda inner: _elements(st.lists(inner | TEXTS, max_size=4)), max_leaves=8
)


def in_order(element: XmlElement) -> XmlElement:
    """Return the tree with its attributes as they are written: by id, then by namespace and name."""

    def key(item: XmlAttribute) -> tuple[int, str, str]:
        return item.resource_id or NO_ID, item.namespace or "", item.name

    children = [in_order(child) if isinstance(child, XmlElement) else child for child in element.children]
    return replace(element, attributes=sorted(element.attributes, key=key), children=children)


@given(TREES)
@example(XmlElement("a", children=["one", "two", XmlElement("b"), "three"]))
def test_every_tree_is_read_back_from_its_bytes(tree: XmlElement) -> None:
    assert parse_binary_xml(write_binary_xml(tree)) == in_order(tree)


@given(TREES)
def test_the_same_tree_gives_the_same_bytes_whatever_the_order_of_attributes(tree: XmlElement) -> None:
    turned = replace(tree, attributes=tree.attributes[::-1])
    assert write_binary_xml(in_order(turned)) == write_binary_xml(in_order(tree))


def test_a_deep_tree_is_written() -> None:
    root = XmlElement("root")
    innermost = root
    for _ in range(20_000):
        innermost.children.append(XmlElement("inner"))
        innermost = next(innermost.child_elements())
    assert write_binary_xml(root)


def all_elements(element: XmlElement) -> Iterator[XmlElement]:
    yield element
    for child in element.child_elements():
        yield from all_elements(child)


def unseen_by_android(element: XmlElement) -> list[str]:
    """Return the attributes that `RetrieveAttributes` of libandroidfw passes by.

    It walks the ids that are asked for and the element's attributes side by side, each once and forwards.
    Asked for are here all ids that the element has.
    """
    present = [item.resource_id for item in element.attributes]
    asked = sorted({item for item in present if item})
    seen: set[int] = set()
    position = 0
    for expected in asked:
        while position < len(present) and (present[position] == 0 or expected > present[position]):
            position += 1
        if position < len(present) and present[position] == expected:
            seen.add(expected)
            position += 1
    return [item.name for item in element.attributes if item.resource_id and item.resource_id not in seen]


def test_the_simulation_of_androids_look_up_finds_a_hidden_attribute() -> None:
    value = TypedValue(ValueType.STRING, 0, "x")
    attributes = [_framework_attribute(name, value) for name in ("value", "name")]
    assert unseen_by_android(XmlElement("a", attributes=attributes)) == ["name"]


@given(TREES)
def test_android_sees_every_attribute_of_what_is_written(tree: XmlElement) -> None:
    written = parse_binary_xml(write_binary_xml(tree))
    for element in all_elements(written):
        ids = [attribute.resource_id for attribute in element.attributes if attribute.resource_id]
        if len(ids) == len(set(ids)):
            assert unseen_by_android(element) == []


def test_every_android_attribute_of_a_packed_app_has_its_id_and_is_seen() -> None:
    apk = pack_project(EVERYTHING, key=signing_key("ec"))
    with open_apk(apk) as opened:
        names = [name for name in opened.archive.entry_names if name.endswith(".xml")]
        documents = [opened.read_xml(name) for name in names]
    attributes = 0
    for document in documents:
        for element in all_elements(document):
            assert unseen_by_android(element) == []
            for attribute in element.attributes:
                if attribute.namespace == ANDROID_NAMESPACE:
                    assert attribute.resource_id == attribute_id(attribute.name), attribute.name
                    attributes += 1
    assert attributes > 90


def _compiled_documents(archive: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(archive) as opened:
        for name in opened.namelist():
            if name.endswith(".xml"):
                data = opened.read(name)
                if is_binary_xml(data):
                    yield name, data


@pytest.mark.parametrize("part", ["framework-res", "uiautomator2"])
def test_compiled_xml_of_real_apks_is_written_back_without_loss(part: str) -> None:
    path = require(part)
    apk = path if path.suffix == ".apk" else path.parent / "assets/app-uiautomator.apk"
    count = 0
    for name, data in _compiled_documents(apk):
        tree = parse_binary_xml(data, path=name)
        again = parse_binary_xml(write_binary_xml(tree), path=name)
        assert again == in_order(tree), name
        assert not any(unseen_by_android(element) for element in all_elements(again)), name
        count += 1
    assert count > (1_000 if part == "framework-res" else 10)


@titled("text", {
    "40,000 letters": "x" * 40_000, "20,000 surrogate pairs": "😀" * 20_000,
    "characters of XML": "]]> & < > \" '", "outer spaces": "\t two\n lines ",
    "letters of many languages and invisible ones": "漢字 é \u202e\u200b",
    "control characters": "\u0001\u001f\ufffe", "a reference to a resource": "@string/x",
    "a reference to a theme": "?attr/x", "a number": "007", "an empty text": "",
})  # fmt: skip
def test_hostile_texts_are_read_back_exactly(text: str) -> None:
    attribute = _framework_attribute("value", TypedValue(ValueType.STRING, 0, text))
    tree = XmlElement("meta-data", attributes=[attribute], children=[text] if text else [])
    assert parse_binary_xml(write_binary_xml(tree)) == tree


def test_a_manifest_value_of_many_kilobytes_reaches_the_device_whole() -> None:
    text = "long " * 20_000
    manifest = f"""<manifest xmlns:android="{ANDROID_NAMESPACE}" package="a.b"><application>
    <meta-data android:name="long" android:value="{text}"/></application></manifest>"""
    with open_apk(pack_tree({}, manifest=manifest.encode())) as opened:
        meta = next(element for element in all_elements(opened.manifest) if element.tag == "meta-data")
    value = meta.find_attribute("value")
    assert value is not None
    assert value.text == text
