"""What a text manifest says about the app as a whole: its version, SDK levels and `<queries>`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from droidgate_android.projects.gradle_text import GradleFile
from droidgate_mappings.formats.application import Query
from droidgate_mappings.text.xml_text import TOOLS, Element, child_elements

ReadText = Callable[[Element, str], str | None]
"""Returns the resolved text of an attribute of Android's namespace, None without it."""

_NUMBER: Final = re.compile(r"[0-9]{1,10}")
_DATA: Final = ("scheme", "host", "port", "path", "pathPrefix", "pathPattern", "mimeType")
_REMOVED: Final = frozenset({"remove", "removeAll"})


@dataclass(frozen=True, slots=True)
class ManifestFacts:
    """The facts of one manifest, or of a manifest with its build file.

    Attributes:
        version_code: `android:versionCode`.
        version_name: `android:versionName`.
        minimum_sdk: `android:minSdkVersion`.
        target_sdk: `android:targetSdkVersion`.
        queries: The entries of `<queries>`.
    """

    version_code: int | None = None
    version_name: str | None = None
    minimum_sdk: int | None = None
    target_sdk: int | None = None
    queries: tuple[Query, ...] = ()

    def with_build_file(self, gradle: GradleFile) -> ManifestFacts:
        """Return the facts with those of the build file, which come first as they do in a build."""
        stated: dict[str, Any] = {
            "version_code": gradle.version_code,
            "version_name": gradle.version_name,
            "minimum_sdk": gradle.minimum_sdk,
            "target_sdk": gradle.target_sdk,
        }
        return replace(self, **{name: value for name, value in stated.items() if value is not None})

    def merged_over(self, main: ManifestFacts) -> ManifestFacts:
        """Return the facts of a source set's manifest merged with main's."""
        names = ("version_code", "version_name", "minimum_sdk", "target_sdk")
        taken = {name: getattr(main, name) for name in names if getattr(self, name) is None}
        return replace(self, **taken, queries=tuple(dict.fromkeys((*main.queries, *self.queries))))


def read_facts(root: Element, read_text: ReadText) -> ManifestFacts:
    """Return the facts of a manifest.

    Args:
        root: Its root element.
        read_text: Reads an attribute.
    """
    uses = root.find("uses-sdk")
    minimum = None if uses is None else _number(read_text(uses, "minSdkVersion"))
    target = None if uses is None else _number(read_text(uses, "targetSdkVersion"))
    return ManifestFacts(
        version_code=_number(read_text(root, "versionCode")),
        version_name=read_text(root, "versionName"),
        minimum_sdk=minimum,
        target_sdk=target,
        queries=tuple(dict.fromkeys(_read_queries(root, read_text))),
    )


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and _NUMBER.fullmatch(text.strip()) else None


def _read_queries(root: Element, read_text: ReadText) -> Iterator[Query]:
    for element in root.iterchildren("queries"):
        for entry in child_elements(element):
            if entry.get(f"{TOOLS}node") in _REMOVED:
                continue
            name = read_text(entry, "authorities" if entry.tag == "provider" else "name")
            if entry.tag == "intent":
                yield _read_intent(entry, read_text)
            elif entry.tag == "package" and name:
                yield Query("package", (name,))
            elif entry.tag == "provider" and name:
                yield Query("provider", tuple(name.split(";")))


def _read_intent(entry: Element, read_text: ReadText) -> Query:
    return Query(
        "intent",
        names=_names(entry, "action", read_text),
        categories=_names(entry, "category", read_text),
        data=tuple(
            f"{attribute}={text}"
            for item in entry.iterchildren("data")
            for attribute in _DATA
            if (text := read_text(item, attribute))
        ),
    )


def _names(entry: Element, tag: str, read_text: ReadText) -> tuple[str, ...]:
    return tuple(name for item in entry.iterchildren(tag) if (name := read_text(item, "name")))
