"""Which resources a source tree declares, by type, name and qualifier, before anything is compiled."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from lxml import etree

from droidgate_android.apk.resource_qualifiers import compile_qualifier
from droidgate_android.apk.value_files import Declaration, read_attribute_types, read_declarations
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.framework_attributes import AttributeType
from droidgate_mappings.text.xml_text import Element, parse_xml

NINE_PATCH: Final = finding_code(
    "nine-patch-not-compiled",
    "A picture that stretches (`.9.png`) is packed as it is, with its frame of marks",
    __name__,
)

FILE_TYPES: Final = (
    *("anim", "animator", "color", "drawable", "font", "interpolator", "layout"),
    *("menu", "mipmap", "navigation", "raw", "transition", "xml"),
)
"""Folders of `res` whose files are resources themselves."""

_NAME = re.compile(r"[^\W\d][\w.$-]*")
_NEW_ID = re.compile(r"\s*@\+(?:[\w.]+:)?id/(?P<name>[\w.$-]+)\s*")
_NINE_PATCH_ENDING: Final = ".9.png"


@dataclass(frozen=True, slots=True)
class NamedResourceFile:
    """A file that is a resource.

    Attributes:
        path: Its path in the tree, and in the APK.
        document: The parsed XML, None for a file that is packed as it is.
    """

    path: str
    document: Element | None


@dataclass(frozen=True, slots=True)
class NewId:
    """An id that `@+id/name` makes."""


ResourceSource = Declaration | NamedResourceFile | NewId


class ResourceNames:
    """The names of one tree.

    Args:
        tree: Content by path relative to `src/main`.
        folder: How a user would write that folder, for errors.

    Attributes:
        sources: What declares a resource, by type and name, then by qualifier.
        attributes: The app's own attributes, without ids.
        findings: What is not packed as it is written.

    Raises:
        InputError: a resource file is broken, declares something twice, or something that is not packed.
    """

    def __init__(self, tree: Mapping[str, bytes], folder: str) -> None:
        self.sources: dict[tuple[str, str], dict[str, ResourceSource]] = {}
        self.findings: list[Finding] = []
        self._tree = tree
        self._folder = folder
        self._qualifiers: dict[bytes, str] = {}
        self._declarations: list[Declaration] = []
        for name in sorted(tree):
            if name.startswith("res/"):
                self._read(name)
        self.attributes: dict[str, AttributeType] = read_attribute_types(self._declarations)

    def spell(self, name: str) -> str:
        """Return a path of the tree as a user would write it."""
        return f"{self._folder}/{name}" if self._folder else name

    def note_new_ids(self, document: Element) -> None:
        """Add the ids that a document makes."""
        for element in document.iter(etree.Element):
            for text in (*element.attrib.values(), element.text or ""):
                match = _NEW_ID.fullmatch(str(text))
                if match is not None:
                    self.sources.setdefault(("id", match["name"]), {}).setdefault("", NewId())

    def _read(self, name: str) -> None:
        parts = name.split("/")
        if len(parts) != 3:  # noqa: PLR2004 - res/<type>/<file>
            raise InputError("a file in res must be in the folder of its type", place=self.spell(name))
        kind, _, words = parts[1].partition("-")
        qualifier = self._known_qualifier(words, name)
        if kind == "values":
            self._read_values(name, qualifier)
        elif kind in FILE_TYPES:
            self._read_file(name, kind, parts[2], qualifier)
        else:
            message = f"{parts[1]} is not a folder of resources"
            raise InputError(
                message, place=self.spell(name), hint=f"there are: values, {', '.join(FILE_TYPES)}"
            )

    def _known_qualifier(self, qualifier: str, name: str) -> str:
        """Return the first spelling of a qualifier of the same meaning."""
        try:
            config = compile_qualifier(qualifier)
        except InputError as error:
            raise InputError(error.message, place=self.spell(name), hint=error.hint) from None
        return self._qualifiers.setdefault(config, qualifier)

    def _read_values(self, name: str, qualifier: str) -> None:
        path = self.spell(name)
        root = parse_xml(self._tree[name], path=path)
        self.note_new_ids(root)
        for declaration in read_declarations(root, path, self.findings):
            self._declarations.append(declaration)
            self._declare(declaration.kind, declaration.name, qualifier, declaration, declaration.place)

    def _read_file(self, name: str, kind: str, file_name: str, qualifier: str) -> None:
        path = self.spell(name)
        document = None
        if file_name.endswith(".xml") and kind != "raw":
            document = parse_xml(self._tree[name], path=path)
            self.note_new_ids(document)
        if file_name.endswith(_NINE_PATCH_ENDING):
            message = "the picture is packed with the marks that say how it stretches"
            hint = "only Android's own tools compile such pictures"
            finding = Finding(
                code=NINE_PATCH,
                level=Level.WARNING,
                pointer="",
                message=message,
                hint=hint,
                source=Place(path=path),
            )
            self.findings.append(finding)
        entry = file_name.removesuffix(_NINE_PATCH_ENDING).partition(".")[0]
        self._declare(kind, entry, qualifier, NamedResourceFile(name, document), path)

    def _declare(self, kind: str, name: str, qualifier: str, source: ResourceSource, place: str) -> None:
        if _NAME.fullmatch(name) is None:
            message = f"{name[:100]!r} cannot be the name of a resource"
            raise InputError(message, place=place, hint="letters, digits, _ . and - after a first letter")
        values = self.sources.setdefault((kind, name), {})
        earlier = values.get(qualifier)
        if earlier is None or isinstance(earlier, NewId):
            values[qualifier] = source
        elif kind == "attr" and isinstance(earlier, Declaration) and isinstance(source, Declaration):
            if earlier.element.get("format") is None and not len(earlier.element):
                values[qualifier] = source
        elif kind != "id":
            first = earlier.place if isinstance(earlier, Declaration) else self.spell(_path_of(earlier))
            raise InputError(
                f"{kind}/{name} is declared a second time", place=place, hint=f"first at {first}"
            )


def _path_of(source: ResourceSource) -> str:
    return source.path if isinstance(source, NamedResourceFile) else ""
