"""The rules that a built shim is held to, each with where it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from droidgate.apk.file_kinds import is_binary_xml
from droidgate.apk.manifest_lengths import excessive_texts
from droidgate.apk.xml_tree import TypedValue
from droidgate.installed import SHIM_PACKAGE
from droidgate.parsing.manifest_limits import REFUSED_BY, utf16_length
from droidgate_appfunctions.constants import NAMES as FUNCTION_NAMES
from droidgate_mappings.framework_attributes import attribute_type
from droidgate_mmcp.tables import NAMES as MMCP_NAMES
from droidgate_mobile_mcp.constants import FORMS
from droidgate_mobile_mcp.constants import NAMES as MOBILE_NAMES
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
from shim_builder.manifest_facts import Part, ShimApk

Broken: TypeAlias = tuple[str, str]
"""The place in the manifest, and what is wrong there."""

Check: TypeAlias = Callable[[ShimApk], Iterable[Broken]]


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


def _of(shim: ShimApk, name: str) -> Iterator[Part]:
    found = shim.component(name)
    if found is not None:
        yield found


def _at(part: Part) -> str:
    return f"/{part.tag}/{part.simple_name}"


@_rule("shim-minimum-sdk", "1.1", f"minSdkVersion is {MINIMUM_SDK}, the first with shell protocol 2")
def _minimum_sdk(shim: ShimApk) -> Iterator[Broken]:
    if shim.apk.minimum_sdk != MINIMUM_SDK:
        yield "/uses-sdk", f"minSdkVersion is {shim.apk.minimum_sdk}"


@_rule("shim-target-sdk", "1.1", f"targetSdkVersion is {TARGET_SDK}, the first with AppFunctions")
def _target_sdk(shim: ShimApk) -> Iterator[Broken]:
    if shim.apk.target_sdk != TARGET_SDK:
        yield "/uses-sdk", f"targetSdkVersion is {shim.apk.target_sdk}"


@_rule("shim-exported-stated", "1.1 (API 31)", "Each component says whether it is exported")
def _exported_stated(shim: ShimApk) -> Iterator[Broken]:
    for one in shim.components:
        if one.flag("exported") is None:
            yield _at(one), f"{one.simple_name} does not say whether it is exported"


@_rule("shim-exported-surface", "1.4", "Only the services, the manage screen and the host are exported")
def _exported_surface(shim: ShimApk) -> Iterator[Broken]:
    for one in shim.components:
        if one.flag("exported") and one.simple_name not in EXPORTED:
            yield _at(one), f"{one.simple_name} is exported"


@_rule("shim-components", "1.4", "All components that the shim needs are declared, and enabled")
def _components(shim: ShimApk) -> Iterator[Broken]:
    for name in ("TrampolineActivity", "ConsentActivity", "ManageActivity", "HostProvider"):
        if shim.component(name) is None:
            yield "/application", f"{name} is not declared"
    for one in shim.components:
        if one.flag("enabled") is False:
            yield _at(one), f"{one.simple_name} is disabled"


@_rule("shim-class-names", "2.3", "Every class is the shim's own, whatever its application id")
def _class_names(shim: ShimApk) -> Iterator[Broken]:
    for one in shim.components:
        if not one.name.startswith(f"{SHIM_PACKAGE}."):
            yield _at(one), f"{one.name or 'a component without a name'} is no class of the shim"


@_rule("shim-one-process", "1.5", "All components run in one process, which holds the open calls")
def _one_process(shim: ShimApk) -> Iterator[Broken]:
    for one in (shim.application, *shim.components):
        if one.text("process") is not None:
            yield (
                _at(one),
                f"{one.simple_name or 'the application'} asks for the process {one.text('process')}",
            )


@_rule("shim-query-packages", "1.4", "Every app that is called is visible")
def _query_packages(shim: ShimApk) -> Iterator[Broken]:
    packages, _ = shim.queried()
    called = {str(one["target"]["package"]) for one in shim.route_list()}
    if "app-function" in shim.backend_kinds() and not _has_shell_identity(shim):
        called.add(SHIM_PACKAGE)
    for package in sorted(called - packages):
        yield "/queries", f"{package} is called, and not named in <queries>"


@_rule("shim-query-actions", "1.4", "Every action that is looked for is in <queries>")
def _query_actions(shim: ShimApk) -> Iterator[Broken]:
    _, actions = shim.queried()
    needed = {action for kind in shim.backend_kinds() for action in ACTIONS_OF_BACKENDS[kind]}
    for action in sorted(needed - actions):
        yield "/queries", f"{action} is looked for, and not in <queries>"


@_rule("shim-query-all", "1.4", "The shim does not see every app: <queries> is enough")
def _query_all(shim: ShimApk) -> Iterator[Broken]:
    if "android.permission.QUERY_ALL_PACKAGES" in shim.permissions():
        yield "/uses-permission", "QUERY_ALL_PACKAGES is asked for"


@_rule("shim-permissions", "2.3", "The shim has no power of its own that it could lend")
def _permissions(shim: ShimApk) -> Iterator[Broken]:
    for permission in sorted(shim.permissions() - {*PERMISSIONS, *PERMISSIONS_OF_BACKENDS}):
        yield "/uses-permission", f"{permission} is asked for"


@_rule("shim-foreground-permission", "1.1 (API 28)", "Foreground services are asked for")
def _foreground_permission(shim: ShimApk) -> Iterator[Broken]:
    yield from _missing_permission(shim, "android.permission.FOREGROUND_SERVICE")


@_rule("shim-notification-permission", "1.1 (API 33)", "Notifications are asked for: they are the last route")
def _notification_permission(shim: ShimApk) -> Iterator[Broken]:
    yield from _missing_permission(shim, "android.permission.POST_NOTIFICATIONS")


@_rule("shim-overlay-permission", "1.2", "SYSTEM_ALERT_WINDOW is asked for only where a route opens a window")
def _overlay_permission(shim: ShimApk) -> Iterator[Broken]:
    yield from _needed_permission(shim, OVERLAYS, needed="mmcp-activity" in shim.backend_kinds())


def _missing_permission(shim: ShimApk, permission: str) -> Iterator[Broken]:
    if permission not in shim.permissions():
        yield "/uses-permission", f"{permission} is not asked for"


@_rule(
    "shim-functions-permission",
    "0.7",
    f"EXECUTE_APP_FUNCTIONS is asked for only where a route needs it, and in {SHIM_PACKAGE}",
)
def _functions_permission(shim: ShimApk) -> Iterator[Broken]:
    needed = "app-function" in shim.backend_kinds() or _has_shell_identity(shim)
    yield from _needed_permission(shim, EXECUTE_FUNCTIONS, needed=needed)


def _needed_permission(shim: ShimApk, permission: str, *, needed: bool) -> Iterator[Broken]:
    if needed != (permission in shim.permissions()):
        message = "is not asked for, and is needed" if needed else "is asked for, and no route needs it"
        yield "/uses-permission", f"{permission} {message}"


def _has_shell_identity(shim: ShimApk) -> bool:
    return shim.apk.package == SHIM_PACKAGE


@_rule("shim-own-permission", "2.1", "No permission is declared: grants are the user's, at run time")
def _own_permission(shim: ShimApk) -> Iterator[Broken]:
    for tag in ("permission", "permission-tree", "permission-group"):
        for one in shim.manifest.children(tag):
            yield f"/{tag}", f"{one.name} is declared"


@_rule("shim-shared-user", "2.1", "The shim shares its uid with no other app")
def _shared_user(shim: ShimApk) -> Iterator[Broken]:
    if shim.manifest.text("sharedUserId") is not None:
        yield "", f"sharedUserId is {shim.manifest.text('sharedUserId')}"


@_rule("shim-service-type", "1.3", "The tool service is of the type shortService alone")
def _service_type(shim: ShimApk) -> Iterator[Broken]:
    for one in _of(shim, "ToolService"):
        if one.number("foregroundServiceType") != _SHORT_SERVICE:
            yield _at(one), f"foregroundServiceType is {one.number('foregroundServiceType')}"


@_rule("shim-service-open", "1.4", "The tool service is exported, behind no permission: agents hold none")
def _service_open(shim: ShimApk) -> Iterator[Broken]:
    for one in _of(shim, "ToolService"):
        if one.flag("exported") is not True:
            yield _at(one), "the tool service is not exported"
        if one.text("permission") is not None or shim.application.text("permission") is not None:
            yield _at(one), "the tool service is behind a permission"


@_rule("shim-service-found", "1.4", "The tool service has the action by which agents find it")
def _service_found(shim: ShimApk) -> Iterator[Broken]:
    for one in _of(shim, "ToolService"):
        if MOBILE_NAMES["service_action"] not in one.actions():
            yield _at(one), f"the tool service has no filter for {MOBILE_NAMES['service_action']}"


@_rule("shim-service-told", "1.4", "The tool service has a name and a description, as texts")
def _service_told(shim: ShimApk) -> Iterator[Broken]:
    for one in _of(shim, "ToolService"):
        for role in ("tool_name", "tool_description"):
            held = one.meta_data(MOBILE_NAMES[role])
            if held is None or not held.text("value"):
                yield _at(one), f"the meta-data {MOBILE_NAMES[role]} has no text"


@_rule("shim-service-descriptor", "1.4", "The tool service points to its capabilities, an XML resource")
def _service_descriptor(shim: ShimApk) -> Iterator[Broken]:
    for one in _of(shim, "ToolService"):
        if _descriptor_path(shim, one) is None:
            yield _at(one), f"the meta-data {MOBILE_NAMES['tool_capabilities']} names no XML resource"


@_rule("shim-routes-declared", "2.3", "What is declared is what has a route, in the same order")
def _routes_declared(shim: ShimApk) -> Iterator[Broken]:
    service = shim.component("ToolService")
    path = None if service is None else _descriptor_path(shim, service)
    declared: list[str | None] = []
    if path is not None:
        root = shim.apk.read_xml(path)
        declared = [
            shim.apk.text_of(one.find_attribute("id", None)) for one in root.child_elements("capability")
        ]
        if root.tag != FORMS["1.0"].root:
            yield "/service/ToolService", f"the descriptor's root element is <{root.tag}>"
    if declared != [one["id"] for one in shim.route_list()]:
        yield "/service/ToolService", "the descriptor and the route table have other ids"


def _descriptor_path(shim: ShimApk, service: Part) -> str | None:
    held = service.meta_data(MOBILE_NAMES["tool_capabilities"])
    value = None if held is None else held.value("resource")
    path = None if value is None else value.text
    if path is None or path not in shim.apk.archive:
        return None
    return path if is_binary_xml(shim.apk.archive.read_entry(path, 1 << 26)) else None


@_rule(
    "shim-trampoline-theme", "1.5", "The waiting activity is translucent: one without display may not wait"
)
def _trampoline_theme(shim: ShimApk) -> Iterator[Broken]:
    for one in _of(shim, "TrampolineActivity"):
        if one.reference("theme") != _TRANSLUCENT:
            yield _at(one), f"its theme is {one.reference('theme')}"


@_rule("shim-trampoline-history", "0.5", "The waiting activity stays in the history, or gets no result")
def _trampoline_history(shim: ShimApk) -> Iterator[Broken]:
    for one in _of(shim, "TrampolineActivity"):
        if one.flag("noHistory"):
            yield _at(one), "noHistory is set"


@_rule("shim-trampoline-orientation", "1.1 (API 26)", "A translucent activity fixes no orientation")
def _trampoline_orientation(shim: ShimApk) -> Iterator[Broken]:
    for one in _of(shim, "TrampolineActivity"):
        if one.element.find_attribute("screenOrientation") is not None:
            yield _at(one), "screenOrientation is set"


@_rule("shim-trampoline-mode", "0.6", "The waiting activity has the standard launch mode")
def _trampoline_mode(shim: ShimApk) -> Iterator[Broken]:
    for one in _of(shim, "TrampolineActivity"):
        if one.number("launchMode") not in {None, _STANDARD}:
            yield _at(one), f"launchMode is {one.number('launchMode')}"


@_rule("shim-trampoline-affinity", "1.5", "The activities that ask and wait belong to no task of the shim")
def _trampoline_affinity(shim: ShimApk) -> Iterator[Broken]:
    for name in ("TrampolineActivity", "ConsentActivity"):
        for one in _of(shim, name):
            if one.text("taskAffinity") != "":
                yield _at(one), f"the task affinity of {name} is not empty"


@_rule("shim-trampoline-recents", "1.5", "The activities that ask and wait are not among the recent apps")
def _trampoline_recents(shim: ShimApk) -> Iterator[Broken]:
    for name in ("TrampolineActivity", "ConsentActivity"):
        for one in _of(shim, name):
            if one.flag("excludeFromRecents") is not True:
                yield _at(one), f"{name} is among the recent apps"


@_rule("shim-trampoline-changes", "1.5", "The waiting activity is not recreated by any change")
def _trampoline_changes(shim: ShimApk) -> Iterator[Broken]:
    known = attribute_type("configChanges")
    for one in _of(shim, "TrampolineActivity"):
        stated = one.number("configChanges") or 0
        words = {} if known is None else known.values
        missing = sorted(
            word for word, bit in words.items() if word != _NO_CHANGE and bit & ~stated & 0xFFFFFFFF
        )
        if missing:
            yield _at(one), f"configChanges lacks {', '.join(missing)}"


@_rule("shim-hidden-filters", "1.4", "What is not exported has no intent filter")
def _hidden_filters(shim: ShimApk) -> Iterator[Broken]:
    for one in shim.components:
        if one.flag("exported") is False and one.filters():
            yield _at(one), f"{one.simple_name} has an intent filter, and is not exported"


@_rule("shim-data-filters", "2.3", "No filter takes data: the shim opens no one's URIs")
def _data_filters(shim: ShimApk) -> Iterator[Broken]:
    for one in shim.components:
        if any(held.has_data for held in one.filters()):
            yield _at(one), f"a filter of {one.simple_name} takes data"


@_rule("shim-host-guard", "1.4", "The host's provider is for holders of DUMP, for reading and writing")
def _host_guard(shim: ShimApk) -> Iterator[Broken]:
    for one in _of(shim, "HostProvider"):
        both = one.text("permission")
        for name in ("readPermission", "writePermission"):
            if (one.text(name) or both) != _DUMP:
                yield _at(one), f"{name} is {one.text(name) or both}"


@_rule("shim-host-authority", "2.3", "The host's provider has the authority that belongs to its shim alone")
def _host_authority(shim: ShimApk) -> Iterator[Broken]:
    for one in _of(shim, "HostProvider"):
        if one.text("authorities") != f"{shim.apk.package}.host":
            yield _at(one), f"its authority is {one.text('authorities')}"


@_rule("shim-host-grants", "2.3", "The host's provider grants no URI to anyone")
def _host_grants(shim: ShimApk) -> Iterator[Broken]:
    for one in _of(shim, "HostProvider"):
        if one.flag("grantUriPermissions") or any(True for _ in one.children("grant-uri-permission")):
            yield _at(one), "it grants URIs"
        if any(True for _ in one.children("path-permission")):
            yield _at(one), "a path has a permission of its own"


@_rule(
    "shim-instrumentation", "0.7", f"{SHIM_PACKAGE} has one instrumentation, on itself; other shims have none"
)
def _instrumentation(shim: ShimApk) -> Iterator[Broken]:
    found = list(shim.manifest.children("instrumentation"))
    if [one.name for one in found] != ([INSTRUMENTATION] if _has_shell_identity(shim) else []):
        yield "/instrumentation", f"the instrumentations are {', '.join(one.name for one in found) or 'none'}"
    for one in found:
        if one.text("targetPackage") != shim.apk.package:
            yield "/instrumentation", f"it is for {one.text('targetPackage')}"


@_rule(
    "shim-identity-service",
    "0.7",
    f"{SHIM_PACKAGE} has an exported service for the other shims, without permission and filter; others none",
)
def _identity_service(shim: ShimApk) -> Iterator[Broken]:
    found = shim.component("ShellIdentityService")
    if _has_shell_identity(shim) != (found is not None):
        yield "/application", f"ShellIdentityService is {'not ' if found is None else ''}declared"
    for one in _of(shim, "ShellIdentityService"):
        if one.flag("exported") is not True or one.text("permission") is not None:
            yield _at(one), "the other shims cannot bind it"
        if one.filters():
            yield _at(one), "it has an intent filter"


@_rule("shim-launcher", "1.4", "The manage screen is in the launcher: starting it ends the stopped state")
def _launcher(shim: ShimApk) -> Iterator[Broken]:
    for one in _of(shim, "ManageActivity"):
        opened = one.flag("exported") is True
        if not opened or not any(
            _MAIN in held.actions and _LAUNCHER in held.categories for held in one.filters()
        ):
            yield _at(one), "it cannot be opened from the launcher"


@_rule("shim-backup", "2.3", "Grants and history are in no backup")
def _backup(shim: ShimApk) -> Iterator[Broken]:
    if shim.application.flag("allowBackup") is not False:
        yield "/application", "allowBackup is not false"


@_rule("shim-transfer", "2.3", "Grants and history are not carried to another phone (API 31)")
def _transfer(shim: ShimApk) -> Iterator[Broken]:
    value = shim.application.value("dataExtractionRules")
    if value is None or value.text is None or value.text not in shim.apk.archive:
        yield "/application", "there are no data extraction rules"


@_rule("shim-debuggable", "2.3", "The shim is not debuggable, or any computer could run code in it")
def _debuggable(shim: ShimApk) -> Iterator[Broken]:
    if shim.application.flag("debuggable"):
        yield "/application", "debuggable is set"


@_rule("shim-test-only", "1.4", "The shim is no test-only app, which only `adb install -t` takes")
def _test_only(shim: ShimApk) -> Iterator[Broken]:
    if shim.application.flag("testOnly"):
        yield "/application", "testOnly is set"


@_rule(
    "shim-matching-flags", "1.1 (API 36)", "Intents without an action reach the shim: some agents send such"
)
def _matching_flags(shim: ShimApk) -> Iterator[Broken]:
    for one in (shim.application, *shim.components):
        flags = one.number("intentMatchingFlags") or 0
        if flags & _ENFORCE_FILTER and not flags & _ALLOW_NULL_ACTION:
            yield _at(one), "intentMatchingFlags enforces filters without allowNullAction"


@_rule("shim-texts", "1.4", "The app has a label and a description, by which some agents choose it")
def _texts(shim: ShimApk) -> Iterator[Broken]:
    for name in ("label", "description"):
        if not shim.application.text(name):
            yield "/application", f"there is no {name}"


@_rule("shim-text-lengths", "1.1 (API 35)", f"No text of the manifest is longer than {REFUSED_BY} take")
def _text_lengths(shim: ShimApk) -> Iterator[Broken]:
    def length_of(value: TypedValue) -> int:
        return utf16_length(shim.apk.text_of(value) or "")

    for element, message in excessive_texts(shim.apk.manifest, length_of):
        yield f"/{element.tag}", message


@_rule("shim-handshake", "2.3", "The policy tells the host's handshake, the build and the apps behind it")
def _handshake(shim: ShimApk) -> Iterator[Broken]:
    told = shim.app_policy()
    if told.get("handshake") != HANDSHAKE:
        yield "/assets/policy.json", f"the handshake is {told.get('handshake')}"
    if len(str(told.get("build") or "")) != _DIGEST_CHARACTERS:
        yield "/assets/policy.json", "there is no digest of the build"
    behind = {(one["package"], one["signer"]) for one in told.get("sources") or []}
    for one in shim.route_list():
        if (one["target"]["package"], one["target"]["signer"]) not in behind:
            yield "/assets/policy.json", f"{one['target']['package']} is not among the sources"


@_rule("shim-no-grants", "2.3", "Nothing is granted in advance: what the user did not allow is denied")
def _no_grants(shim: ShimApk) -> Iterator[Broken]:
    if shim.policy.get("grants"):
        yield "/assets/policy.json", "the policy grants something"


@_rule("shim-question-texts", "2.3", "The texts of the question to the user are short and visible")
def _question_texts(shim: ShimApk) -> Iterator[Broken]:
    texts = shim.app_policy().get("capabilities") or {}
    for name in sorted(texts.keys() - {str(one["id"]) for one in shim.route_list()}):
        yield "/assets/policy.json", f"there are texts for {name}, which is not a route"
    for name, one in texts.items():
        if not one or one != question_texts(one.get("title"), one.get("description")):
            yield "/assets/policy.json", f"the texts for {name} are not those of a question"


@_rule(
    "shim-mmcp-activity", "1.4", "A frontend of mMCP is exported, found by both actions, and tells its tools"
)
def _mmcp_activity(shim: ShimApk) -> Iterator[Broken]:
    actions = (MMCP_NAMES["advertise_action"], MMCP_NAMES["call_action"])
    for one in _of(shim, "MmcpActivity"):
        yield from _closed_frontend(one, actions)
        if not any(MMCP_NAMES["default_category"] in held.categories for held in one.filters()):
            yield _at(one), "it has not the category DEFAULT"
        yield from _untold_tools(one)


@_rule("shim-mmcp-receiver", "1.4", "A frontend of mMCP's broadcasts is found by both, and tells its tools")
def _mmcp_receiver(shim: ShimApk) -> Iterator[Broken]:
    for one in _of(shim, "MmcpReceiver"):
        yield from _closed_frontend(one, (MMCP_NAMES["discovery_action"], MMCP_NAMES["invoke_action"]))
        yield from _untold_tools(one)


def _closed_frontend(one: Part, actions: Iterable[str]) -> Iterator[Broken]:
    if one.flag("exported") is not True or one.text("permission") is not None:
        yield _at(one), f"{one.simple_name} is not open to other apps"
    for action in actions:
        if action not in one.actions():
            yield _at(one), f"{one.simple_name} does not declare {action}"


def _untold_tools(one: Part) -> Iterator[Broken]:
    held = one.meta_data(MMCP_NAMES["manifest_meta_data"])
    if held is None or not held.text("value"):
        yield _at(one), f"{one.simple_name} has no {MMCP_NAMES['manifest_meta_data']}"


@_rule("shim-function-service", "0.7", "A service of app functions is bound by Android alone, and indexed")
def _function_service(shim: ShimApk) -> Iterator[Broken]:
    for one in _of(shim, "FunctionService"):
        if one.text("permission") != FUNCTION_NAMES["permission"]:
            yield _at(one), f"it does not ask for {FUNCTION_NAMES['permission']}"
        if FUNCTION_NAMES["action"] not in one.actions():
            yield _at(one), f"it does not declare {FUNCTION_NAMES['action']}"
        for name in ("property_v2", "property_schema"):
            held = one.meta_data(FUNCTION_NAMES[name], "property")
            if held is None or f"assets/{held.text('value')}" not in shim.apk.archive:
                yield _at(one), f"the property {FUNCTION_NAMES[name]} names no asset"
        unknown = set((shim.app_policy().get("functions") or {}).values())
        for route in sorted(unknown - {str(route["id"]) for route in shim.route_list()}):
            yield _at(one), f"a function leads to {route}, which is no route"


@_rule("shim-frontends-alone", "1.4", "A frontend is there only where there are routes")
def _frontends_alone(shim: ShimApk) -> Iterator[Broken]:
    for name in ("ToolService", "MmcpActivity", "MmcpReceiver", "FunctionService"):
        for one in _of(shim, name):
            if not shim.route_list():
                yield _at(one), f"{name} is declared, and there is no route"
    if shim.route_list() and shim.component("ToolService") is None:
        yield "/application", "there are routes, and no tool service"
