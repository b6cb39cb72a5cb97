"""The rules that a built shim is held to, each with where it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from device_shim.shim_builder.manifest_facts import Part, ShimApk
from droidgate_android.apk.file_kinds import is_binary_xml
from droidgate_android.apk.pack import excessive_texts
from droidgate_android.projects.manifest_limits import REFUSED_BY, utf16_length
from droidgate_appfunctions.file_constants import NAMES as FUNCTION_NAMES
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_mappings.tables.framework_attributes import attribute_type
from droidgate_mmcp.type_words import NAMES as MMCP_NAMES
from droidgate_mobile_mcp.protocol_names import FORMS, NAMES as MOBILE_NAMES
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
from droidgate_shim.builder.shims import HANDSHAKE
from droidgate_shim.builder.text_checks import question_texts

Broken = bool | Iterable[str]
"""Whether a shim breaks a rule, or what in it does: components by their simple names, permissions, texts."""

Check = Callable[[ShimApk], Broken]


@dataclass(frozen=True, slots=True)
class ManifestRule:
    """One rule.

    Attributes:
        id: Its name, unique.
        section: The section of the reference android-runtime that it comes from.
        requirement: What it requires, one sentence.
    """

    id: str
    section: str
    requirement: str


CHECKS: Final[list[tuple[ManifestRule, Check]]] = []
"""Every rule with its check."""

EXPORTED: Final = frozenset(
    {
        *("ToolService", "ManageActivity", "HostProvider", "MmcpActivity", "MmcpReceiver", "FunctionService"),
        "ShellIdentityService",
    }
)
_DUMP: Final = "android.permission.DUMP"
_SHORT_SERVICE: Final = 0x800
_STANDARD: Final = 0
_MAIN, _LAUNCHER = "android.intent.action.MAIN", "android.intent.category.LAUNCHER"
_TRANSLUCENT: Final = "@android:style/Theme.Translucent.NoTitleBar"
_ENFORCE_FILTER, _ALLOW_NULL_ACTION = 0x2, 0x4
_NO_CHANGE: Final = "resourcesUnused"
"""A word of `configChanges` that names no change, but says that the activity shows no resource."""

_DIGEST_CHARACTERS: Final = 64


def _rule(rule_id: str, section: str, requirement: str) -> Callable[[Check], Check]:
    def register(check: Check) -> Check:
        CHECKS.append((ManifestRule(rule_id, section, requirement), check))
        return check

    return register


def _those(shim: ShimApk, *names: str) -> list[Part]:
    """Return the components of these classes that are declared."""
    return [part for part in shim.components if part.simple_name in names]


def _named(parts: Iterable[Part]) -> list[str]:
    return [part.simple_name for part in parts]


@_rule("shim-minimum-sdk", "1.1", f"minSdkVersion is {MINIMUM_SDK}, the first with shell protocol 2")
def _minimum_sdk(shim: ShimApk) -> Broken:
    return shim.apk.minimum_sdk != MINIMUM_SDK


@_rule("shim-target-sdk", "1.1", f"targetSdkVersion is {TARGET_SDK}, the first with AppFunctions")
def _target_sdk(shim: ShimApk) -> Broken:
    return shim.apk.target_sdk != TARGET_SDK


@_rule("shim-exported-stated", "1.1 (API 31)", "Each component says whether it is exported")
def _exported_stated(shim: ShimApk) -> Broken:
    return _named(part for part in shim.components if part.flag("exported") is None)


@_rule("shim-exported-surface", "1.4", "Only the services, the manage screen and the host are exported")
def _exported_surface(shim: ShimApk) -> Broken:
    return [
        name
        for name in _named(part for part in shim.components if part.flag("exported"))
        if name not in EXPORTED
    ]


@_rule("shim-components", "1.4", "All components that the shim needs are declared, and enabled")
def _components(shim: ShimApk) -> Broken:
    needed = ("TrampolineActivity", "ConsentActivity", "ManageActivity", "HostProvider")
    missing = [name for name in needed if shim.component(name) is None]
    return missing + _named(part for part in shim.components if part.flag("enabled") is False)


@_rule("shim-class-names", "2.3", "Every class is the shim's own, whatever its application id")
def _class_names(shim: ShimApk) -> Broken:
    return _named(part for part in shim.components if not part.name.startswith(f"{SHIM_PACKAGE}."))


@_rule("shim-one-process", "1.5", "All components run in one process, which holds the open calls")
def _one_process(shim: ShimApk) -> Broken:
    return _named(part for part in (shim.application, *shim.components) if part.text("process") is not None)


@_rule("shim-query-packages", "1.4", "Every app that is called is visible")
def _query_packages(shim: ShimApk) -> Broken:
    called = {str(route["target"]["package"]) for route in shim.route_list()}
    if "app-function" in shim.backend_kinds() and not _has_shell_identity(shim):
        called.add(SHIM_PACKAGE)
    return called - shim.queried()[0]


@_rule("shim-query-actions", "1.4", "Every action that is looked for is in <queries>")
def _query_actions(shim: ShimApk) -> Broken:
    needed = {action for kind in shim.backend_kinds() for action in ACTIONS_OF_BACKENDS[kind]}
    return needed - shim.queried()[1]


@_rule("shim-query-all", "1.4", "The shim does not see every app: <queries> is enough")
def _query_all(shim: ShimApk) -> Broken:
    return "android.permission.QUERY_ALL_PACKAGES" in shim.permissions()


@_rule("shim-permissions", "2.3", "The shim has no power of its own that it could lend")
def _permissions(shim: ShimApk) -> Broken:
    return shim.permissions() - {*PERMISSIONS, *PERMISSIONS_OF_BACKENDS}


@_rule("shim-foreground-permission", "1.1 (API 28)", "Foreground services are asked for")
def _foreground_permission(shim: ShimApk) -> Broken:
    return "android.permission.FOREGROUND_SERVICE" not in shim.permissions()


@_rule("shim-notification-permission", "1.1 (API 33)", "Notifications are asked for: they are the last route")
def _notification_permission(shim: ShimApk) -> Broken:
    return "android.permission.POST_NOTIFICATIONS" not in shim.permissions()


@_rule("shim-overlay-permission", "1.2", "SYSTEM_ALERT_WINDOW is asked for only where a route opens a window")
def _overlay_permission(shim: ShimApk) -> Broken:
    return (OVERLAYS in shim.permissions()) != ("mmcp-activity" in shim.backend_kinds())


@_rule(
    "shim-functions-permission",
    "0.7",
    f"EXECUTE_APP_FUNCTIONS is asked for only where a route needs it, and in {SHIM_PACKAGE}",
)
def _functions_permission(shim: ShimApk) -> Broken:
    needed = "app-function" in shim.backend_kinds() or _has_shell_identity(shim)
    return needed != (EXECUTE_FUNCTIONS in shim.permissions())


def _has_shell_identity(shim: ShimApk) -> bool:
    return shim.apk.package == SHIM_PACKAGE


@_rule("shim-own-permission", "2.1", "No permission is declared: grants are the user's, at run time")
def _own_permission(shim: ShimApk) -> Broken:
    tags = ("permission", "permission-tree", "permission-group")
    return [part.name for tag in tags for part in shim.manifest.children(tag)]


@_rule("shim-shared-user", "2.1", "The shim shares its uid with no other app")
def _shared_user(shim: ShimApk) -> Broken:
    return shim.manifest.text("sharedUserId") is not None


@_rule("shim-service-type", "1.3", "The tool service is of the type shortService alone")
def _service_type(shim: ShimApk) -> Broken:
    services = _those(shim, "ToolService")
    return _named(part for part in services if part.number("foregroundServiceType") != _SHORT_SERVICE)


@_rule("shim-service-open", "1.4", "The tool service is exported, behind no permission: agents hold none")
def _service_open(shim: ShimApk) -> Broken:
    services = _those(shim, "ToolService")
    is_guarded = shim.application.text("permission") is not None
    return _named(part for part in services if is_guarded or _is_closed(part))


def _is_closed(part: Part) -> bool:
    return part.flag("exported") is not True or part.text("permission") is not None


@_rule("shim-service-found", "1.4", "The tool service has the action by which agents find it")
def _service_found(shim: ShimApk) -> Broken:
    services = _those(shim, "ToolService")
    return _named(part for part in services if MOBILE_NAMES["service_action"] not in part.actions())


@_rule("shim-service-texts", "1.4", "The tool service has a name and a description, as texts")
def _service_texts(shim: ShimApk) -> Broken:
    names = (MOBILE_NAMES["tool_name"], MOBILE_NAMES["tool_description"])
    return [name for part in _those(shim, "ToolService") for name in names if not _has_text(part, name)]


def _has_text(part: Part, name: str) -> bool:
    meta_data = part.meta_data(name)
    return meta_data is not None and bool(meta_data.text("value"))


@_rule("shim-service-descriptor", "1.4", "The tool service points to its capabilities, an XML resource")
def _service_descriptor(shim: ShimApk) -> Broken:
    return _named(part for part in _those(shim, "ToolService") if _descriptor_path(part) is None)


@_rule("shim-routes-declared", "2.3", "What is declared is what has a route, in the same order")
def _routes_declared(shim: ShimApk) -> Broken:
    service = shim.component("ToolService")
    path = None if service is None else _descriptor_path(service)
    routes = [route["id"] for route in shim.route_list()]
    if path is None:
        return bool(routes)
    root = shim.apk.read_xml(path)
    elements = root.child_elements("capability")
    declared = [shim.apk.text_of(element.find_attribute("id", None)) for element in elements]
    return root.tag != FORMS["1.0"].root or declared != routes


def _descriptor_path(service: Part) -> str | None:
    meta_data = service.meta_data(MOBILE_NAMES["tool_capabilities"])
    value = None if meta_data is None else meta_data.value("resource")
    path = None if value is None else value.text
    if path is None or path not in service.apk.archive:
        return None
    return path if is_binary_xml(service.apk.archive.read_entry(path, 1 << 26)) else None


@_rule(
    "shim-trampoline-theme", "1.5", "The waiting activity is translucent: one without display may not wait"
)
def _trampoline_theme(shim: ShimApk) -> Broken:
    activities = _those(shim, "TrampolineActivity")
    return _named(part for part in activities if part.reference("theme") != _TRANSLUCENT)


@_rule("shim-trampoline-history", "0.5", "The waiting activity stays in the history, or gets no result")
def _trampoline_history(shim: ShimApk) -> Broken:
    return _named(part for part in _those(shim, "TrampolineActivity") if part.flag("noHistory"))


@_rule("shim-trampoline-orientation", "1.1 (API 26)", "A translucent activity fixes no orientation")
def _trampoline_orientation(shim: ShimApk) -> Broken:
    activities = _those(shim, "TrampolineActivity")
    return _named(part for part in activities if part.element.find_attribute("screenOrientation") is not None)


@_rule("shim-trampoline-mode", "0.6", "The waiting activity has the standard launch mode")
def _trampoline_mode(shim: ShimApk) -> Broken:
    activities = _those(shim, "TrampolineActivity")
    return _named(part for part in activities if part.number("launchMode") not in {None, _STANDARD})


@_rule("shim-trampoline-affinity", "1.5", "The activities that ask and wait belong to no task of the shim")
def _trampoline_affinity(shim: ShimApk) -> Broken:
    activities = _those(shim, "TrampolineActivity", "ConsentActivity")
    return _named(part for part in activities if part.text("taskAffinity") != "")


@_rule("shim-trampoline-recents", "1.5", "The activities that ask and wait are not among the recent apps")
def _trampoline_recents(shim: ShimApk) -> Broken:
    activities = _those(shim, "TrampolineActivity", "ConsentActivity")
    return _named(part for part in activities if part.flag("excludeFromRecents") is not True)


@_rule("shim-trampoline-changes", "1.5", "The waiting activity is not recreated by any change")
def _trampoline_changes(shim: ShimApk) -> Broken:
    known = attribute_type("configChanges")
    words = {} if known is None else {word: bit for word, bit in known.values.items() if word != _NO_CHANGE}
    stated = [part.number("configChanges") or 0 for part in _those(shim, "TrampolineActivity")]
    return {word for number in stated for word, bit in words.items() if bit & ~number & 0xFFFFFFFF}


@_rule("shim-hidden-filters", "1.4", "What is not exported has no intent filter")
def _hidden_filters(shim: ShimApk) -> Broken:
    return _named(part for part in shim.components if part.flag("exported") is False and part.filters())


@_rule("shim-data-filters", "2.3", "No filter takes data: the shim opens no one's URIs")
def _data_filters(shim: ShimApk) -> Broken:
    return _named(part for part in shim.components if any(item.has_data for item in part.filters()))


@_rule("shim-host-guard", "1.4", "The host's provider is for holders of DUMP, for reading and writing")
def _host_guard(shim: ShimApk) -> Broken:
    return [
        name
        for part in _those(shim, "HostProvider")
        for name in ("readPermission", "writePermission")
        if (part.text(name) or part.text("permission")) != _DUMP
    ]


@_rule("shim-host-authority", "2.3", "The host's provider has the authority that belongs to its shim alone")
def _host_authority(shim: ShimApk) -> Broken:
    own = f"{shim.apk.package}.host"
    return _named(part for part in _those(shim, "HostProvider") if part.text("authorities") != own)


@_rule("shim-host-grants", "2.3", "The host's provider grants no URI to anyone")
def _host_grants(shim: ShimApk) -> Broken:
    parts = _those(shim, "HostProvider")
    tags = ("grant-uri-permission", "path-permission")
    granted = [inner.tag for part in parts for tag in tags for inner in part.children(tag)]
    return granted + _named(part for part in parts if part.flag("grantUriPermissions"))


@_rule(
    "shim-instrumentation", "0.7", f"{SHIM_PACKAGE} has one instrumentation, on itself; other shims have none"
)
def _instrumentation(shim: ShimApk) -> Broken:
    found = list(shim.manifest.children("instrumentation"))
    is_own = all(part.text("targetPackage") == shim.apk.package for part in found)
    needed = [INSTRUMENTATION] if _has_shell_identity(shim) else []
    return not is_own or [part.name for part in found] != needed


@_rule(
    "shim-identity-service",
    "0.7",
    f"{SHIM_PACKAGE} has an exported service for the other shims, without permission and filter; others none",
)
def _identity_service(shim: ShimApk) -> Broken:
    found = _those(shim, "ShellIdentityService")
    if _has_shell_identity(shim) != bool(found):
        return True
    return _named(part for part in found if _is_closed(part) or part.filters())


@_rule("shim-launcher", "1.4", "The manage screen is in the launcher: starting it ends the stopped state")
def _launcher(shim: ShimApk) -> Broken:
    return _named(part for part in _those(shim, "ManageActivity") if not _is_in_launcher(part))


def _is_in_launcher(part: Part) -> bool:
    is_found = any(_MAIN in item.actions and _LAUNCHER in item.categories for item in part.filters())
    return is_found and part.flag("exported") is True


@_rule("shim-backup", "2.3", "Grants and history are in no backup")
def _backup(shim: ShimApk) -> Broken:
    return shim.application.flag("allowBackup") is not False


@_rule("shim-transfer", "2.3", "Grants and history are not carried to another phone (API 31)")
def _transfer(shim: ShimApk) -> Broken:
    value = shim.application.value("dataExtractionRules")
    return value is None or value.text is None or value.text not in shim.apk.archive


@_rule("shim-debuggable", "2.3", "The shim is not debuggable, or any computer could run code in it")
def _debuggable(shim: ShimApk) -> Broken:
    return shim.application.flag("debuggable") is True


@_rule("shim-test-only", "1.4", "The shim is not a test-only app, which only `adb install -t` takes")
def _test_only(shim: ShimApk) -> Broken:
    return shim.application.flag("testOnly") is True


@_rule(
    "shim-matching-flags", "1.1 (API 36)", "Intents without an action reach the shim: some agents send such"
)
def _matching_flags(shim: ShimApk) -> Broken:
    stated = [part.number("intentMatchingFlags") or 0 for part in (shim.application, *shim.components)]
    return any(flags & _ENFORCE_FILTER and not flags & _ALLOW_NULL_ACTION for flags in stated)


@_rule("shim-texts", "1.4", "The app has a label and a description, by which some agents choose it")
def _texts(shim: ShimApk) -> Broken:
    return [name for name in ("label", "description") if not shim.application.text(name)]


@_rule("shim-text-lengths", "1.1 (API 35)", f"No text of the manifest is longer than {REFUSED_BY} take")
def _text_lengths(shim: ShimApk) -> Broken:
    texts = excessive_texts(shim.apk.manifest, lambda value: utf16_length(shim.apk.text_of(value) or ""))
    return [message for _, message in texts]


@_rule("shim-handshake", "2.3", "The policy has the host's handshake, the build and the apps behind it")
def _handshake(shim: ShimApk) -> Broken:
    policy = shim.app_policy()
    behind = {(source["package"], source["signer"]) for source in policy.get("sources") or []}
    called = {(route["target"]["package"], route["target"]["signer"]) for route in shim.route_list()}
    has_build = len(str(policy.get("build") or "")) == _DIGEST_CHARACTERS
    return policy.get("handshake") != HANDSHAKE or not has_build or not called <= behind


@_rule("shim-no-grants", "2.3", "Nothing is granted in advance: what the user did not allow is denied")
def _no_grants(shim: ShimApk) -> Broken:
    return bool(shim.policy.get("grants"))


@_rule("shim-question-texts", "2.3", "The texts of the question to the user are short and visible")
def _question_texts(shim: ShimApk) -> Broken:
    routes = {str(route["id"]) for route in shim.route_list()}
    return [
        name
        for name, texts in (shim.app_policy().get("capabilities") or {}).items()
        if name not in routes
        or not texts
        or texts != question_texts(texts.get("title"), texts.get("description"))
    ]


@_rule(
    "shim-mmcp-activity", "1.4", "A frontend of mMCP is exported, found by both actions, and lists its tools"
)
def _mmcp_activity(shim: ShimApk) -> Broken:
    actions, category = ("advertise_action", "call_action"), MMCP_NAMES["default_category"]
    return _named(
        part
        for part in _those(shim, "MmcpActivity")
        if not _is_frontend(part, *actions) or not any(category in item.categories for item in part.filters())
    )


@_rule("shim-mmcp-receiver", "1.4", "A frontend of mMCP's broadcasts is found by both, and lists its tools")
def _mmcp_receiver(shim: ShimApk) -> Broken:
    actions = ("discovery_action", "invoke_action")
    return _named(part for part in _those(shim, "MmcpReceiver") if not _is_frontend(part, *actions))


def _is_frontend(part: Part, *actions: str) -> bool:
    """Return whether other apps reach a component, find it by these actions and read of its tools."""
    is_found = part.actions().issuperset(MMCP_NAMES[action] for action in actions)
    return is_found and not _is_closed(part) and _has_text(part, MMCP_NAMES["manifest_meta_data"])


@_rule("shim-function-service", "0.7", "A service of app functions is bound by Android alone, and indexed")
def _function_service(shim: ShimApk) -> Broken:
    return _named(part for part in _those(shim, "FunctionService") if not _is_function_service(shim, part))


def _is_function_service(shim: ShimApk, part: Part) -> bool:
    stated = [part.meta_data(FUNCTION_NAMES[name], "property") for name in ("property_v2", "property_schema")]
    assets = [None if item is None else f"assets/{item.text('value')}" for item in stated]
    functions = set((shim.app_policy().get("functions") or {}).values())
    return (
        part.text("permission") == FUNCTION_NAMES["permission"]
        and FUNCTION_NAMES["action"] in part.actions()
        and all(name is not None and name in shim.apk.archive for name in assets)
        and functions <= {str(route["id"]) for route in shim.route_list()}
    )


@_rule("shim-frontends-alone", "1.4", "A frontend is there only where there are routes")
def _frontends_alone(shim: ShimApk) -> Broken:
    if shim.route_list():
        return shim.component("ToolService") is None
    return _named(_those(shim, "ToolService", "MmcpActivity", "MmcpReceiver", "FunctionService"))
