"""The source tree of a shim: manifest, resources and assets (shim.md 1), before it is compiled.

A shim always declares itself to Mobile-MCP agents, and on request to those of other protocols. Each format's
own frontend makes its component and files (`droidgate_mappings.formats.format.CallSupport.shim_frontends`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Final
from xml.sax.saxutils import quoteattr

from droidgate_android.manifest_edit import merge_manifest
from droidgate_appfunctions.format import NAMES as FUNCTION_NAMES
from droidgate_mappings.formats.format import Advertised, ShimOffer, load_formats
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_mappings.formats.shim_frontend import frontend_class
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.aapt_text import escape_string_resource
from droidgate_mappings.text.xml_text import escape_text
from droidgate_mmcp.format import NAMES as MMCP_NAMES
from droidgate_mobile_mcp.format import NAMES as MOBILE_NAMES
from droidgate_shim.builder.route_building import ShimRoutes
from droidgate_shim.builder.shim_callability import native_protocols

Frontend = Callable[[ShimOffer], Advertised]


@dataclass(slots=True)
class Advertisement:
    """What is declared.

    Attributes:
        manifest: The manifest with the components.
        files: Further files of the source tree by path.
        functions: Function id -> route id.
        findings: What the protocols' forms lose.
    """

    manifest: str
    files: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def add(self, advertised: Advertised) -> None:
        """Take over files and functions, merge manifests, and add each finding once."""
        for artifact in advertised.artifacts:
            if artifact.role == "manifest":
                self.manifest = merge_manifest(self.manifest, artifact.text, path=artifact.path)
            elif artifact.role != "document":
                self.files[artifact.path] = artifact.text
        self.functions.update(advertised.functions)
        self.findings.extend(item for item in advertised.findings if item not in self.findings)


@cache
def frontends_on_request() -> Mapping[str, Frontend]:
    """Return the frontends of installed formats that a shim has on request, by their words."""
    return {
        name: frontend
        for format_ in load_formats().values()
        if format_.id not in native_protocols()
        for name, frontend in format_.calls.shim_frontends.items()
    }


def advertise(
    plan: ShimRoutes, facts: ShimManifestFacts, manifest: str, kinds: Iterable[str]
) -> Advertisement:
    """Return what a shim declares.

    Args:
        plan: Its routes.
        facts: What its manifest says.
        manifest: Its manifest so far.
        kinds: Of `frontends_on_request`, what to declare in addition.
    """
    offer = ShimOffer(
        facts.application_id,
        facts.label,
        facts.description,
        plan.definitions,
        tuple(route.offered for route in plan.routes),
        tuple(route.declared for route in plan.routes),
    )
    advertisement = Advertisement(manifest)
    formats = load_formats()
    for protocol in sorted(native_protocols()):
        for frontend in formats[protocol].calls.shim_frontends.values():
            advertisement.add(frontend(offer))
    for kind in sorted(set(kinds)):
        advertisement.add(frontends_on_request()[kind](offer))
    return advertisement


MINIMUM_SDK: Final = 24
TARGET_SDK: Final = 36
VERSION_CODE: Final = 1
VERSION_NAME: Final = "1"
TOOL_SERVICE: Final = frontend_class("ToolService")
TOOL_ACTION: Final = MOBILE_NAMES["service_action"]
"""By which Mobile-MCP agents find it, and it finds the apps that they speak to."""

INSTRUMENTATION: Final = f"{SHIM_PACKAGE}.backends.ShellIdentityInstrumentation"

EXECUTE_FUNCTIONS: Final = "android.permission.EXECUTE_APP_FUNCTIONS"
OVERLAYS: Final = "android.permission.SYSTEM_ALERT_WINDOW"
PERMISSIONS: Final = {
    "android.permission.FOREGROUND_SERVICE": "run a call that an agent starts",
    "android.permission.POST_NOTIFICATIONS": "ask the user where no window can open",
    "android.permission.HIDE_OVERLAY_WINDOWS": "hide other windows over the question to the user",
}
"""What every shim asks for, and why."""

SCREEN_BACKENDS: Final = frozenset({"app-action", "mmcp-activity"})
PERMISSIONS_OF_BACKENDS: Final = {
    OVERLAYS: (SCREEN_BACKENDS, "open an app's screen while no agent is in front"),
    EXECUTE_FUNCTIONS: (frozenset({"app-function"}), "call app functions"),
}
"""What a shim asks for where a route has a backend of one of these kinds, and why."""

_FOR_OTHERS: Final = "call app functions for the other shims"
CONFIG_CHANGES: Final = (
    "assetsPaths|colorMode|density|fontScale|fontWeightAdjustment|grammaticalGender|keyboard|keyboardHidden|layoutDirection"
    "|locale|mcc|mnc|navigation|orientation|screenLayout|screenSize|smallestScreenSize|touchscreen|uiMode"
)

ACTIONS_OF_BACKENDS: Final[dict[str, tuple[str, ...]]] = {
    "mmcp-activity": (MMCP_NAMES["advertise_action"], MMCP_NAMES["call_action"]),
    "mmcp-broadcast": (MMCP_NAMES["discovery_action"], MMCP_NAMES["invoke_action"]),
    "mobile-mcp": (TOOL_ACTION,),
    "app-function": (FUNCTION_NAMES["action"],),
    "app-action": (),
}
"""Kind of a route's backend -> the actions of what it calls, which have to be visible."""

_DECLARATION: Final = '<?xml version="1.0" encoding="utf-8"?>\n'
_ANDROID: Final = "http://schemas.android.com/apk/res/android"
_ICON_PATH: Final = "res/drawable/droidgate_shim_icon.xml"
_TRANSFER_PATH: Final = "res/xml/droidgate_shim_transfer.xml"
_STRINGS_PATH: Final = "res/values/droidgate_shim_strings.xml"
_LABEL: Final = "droidgate_shim_label"
_DESCRIPTION: Final = "droidgate_shim_description"

_ICON: Final = f"""{_DECLARATION}<vector xmlns:android="{_ANDROID}"
    android:width="48dp"
    android:height="48dp"
    android:viewportWidth="48"
    android:viewportHeight="48">
    <path
        android:fillColor="#ff1f4e79"
        android:pathData="M8,4h32a4,4 0,0 1,4 4v32a4,4 0,0 1,-4 4h-32a4,4 0,0 1,-4 -4v-32a4,4 0,0 1,4 -4z" />
    <path
        android:fillColor="#ffffffff"
        android:pathData="M12,36V20a12,12 0,0 1,24 0v16h-5V20a7,7 0,0 0,-14 0v16z" />
    <path
        android:fillColor="#ffffc857"
        android:pathData="M20,28h4v-4l6,6l-6,6v-4h-4z" />
</vector>
"""


_DOMAINS: Final = (
    *("root", "file", "database", "sharedpref", "external"),
    *("device_root", "device_file", "device_database", "device_sharedpref"),
)
_EXCLUDED: Final = "".join(f'        <exclude domain="{item}" path="." />\n' for item in _DOMAINS)
_TRANSFER: Final = (
    f"{_DECLARATION}<data-extraction-rules>\n"
    f"    <cloud-backup>\n{_EXCLUDED}    </cloud-backup>\n"
    f"    <device-transfer>\n{_EXCLUDED}    </device-transfer>\n"
    "</data-extraction-rules>\n"
)
"""`allowBackup` does not stop a transfer from phone to phone (Android 12 and later)."""


@dataclass(frozen=True, slots=True)
class ShimManifestFacts:
    """What the manifest of a shim says.

    Attributes:
        application_id: Its application id.
        label: Its human-readable name.
        description: Its description for agents.
        packages: The apps behind it.
        backends: Id of each route, in order, and the kind of its backend.
        has_tools: It has routes, and so a tool service.
    """

    application_id: str
    label: str
    description: str
    packages: Sequence[str] = ()
    backends: Mapping[str, str] = field(default_factory=dict)
    has_tools: bool = True

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of the backends that its routes have."""
        return frozenset(self.backends.values())

    @property
    def has_shell_identity(self) -> bool:
        """It may borrow the shell's identity, with which it calls app functions for the other shims."""
        return self.application_id == SHIM_PACKAGE

    @property
    def visible_packages(self) -> tuple[str, ...]:
        """The packages that `<queries>` names."""
        calls_through_other = "app-function" in self.kinds and not self.has_shell_identity
        return tuple(sorted({*self.packages, *((SHIM_PACKAGE,) if calls_through_other else ())}))


@dataclass(frozen=True, slots=True)
class PermissionUse:
    """A permission that a shim asks for.

    Attributes:
        permission: Its name.
        why: What the shim does with it, in words.
        capabilities: The ids of the capabilities for which it is there.
    """

    permission: str
    why: str
    capabilities: tuple[str, ...] = ()


def permission_uses(facts: ShimManifestFacts) -> tuple[PermissionUse, ...]:
    """Return the permissions that a shim asks for, each with its capabilities."""
    every = tuple(facts.backends)
    uses = [PermissionUse(name, why, every) for name, why in PERMISSIONS.items()]
    for name, (kinds, why) in PERMISSIONS_OF_BACKENDS.items():
        ids = tuple(item for item, backend in facts.backends.items() if backend in kinds)
        lends = name == EXECUTE_FUNCTIONS and facts.has_shell_identity
        if ids or lends:
            reasons = ([why] if ids else []) + ([_FOR_OTHERS] if lends else [])
            uses.append(PermissionUse(name, " and ".join(reasons), ids))
    return tuple(uses)


def manifest_text(facts: ShimManifestFacts) -> str:
    """Return the manifest without what it advertises, which the protocols' writers add."""
    lines = [
        f'<manifest xmlns:android="{_ANDROID}"',
        f"    package={quoteattr(facts.application_id)}>",
        *(
            f'    <uses-permission android:name="{permission_use.permission}" />'
            for permission_use in permission_uses(facts)
        ),
        *_queries(facts),
        *(_INSTRUMENTATION if facts.has_shell_identity else ()),
        "    <application",
        f'        android:label="@string/{_LABEL}"',
        f'        android:description="@string/{_DESCRIPTION}"',
        '        android:icon="@drawable/droidgate_shim_icon"',
        '        android:allowBackup="false"',
        '        android:supportsRtl="true"',
        '        android:dataExtractionRules="@xml/droidgate_shim_transfer"',
        '        android:usesCleartextTraffic="false">',
        *(_TOOL_SERVICE if facts.has_tools else ()),
        *(_IDENTITY_SERVICE if facts.has_shell_identity else ()),
        *_COMPONENTS,
        "        <provider",
        f'            android:name="{SHIM_PACKAGE}.host.HostProvider"',
        f"            android:authorities={quoteattr(f'{facts.application_id}.host')}",
        '            android:exported="true"',
        '            android:readPermission="android.permission.DUMP"',
        '            android:writePermission="android.permission.DUMP" />',
        "    </application>",
        "</manifest>",
    ]
    return _DECLARATION + "\n".join(lines) + "\n"


def resource_files(facts: ShimManifestFacts) -> dict[str, str]:
    """Return the shim's own resources by path."""
    strings = ((_LABEL, facts.label), (_DESCRIPTION, facts.description))
    lines = [
        f'    <string name="{name}" formatted="false" translatable="false">'
        f"{escape_text(escape_string_resource(text))}</string>"
        for name, text in strings
    ]
    values = f"{_DECLARATION}<resources>\n" + "\n".join(lines) + "\n</resources>\n"
    return {_ICON_PATH: _ICON, _STRINGS_PATH: values, _TRANSFER_PATH: _TRANSFER}


def _queries(facts: ShimManifestFacts) -> Iterable[str]:
    # The bare shim asks receivers for their tools, and has no route that names one.
    backends = facts.kinds if facts.has_tools else frozenset(ACTIONS_OF_BACKENDS)
    yield "    <queries>"
    for package in facts.visible_packages:
        yield f"        <package android:name={quoteattr(package)} />"
    for kind, actions in ACTIONS_OF_BACKENDS.items():
        if kind in backends:
            for action in actions:
                yield "        <intent>"
                yield f'            <action android:name="{action}" />'
                yield "        </intent>"
    yield "    </queries>"


_INSTRUMENTATION: Final = (
    "    <instrumentation",
    f'        android:name="{INSTRUMENTATION}"',
    f'        android:targetPackage="{SHIM_PACKAGE}" />',
)
_IDENTITY_SERVICE: Final = (
    "        <service",
    f'            android:name="{SHIM_PACKAGE}.backends.ShellIdentityService"',
    '            android:exported="true" />',
)
_TOOL_SERVICE: Final = (
    "        <service",
    f'            android:name="{TOOL_SERVICE}"',
    '            android:exported="true"',
    '            android:foregroundServiceType="shortService" />',
)
_COMPONENTS: Final = (
    "        <activity",
    f'            android:name="{SHIM_PACKAGE}.backends.TrampolineActivity"',
    '            android:exported="false"',
    '            android:launchMode="standard"',
    '            android:taskAffinity=""',
    '            android:excludeFromRecents="true"',
    '            android:theme="@android:style/Theme.Translucent.NoTitleBar"',
    f'            android:configChanges="{CONFIG_CHANGES}" />',
    "        <activity",
    f'            android:name="{SHIM_PACKAGE}.consent.ConsentActivity"',
    '            android:exported="false"',
    '            android:taskAffinity=""',
    '            android:excludeFromRecents="true"',
    '            android:theme="@android:style/Theme.DeviceDefault.Dialog" />',
    "        <activity",
    f'            android:name="{SHIM_PACKAGE}.consent.ManageActivity"',
    '            android:exported="true">',
    "            <intent-filter>",
    '                <action android:name="android.intent.action.MAIN" />',
    '                <category android:name="android.intent.category.LAUNCHER" />',
    "            </intent-filter>",
    "        </activity>",
)
