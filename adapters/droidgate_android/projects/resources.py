"""The resources and assets of a source tree: `res` and `assets` of one or several source sets.

Nothing is read before it is asked for. Among several files or values of one name, the one without a qualifier
comes first (the default locale and configuration), then the overlay in front of what it overlays.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final

from droidgate_mappings.formats.application import MetaValue, TextFile
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.aapt_text import (
    boolean_in,
    number_in,
    read_attribute_value,
    read_string_resource,
    read_typed_resource,
    reference_in,
)
from droidgate_mappings.text.configured_flags import MAX_REFERENCES, resolve_flag
from droidgate_mappings.text.json_text import decode_utf8
from droidgate_mappings.text.shown_paths import join_shown
from droidgate_mappings.text.xml_text import Element, child_elements, decode_xml, parse_xml

_TEXT_TYPES: Final = frozenset({"string", "bool", "integer", "color", "dimen", "fraction"})
_DESCRIPTOR_ENDINGS: Final = (".xml", ".json")
_ARRAY_TAGS: Final = frozenset({"array", "string-array", "integer-array"})


@dataclass(frozen=True, slots=True)
class SourceSet:
    """One source set.

    Attributes:
        files: Content by path relative to `src/main` or its like.
        shown: How a user would write that folder.
        manifest: Name of its manifest among the files.
    """

    files: Mapping[str, bytes]
    shown: str = ""
    manifest: str = "AndroidManifest.xml"
    _parsed: dict[str, Element] = field(default_factory=dict, repr=False, compare=False)

    def path_of(self, name: str) -> str:
        """Return the path of a file as a user would write it."""
        return join_shown(self.shown, name)

    def parse_values(self, name: str) -> Element:
        """Return the root of a file of `res/values`, which each variant reads; it is parsed once.

        Raises:
            InputError: it cannot be read.
        """
        if name not in self._parsed:
            self._parsed[name] = parse_xml(self.files[name], path=self.path_of(name))
        return self._parsed[name]


@dataclass(frozen=True, slots=True)
class ResourceFile:
    """A file of a source set; `order` says how soon it is used among files of one resource name."""

    order: tuple[bool, str, int, str]
    source_set: SourceSet
    name: str

    def read(self) -> bytes:
        """Return its content.

        Raises:
            InputError: it cannot be read.
        """
        return self.source_set.files[self.name]

    @property
    def path(self) -> str:
        """Its path as a user would write it."""
        return self.source_set.path_of(self.name)


class SourceResources:
    """Resources and assets of source sets, as `droidgate_mappings.formats.application.Resources` asks for
    them.

    Args:
        source_sets: The overlay first, `main` last.
        problems: Takes the resource files that cannot be read; without it, the first is raised.
    """

    def __init__(self, source_sets: tuple[SourceSet, ...], problems: list[InputError] | None = None) -> None:
        self._source_sets = source_sets
        self._problems = problems
        self._files: dict[str, list[ResourceFile]] = {}
        self._all_value_files: list[ResourceFile] = []
        self._value_files: deque[ResourceFile] = deque()
        self._values: dict[str, dict[str, tuple[Element, str]]] = {}
        self._index()

    def _index(self) -> None:
        value_files: list[ResourceFile] = []
        for number, source_set in enumerate(self._source_sets):
            for name in source_set.files:
                parts = name.split("/")
                if len(parts) != 3 or parts[0] != "res":  # noqa: PLR2004 - res/<type>/<file>
                    continue
                kind, _, qualifier = parts[1].partition("-")
                entry = ResourceFile((bool(qualifier), qualifier, number, name), source_set, name)
                if kind == "values":
                    value_files.append(entry)
                else:
                    self._files.setdefault(f"{kind}/{parts[2].partition('.')[0]}", []).append(entry)
        self._all_value_files = sorted(value_files, key=lambda value_file: value_file.order)
        self._value_files.extend(self._all_value_files)
        for entries in self._files.values():
            entries.sort(key=lambda entry: entry.order)

    def read_file(self, reference: str) -> TextFile | None:
        """Return the file behind `@xml/name` or `@raw/name`, None where there is none.

        Raises:
            InputError: the file is not text.
        """
        entry = self._find_file(reference)
        return None if entry is None else _read_text_file(entry.source_set, entry.name)

    def read_text(self, reference: str) -> str | None:
        """Return the default-locale text of a resource, None where it is unknown."""
        end = self._find_end(reference)
        if end is None or isinstance(end, str):
            return end
        kind, text, _ = end
        # Resources.getText coerces a number as getAttributeValue does.
        return read_string_resource(text) if kind == "string" else read_typed_resource(text)

    def read_value(self, reference: str) -> MetaValue | None:
        """Return the value of `@string`, `@bool`, `@integer` or `@color` as a meta-data Bundle has it.

        Returns:
            The value, None where it is unknown or of a kind that the package parser passes over. A reference
            to a file gives the path that the file has in the APK, as `TypedValue` does.
        """
        end = self._find_end(reference)
        if end is None or isinstance(end, str):
            return end
        kind, text, _ = end
        if kind == "string":
            return read_string_resource(text)
        number = number_in(text)
        # The package parser puts no dimension and no fraction into a Bundle.
        return None if number is not None and number[1] else read_attribute_value(text)

    def find_place(self, reference: str) -> Place | None:
        """Return where the value is written that a reference leads to, None where it is in no values file."""
        end = self._find_end(reference)
        return None if end is None or isinstance(end, str) else end[2]

    def _find_end(self, reference: str) -> tuple[str, str, Place] | str | None:
        """Return type, written text and place of the value that a reference leads to, or the path of a file.

        None where the reference leads nowhere or to `@null`.
        """
        for _ in range(MAX_REFERENCES):
            key = _key_of(reference)
            kind = key.partition("/")[0] if key is not None else ""
            value = self._find_value(key) if key is not None else None
            if value is None:
                entry = self._find_file(reference)
                return entry.name if entry is not None else None
            if kind not in _TEXT_TYPES:
                return None
            element, path = value
            text = _inner_text(element)
            followed = reference_in(text)
            if followed is None:
                place = Place(path=path, line=element.sourceline)
                return None if text.strip() == "@null" else (kind, text, place)
            reference = followed
        return None

    def read_flag(self, reference: str) -> dict[str, bool]:
        """Return the value of `@bool/name` in each configuration by resource qualifier, references followed.

        Returns:
            Value by qualifier, the default configuration first; empty where no boolean is found.
        """
        return resolve_flag(reference, self._flags_of)

    def _flags_of(self, reference: str) -> dict[str, bool | str]:
        key = _key_of(reference)
        if key is None:
            return {}
        self._read_values(qualified=True)
        flags: dict[str, bool | str] = {}
        for qualifier, (element, _) in self._values.get(key, {}).items():
            text = _inner_text(element)
            flag = boolean_in(text)
            value = reference_in(text) if flag is None else flag
            if value is not None:
                flags[qualifier] = value
        return flags

    def read_array(self, reference: str) -> tuple[str, ...] | None:
        """Return the items of `@array/name`, each a text or a reference, None where there is none."""
        key = _key_of(reference)
        value = self._find_value(key) if key is not None and key.startswith("array/") else None
        if value is None:
            return None
        element, _ = value
        items = [_inner_text(child) for child in child_elements(element) if child.tag == "item"]
        read = read_string_resource if element.tag == "string-array" else read_typed_resource
        return tuple(reference_in(item) or read(item) for item in items)

    def read_asset(self, name: str) -> TextFile | None:
        """Return the asset of that name, None where there is none.

        Raises:
            InputError: the file is not text.
        """
        path = f"assets/{name}"
        source_set = next((candidate for candidate in self._source_sets if path in candidate.files), None)
        return None if source_set is None else _read_text_file(source_set, path)

    def value_files(self) -> Iterator[tuple[Element, str]]:
        """Yield the root of each file of `res/values`, with its path; one that cannot be read is left out."""
        for entry in self._all_value_files:
            with suppress(InputError):
                yield entry.source_set.parse_values(entry.name), entry.path

    def descriptor_candidates(self) -> Iterator[tuple[str, ResourceFile]]:
        """Yield the XML and JSON files of assets, res/xml and res/raw, by their names for `loose_assets`."""
        seen: set[str] = set()
        for number, source_set in enumerate(self._source_sets):
            for name in sorted(source_set.files):
                if name.startswith("assets/") and name.endswith(_DESCRIPTOR_ENDINGS) and name not in seen:
                    seen.add(name)
                    yield (
                        name.removeprefix("assets/"),
                        ResourceFile((False, "", number, name), source_set, name),
                    )
        for key, entries in sorted(self._files.items()):
            if key.startswith(("xml/", "raw/")) and entries[0].name.endswith(_DESCRIPTOR_ENDINGS):
                yield f"@{key}", entries[0]

    def _find_file(self, reference: str) -> ResourceFile | None:
        for _ in range(MAX_REFERENCES):
            key = _key_of(reference)
            if key is None:
                return None
            if key in self._files:
                return self._files[key][0]
            value = self._find_value(key)
            followed = reference_in(_inner_text(value[0])) if value is not None else None
            if followed is None:
                return None
            reference = followed
        return None

    def _find_value(self, key: str) -> tuple[Element, str] | None:
        """Return the element of a value and its file; that of no configuration, if there is one."""
        self._read_values(qualified=False)
        if key not in self._values:
            self._read_values(qualified=True)
        return next(iter(self._values.get(key, {}).values()), None)

    def _read_values(self, *, qualified: bool) -> None:
        while self._value_files and (qualified or not self._value_files[0].order[0]):
            entry = self._value_files.popleft()
            try:
                root = entry.source_set.parse_values(entry.name)
            except InputError as error:
                if self._problems is None:
                    raise
                self._problems.append(error)
                continue
            for element in child_elements(root):
                key = _key_of_value(element)
                if key is not None:
                    self._values.setdefault(key, {}).setdefault(entry.order[1], (element, entry.path))


def _key_of(reference: str) -> str | None:
    """Return `type/name` of a reference to a resource of the application itself."""
    resource = reference_in(reference)
    if resource is None or resource.startswith("@android:"):
        return None
    return re.sub(r"^@(?:[^:/]+:)?", "", resource)


def _key_of_value(element: Element) -> str | None:
    name = element.get("name")
    if name is None:
        return None
    tag = (
        "array"
        if element.tag in _ARRAY_TAGS
        else element.get("type")
        if element.tag == "item"
        else element.tag
    )
    return f"{tag!s}/{name}"


def _inner_text(element: Element) -> str:
    return "".join(element.itertext("*"))


def _read_text_file(source_set: SourceSet, name: str) -> TextFile:
    path = source_set.path_of(name)
    data = source_set.files[name]
    text = decode_xml(data, path=path) if name.endswith(".xml") else decode_utf8(data, path=path)
    has_mark = name.startswith("assets/") and data.startswith(BOM_UTF8)
    return TextFile(text=text, place=Place(path=path), has_mark=has_mark)
