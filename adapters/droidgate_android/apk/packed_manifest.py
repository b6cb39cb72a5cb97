"""The manifest of a packed app: the source tree's, and what the build file and the caller add."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from droidgate_android.apk.typed_values import integer_value, string_value
from droidgate_android.apk.xml_compiler import AppSymbols, XmlCompiler, set_attribute
from droidgate_android.apk.xml_tree import TypedValue, ValueType, XmlElement
from droidgate_android.projects.gradle_text import GradleFile
from droidgate_android.projects.manifest_merge import CLASS_ATTRIBUTES
from droidgate_mappings.model.errors import InputError, option_hint
from droidgate_mappings.records import dataclass, replace
from droidgate_mappings.text.aapt_text import integer_in, read_plain_attribute
from droidgate_mappings.text.xml_text import ANDROID, Element, parse_xml

_PACKAGE = re.compile(r"[A-Za-z]\w*(?:\.[A-Za-z]\w*)+", re.ASCII)
USUAL_MINIMUM_SDK: Final = 26
USUAL_TARGET_SDK: Final = 36
_MAX_SDK: Final = 10_000
_MAX_VERSION_CODE: Final = 0x7FFFFFFF
_CLASS_ATTRIBUTES: Final = {**CLASS_ATTRIBUTES, "instrumentation": ("name",)}
"""Attributes that hold a class name, which the app's namespace completes."""


@dataclass(frozen=True, slots=True)
class AppFacts:
    """What is said about an app as a whole; None where it is not said.

    Attributes:
        package: Application id.
        version_code: `android:versionCode`.
        version_name: `android:versionName`.
        minimum_sdk: `android:minSdkVersion`.
        target_sdk: `android:targetSdkVersion`.
    """

    package: str | None = None
    version_code: int | None = None
    version_name: str | None = None
    minimum_sdk: int | None = None
    target_sdk: int | None = None

    def completed(self, document: Element, gradle: GradleFile, path: str) -> AppFacts:
        """Return what these facts, then the build file, then the manifest say.

        Raises:
            InputError: nothing states the package, it is not valid, or a number is out of its range.
        """
        uses = document.find("uses-sdk")
        package = self.package or gradle.application_id() or document.get("package")
        if package is None:
            message = "neither the build file nor the manifest states the app's package"
            raise InputError(
                message,
                place=path,
                hint=option_hint("give it with {}", "--package", 'package="com.example.app"'),
            )
        if _PACKAGE.fullmatch(package) is None:
            message = f"{package!r} is not a package of an app"
            raise InputError(message, place=path, hint="write it as com.example.app")
        name = document.get(f"{ANDROID}versionName")
        plain_name = None if name is None or name.startswith("@") else read_plain_attribute(name)
        code = _first(self.version_code, gradle.version_code, _number(document, "versionCode"), 1)
        least = _first(self.minimum_sdk, gradle.minimum_sdk, _number(uses, "minSdkVersion"))
        target = _first(self.target_sdk, gradle.target_sdk, _number(uses, "targetSdkVersion"))
        for word, number, limit in (
            ("versionCode", code, _MAX_VERSION_CODE),
            ("minSdk", least, _MAX_SDK),
            ("targetSdk", target, _MAX_SDK),
        ):
            if number is not None and not (type(number) is int and 0 < number <= limit):
                raise InputError(f"{word} {number!r} is not between 1 and {limit}", place=path)
        return AppFacts(package, code, self.version_name or gradle.version_name or plain_name, least, target)

    def with_releases(self) -> AppFacts:
        """Return these facts with usual releases where none is stated; the target is no older."""
        least = USUAL_MINIMUM_SDK if self.minimum_sdk is None else self.minimum_sdk
        if self.target_sdk is not None:
            return replace(self, minimum_sdk=min(least, self.target_sdk))
        return replace(self, minimum_sdk=least, target_sdk=max(USUAL_TARGET_SDK, least))


def _first(*numbers: int | None) -> int | None:
    return next((number for number in numbers if number is not None), None)


def _number(element: Element | None, name: str) -> int | None:
    raw = None if element is None else element.get(f"{ANDROID}{name}")
    return None if raw is None else integer_in(raw)


def parse_manifest(data: bytes, path: str) -> Element:
    """Return the root of a manifest.

    Raises:
        InputError: it is not a manifest.
    """
    root = parse_xml(data, path=path)
    if root.tag != "manifest":
        raise InputError(f"the root element is <{root.tag!s}>, not <manifest>", place=path)
    return root


def compile_manifest(
    document: Element,
    path: str,
    facts: AppFacts,
    symbols: AppSymbols,
    namespace: str,
    placeholders: Mapping[str, str],
) -> XmlElement:
    """Return the tree of the manifest that is packed.

    Args:
        document: The manifest of the source tree.
        path: How errors name it.
        facts: What it shall say about the app as a whole.
        symbols: The app's resources.
        namespace: What class names that begin with a period, or have none, are completed with.
        placeholders: `manifestPlaceholders` of the build file.

    Raises:
        InputError: something in it cannot be compiled.
    """
    package = facts.package or ""
    filled = {**placeholders, "applicationId": package, "packageName": package}
    root = XmlCompiler(symbols, package, filled).compile(document, path)
    set_attribute(root, "package", string_value(package), None)
    _say(root, facts)
    if namespace != package:
        _complete_class_names(root, namespace)
    return root


def _say(root: XmlElement, facts: AppFacts) -> None:
    if facts.version_code is not None:
        set_attribute(root, "versionCode", integer_value(facts.version_code))
    if facts.version_name is not None:
        set_attribute(root, "versionName", string_value(facts.version_name))
    uses = next(root.child_elements("uses-sdk"), None)
    if uses is None:
        uses = XmlElement("uses-sdk")
        root.children.insert(0, uses)
    for name, release in (
        ("minSdkVersion", facts.minimum_sdk),
        ("targetSdkVersion", facts.target_sdk),
    ):
        if release is not None:
            set_attribute(uses, name, integer_value(release))


def _complete_class_names(root: XmlElement, namespace: str) -> None:
    application = next(root.child_elements("application"), None)
    elements = [root] if application is None else [root, application]
    for parent in elements:
        for element in (parent, *parent.child_elements()):
            for name in _CLASS_ATTRIBUTES.get(element.tag, ()):
                value = element.find_attribute(name)
                if value is not None and value.type == ValueType.STRING:
                    set_attribute(element, name, _completed(value, namespace))


def _completed(value: TypedValue, namespace: str) -> TypedValue:
    name = value.text or ""
    if name.startswith("."):
        return string_value(namespace + name)
    return value if "." in name or not name else string_value(f"{namespace}.{name}")
