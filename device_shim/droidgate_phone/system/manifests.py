"""What PackageManager keeps of an installed app's manifest: components, filters, permissions, queries.

Read from the compiled manifest inside the installed bytes (`droidgate_android.apk`), so nothing that a build
tool says about an app is believed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from droidgate_android.apk.xml_tree import ANDROID_NAMESPACE, TypedValue, ValueType, XmlElement
from droidgate_mappings.model.names import qualified_class
from droidgate_phone.java.java_text import java_int

if TYPE_CHECKING:
    from droidgate_android.apk.reader import Apk

PartKind = Literal["activity", "service", "receiver", "provider"]

CATEGORY_DEFAULT: Final = "android.intent.category.DEFAULT"
_TAGS: Final[Mapping[str, PartKind]] = {
    "activity": "activity",
    "activity-alias": "activity",
    "service": "service",
    "receiver": "receiver",
    "provider": "provider",
}
_PROTECTION_BASES: Final = ("normal", "dangerous", "signature", "signatureOrSystem", "internal")
_PROTECTION_FLAGS: Final = {0x10: "privileged", 0x20: "development", 0x40: "appop", 0x4000000: "role"}
_FRAMEWORK_PACKAGE: Final = 0x01
_PACKAGE_SHIFT: Final = 24
_KINDS: Final = {
    "": "literal", "Prefix": "prefix", "Suffix": "suffix", "Pattern": "glob", "AdvancedPattern": "advanced",
}  # fmt: skip
_PATH_ATTRIBUTES: Final = {f"path{name}": kind for name, kind in _KINDS.items()}
_SPECIFIC_ATTRIBUTES: Final = {f"ssp{name}": kind for name, kind in _KINDS.items()}
_LAUNCH_MODES: Final = ("standard", "singleTop", "singleTask", "singleInstance", "singleInstancePerTask")


@dataclass(frozen=True, slots=True)
class DataRule:
    """What the `<data>` elements of one filter allow together (`android.content.IntentFilter`).

    Attributes:
        schemes: Of URIs.
        hosts: Each with its port, None for any.
        paths: Each as kind (literal, prefix, suffix, glob, advanced) and text.
        specific_parts: What is behind the scheme, in the same form.
        types: MIME types.
    """

    schemes: tuple[str, ...] = ()
    hosts: tuple[tuple[str, int | None], ...] = ()
    paths: tuple[tuple[str, str], ...] = ()
    specific_parts: tuple[tuple[str, str], ...] = ()
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InstalledFilter:
    """One `<intent-filter>`."""

    actions: tuple[str, ...]
    categories: tuple[str, ...] = ()
    data: DataRule = field(default_factory=DataRule)
    priority: int = 0


@dataclass(frozen=True, slots=True)
class InstalledComponent:
    """One component.

    Attributes:
        package: Its app.
        kind: Activity (aliases too), service, receiver or provider.
        name: Fully qualified class.
        exported: As stated, else as Android takes it: true with a filter.
        exported_stated: It is stated.
        enabled: `android:enabled`.
        permission: What callers have to hold, None for nothing; of providers the permission to read.
        write_permission: What callers of a provider have to hold to write.
        process: Name of its process.
        authorities: Of a provider.
        filters: Its intent filters.
        service_types: `foregroundServiceType` words.
        launch_mode: Of an activity.
        code_class: The class whose code runs: of an alias its target, else `name`.
        label: Its own label, None without one.
        isolated: A service whose process has a uid of its own (`android:isolatedProcess`).
        line: Line of the element in the source manifest, 0 where not known.
    """

    package: str
    kind: PartKind
    name: str
    exported: bool
    exported_stated: bool
    enabled: bool = True
    permission: str | None = None
    write_permission: str | None = None
    process: str = ""
    authorities: tuple[str, ...] = ()
    filters: tuple[InstalledFilter, ...] = ()
    service_types: frozenset[str] = frozenset()
    launch_mode: str = "standard"
    code_class: str = ""
    label: str | None = None
    isolated: bool = False
    line: int = 0


@dataclass(frozen=True, slots=True)
class DeclaredQuery:
    """What `<queries>` asks to see."""

    packages: frozenset[str] = frozenset()
    authorities: frozenset[str] = frozenset()
    intents: tuple[InstalledFilter, ...] = ()


@dataclass(frozen=True, slots=True)
class InstalledManifest:
    """A manifest as PackageManager keeps it."""

    package: str
    components: tuple[InstalledComponent, ...]
    requested_permissions: tuple[str, ...] = ()
    declared_permissions: Mapping[str, str] = field(default_factory=dict)
    queries: DeclaredQuery = field(default_factory=DeclaredQuery)
    shared_user: str | None = None
    test_only: bool = False
    debuggable: bool = False
    application_enabled: bool = True
    instrumentations: tuple[str, ...] = ()
    legacy_storage: bool | None = None


def read_manifest(apk: Apk) -> InstalledManifest:
    """Return what PackageManager keeps of an APK.

    Args:
        apk: The base APK with its splits; references are resolved in its resources.
    """
    return _ManifestReader(apk).read()


class _Attributes:
    """Android's attributes as its package parser sees them: by resource id, references resolved."""

    def __init__(self, apk: Apk) -> None:
        self._apk = apk

    def value(self, element: XmlElement, name: str) -> TypedValue | None:
        for attribute in element.attributes:
            is_framework = attribute.resource_id >> _PACKAGE_SHIFT == _FRAMEWORK_PACKAGE
            if is_framework and attribute.name == name and attribute.namespace == ANDROID_NAMESPACE:
                return self._apk.resolve(attribute.value)
        return None

    def text(self, element: XmlElement, name: str) -> str | None:
        return self._apk.text_of(self.value(element, name))

    def flag(self, element: XmlElement, name: str) -> bool | None:
        value = self.value(element, name)
        if value is None:
            return None
        return value.text == "true" if value.type == ValueType.STRING else value.data != 0

    def number(self, element: XmlElement, name: str) -> int | None:
        value = self.value(element, name)
        if value is None or value.type not in (ValueType.INT_DEC, ValueType.INT_HEX):
            return None
        return value.data - (1 << 32) if value.data >> 31 else value.data


class _ManifestReader:
    def __init__(self, apk: Apk) -> None:
        self._root = apk.manifest
        self._package = apk.package
        self._read = _Attributes(apk)

    def read(self) -> InstalledManifest:
        body = next(self._root.child_elements("application"), XmlElement("application"))
        return InstalledManifest(
            package=self._package,
            components=tuple(self._read_components(body)),
            requested_permissions=tuple(self._requested()),
            declared_permissions={
                self._read.text(child_element, "name") or "": self._protection_of(child_element)
                for child_element in self._root.child_elements("permission")
            },
            queries=self._read_queries(),
            shared_user=self._read.text(self._root, "sharedUserId"),
            test_only=bool(self._read.flag(body, "testOnly")),
            debuggable=bool(self._read.flag(body, "debuggable")),
            legacy_storage=self._read.flag(body, "requestLegacyExternalStorage"),
            application_enabled=self._read.flag(body, "enabled") is not False,
            instrumentations=tuple(
                qualified_class(name, self._package) for name in self._names(self._root, "instrumentation")
            ),
        )

    def _requested(self) -> Iterator[str]:
        for tag in ("uses-permission", "uses-permission-sdk-23"):
            for child_element in self._root.child_elements(tag):
                name = self._read.text(child_element, "name")
                if name:
                    yield name

    def _read_queries(self) -> DeclaredQuery:
        packages: set[str] = set()
        authorities: set[str] = set()
        intents: list[InstalledFilter] = []
        for block in self._root.child_elements("queries"):
            packages.update(self._names(block, "package"))
            for provider in block.child_elements("provider"):
                authorities.update((self._read.text(provider, "authorities") or "").split(";"))
            intents.extend(
                self._read_filter(child_element) for child_element in block.child_elements("intent")
            )
        return DeclaredQuery(frozenset(packages), frozenset(authorities - {""}), tuple(intents))

    def _read_components(self, body: XmlElement) -> Iterator[InstalledComponent]:
        everywhere = self._read.text(body, "permission")
        for element in body.child_elements():
            kind = _TAGS.get(element.tag)
            name = self._read.text(element, "name")
            if kind is not None and name:
                yield self._read_component(element, kind, qualified_class(name, self._package), everywhere)

    def _read_component(
        self, element: XmlElement, kind: PartKind, name: str, everywhere: str | None
    ) -> InstalledComponent:
        read = self._read
        filters = tuple(
            self._read_filter(child_element) for child_element in element.child_elements("intent-filter")
        )
        stated = read.flag(element, "exported")
        permission = read.text(element, "permission") or everywhere
        target = read.text(element, "targetActivity")
        return InstalledComponent(
            package=self._package,
            kind=kind,
            name=name,
            exported=bool(filters) if stated is None else stated,
            exported_stated=stated is not None,
            enabled=read.flag(element, "enabled") is not False,
            permission=read.text(element, "readPermission") or permission,
            write_permission=read.text(element, "writePermission") or permission,
            process=self._process_of(element),
            authorities=tuple(filter(None, (read.text(element, "authorities") or "").split(";"))),
            filters=filters,
            service_types=self._service_types(element),
            launch_mode=_word(read.number(element, "launchMode"), _LAUNCH_MODES),
            code_class=qualified_class(target, self._package) if target else name,
            label=read.text(element, "label"),
            isolated=kind == "service" and bool(read.flag(element, "isolatedProcess")),
            line=element.line,
        )

    def _process_of(self, element: XmlElement) -> str:
        process_name = self._read.text(element, "process")
        if not process_name:
            return self._package
        return self._package + process_name if process_name.startswith(":") else process_name

    def _service_types(self, element: XmlElement) -> frozenset[str]:
        number = self._read.number(element, "foregroundServiceType") or 0
        return frozenset(word for bit, word in SERVICE_TYPES.items() if number & bit)

    def _read_filter(self, element: XmlElement) -> InstalledFilter:
        data = list(element.child_elements("data"))
        return InstalledFilter(
            actions=self._names(element, "action"),
            categories=self._names(element, "category"),
            data=DataRule(
                schemes=self._values(data, "scheme"),
                hosts=tuple(self._hosts(data)),
                paths=tuple(self._patterns(data, _PATH_ATTRIBUTES)),
                specific_parts=tuple(self._patterns(data, _SPECIFIC_ATTRIBUTES)),
                types=self._values(data, "mimeType"),
            ),
            priority=self._read.number(element, "priority") or 0,
        )

    def _names(self, element: XmlElement, tag: str) -> tuple[str, ...]:
        return self._values(list(element.child_elements(tag)), "name")

    def _values(self, elements: list[XmlElement], name: str) -> tuple[str, ...]:
        return tuple(filter(None, (self._read.text(element, name) for element in elements)))

    def _hosts(self, elements: list[XmlElement]) -> Iterator[tuple[str, int | None]]:
        for element in elements:
            host = self._read.text(element, "host")
            if host is not None:
                yield host, java_int(self._read.text(element, "port") or "")

    def _patterns(self, elements: list[XmlElement], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        for element in elements:
            for name, kind in names.items():
                value = self._read.text(element, name)
                if value is not None:
                    yield kind, value

    def _protection_of(self, element: XmlElement) -> str:
        number = self._read.number(element, "protectionLevel") or 0
        flags = [word for bit, word in _PROTECTION_FLAGS.items() if number & bit]
        return "|".join([_word(number & 0xF, _PROTECTION_BASES), *flags])


def _word(number: int | None, words: tuple[str, ...]) -> str:
    return words[number] if number is not None and 0 <= number < len(words) else words[0]


# Words of android.R.attr#foregroundServiceType by bit, API 34.
SERVICE_TYPES: Final = {
    0x001: "dataSync", 0x002: "mediaPlayback", 0x004: "phoneCall", 0x008: "location",
    0x010: "connectedDevice",
    0x020: "mediaProjection", 0x040: "camera", 0x080: "microphone", 0x100: "health", 0x200: "remoteMessaging",
    0x400: "systemExempted", 0x800: "shortService", 0x2000: "mediaProcessing", 0x40000000: "specialUse",
}  # fmt: skip
