"""An Android application as descriptors' readers see it: components, their meta-data, and its resources and
assets.

A source (project tree, APK, device) builds an `Application`; a format finds its providers in it. So no format
knows where
an application comes from, and no source knows a format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from operator import or_
from typing import Any, Final, Literal, Protocol

from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.names import qualified_class
from droidgate_mappings.records import dataclass, field, replace
from droidgate_mappings.tables.framework_attributes import attribute_type
from droidgate_mappings.text.aapt_text import integer_in, java_float_text, reference_in
from droidgate_mappings.text.configured_flags import (
    Flag,
    both_flags,
    differing_values,
    value_for_release,
    values_on_release,
)

ComponentKind = Literal["activity", "service", "receiver", "provider", "application"]

COMPONENT_TAGS: Final[Mapping[str, ComponentKind]] = {
    "activity": "activity",
    "activity-alias": "activity",
    "service": "service",
    "receiver": "receiver",
    "provider": "provider",
}
"""The elements of components below `<application>`."""

DEFAULT_PROTECTION: Final = "normal"
"""The protection level of a `<permission>` that does not state one."""

_SIGNATURE_OR_SYSTEM: Final = "signatureOrSystem"
_OLDER_WORDS: Final = frozenset({"system", _SIGNATURE_OR_SYSTEM})
_BASE_OF_LEVEL: Final = 0xF
"""The bits of a protection level that are its base level (`PermissionInfo.PROTECTION_MASK_BASE`)."""

_MAX_NAMES: Final = 4096
"""A longer meta-data value is a document, no list of file names."""

ALIAS_MARK: Final = "targetActivity"
"""An attribute that only `<activity-alias>` has."""

MetaValue = str | bool | int | float
"""A typed meta-data value, as Android's package parser types it (reference mobile-mcp-and-mmcp 2.7)."""


@dataclass(frozen=True, slots=True)
class MetaData:
    """One `<meta-data>` or `<property>` of a component.

    Attributes:
        name: `android:name`.
        value: The resolved `android:value`, typed as on a device; None where only a resource is given.
        raw_value: `android:value` as written in a source manifest, before references and escapes; from an
            APK only where it is a reference, as `@type/name`.
        resource: The `android:resource` reference as text, such as `@xml/mcp_capabilities`; None without one.
        place: Where it is.
        text_place: Where the values file of a source tree has the text that it refers to; None without one.
    """

    name: str
    value: MetaValue | None = None
    raw_value: str | None = None
    resource: str | None = None
    place: Place | None = None
    text_place: Place | None = None


@dataclass(frozen=True, slots=True)
class IntentFilter:
    """What one `<intent-filter>` states.

    Attributes:
        actions: Its actions.
        categories: Its categories.
        schemes: The schemes of links that it takes; hosts and paths are not read.
    """

    actions: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    schemes: tuple[str, ...] = ()


COMPONENT_FIELDS: Final = frozenset({"name", "exported", "enabled", "permission", "label", "description"})
"""Attributes of a manifest that have a field of `Component`; the others are its `attributes`."""


@dataclass(frozen=True, slots=True)
class Component:
    """One component of an application, or the application element itself (kind `application`, empty name).

    Attributes:
        kind: Which element.
        name: `android:name` as written; see `qualified_name` on `Application`.
        exported: `android:exported`, None where it is not stated or not known.
        exported_by_configuration: Its value in each configuration by resource qualifier, where it is a
            boolean resource whose values differ; `exported` is the value of the default configuration.
        enabled: `android:enabled` for the configuration at hand: the default configuration of a source tree
            or an APK, a phone's own; true where it is not stated or not known.
        enabled_by_configuration: Its value in each configuration by resource qualifier (`""` is the default
            configuration, `v36` is Android 16 and later), where it is a boolean resource whose values differ.
        permission: `android:permission`; empty where the manifest states that callers need none, and the
            reference itself where it leads nowhere.
        label: The resolved `android:label`.
        description: The resolved `android:description`.
        unresolved: Attributes whose value is not known, as `label=@string/x`: references that lead nowhere
            and flags that are not booleans.
        filters: Its intent filters.
        meta_data: Its `<meta-data>`, in order.
        properties: Its `<property>` elements, in order.
        attributes: Further attributes, by local name, such as `foregroundServiceType`.
        foreign_attributes: Attributes of other namespaces than Android's and the build tools', by
            `{namespace}name`, as written; Android reads none of them.
        place: Where it is.
    """

    kind: ComponentKind
    name: str = ""
    exported: bool | None = None
    exported_by_configuration: Mapping[str, bool] = field(default_factory=dict)
    enabled: bool = True
    enabled_by_configuration: Mapping[str, bool] = field(default_factory=dict)
    permission: str | None = None
    label: str | None = None
    description: str | None = None
    unresolved: tuple[str, ...] = ()
    filters: tuple[IntentFilter, ...] = ()
    meta_data: tuple[MetaData, ...] = ()
    properties: tuple[MetaData, ...] = ()
    attributes: dict[str, str] = field(default_factory=dict)
    foreign_attributes: dict[str, str] = field(default_factory=dict)
    place: Place | None = None

    def has_action(self, action: str) -> bool:
        """Return whether one of the filters names the action."""
        return any(action in filter_.actions for filter_ in self.filters)

    @property
    def known_exported(self) -> bool | None:
        """`android:exported`, false where it is not known for every device; None where it is not stated."""
        if self.exported_by_configuration or "exported" in self.unknown_values:
            return False
        return self.exported

    @property
    def unknown_values(self) -> dict[str, str]:
        """The attributes whose value is not known, with what the manifest states."""
        return {name: value for name, _, value in (item.partition("=") for item in self.unresolved)}

    @property
    def enabled_rule(self) -> Flag:
        """`android:enabled`: one value, or its value in each configuration where they differ."""
        return dict(self.enabled_by_configuration) if self.enabled_by_configuration else self.enabled

    def find_meta_data(self, *names: str) -> MetaData | None:
        """Return the first meta-data with one of the names, in the order of the names."""
        return next(
            (meta_item for name in names for meta_item in self.meta_data if meta_item.name == name), None
        )

    def find_property(self, name: str) -> MetaData | None:
        """Return the property of that name."""
        return next((property_ for property_ in self.properties if property_.name == name), None)


@dataclass(frozen=True, slots=True)
class Query:
    """One entry of `<queries>`: other apps that the app asks Android to let it see.

    Attributes:
        kind: `package`, `intent` or `provider`, the entry's element.
        names: The package, the authorities of the content provider, or the actions of the intent.
        categories: Categories of the intent.
        data: Schemes and MIME types of the intent.
    """

    kind: Literal["package", "intent", "provider"]
    names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    data: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextFile:
    """The text of one file inside an application.

    Attributes:
        text: XML, JSON or plain text; compiled XML is already turned back into text by the source.
        place: Its path as a user would write it; `line` is 1 or None.
        compiled: It came out of compiled XML, so nothing about quoting can be repaired or reported.
        has_mark: It is an asset with a byte order mark of UTF-8, which the text leaves out.
    """

    text: str
    place: Place
    compiled: bool = False
    has_mark: bool = False


class Resources(Protocol):
    """The resources and assets of an application."""

    def read_file(self, reference: str) -> TextFile | None:
        """Return the file behind `@xml/name` or `@raw/name`, None where there is none."""

    def read_text(self, reference: str) -> str | None:
        """Return the default-locale text of a resource (references followed, escapes undone), None if
        unknown.

        A number, boolean, colour or dimension is the text that `Resources.getText` gives for it.
        """

    def read_array(self, reference: str) -> tuple[str, ...] | None:
        """Return the items of `@array/name` as text or references, None where there is none."""

    def read_asset(self, name: str) -> TextFile | None:
        """Return the asset of that name, None where there is none."""


@dataclass(frozen=True, slots=True)
class Application:
    """One application: its manifest's components, resources and assets.

    Attributes:
        package: Application id, None where neither manifest nor build files say.
        components: The application element first, then its components in manifest order.
        resources: Its resources and assets.
        place: The manifest.
        label: The resolved application label.
        description: The resolved application description.
        unresolved: Attributes of the application element whose value is not known, as in `Component`.
        loose_assets: Names of assets and xml resources that no component points to but that may be
            descriptors of a
            component that arrives by manifest merging.
        version_code: `android:versionCode` with its major half, None where it is not known.
        version_name: `android:versionName`, None where it is not known.
        minimum_sdk: `android:minSdkVersion`, None where it is not known.
        target_sdk: `android:targetSdkVersion`, None where it is not known.
        signers: SHA-256 of each signing certificate, lower-case hexadecimal; empty from a source tree.
        signers_verified: The signature was verified and is right; False where it is not right, or cannot be
            verified. None where it was not checked: nothing depends on it yet, or a phone checked it when it
            installed the app.
        signature_problem: Why it is not right, or cannot be verified.
        permissions: The permissions that it declares, with their `android:protectionLevel`.
        queries: What its `<queries>` name, in order.
        is_built: It is of an APK. What a source tree does not have, the build or a library may supply.
        assets_of_code: Names of assets that the source code's compiler writes.
    """

    package: str | None
    components: tuple[Component, ...]
    resources: Resources
    place: Place
    label: str | None = None
    description: str | None = None
    unresolved: tuple[str, ...] = ()
    namespace: str | None = None
    loose_assets: tuple[str, ...] = ()
    version_code: int | None = None
    version_name: str | None = None
    minimum_sdk: int | None = None
    target_sdk: int | None = None
    signers: tuple[str, ...] = ()
    signers_verified: bool | None = None
    signature_problem: str | None = None
    permissions: Mapping[str, str] = field(default_factory=dict)
    queries: tuple[Query, ...] = ()
    is_built: bool = False
    assets_of_code: frozenset[str] = frozenset()
    _by_kind: Mapping[str, tuple[Component, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Sort the components by kind once: the application element is looked for with each of them."""
        by_kind: dict[str, list[Component]] = {}
        for component in self.components:
            by_kind.setdefault(component.kind, []).append(component)
        object.__setattr__(self, "_by_kind", {kind: tuple(items) for kind, items in by_kind.items()})

    def __repr__(self) -> str:
        """Return one line."""
        return f"<Application {self.package!r}: components={len(self.components)}>"

    def of_kind(self, *kinds: ComponentKind) -> Iterator[Component]:
        """Yield the components of the given kinds."""
        if len(kinds) == 1:
            return iter(self._by_kind.get(kinds[0], ()))
        return (component for component in self.components if component.kind in kinds)

    def qualified_name(self, component: Component) -> str:
        """Return a component's class name with its package, as PackageManager would."""
        return qualified_class(component.name, self.namespace or self.package)

    def permission_of(self, component: Component) -> str | None:
        """Return the permission that Android requires of a component's callers, None where it requires none.

        A component without a permission has the application's. An `<activity-alias>` does not, and an empty
        text means none (AOSP ParsedMainComponentUtils, ParsedActivityUtils).
        """
        if component.permission is not None or ALIAS_MARK in component.attributes:
            return component.permission or None
        return next((whole.permission or None for whole in self.of_kind("application")), None)

    def enabled_rule_of(self, component: Component) -> Flag:
        """Return whether a component is enabled, by its own attribute and the application's.

        Returns:
            One value, or the value in each configuration where they differ.
        """
        rule = component.enabled_rule
        for whole in self.of_kind("application"):
            rule = both_flags(rule, whole.enabled_rule)
        return rule

    def for_release(self, sdk: int) -> Application:
        """Return the application with `enabled` and `exported` of its components for one release of Android.

        Args:
            sdk: SDK level of the phone.
        """
        return replace(self, components=tuple(_for_release(component, sdk) for component in self.components))


def usual_level(level: str) -> str:
    """Return a protection level in one spelling: its older words replaced, the base level first, no repeats.

    Android reads the number: its lowest four bits are the base level, each other bit a flag
    (`PermissionInfo.fixProtectionLevel`).

    Args:
        level: `android:protectionLevel` as words, such as `system|signature`, or as their number, such as
            `0x12`; something else stays as it is.
    """
    declared_type = attribute_type("protectionLevel")
    values = {} if declared_type is None else declared_type.values
    number = integer_in(level)
    if number is None:
        words = [word.strip() for word in level.split("|")]
        if not values.keys() >= set(words):
            return level
        number = reduce(or_, (values[word] for word in words))
    if number < 0:
        return level
    base, flags = number & _BASE_OF_LEVEL, number & ~_BASE_OF_LEVEL
    if base == values.get(_SIGNATURE_OR_SYSTEM):
        base, flags = values["signature"], flags | values["privileged"]
    names = {value: word for word, value in values.items() if word not in _OLDER_WORDS}
    parts = [base, *(1 << bit for bit in range(flags.bit_length()) if flags >> bit & 1)]
    if not names.keys() >= set(parts):
        return level
    return "|".join([names[base], *sorted(names[flag] for flag in parts[1:])])


def find_elsewhere(resources: Resources, name: str) -> str | None:
    """Return where a file is that is not where it is named: its reference, or `assets/NAME`.

    Args:
        resources: The app's.
        name: An asset's name, or a reference such as `@xml/name`.
    """
    stem = name.rpartition("/")[2].removesuffix(".xml")
    for reference in (f"@xml/{stem}", f"@raw/{stem}", f"{stem}.xml"):
        read = resources.read_file if reference.startswith("@") else resources.read_asset
        try:
            if reference != name and read(reference) is not None:
                return reference if reference.startswith("@") else f"assets/{reference}"
        except InputError:
            continue
    return None


def text_of_value(value: MetaValue) -> str:
    """Return a meta-data value as Java prints it: `true`, `31`, `2.1`, `100.0`, `1.0E10`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return java_float_text(value) if isinstance(value, float) else str(value)


def _for_release(component: Component, sdk: int) -> Component:
    enabled = value_for_release(component.enabled_by_configuration, sdk)
    exported = value_for_release(component.exported_by_configuration, sdk)
    changes: dict[str, Any] = {}
    if enabled is not None:
        changes["enabled"] = enabled
    if exported is not None:
        # A value by something else than the release is still not known, such as `land`.
        rest = values_on_release(component.exported_by_configuration, sdk)
        changes |= {"exported": exported, "exported_by_configuration": differing_values(rest)}
    if not changes:
        return component
    unresolved = (item for item in component.unresolved if item.partition("=")[0] not in changes)
    return replace(component, **changes, unresolved=tuple(unresolved))


def names_pointed_to(resources: Resources, components: Iterable[Component]) -> frozenset[str]:
    """Return the assets and `@type/name` references that the meta-data and properties of components name."""
    names: set[str] = set()
    for component in components:
        for entry in (*component.meta_data, *component.properties):
            names.update(_names_of(entry))
    for reference in [name for name in names if name.startswith("@array/")]:
        for item in resources.read_array(reference) or ():
            names.add(item)
    return frozenset(names)


def _names_of(entry: MetaData) -> Iterator[str]:
    for text in (entry.value, entry.raw_value, entry.resource):
        if isinstance(text, str) and len(text) <= _MAX_NAMES:
            yield reference_in(text) or text
            yield from (part.strip() for part in text.split(","))
