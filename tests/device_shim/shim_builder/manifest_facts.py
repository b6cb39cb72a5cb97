"""What the rules for a shim's manifest look at, read from the built APK."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from droidgate_android.apk.reader import Apk
from droidgate_android.apk.resource_values import signed
from droidgate_android.apk.xml_tree import TypedValue, ValueType, XmlElement
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.text.json_text import parse_json
from droidgate_shim.builder.shims import POLICY_PATH, ROUTES_PATH

COMPONENT_TAGS: Final = ("activity", "activity-alias", "service", "receiver", "provider")
_LONGEST_ASSET: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Filter:
    """An intent filter: its actions and categories, and whether it takes data."""

    actions: frozenset[str]
    categories: frozenset[str]
    has_data: bool


@dataclass(frozen=True, slots=True)
class Part:
    """One element of the manifest.

    Attributes:
        element: The element.
        apk: Its APK.
    """

    element: XmlElement
    apk: Apk

    @property
    def tag(self) -> str:
        """Its tag."""
        return self.element.tag

    @property
    def name(self) -> str:
        """`android:name`, the empty text without one."""
        return self.text("name") or ""

    @property
    def simple_name(self) -> str:
        """Its class without the shim's packages; the whole name of another class."""
        own = self.name.startswith(f"{SHIM_PACKAGE}.")
        return self.name.rpartition(".")[2] if own else self.name

    def value(self, name: str) -> TypedValue | None:
        """Return an attribute's value with references followed, None without one."""
        return self.apk.resolve(self.element.find_attribute(name))

    def text(self, name: str) -> str | None:
        """Return an attribute as text, references followed."""
        return self.apk.text_of(self.element.find_attribute(name))

    def reference(self, name: str) -> str | None:
        """Return the name of the resource that an attribute refers to."""
        value = self.element.find_attribute(name)
        if value is None or value.type not in {ValueType.REFERENCE, ValueType.DYNAMIC_REFERENCE}:
            return None
        return self.apk.name_of(value.data)

    def flag(self, name: str) -> bool | None:
        """Return a boolean attribute, None where it is not stated."""
        value = self.value(name)
        return None if value is None or value.type != ValueType.INT_BOOLEAN else value.data != 0

    def number(self, name: str) -> int | None:
        """Return a number, an enum's or flags, None where it is not stated."""
        value = self.value(name)
        return None if value is None or value.type == ValueType.STRING else signed(value.data)

    def children(self, tag: str) -> Iterator[Part]:
        """Yield the child elements of a tag."""
        return (Part(child_element, self.apk) for child_element in self.element.child_elements(tag))

    def filters(self) -> tuple[Filter, ...]:
        """Return its intent filters."""
        return tuple(
            Filter(
                frozenset(part.name for part in child.children("action")),
                frozenset(part.name for part in child.children("category")),
                any(True for _ in child.children("data")),
            )
            for child in self.children("intent-filter")
        )

    def actions(self) -> frozenset[str]:
        """Return the actions of all its filters."""
        return frozenset(action for filter_ in self.filters() for action in filter_.actions)

    def meta_data(self, name: str, tag: str = "meta-data") -> Part | None:
        """Return its meta-data, or another such element, of a name."""
        return next((child for child in self.children(tag) if child.name == name), None)


@dataclass(slots=True)
class ShimApk:
    """A built shim.

    Attributes:
        apk: The APK, open.
        manifest: The root of its manifest.
        application: Its application element.
        components: Its components.
        routes: `assets/routes.json`.
        policy: `assets/policy.json`.
    """

    apk: Apk
    manifest: Part = field(init=False)
    application: Part = field(init=False)
    components: tuple[Part, ...] = field(init=False)
    routes: Mapping[str, Json] = field(init=False)
    policy: Mapping[str, Json] = field(init=False)

    def __post_init__(self) -> None:
        self.manifest = Part(self.apk.manifest, self.apk)
        found = next(self.manifest.children("application"), None)
        if found is None:
            raise InputError("the manifest has no application element", place=self.apk.name)
        self.application = found
        self.components = tuple(
            Part(child_element, self.apk)
            for child_element in found.element.child_elements()
            if child_element.tag in COMPONENT_TAGS
        )
        self.routes = self._read_asset(ROUTES_PATH)
        self.policy = self._read_asset(POLICY_PATH)

    def component(self, simple_name: str) -> Part | None:
        """Return the component of one of the shim's classes, None where it is not declared."""
        return next((item for item in self.components if item.simple_name == simple_name), None)

    def permissions(self) -> frozenset[str]:
        """Return the permissions that it asks for."""
        tags = ("uses-permission", "uses-permission-sdk-23")
        return frozenset(child.name for tag in tags for child in self.manifest.children(tag))

    def queried(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the packages and the actions of `<queries>`."""
        packages: set[str] = set()
        actions: set[str] = set()
        for queries in self.manifest.children("queries"):
            packages.update(child.name for child in queries.children("package"))
            for intent in queries.children("intent"):
                actions.update(child.name for child in intent.children("action"))
        return frozenset(packages), frozenset(actions)

    def backend_kinds(self) -> frozenset[str]:
        """Return the kinds of the backends of its routes."""
        return frozenset(str(item["backend"]["kind"]) for item in self.route_list())

    def route_list(self) -> list[dict[str, Json]]:
        """Return its routes."""
        routes = self.routes.get("routes")
        return list(routes) if isinstance(routes, list) else []

    def app_policy(self) -> Mapping[str, Json]:
        """Return the app's part of the policy."""
        kept = self.policy.get("app")
        return kept if isinstance(kept, dict) else {}

    def _read_asset(self, name: str) -> Mapping[str, Json]:
        if name not in self.apk.archive:
            return {}
        place = self.apk.archive.place_of(name)
        value = parse_json(self.apk.archive.read_entry(name, _LONGEST_ASSET), path=place)
        if not isinstance(value, dict):
            raise InputError("it is not a JSON object", place=place)
        return value
