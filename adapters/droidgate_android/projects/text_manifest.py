"""Reading a text AndroidManifest.xml: its components, and the app's version, SDK levels and `<queries>`
(Android's manifest documentation).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from lxml import etree

from droidgate_android.projects.gradle_text import GradleFile
from droidgate_android.projects.manifest_merge import FILE_MARK
from droidgate_android.projects.resources import SourceResources
from droidgate_mappings.formats.application import (
    COMPONENT_FIELDS,
    COMPONENT_TAGS,
    DEFAULT_PROTECTION,
    Component,
    ComponentKind,
    IntentFilter,
    MetaData,
    MetaValue,
    Query,
)
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.records import dataclass, field, replace
from droidgate_mappings.text.aapt_text import (
    boolean_in,
    is_string_reference,
    read_attribute_value,
    read_plain_attribute,
    reference_in,
)
from droidgate_mappings.text.configured_flags import both_flags, differing_values
from droidgate_mappings.text.xml_text import ANDROID, TOOLS, Element, child_elements, decode_xml, parse_xml

ReadText = Callable[[Element, str], str | None]
"""Returns the resolved text of an attribute of Android's namespace, None without it."""

_NUMBER: Final = re.compile(r"[0-9]{1,10}")
_DATA: Final = ("scheme", "host", "port", "path", "pathPrefix", "pathPattern", "mimeType")
_REMOVED: Final = frozenset({"remove", "removeAll"})


@dataclass(frozen=True, slots=True)
class ManifestFacts:
    """The facts of one manifest, or of a manifest with its build file.

    Attributes:
        version_code, version_name: `android:versionCode` and `android:versionName`.
        minimum_sdk, target_sdk: `android:minSdkVersion` and `android:targetSdkVersion`.
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
        main_values = {name: getattr(main, name) for name in names if getattr(self, name) is None}
        return replace(self, **main_values, queries=tuple(dict.fromkeys((*main.queries, *self.queries))))


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


_NOTHING: Final = frozenset({"@null", "@empty"})
"""Values that state nothing."""

_BESIDE_APPLICATION: Final = frozenset({"permission", "uses-permission", "queries"})
"""Children of `<manifest>` with which samples begin."""
_ROOT_TAGS: Final = frozenset({"manifest", "application", *_BESIDE_APPLICATION, *COMPONENT_TAGS})
_KNOWN_PREFIXES: Final = {"android": ANDROID.strip("{}"), "tools": TOOLS.strip("{}")}

_START_TAG = re.compile(r"\A(?>\s+|<\?.*?\?>|<!--.*?-->)*+<([A-Za-z_][\w.-]*)", re.DOTALL)
_HEAD_BYTES: Final = 8192
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_PROLOG = re.compile(r"\A\s*<\?xml.*?\?>", re.DOTALL)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_DECLARED = re.compile(r"xmlns:([A-Za-z_][\w.-]*)[ \t\r\n]*=[ \t\r\n]*[\"']([^\"'<>&]*)[\"']")
_PREFIX = re.compile(r"[\s<]([A-Za-z_][\w.-]*):[A-Za-z_]")
_PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What one manifest file says.

    Attributes:
        package: Its `package` attribute.
        components: The application element first, also where the file has none.
        removed: Kind and name of the components that it removes (`tools:node="remove"`).
        replacing: Kind and name of the components that replace what they would be merged with.
        place: The file.
        permissions: The permissions that it declares, with their protection levels.
        facts: What it says about the app as a whole.
    """

    package: str | None
    components: tuple[Component, ...]
    removed: frozenset[tuple[str, str]]
    replacing: frozenset[tuple[str, str]]
    place: Place
    permissions: Mapping[str, str] = field(default_factory=dict)
    facts: ManifestFacts = field(default_factory=ManifestFacts)


def root_tag_of(data: bytes) -> str | None:
    """Return the name of an XML document's root element by its first kilobytes, None where there is none."""
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    head = data[:_HEAD_BYTES].decode(encoding, "replace")
    match = _START_TAG.match(head)
    return match[1] if match is not None else None


def is_manifest(data: bytes) -> bool:
    """Return whether a file's content is a text manifest, or a piece of one that can be read as such."""
    tag = root_tag_of(data)
    return tag == "manifest" or (tag in _ROOT_TAGS and b"android:" in data)


class ManifestReader:
    """Reads manifests of one application.

    Args:
        resources: Where references lead.
        placeholders: The value of `${name}`.
        context: Takes the findings.
    """

    def __init__(
        self, resources: SourceResources, placeholders: Mapping[str, str], context: ReadingContext
    ) -> None:
        self._resources = resources
        self._placeholders = dict(placeholders)
        self._context = context

    def read(self, data: bytes, *, path: str, package: str | None = None) -> Manifest:
        """Read one manifest.

        Args:
            data: The file.
            path: The file as a user would write it.
            package: The application id, for `${applicationId}`; without it the manifest's package is taken.

        Raises:
            InputError: it is not a manifest.
        """
        return self.read_root(self.parse(data, path), path=path, package=package)

    def read_root(self, root: Element, *, path: str, package: str | None = None) -> Manifest:
        """Read a manifest that is parsed already, into which those of libraries may be merged; see `read`."""
        place = Place(path=path)
        own_package = root.get("package")
        for name in ("applicationId", "packageName"):
            if package or own_package:
                self._placeholders.setdefault(name, package or own_package or "")
        application = next(iter(root.iterchildren("application")), None)
        if application is None:
            empty = Component(kind="application", place=place)
            permissions, facts = self._read_permissions(root), read_facts(root, self._text)
            return Manifest(own_package, (empty,), frozenset(), frozenset(), place, permissions, facts)
        elements = [
            child_element
            for child_element in child_elements(application)
            if child_element.tag in COMPONENT_TAGS
        ]
        rest = [element for element in elements if element.get(f"{TOOLS}node") not in {"remove", "removeAll"}]
        components = [self._read_component(application, "application", path)]
        components += [self._read_component(item, COMPONENT_TAGS[str(item.tag)], path) for item in rest]
        return Manifest(
            package=own_package,
            components=tuple(components),
            removed=frozenset(map(self._key, elements)) - frozenset(map(self._key, rest)),
            replacing=frozenset(self._key(item) for item in rest if item.get(f"{TOOLS}node") == "replace"),
            place=place,
            permissions=self._read_permissions(root),
            facts=read_facts(root, self._text),
        )

    def _read_permissions(self, root: Element) -> dict[str, str]:
        return {
            name: self._text(item, "protectionLevel") or DEFAULT_PROTECTION
            for item in root.iterchildren("permission")
            if (name := self._text(item, "name"))
        }

    def parse(self, data: bytes, path: str) -> Element:
        """Return the root element of a manifest, or of a piece of one.

        Raises:
            InputError: it is not a manifest.
        """
        text = decode_xml(data, path=path)
        start = _START_TAG.match(text)
        tag = start[1] if start is not None else ""
        place = Place(path=path, line=text.count("\n", 0, start.start(1)) + 1 if start is not None else 1)
        if tag in _ROOT_TAGS - {"manifest"}:
            message = f"a piece of a manifest that begins with <{tag}> is read as part of one"
            self._context.allow("S81", message, source=place)
            text = f"<manifest>{_PROLOG.sub(_as_blank_lines, text)}</manifest>"
        root = self._parse_with_prefixes(text, place)
        if root.tag not in _ROOT_TAGS:
            message = f"the root element is <{root.tag!s}>, not <manifest>"
            raise InputError(message, place=path, hint="name an AndroidManifest.xml")
        _put_into_application(
            [child_element for child_element in child_elements(root) if child_element.tag in COMPONENT_TAGS],
            root,
        )
        return root

    def _parse_with_prefixes(self, text: str, place: Place) -> Element:
        try:
            return parse_xml(text, path=place.path)
        except InputError as error:
            start = _START_TAG.match(text)
            if "Namespace prefix" not in error.message or start is None:
                raise
        names = _QUOTED.sub('""', _COMMENT.sub("", text))
        prefixes = sorted(set(_PREFIX.findall(names)) - {"xmlns", "xml"})
        # Of several elements next to each other, the first may be the only one that declares a prefix.
        stated = dict(_DECLARED.findall(_COMMENT.sub("", text)))
        of_root = _COMMENT.sub("", text[start.end(1) :]).partition(">")[0]
        missing = [prefix for prefix in prefixes if prefix not in dict(_DECLARED.findall(of_root))]
        uris = {**stated, **_KNOWN_PREFIXES}
        declared = "".join(f' xmlns:{item}="{uris.get(item, "urn:undeclared:" + item)}"' for item in missing)
        root = parse_xml(text[: start.end(1)] + declared + text[start.end(1) :], path=place.path)
        prefixes_missing = ", ".join(missing)
        message = f"not every element declares its prefix {prefixes_missing}; Android's build refuses it"
        self._context.allow("S80", message, source=place, hint=f"add{declared} to the root element")
        return root

    def _key(self, element: Element) -> tuple[str, str]:
        return COMPONENT_TAGS[str(element.tag)], self._text(element, "name") or ""

    def _read_component(self, element: Element, kind: ComponentKind, path: str) -> Component:
        texts = {name: self._text(element, name) for name in ("label", "description", "permission")}
        flags = {name: self._flag(element, name) for name in ("exported", "enabled")}
        plain_values = {**texts, **{name: values.get("") for name, values in flags.items()}}
        unresolved = dict(self._unresolved(element, plain_values))
        # A component stays closed to callers if its permission is not known.
        if texts["permission"] is None:
            texts["permission"] = unresolved.get("permission")
        return Component(
            kind=kind,
            name=(self._text(element, "name") or "") if kind != "application" else "",
            exported=flags["exported"].get(""),
            exported_by_configuration=differing_values(flags["exported"]),
            enabled=flags["enabled"].get("", True),
            enabled_by_configuration=differing_values(flags["enabled"]),
            **texts,
            unresolved=tuple(f"{name}={text}" for name, text in unresolved.items()),
            filters=tuple(self._read_filter(item) for item in element.iterchildren("intent-filter")),
            meta_data=tuple(self._read_all_meta(element, "meta-data", path)),
            properties=tuple(self._read_all_meta(element, "property", path)),
            attributes=dict(self._read_other_attributes(element)),
            foreign_attributes=dict(self._read_foreign_attributes(element)),
            place=_place_of(element, path),
        )

    def _read_other_attributes(self, element: Element) -> Iterator[tuple[str, str]]:
        for key, raw in element.attrib.items():
            name = str(key).removeprefix(ANDROID)
            if str(key).startswith(ANDROID) and name not in COMPONENT_FIELDS:
                yield name, self._filled(str(raw))

    def _read_foreign_attributes(self, element: Element) -> Iterator[tuple[str, str]]:
        for key, raw in element.attrib.items():
            name = str(key)
            if name.startswith("{") and not name.startswith((ANDROID, TOOLS)):
                yield name, self._filled(str(raw))

    def _read_filter(self, element: Element) -> IntentFilter:
        def texts(tag: str, name: str) -> tuple[str, ...]:
            return tuple(filter(None, (self._text(item, name) for item in element.iterchildren(tag))))

        return IntentFilter(texts("action", "name"), texts("category", "name"), texts("data", "scheme"))

    def _read_all_meta(self, element: Element, tag: str, path: str) -> Iterator[MetaData]:
        for item in element.iterchildren(tag):
            name = self._text(item, "name")
            if name is not None and item.get(f"{TOOLS}node") not in {"remove", "removeAll"}:
                yield self._read_meta(item, name, path)

    def _read_meta(self, element: Element, name: str, path: str) -> MetaData:
        raw, resource = element.get(f"{ANDROID}value"), element.get(f"{ANDROID}resource")
        return MetaData(
            name=name,
            value=self._value(raw) if raw is not None else None,
            raw_value=raw,
            resource=self._resource(resource) if resource is not None else None,
            place=_place_of(element, path),
            text_place=self._text_place(resource if raw is None else raw),
        )

    def _text_place(self, raw: str | None) -> Place | None:
        reference = None if raw is None else reference_in(self._filled(raw))
        if reference is None or not is_string_reference(reference):
            return None
        return self._resources.find_place(reference)

    def _value(self, raw: str) -> MetaValue | None:
        filled = self._filled(raw)
        reference = reference_in(filled)
        if reference is not None:
            return self._resources.read_value(reference)
        return None if filled.strip() == "@null" else read_attribute_value(filled)

    def _resource(self, raw: str) -> str:
        filled = self._filled(raw)
        return reference_in(filled) or filled.strip()

    def _text(self, element: Element, name: str) -> str | None:
        raw = element.get(f"{ANDROID}{name}")
        if raw is None:
            return None
        filled = self._filled(raw)
        if filled.strip() in _NOTHING:
            return None
        reference = reference_in(filled)
        return self._resources.read_text(reference) if reference is not None else read_plain_attribute(filled)

    def _flag(self, element: Element, name: str) -> dict[str, bool]:
        """Return a boolean attribute's value by resource qualifier; empty where it has none that is known."""
        raw = element.get(f"{ANDROID}{name}")
        if raw is None:
            return {}
        filled = self._filled(raw)
        reference = reference_in(filled)
        if reference is not None:
            return self._resources.read_flag(reference)
        flag = boolean_in(filled)
        return {} if flag is None else {"": flag}

    def _unresolved(
        self, element: Element, known: Mapping[str, str | bool | None]
    ) -> Iterator[tuple[str, str]]:
        for name, value in known.items():
            raw = element.get(f"{ANDROID}{name}")
            if raw is not None and value is None and self._filled(raw).strip() not in _NOTHING:
                yield name, self._filled(raw).strip()

    def _filled(self, raw: str) -> str:
        if "${" not in raw:
            return raw
        return _PLACEHOLDER.sub(lambda found: self._placeholders.get(found[1], found[0]), raw)


def merge_manifests(
    addition: Manifest, base: Manifest, has_overlay: Callable[[Component], bool]
) -> tuple[Component, ...]:
    """Return the components of a build type's or flavour's manifest as they are after merging with main's.

    A component of the same kind and name takes what it does not say itself from main. Components that only
    main has are left out, since main is read for itself, and so is main's meta-data of the application
    element, except for what the source set replaces a descriptor of.

    Args:
        addition: The source set's manifest.
        base: That of main.
        has_overlay: Whether the source set has a file that a component of main points to.
    """
    base_components = {(component.kind, component.name): component for component in base.components}
    stated = {(component.kind, component.name) for component in addition.components}
    added = (
        component
        for key, component in base_components.items()
        if key not in stated and key not in addition.removed and has_overlay(component)
    )
    merged: list[Component] = []
    for component in (*addition.components, *added):
        below = base_components.get((component.kind, component.name))
        if below is None or (component.kind, component.name) in addition.replacing:
            merged.append(component)
        elif component.kind == "application" and not has_overlay(below):
            merged.append(_merge_stated(component, below))
        else:
            merged.append(_merge_component(component, below))
    return tuple(merged)


def _merge_component(component: Component, below: Component) -> Component:
    own_names = {own.name for own in component.meta_data}
    own_properties = {own.name for own in component.properties}
    return replace(
        _merge_stated(component, below),
        filters=(
            *component.filters,
            *(filter_ for filter_ in below.filters if filter_ not in component.filters),
        ),
        meta_data=(
            *component.meta_data,
            *(value for value in below.meta_data if value.name not in own_names),
        ),
        properties=(
            *component.properties,
            *(property_ for property_ in below.properties if property_.name not in own_properties),
        ),
        attributes={**below.attributes, **component.attributes},
    )


def _merge_stated(component: Component, below: Component) -> Component:
    """Return a component that takes the attributes it does not state from what it is merged with."""
    stated = {text.partition("=")[0] for text in component.unresolved}
    flag = both_flags(component.enabled_rule, below.enabled_rule)
    changes: dict[str, Any] = {
        "enabled": flag if isinstance(flag, bool) else flag.get("", True),
        "enabled_by_configuration": {} if isinstance(flag, bool) else flag,
    }
    if component.exported is None and "exported" not in stated:
        changes["exported"] = below.exported
        changes["exported_by_configuration"] = below.exported_by_configuration
    for name in ("permission", "label", "description"):
        if getattr(component, name) is None and name not in stated:
            changes[name] = getattr(below, name)
    merged = replace(component, **changes)
    names = {
        name
        for name in ("exported", "permission", "label", "description")
        if getattr(merged, name) is not None
    }
    texts = (text for text in below.unresolved if text.partition("=")[0] not in {*stated, *names})
    return replace(merged, unresolved=(*component.unresolved, *texts))


def _put_into_application(components: list[Element], root: Element) -> None:
    """Move components that are next to the application element into it, as in samples (row S81)."""
    if not components:
        return
    application = root.find("application")
    if application is None:
        application = etree.SubElement(root, "application")
    application.extend(components)


def _place_of(element: Element, path: str) -> Place:
    return Place(path=element.get(FILE_MARK, path), line=element.sourceline)


def _as_blank_lines(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")
