"""Texts of a compiled manifest for which newer releases of Android refuse the app."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from droidgate_android.apk.xml_tree import TypedValue, XmlElement
from droidgate_android.projects.manifest_limits import excess_of, excess_of_meta_data

LengthOf = Callable[[TypedValue], int]
"""Gives the length of the text that a value is or refers to, in UTF-16 units; 0 for what is not text."""


def excessive_texts(root: XmlElement, length_of: LengthOf) -> Iterator[tuple[XmlElement, str]]:
    """Yield each element with a text, or with meta-data, longer than
    `droidgate_android.projects.manifest_limits` has.

    Args:
        root: The manifest.
        length_of: The lengths of its values.
    """
    waiting = [root]
    while waiting:
        element = waiting.pop()
        called = _called(element)
        for attribute in element.attributes:
            message = excess_of(attribute.name, length_of(attribute.value), called)
            if message is not None:
                yield element, message
        children = list(element.child_elements())
        values = (child.find_attribute("value") for child in children if child.tag == "meta-data")
        message = excess_of_meta_data(sum(length_of(value) for value in values if value is not None), called)
        if message is not None:
            yield element, message
        waiting.extend(reversed(children))


def _called(element: XmlElement) -> str:
    value = element.find_attribute("name")
    return f"<{element.tag}>" if value is None or not value.text else f"<{element.tag}> {value.text[:80]}"
