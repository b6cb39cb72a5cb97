"""The rules that a built shim is held to, each with its section of the reference android-runtime.

They are read from the finished APK, by nothing that wrote it but the format's own readers.

`targetSdkVersion` is 36. What changes for apps that target 24 to 36 and touches the shim:

- 29 and later: activities are not started from the background (the shim has four routes);
- 31: exported has to be stated;
- 31, 34: foreground services have a type and do not start from the background (a plain service is enough);
- 33: notifications need the user's leave;
- 33: explicit intents reach only components with a fitting filter (outgoing ones carry the action);
- 36 is the first release with app functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from droidgate_android.apk.file_kinds import is_binary_xml
from droidgate_android.apk.pack import excessive_texts
from droidgate_android.apk.reader import Apk, open_apk
from droidgate_android.apk.xml_tree import TypedValue, ValueType, XmlElement
from droidgate_android.projects.manifest_limits import REFUSED_BY
from droidgate_appfunctions.format import NAMES as FUNCTION_NAMES
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.tables.framework_attributes import attribute_type
from droidgate_mappings.text.aapt_text import signed_int
from droidgate_mappings.text.json_text import parse_json
from droidgate_mappings.text.utf16 import utf16_length
from droidgate_mmcp.format import NAMES as MMCP_NAMES
from droidgate_mobile_mcp.format import FORMS, NAMES as MOBILE_NAMES
from droidgate_shim.builder.shim_manifest import (
    ACTIONS_OF_BACKENDS,
    EXECUTE_FUNCTIONS,
    INSTRUMENTATION,
    MINIMUM_SDK,
    OVERLAYS,
    PERMISSIONS,
    PERMISSIONS_OF_BACKENDS,
    TARGET_SDK,
)
from droidgate_shim.builder.shims import HANDSHAKE, POLICY_PATH, ROUTES_PATH
from droidgate_shim.builder.text_checks import question_texts

Check = Callable[["ShimApk"], "bool | Iterable[str]"]
"""Whether a shim breaks a rule, or what in it does: components by their simple names, permissions, texts."""

EXPORTED: Final = frozenset(
    {
        *("ToolService", "ManageActivity", "HostProvider", "MmcpActivity", "MmcpReceiver", "FunctionService"),
        "ShellIdentityService",
    }
)
COMPONENT_TAGS: Final = ("activity", "activity-alias", "service", "receiver", "provider")
ANDROID_PERMISSION: Final = "android.permission."
_DUMP: Final = f"{ANDROID_PERMISSION}DUMP"
_SHORT_SERVICE: Final = 0x800
_STANDARD: Final = 0
_MAIN, _LAUNCHER = "android.intent.action.MAIN", "android.intent.category.LAUNCHER"
_TRANSLUCENT: Final = "@android:style/Theme.Translucent.NoTitleBar"
_ENFORCE_FILTER, _ALLOW_NULL_ACTION = 0x2, 0x4
_NO_CHANGE: Final = "resourcesUnused"
"""A word of `configChanges` that names no change, but says that the activity shows no resource."""
_DIGEST_CHARACTERS: Final = 64
_LONGEST_ASSET: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Part:
    """One element of the manifest of an APK."""

    element: XmlElement
    apk: Apk

    @property
    def name(self) -> str:
        """`android:name`, the empty text without one."""
        return self.text("name") or ""

    @property
    def simple_name(self) -> str:
        """Its class without the shim's packages; the whole name of another class."""
        return self.name.rpartition(".")[2] if self.name.startswith(f"{SHIM_PACKAGE}.") else self.name

    @property
    def is_open(self) -> bool:
        """Whether other apps reach it without a permission."""
        return self.flag("exported") is True and self.text("permission") is None

    def value(self, name: str) -> TypedValue | None:
        """Return an attribute's value with references followed, None without one."""
        return self.apk.resolve(self.element.find_attribute(name))

    def text(self, name: str) -> str | None:
        """Return an attribute as text, references followed."""
        return self.apk.text_of(self.element.find_attribute(name))

    def reference(self, name: str) -> str | None:
        """Return the name of the resource that an attribute refers to."""
        value = self.element.find_attribute(name)
        is_reference = value is not None and value.type in {ValueType.REFERENCE, ValueType.DYNAMIC_REFERENCE}
        return self.apk.name_of(value.data) if value is not None and is_reference else None

    def flag(self, name: str) -> bool | None:
        """Return a boolean attribute, None where it is not stated."""
        value = self.value(name)
        return None if value is None or value.type != ValueType.INT_BOOLEAN else value.data != 0

    def number(self, name: str) -> int | None:
        """Return a number, an enum's or flags, None where it is not stated."""
        value = self.value(name)
        return None if value is None or value.type == ValueType.STRING else signed_int(value.data)

    def children(self, *tags: str) -> list[Part]:
        """Return the child elements of these tags, tag by tag."""
        return [Part(child, self.apk) for tag in tags for child in self.element.child_elements(tag)]

    def in_filters(self, tag: str) -> list[frozenset[str]]:
        """Return the names of the elements of a tag in each of its intent filters."""
        return [
            frozenset(part.name for part in item.children(tag)) for item in self.children("intent-filter")
        ]

    def actions(self) -> frozenset[str]:
        """Return the actions of all its filters."""
        return frozenset().union(*self.in_filters("action"))

    def named(self, name: str, tag: str = "meta-data") -> Part | None:
        """Return its meta-data, or another such element, of a name."""
        return next((child for child in self.children(tag) if child.name == name), None)

    def has_text(self, name: str) -> bool:
        """Return whether it has meta-data of a name with a text."""
        meta_data = self.named(name)
        return meta_data is not None and bool(meta_data.text("value"))


class ShimApk:
    """A built shim: its APK, the elements of its manifest, `assets/routes.json` and `assets/policy.json`."""

    def __init__(self, apk: Apk) -> None:
        self.apk = apk
        self.manifest = Part(apk.manifest, apk)
        (self.application,) = self.manifest.children("application")
        elements = self.application.element.child_elements()
        self.components = [Part(child, apk) for child in elements if child.tag in COMPONENT_TAGS]
        self.routes: list[dict[str, Json]] = self._read_asset(ROUTES_PATH).get("routes") or []
        self.policy = self._read_asset(POLICY_PATH)
        self.app_policy: Mapping[str, Json] = self.policy.get("app") or {}
        self.route_ids = [str(route["id"]) for route in self.routes]
        self.backends = frozenset(str(route["backend"]["kind"]) for route in self.routes)
        self.permissions = frozenset(part.name for part in self.manifest.children("uses-permission"))
        self.permissions |= {part.name for part in self.manifest.children("uses-permission-sdk-23")}
        self.has_shell_identity = apk.package == SHIM_PACKAGE

    def _read_asset(self, name: str) -> Mapping[str, Json]:
        if name not in self.apk.archive:
            return {}
        value: Mapping[str, Json] = parse_json(self.apk.archive.read_entry(name, _LONGEST_ASSET))
        return value

    def those(self, *names: str) -> list[Part]:
        """Return the components of these classes that are declared."""
        return [part for part in self.components if part.simple_name in names]

    def breaking(self, is_broken: Callable[[Part], object], *names: str) -> list[str]:
        """Return which components, or which of these classes, break a rule."""
        parts = self.those(*names) if names else self.components
        return [part.simple_name for part in parts if is_broken(part)]

    def queried(self, *tags: str) -> frozenset[str]:
        """Return the names in `<queries>` below these tags."""
        parts = self.manifest.children("queries")
        for tag in tags:
            parts = [child for part in parts for child in part.children(tag)]
        return frozenset(part.name for part in parts)


def _exported_surface(shim: ShimApk) -> list[str]:
    return shim.breaking(lambda part: part.flag("exported") and part.simple_name not in EXPORTED)


def _components(shim: ShimApk) -> list[str]:
    needed = ("TrampolineActivity", "ConsentActivity", "ManageActivity", "HostProvider")
    missing = [name for name in needed if not shim.those(name)]
    return missing + shim.breaking(lambda part: part.flag("enabled") is False)


def _one_process(shim: ShimApk) -> bool:
    return any(part.text("process") is not None for part in (shim.application, *shim.components))


def _query_packages(shim: ShimApk) -> Iterable[str]:
    called = {str(route["target"]["package"]) for route in shim.routes}
    if "app-function" in shim.backends and not shim.has_shell_identity:
        called.add(SHIM_PACKAGE)
    return called - shim.queried("package")


def _query_actions(shim: ShimApk) -> Iterable[str]:
    needed = {action for kind in shim.backends for action in ACTIONS_OF_BACKENDS[kind]}
    return needed - shim.queried("intent", "action")


def _functions_permission(shim: ShimApk) -> bool:
    needed = "app-function" in shim.backends or shim.has_shell_identity
    return needed != (EXECUTE_FUNCTIONS in shim.permissions)


def _service_open(shim: ShimApk) -> list[str]:
    is_guarded = shim.application.text("permission") is not None
    return shim.breaking(lambda part: is_guarded or not part.is_open, "ToolService")


def _service_texts(shim: ShimApk) -> list[str]:
    names = (MOBILE_NAMES["tool_name"], MOBILE_NAMES["tool_description"])
    return [name for part in shim.those("ToolService") for name in names if not part.has_text(name)]


def _routes_declared(shim: ShimApk) -> bool:
    path = next(map(_descriptor_path, shim.those("ToolService")), None)
    if path is None:
        return bool(shim.routes)
    root = shim.apk.read_xml(path)
    elements = root.child_elements("capability")
    declared = [shim.apk.text_of(element.find_attribute("id", None)) for element in elements]
    return root.tag != FORMS["1.0"].root or declared != shim.route_ids


def _descriptor_path(service: Part) -> str | None:
    meta_data = service.named(MOBILE_NAMES["tool_capabilities"])
    value = None if meta_data is None else meta_data.value("resource")
    path = None if value is None else value.text
    if path is None or path not in service.apk.archive:
        return None
    return path if is_binary_xml(service.apk.archive.read_entry(path, 1 << 26)) else None


def _trampoline_changes(shim: ShimApk) -> Iterable[str]:
    type_ = attribute_type("configChanges")
    words = {} if type_ is None else {word: bit for word, bit in type_.values.items() if word != _NO_CHANGE}
    stated = [part.number("configChanges") or 0 for part in shim.those("TrampolineActivity")]
    return {word for number in stated for word, bit in words.items() if bit & ~number & 0xFFFFFFFF}


def _data_filters(shim: ShimApk) -> list[str]:
    return shim.breaking(
        lambda part: any(filter_.children("data") for filter_ in part.children("intent-filter"))
    )


def _host_guard(shim: ShimApk) -> list[str]:
    names = ("readPermission", "writePermission")
    parts = shim.those("HostProvider")
    return [name for part in parts for name in names if (part.text(name) or part.text("permission")) != _DUMP]


def _host_grants(shim: ShimApk) -> list[str]:
    tags = ("grant-uri-permission", "path-permission")
    return shim.breaking(
        lambda part: part.children(*tags) or part.flag("grantUriPermissions"), "HostProvider"
    )


def _instrumentation(shim: ShimApk) -> bool:
    parts = shim.manifest.children("instrumentation")
    is_own = all(part.text("targetPackage") == shim.apk.package for part in parts)
    needed = [INSTRUMENTATION] if shim.has_shell_identity else []
    return not is_own or [part.name for part in parts] != needed


def _identity_service(shim: ShimApk) -> bool:
    parts = shim.those("ShellIdentityService")
    is_wrong = any(not part.is_open or part.children("intent-filter") for part in parts)
    return shim.has_shell_identity != bool(parts) or is_wrong


def _is_in_launcher(part: Part) -> bool:
    pairs = zip(part.in_filters("action"), part.in_filters("category"), strict=True)
    is_found = any(_MAIN in actions and _LAUNCHER in categories for actions, categories in pairs)
    return is_found and part.flag("exported") is True


def _transfer(shim: ShimApk) -> bool:
    value = shim.application.value("dataExtractionRules")
    return value is None or value.text is None or value.text not in shim.apk.archive


def _matching_flags(shim: ShimApk) -> bool:
    stated = [part.number("intentMatchingFlags") or 0 for part in (shim.application, *shim.components)]
    return any(flags & _ENFORCE_FILTER and not flags & _ALLOW_NULL_ACTION for flags in stated)


def _text_lengths(shim: ShimApk) -> list[str]:
    texts = excessive_texts(shim.apk.manifest, lambda value: utf16_length(shim.apk.text_of(value) or ""))
    return [message for _, message in texts]


def _handshake(shim: ShimApk) -> bool:
    behind = {(source["package"], source["signer"]) for source in shim.app_policy.get("sources") or []}
    called = {(route["target"]["package"], route["target"]["signer"]) for route in shim.routes}
    has_build = len(str(shim.app_policy.get("build") or "")) == _DIGEST_CHARACTERS
    return shim.app_policy.get("handshake") != HANDSHAKE or not has_build or not called <= behind


def _question_texts(shim: ShimApk) -> list[str]:
    capabilities: Mapping[str, Json] = shim.app_policy.get("capabilities") or {}
    return [
        name
        for name, texts in capabilities.items()
        if name not in shim.route_ids
        or not texts
        or texts != question_texts(texts.get("title"), texts.get("description"))
    ]


def _mmcp_activity(shim: ShimApk) -> list[str]:
    category = MMCP_NAMES["default_category"]

    def is_found(part: Part) -> bool:
        is_categorised = any(category in categories for categories in part.in_filters("category"))
        return is_categorised and _is_frontend(part, "advertise_action", "call_action")

    return shim.breaking(lambda part: not is_found(part), "MmcpActivity")


def _is_frontend(part: Part, *actions: str) -> bool:
    """Return whether other apps reach a component, find it by these actions and read of its tools."""
    is_found = part.actions().issuperset(MMCP_NAMES[action] for action in actions)
    return is_found and part.is_open and part.has_text(MMCP_NAMES["manifest_meta_data"])


def _is_function_service(shim: ShimApk, part: Part) -> bool:
    stated = [part.named(FUNCTION_NAMES[name], "property") for name in ("property_v2", "property_schema")]
    assets = [None if item is None else f"assets/{item.text('value')}" for item in stated]
    functions = set((shim.app_policy.get("functions") or {}).values())
    return (
        part.text("permission") == FUNCTION_NAMES["permission"]
        and FUNCTION_NAMES["action"] in part.actions()
        and all(name is not None and name in shim.apk.archive for name in assets)
        and functions <= set(shim.route_ids)
    )


def _frontends_alone(shim: ShimApk) -> bool | list[str]:
    if shim.routes:
        return not shim.those("ToolService")
    parts = shim.those("ToolService", "MmcpActivity", "MmcpReceiver", "FunctionService")
    return [part.simple_name for part in parts]


RULES: Final[tuple[tuple[str, str, str, Check], ...]] = (
    ("shim-minimum-sdk", "1.1", f"minSdkVersion is {MINIMUM_SDK}, the first with shell protocol 2",
     lambda shim: shim.apk.minimum_sdk != MINIMUM_SDK),
    ("shim-target-sdk", "1.1", f"targetSdkVersion is {TARGET_SDK}, the first with AppFunctions",
     lambda shim: shim.apk.target_sdk != TARGET_SDK),
    ("shim-exported-stated", "1.1 (API 31)", "Each component says whether it is exported",
     lambda shim: shim.breaking(lambda part: part.flag("exported") is None)),
    ("shim-exported-surface", "1.4", "Only the services, the manage screen and the host are exported",
     _exported_surface),
    ("shim-components", "1.4", "All components that the shim needs are declared, and enabled", _components),
    ("shim-class-names", "2.3", "Every class is the shim's own, whatever its application id",
     lambda shim: shim.breaking(lambda part: not part.name.startswith(f"{SHIM_PACKAGE}."))),
    ("shim-one-process", "1.5", "All components run in one process, which holds the open calls",
     _one_process),
    ("shim-query-packages", "1.4", "Every app that is called is visible", _query_packages),
    ("shim-query-actions", "1.4", "Every action that is looked for is in <queries>", _query_actions),
    ("shim-query-all", "1.4", "The shim does not see every app: <queries> is enough",
     lambda shim: f"{ANDROID_PERMISSION}QUERY_ALL_PACKAGES" in shim.permissions),
    ("shim-permissions", "2.3", "The shim has no power of its own that it could lend",
     lambda shim: shim.permissions - {*PERMISSIONS, *PERMISSIONS_OF_BACKENDS}),
    ("shim-foreground-permission", "1.1 (API 28)", "Foreground services are asked for",
     lambda shim: f"{ANDROID_PERMISSION}FOREGROUND_SERVICE" not in shim.permissions),
    ("shim-notification-permission", "1.1 (API 33)", "Notifications are asked for: they are the last route",
     lambda shim: f"{ANDROID_PERMISSION}POST_NOTIFICATIONS" not in shim.permissions),
    ("shim-overlay-permission", "1.2", "SYSTEM_ALERT_WINDOW is asked for only where a route opens a window",
     lambda shim: (OVERLAYS in shim.permissions) != bool({"mmcp-activity", "app-action"} & shim.backends)),
    ("shim-functions-permission", "0.7",
     f"EXECUTE_APP_FUNCTIONS is asked for only where a route needs it, and in {SHIM_PACKAGE}",
     _functions_permission),
    ("shim-own-permission", "2.1", "No permission is declared: grants are the user's, at run time",
     lambda shim: shim.manifest.children("permission", "permission-tree", "permission-group") != []),
    ("shim-shared-user", "2.1", "The shim shares its uid with no other app",
     lambda shim: shim.manifest.text("sharedUserId") is not None),
    ("shim-service-type", "1.3", "The tool service is of the type shortService alone",
     lambda shim: shim.breaking(
         lambda part: part.number("foregroundServiceType") != _SHORT_SERVICE, "ToolService")),
    ("shim-service-open", "1.4", "The tool service is exported, behind no permission: agents hold none",
     _service_open),
    ("shim-service-found", "1.4", "The tool service has the action by which agents find it",
     lambda shim: shim.breaking(
         lambda part: MOBILE_NAMES["service_action"] not in part.actions(), "ToolService")),
    ("shim-service-texts", "1.4", "The tool service has a name and a description, as texts", _service_texts),
    ("shim-service-descriptor", "1.4", "The tool service points to its capabilities, an XML resource",
     lambda shim: shim.breaking(lambda part: _descriptor_path(part) is None, "ToolService")),
    ("shim-routes-declared", "2.3", "What is declared is what has a route, in the same order",
     _routes_declared),
    ("shim-trampoline-theme", "1.5", "The waiting activity is translucent: one without display may not wait",
     lambda shim: shim.breaking(lambda part: part.reference("theme") != _TRANSLUCENT, "TrampolineActivity")),
    ("shim-trampoline-history", "0.5", "The waiting activity stays in the history, or gets no result",
     lambda shim: shim.breaking(lambda part: part.flag("noHistory"), "TrampolineActivity")),
    ("shim-trampoline-orientation", "1.1 (API 26)", "A translucent activity fixes no orientation",
     lambda shim: shim.breaking(
         lambda part: part.element.find_attribute("screenOrientation") is not None, "TrampolineActivity")),
    ("shim-trampoline-mode", "0.6", "The waiting activity has the standard launch mode",
     lambda shim: shim.breaking(
         lambda part: part.number("launchMode") not in {None, _STANDARD}, "TrampolineActivity")),
    ("shim-trampoline-affinity", "1.5", "The activities that ask and wait belong to no task of the shim",
     lambda shim: shim.breaking(
         lambda part: part.text("taskAffinity") != "", "TrampolineActivity", "ConsentActivity")),
    ("shim-trampoline-recents", "1.5", "The activities that ask and wait are not among the recent apps",
     lambda shim: shim.breaking(
         lambda part: part.flag("excludeFromRecents") is not True, "TrampolineActivity", "ConsentActivity")),
    ("shim-trampoline-changes", "1.5", "The waiting activity is not recreated by any change",
     _trampoline_changes),
    ("shim-hidden-filters", "1.4", "What is not exported has no intent filter",
     lambda shim: shim.breaking(
         lambda part: part.flag("exported") is False and part.children("intent-filter"))),
    ("shim-data-filters", "2.3", "No filter takes data: the shim opens no one's URIs", _data_filters),
    ("shim-host-guard", "1.4", "The host's provider is for holders of DUMP, for reading and writing",
     _host_guard),
    ("shim-host-authority", "2.3", "The host's provider has the authority that belongs to its shim alone",
     lambda shim: shim.breaking(
         lambda part: part.text("authorities") != f"{shim.apk.package}.host", "HostProvider")),
    ("shim-host-grants", "2.3", "The host's provider grants no URI to anyone", _host_grants),
    ("shim-instrumentation", "0.7",
     f"{SHIM_PACKAGE} has one instrumentation, on itself; other shims have none", _instrumentation),
    ("shim-identity-service", "0.7",
     f"{SHIM_PACKAGE} has an exported service for the other shims, with no permission or filter; others none",
     _identity_service),
    ("shim-launcher", "1.4", "The manage screen is in the launcher: starting it ends the stopped state",
     lambda shim: shim.breaking(lambda part: not _is_in_launcher(part), "ManageActivity")),
    ("shim-backup", "2.3", "Grants and history are in no backup",
     lambda shim: shim.application.flag("allowBackup") is not False),
    ("shim-transfer", "2.3", "Grants and history are not carried to another phone (API 31)", _transfer),
    ("shim-debuggable", "2.3", "The shim is not debuggable, or any computer could run code in it",
     lambda shim: shim.application.flag("debuggable") is True),
    ("shim-test-only", "1.4", "The shim is not a test-only app, which only `adb install -t` takes",
     lambda shim: shim.application.flag("testOnly") is True),
    ("shim-matching-flags", "1.1 (API 36)", "Intents without an action reach the shim: some agents send such",
     _matching_flags),
    ("shim-texts", "1.4", "The app has a label and a description, by which some agents choose it",
     lambda shim: [name for name in ("label", "description") if not shim.application.text(name)]),
    ("shim-text-lengths", "1.1 (API 35)", f"No text of the manifest is longer than {REFUSED_BY} take",
     _text_lengths),
    ("shim-handshake", "2.3", "The policy has the host's handshake, the build and the apps behind it",
     _handshake),
    ("shim-no-grants", "2.3", "Nothing is granted in advance: what the user did not allow is denied",
     lambda shim: bool(shim.policy.get("grants"))),
    ("shim-question-texts", "2.3", "The texts of the question to the user are short and visible",
     _question_texts),
    ("shim-mmcp-activity", "1.4", "A frontend of mMCP is exported, found by both actions, lists its tools",
     _mmcp_activity),
    ("shim-mmcp-receiver", "1.4", "A frontend of mMCP's broadcasts is found by both, and lists its tools",
     lambda shim: shim.breaking(
         lambda part: not _is_frontend(part, "discovery_action", "invoke_action"), "MmcpReceiver")),
    ("shim-function-service", "0.7", "A service of app functions is bound by Android alone, and indexed",
     lambda shim: shim.breaking(lambda part: not _is_function_service(shim, part), "FunctionService")),
    ("shim-frontends-alone", "1.4", "A frontend is there only where there are routes", _frontends_alone),
)  # fmt: skip
"""Id, section of the reference android-runtime, what is required, and the check."""


def broken_rules(apk: bytes) -> dict[str, tuple[str, bool | tuple[str, ...]]]:
    """Return the rules that a built shim breaks: id -> what it requires, and what in the shim breaks it.

    Raises:
        InputError: it is not an APK.
    """
    return {rule: (requirement, result) for rule, requirement, result in _results(apk) if result}


def _results(apk: bytes) -> Iterator[tuple[str, str, bool | tuple[str, ...]]]:
    with open_apk(apk) as opened:
        shim = ShimApk(opened)
        for rule, _, requirement, check in RULES:
            result = check(shim)
            yield rule, requirement, result if isinstance(result, bool) else tuple(result)
