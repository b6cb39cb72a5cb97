"""An `Application` from an APK: components, typed meta-data, resources and assets as a device sees them.

Attributes of Android's namespace count by their resource id alone, as for Android's package parser
(`obtainAttributes`); one that only looks like one is not seen.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from droidgate_android.apk.apk_budgets import MAX_XML_BYTES
from droidgate_android.apk.archive import Archive
from droidgate_android.apk.binary_xml import parse_binary_xml
from droidgate_android.apk.file_kinds import is_binary_xml
from droidgate_android.apk.reader import MANIFEST, Apk, ApkPart
from droidgate_android.apk.resource_values import is_null, meta_value, value_text
from droidgate_android.apk.signing_block import NEWEST_SDK
from droidgate_android.apk.xml_rendering import render_xml
from droidgate_android.apk.xml_tree import REFERENCE_TYPES, TypedValue, ValueType, XmlElement
from droidgate_mappings.formats.application import (
    COMPONENT_FIELDS,
    COMPONENT_TAGS,
    DEFAULT_PROTECTION,
    Application,
    Component,
    ComponentKind,
    IntentFilter,
    MetaData,
    Query,
    TextFile,
    names_pointed_to,
)
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.tables.framework_attributes import AttributeFormat, attribute_type
from droidgate_mappings.text.aapt_text import reference_in
from droidgate_mappings.text.configured_flags import differing_values
from droidgate_mappings.text.json_text import decode_utf8
from droidgate_mappings.text.xml_text import ANDROID, TOOLS, decode_xml

_FRAMEWORK: Final = 0x01
_OWN_NAMESPACES: Final = frozenset({ANDROID.strip("{}"), TOOLS.strip("{}")})
_DESCRIPTOR_ENDINGS: Final = (".xml", ".json")
_MAX_CANDIDATE_BYTES: Final = 1 << 20
_MAX_CANDIDATES: Final = 64
_NAMED_BY: Final = {"action": "name", "category": "name", "data": "scheme"}
"""Parts of an intent filter, in the order of `IntentFilter`, and the attribute that is read of each."""


def read_application(apk: Apk, sdk: int = NEWEST_SDK) -> Application:
    """Return the application of an APK with its splits; its resources are read from the APK when asked for.

    Args:
        apk: The APK.
        sdk: The release of Android whose signer counts. The signature is not verified: `verify_signers`.

    Raises:
        InputError: a part that every application needs cannot be read.
        BudgetError: it would take more than the APK's budget allows.
    """
    resources = ApkResources(apk)
    reader = _ManifestReader(apk)
    components = tuple(reader.read())
    whole = components[0]
    return Application(
        package=apk.package,
        components=components,
        resources=resources,
        place=Place(path=apk.archive.place_of(MANIFEST)),
        label=whole.label,
        description=whole.description,
        unresolved=whole.unresolved,
        namespace=None,
        loose_assets=_loose_names(resources, components),
        version_code=apk.version_code,
        version_name=apk.version_name,
        minimum_sdk=apk.minimum_sdk,
        target_sdk=apk.target_sdk,
        signers=apk.signer_digests(sdk),
        permissions=dict(reader.permissions()),
        queries=tuple(dict.fromkeys(reader.queries())),
        is_built=True,
    )


def read_identity(apk: Apk, sdk: int = NEWEST_SDK) -> Application:
    """Return who an application is, without its components; nothing but its manifest and signers are read.

    A label that is a string resource is not known, because the resource table may be large and far away.

    Args:
        apk: The APK.
        sdk: The release of Android whose signer counts. The signature is not verified: `verify_signers`.
    """
    reader = _ManifestReader(apk)
    return Application(
        package=apk.package,
        components=(),
        resources=ApkResources(apk),
        place=Place(path=apk.archive.place_of(MANIFEST)),
        label=reader.literal_label(),
        version_code=apk.version_code,
        version_name=apk.version_name,
        minimum_sdk=apk.minimum_sdk,
        target_sdk=apk.target_sdk,
        signers=apk.signer_digests(sdk),
        is_built=True,
    )


def verify_signers(application: Application, sdk: int = NEWEST_SDK) -> Application:
    """Return an application with its APK's signature verified, which reads the whole file.

    Call it before a signer decides anything. An application that is not of an APK, or of one that nobody
    signed, is returned as it is.

    Raises:
        InputError: the file is gone, or has changed.
    """
    resources = application.resources
    if not isinstance(resources, ApkResources):
        return application
    signature = resources.apk.verify_signature(sdk)
    if signature.verified is None:
        return application
    return replace(
        application,
        signers=signature.digests,
        signers_verified=signature.verified,
        signature_problem=signature.problem,
    )


class _ManifestReader:
    def __init__(self, apk: Apk) -> None:
        self._apk = apk

    def read(self) -> Iterator[Component]:
        """Yield the application element, then the components of base and splits."""
        applications = [
            (part.archive.place_of(MANIFEST), element)
            for part in self._apk.parts
            for element in part.manifest.child_elements("application")
        ]
        if not applications:
            yield Component(kind="application", place=Place(path=self._apk.archive.place_of(MANIFEST)))
        else:
            path, whole = applications[0]
            yield self._component(whole, "application", path)
        for path, element in applications:
            for child in element.child_elements():
                kind = COMPONENT_TAGS.get(child.tag)
                if kind is not None and child.namespace is None:
                    yield self._component(child, kind, path)

    def literal_label(self) -> str | None:
        """Return the application's label where it is a text and not a resource."""
        for element in self._apk.manifest.child_elements("application"):
            label = _framework_attributes(element).get("label")
            return label.text if label is not None and label.type is ValueType.STRING else None
        return None

    def permissions(self) -> Iterator[tuple[str, str]]:
        """Yield the permissions that base and splits declare, with their protection levels."""
        for part in self._apk.parts:
            for element in part.manifest.child_elements("permission"):
                attributes = _framework_attributes(element)
                name, level = self._text(attributes, "name"), attributes.get("protectionLevel")
                if name:
                    yield name, DEFAULT_PROTECTION if level is None else self._level(level)

    def queries(self) -> Iterator[Query]:
        """Yield the entries of `<queries>` of base and splits."""
        for part in self._apk.parts:
            for element in part.manifest.child_elements("queries"):
                for entry in element.child_elements():
                    attributes = _framework_attributes(entry)
                    if entry.tag == "intent":
                        yield self._intent(entry)
                    elif entry.tag == "package" and (name := self._text(attributes, "name")):
                        yield Query("package", (name,))
                    elif entry.tag == "provider" and (name := self._text(attributes, "authorities")):
                        yield Query("provider", tuple(name.split(";")))

    def _intent(self, element: XmlElement) -> Query:
        intent_filter = self._filter(element)
        data = tuple(
            f"{name}={text}"
            for child in element.child_elements("data")
            for name, text in self._other_attributes(_framework_attributes(child))
        )
        return Query("intent", intent_filter.actions, intent_filter.categories, data)

    def _level(self, value: TypedValue) -> str:
        words = _in_words("protectionLevel", value)
        return words or value_text(value, self._apk.name_of) or str(value.data)

    def _component(self, element: XmlElement, kind: ComponentKind, path: str) -> Component:
        attributes = _framework_attributes(element)
        filters: list[IntentFilter] = []
        meta_data: list[MetaData] = []
        properties: list[MetaData] = []
        for child in element.child_elements():
            if child.tag == "intent-filter":
                filters.append(self._filter(child))
            elif child.tag == "meta-data":
                meta_data.extend(self._meta(child, path))
            elif child.tag == "property":
                properties.extend(self._meta(child, path))
        texts = {name: self._text(attributes, name) for name in ("label", "description", "permission")}
        flags = {name: self._apk.flag_of(attributes.get(name)) for name in ("exported", "enabled")}
        plain_values = {**texts, **{name: values.get("") for name, values in flags.items()}}
        unresolved = dict(self._unresolved(attributes, plain_values))
        # A component stays closed to callers if its permission is not known.
        if texts["permission"] is None:
            texts["permission"] = unresolved.get("permission")
        return Component(
            kind=kind,
            name=(self._text(attributes, "name") or "") if kind != "application" else "",
            exported=flags["exported"].get(""),
            exported_by_configuration=differing_values(flags["exported"]),
            enabled=flags["enabled"].get("", True),
            enabled_by_configuration=differing_values(flags["enabled"]),
            **texts,
            unresolved=tuple(f"{name}={text}" for name, text in unresolved.items()),
            filters=tuple(filters),
            meta_data=tuple(meta_data),
            properties=tuple(properties),
            attributes=dict(self._other_attributes(attributes)),
            foreign_attributes=dict(self._foreign_attributes(element)),
            place=_place(path, element),
        )

    def _other_attributes(self, attributes: dict[str, TypedValue]) -> Iterator[tuple[str, str]]:
        for name, value in attributes.items():
            if name not in COMPONENT_FIELDS:
                text = _in_words(name, value)
                if text is None:
                    text = value_text(value, self._apk.name_of)
                if text is not None:
                    yield name, text

    def _foreign_attributes(self, element: XmlElement) -> Iterator[tuple[str, str]]:
        for attribute in element.attributes:
            if attribute.namespace and attribute.namespace not in _OWN_NAMESPACES:
                text = value_text(attribute.value, self._apk.name_of)
                if text is not None:
                    yield f"{{{attribute.namespace}}}{attribute.name}", text

    def _filter(self, element: XmlElement) -> IntentFilter:
        texts: dict[str, list[str]] = {tag: [] for tag in _NAMED_BY}
        for child in element.child_elements():
            if child.tag in texts:
                text = self._text(_framework_attributes(child), _NAMED_BY[child.tag])
                if text:
                    texts[child.tag].append(text)
        return IntentFilter(*map(tuple, texts.values()))

    def _meta(self, element: XmlElement, path: str) -> Iterator[MetaData]:
        attributes = _framework_attributes(element)
        name = self._text(attributes, "name")
        if name is None:
            return
        value, resource = attributes.get("value"), attributes.get("resource")
        resolved = self._apk.resolve(value)
        yield MetaData(
            name=name,
            value=meta_value(resolved) if resolved is not None else None,
            raw_value=self._reference(value),
            resource=self._reference(resource),
            place=_place(path, element),
        )

    def _reference(self, value: TypedValue | None) -> str | None:
        if value is None or value.type not in REFERENCE_TYPES or not value.data:
            return None
        return value_text(value, self._apk.name_of)

    def _text(self, attributes: dict[str, TypedValue], name: str) -> str | None:
        value = attributes.get(name)
        if value is None or value.type == ValueType.STRING:
            return value.text if value is not None else None
        return self._apk.text_of(value)

    def _unresolved(
        self, attributes: dict[str, TypedValue], known: Mapping[str, str | bool | None]
    ) -> Iterator[tuple[str, str]]:
        for name, value in known.items():
            if name in attributes and value is None and not is_null(attributes[name]):
                text = value_text(attributes[name], self._apk.name_of)
                yield name, "" if text is None else text


def _framework_attributes(element: XmlElement) -> dict[str, TypedValue]:
    attributes: dict[str, TypedValue] = {}
    for attribute in element.attributes:
        if attribute.resource_id >> 24 == _FRAMEWORK:
            attributes.setdefault(attribute.name, attribute.value)
    return attributes


def _place(path: str, element: XmlElement) -> Place:
    return Place(path=path, line=element.line or None)


def _in_words(name: str, value: TypedValue) -> str | None:
    """Return the words of an enum or of flags (`dataSync|location`), None where they do not fit the value."""
    if not ValueType.INT_DEC <= value.type <= ValueType.INT_HEX:
        return None
    type_ = attribute_type(name)
    if type_ is None or not type_.formats & (AttributeFormat.ENUM | AttributeFormat.FLAGS):
        return None
    for word, number in type_.values.items():
        if number == value.data:
            return word
    if not type_.formats & AttributeFormat.FLAGS:
        return None
    words = [word for word, number in type_.values.items() if number and number & value.data == number]
    covered = 0
    for word in words:
        covered |= type_.values[word]
    return "|".join(words) if covered == value.data else None


class ApkResources:
    """Resources and assets of an APK, as `droidgate_mappings.formats.application.Resources` asks for them.

    Args:
        apk: The APK, which has to stay open.
    """

    def __init__(self, apk: Apk) -> None:
        self._apk = apk

    @property
    def apk(self) -> Apk:
        """The APK."""
        return self._apk

    def read_file(self, reference: str) -> TextFile | None:
        """Return the file behind `@xml/name` or `@raw/name`, None where there is none; compiled XML as text.

        Raises:
            InputError: the file cannot be read, or is not text.
            BudgetError: it would take more than the APK's budget allows.
        """
        file = self._find_file(reference)
        return None if file is None else self._read_text_file(file[0].archive, file[1])

    def read_text(self, reference: str) -> str | None:
        """Return the default-locale text of a resource, None if unknown or not a single value."""
        value = self._value_of(reference)
        return None if value is None else value_text(value, self._apk.name_of)

    def read_array(self, reference: str) -> tuple[str, ...] | None:
        """Return the items of `@array/name`, each a text or a reference, None where there is none."""
        table = self._apk.resources
        identifier = self._identifier(reference)
        items = table.items_of(identifier) if table is not None and identifier is not None else None
        if items is None:
            return None
        return tuple(value_text(item, self._apk.name_of) or "" for item in items)

    def read_asset(self, name: str) -> TextFile | None:
        """Return the asset of that name, of the base before its splits, None where there is none.

        Raises:
            InputError: it cannot be read, or is not text.
            BudgetError: it would take more than the APK's budget allows.
        """
        part = self._apk.part_with(f"assets/{name}")
        return None if part is None else self._read_text_file(part.archive, f"assets/{name}")

    def descriptor_candidates(self) -> Iterator[str]:
        """Yield the small XML and JSON files of assets, res/xml and res/raw, by their names for
        `loose_assets`; the first ones of an app that has very many.
        """
        count = 0
        seen: set[str] = set()
        for part in self._apk.parts:
            for entry in sorted(part.archive.names_below("assets/", _DESCRIPTOR_ENDINGS)):
                if entry not in seen and count < _MAX_CANDIDATES and _is_small(part.archive, entry):
                    seen.add(entry)
                    count += 1
                    yield entry.removeprefix("assets/")
        table = self._apk.resources
        if table is None:
            return
        references: list[str] = []
        for kind in ("raw", "xml"):
            for identifier in table.identifiers_of_type(kind):
                reference = table.reference_to(identifier)
                file = self._find_file(reference) if reference is not None else None
                if (
                    file is not None
                    and file[1].endswith(_DESCRIPTOR_ENDINGS)
                    and len(references) < _MAX_CANDIDATES
                    and _is_small(file[0].archive, file[1])
                ):
                    references.append(reference or "")
        yield from sorted(references)

    def _identifier(self, reference: str) -> int | None:
        resource = reference_in(reference)
        table = self._apk.resources
        if resource is None or table is None or resource.startswith("@android:"):
            return None
        package, colon, rest = resource.removeprefix("@").partition(":")
        return table.find(f"@{rest if colon else package}")

    def _value_of(self, reference: str) -> TypedValue | None:
        identifier = self._identifier(reference)
        if identifier is None:
            return None
        return self._apk.resolve(TypedValue(ValueType.REFERENCE, identifier))

    def _find_file(self, reference: str) -> tuple[ApkPart, str] | None:
        value = self._value_of(reference)
        if value is None or value.type != ValueType.STRING or not value.text:
            return None
        part = self._apk.part_with(value.text)
        return None if part is None else (part, value.text)

    def _read_text_file(self, archive: Archive, name: str) -> TextFile:
        path = archive.place_of(name)
        data = archive.read_entry(name, MAX_XML_BYTES)
        place = Place(path=path)
        budget = self._apk.budget
        if is_binary_xml(data):
            root = parse_binary_xml(data, path=path, budget=budget)
            text = render_xml(root, self._apk.name_of, path=path, budget=budget)
            return TextFile(text=text, place=place, compiled=True)
        return TextFile(text=_decode(data, name, path), place=place, has_mark=data.startswith(BOM_UTF8))


def _decode(data: bytes, name: str, path: str) -> str:
    looks_like_xml = name.endswith((".xml", ".xsd")) or data[:5] == b"<?xml"
    return decode_xml(data, path=path) if looks_like_xml else decode_utf8(data, path=path)


def _is_small(archive: Archive, name: str) -> bool:
    try:
        entry = archive.find_entry(name)
    except InputError:
        return False
    return entry is not None and entry.size <= _MAX_CANDIDATE_BYTES


def _loose_names(resources: ApkResources, components: tuple[Component, ...]) -> tuple[str, ...]:
    try:
        pointed_to = names_pointed_to(resources, components)
        return tuple(name for name in resources.descriptor_candidates() if name not in pointed_to)
    except BudgetError:
        raise
    except InputError:
        return ()
