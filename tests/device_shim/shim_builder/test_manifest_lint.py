"""Each rule for a built shim, broken in an APK that is otherwise as the builder makes it."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from device_shim.shim_builder.built_samples import KEY, packed, sample_app, sample_shim, shim_of
from device_shim.shim_builder.manifest_lint import lint_shim_manifest
from device_shim.shim_builder.manifest_rules import CHECKS
from droidgate_android.apk.pack import Packing, pack
from droidgate_mappings.model.errors import InputError
from droidgate_shim.builder import shims
from droidgate_shim.builder.shims import BuiltShim, build_bare_shim

MANIFEST = "AndroidManifest.xml"
EVERYTHING = ("mmcp", "mmcp-broadcast", "appfunctions")
MODULES = ("clock-in/app", "pdf-tool/app", "weather/app", "notes/app", "notes/legacy", "tally/app")
TRAMPOLINE = 'android:name="dev.droidgate.shim.backends.TrampolineActivity"'
SERVICE = 'android:name="dev.droidgate.shim.frontends.ToolService"'
HOST = 'android:name="dev.droidgate.shim.host.HostProvider"'
APPLICATION = 'android:allowBackup="false"'
RECEIVER = 'android:name="dev.droidgate.shim.frontends.MmcpReceiver"'
IDENTITY = 'android:name="dev.droidgate.shim.backends.ShellIdentityService"'
ACTIVITY = 'android:name="dev.droidgate.shim.frontends.MmcpActivity"'

Edit = tuple[str, str, str]
"""A file, the text to replace in it, and its replacement."""


def in_manifest(old: str, new: str) -> Edit:
    return MANIFEST, old, new


def added(attribute: str, to: str) -> Edit:
    return in_manifest(to, f"{to} {attribute}")


BREACHES: list[tuple[str, Edit]] = [
    ("shim-exported-stated", in_manifest(f'{TRAMPOLINE}\n            android:exported="false"', TRAMPOLINE)),
    ("shim-exported-surface", in_manifest('android:exported="false"', 'android:exported="true"')),
    ("shim-components", in_manifest("ConsentActivity", "QuestionActivity")),
    ("shim-components", added('android:enabled="false"', SERVICE)),
    (
        "shim-class-names",
        in_manifest("dev.droidgate.shim.consent.ConsentActivity", "com.other.ConsentActivity"),
    ),
    ("shim-one-process", added('android:process=":tools"', SERVICE)),
    ("shim-one-process", added('android:process=":app"', APPLICATION)),
    ("shim-query-packages", in_manifest('<package android:name="dev.droidgate.sample.pdftool" />', "")),
    (
        "shim-query-actions",
        in_manifest(
            '<action android:name="com.example.mMCP.ACTION_TOOL_CALL" />\n        </intent>', "</intent>"
        ),
    ),
    (
        "shim-query-all",
        in_manifest(
            "<queries>", '<uses-permission android:name="android.permission.QUERY_ALL_PACKAGES"/><queries>'
        ),
    ),
    (
        "shim-permissions",
        in_manifest("<queries>", '<uses-permission android:name="android.permission.INTERNET"/><queries>'),
    ),
    (
        "shim-foreground-permission",
        in_manifest("permission.FOREGROUND_SERVICE", "permission.POST_NOTIFICATIONS"),
    ),
    (
        "shim-notification-permission",
        in_manifest("permission.POST_NOTIFICATIONS", "permission.FOREGROUND_SERVICE"),
    ),
    (
        "shim-overlay-permission",
        in_manifest("permission.SYSTEM_ALERT_WINDOW", "permission.FOREGROUND_SERVICE"),
    ),
    (
        "shim-functions-permission",
        in_manifest(
            "<queries>", '<uses-permission android:name="android.permission.EXECUTE_APP_FUNCTIONS"/><queries>'
        ),
    ),
    ("shim-own-permission", in_manifest("<queries>", '<permission android:name="a.b.CALL"/><queries>')),
    ("shim-shared-user", in_manifest("<manifest ", '<manifest android:sharedUserId="a.b" ')),
    ("shim-service-type", in_manifest('"shortService"', '"dataSync"')),
    ("shim-service-type", in_manifest('android:foregroundServiceType="shortService"', "")),
    ("shim-service-open", added('android:permission="a.b.CALL"', SERVICE)),
    ("shim-service-open", added('android:permission="a.b.CALL"', APPLICATION)),
    (
        "shim-service-open",
        in_manifest(f'{SERVICE}\n            android:exported="true"', f'{SERVICE} android:exported="false"'),
    ),
    (
        "shim-service-found",
        in_manifest('"mobile.mcp.SERVICE" />\n            </intent-f', '"a.B" />\n</intent-f'),
    ),
    ("shim-service-texts", in_manifest('"mobile.mcp.tool.name"', '"mobile.mcp.tool.title"')),
    ("shim-service-descriptor", in_manifest('"mobile.mcp.tool.capabilities"', '"mobile.mcp.tool.tools"')),
    ("shim-service-descriptor", in_manifest("@xml/mcp_capabilities", "@string/droidgate_shim_label")),
    ("shim-routes-declared", ("res/xml/mcp_capabilities.xml", 'id="merge"', 'id="join"')),
    ("shim-routes-declared", ("res/xml/mcp_capabilities.xml", "mobile-mcp-capabilities", "mcp")),
    ("shim-trampoline-theme", in_manifest("Theme.Translucent.NoTitleBar", "Theme.NoDisplay")),
    ("shim-trampoline-history", added('android:noHistory="true"', TRAMPOLINE)),
    ("shim-trampoline-orientation", added('android:screenOrientation="portrait"', TRAMPOLINE)),
    ("shim-trampoline-mode", in_manifest('launchMode="standard"', 'launchMode="singleTask"')),
    ("shim-trampoline-affinity", in_manifest('android:taskAffinity=""', "")),
    ("shim-trampoline-recents", in_manifest('android:excludeFromRecents="true"', "")),
    ("shim-trampoline-changes", in_manifest("|orientation|", "|")),
    (
        "shim-hidden-filters",
        in_manifest(
            'Theme.DeviceDefault.Dialog" />',
            'Theme.DeviceDefault.Dialog">'
            '<intent-filter><action android:name="a.b"/></intent-filter></activity>',
        ),
    ),
    (
        "shim-data-filters",
        in_manifest(
            '<category android:name="android.intent.category.LAUNCHER" />',
            '<category android:name="android.intent.category.LAUNCHER"/><data android:scheme="content"/>',
        ),
    ),
    ("shim-host-guard", in_manifest('android:writePermission="android.permission.DUMP"', "")),
    ("shim-host-guard", in_manifest('readPermission="android.permission.DUMP"', 'readPermission="a.b.C"')),
    ("shim-host-authority", in_manifest('.host"', '.other"')),
    ("shim-host-grants", added('android:grantUriPermissions="true"', HOST)),
    (
        "shim-instrumentation",
        in_manifest(
            "<queries>",
            '<instrumentation android:name="dev.droidgate.shim.backends.ShellIdentityInstrumentation"'
            ' android:targetPackage="dev.droidgate.shim.of.dev.droidgate.sample.pdftool"/><queries>',
        ),
    ),
    (
        "shim-identity-service",
        in_manifest("</application>", f'<service {IDENTITY} android:exported="true"/></application>'),
    ),
    ("shim-question-texts", ("assets/policy.json", '"capabilities":{"', '"capabilities":{"x')),
    ("shim-question-texts", ("assets/policy.json", '"description":"', '"description":"\u200b')),
    ("shim-launcher", in_manifest("android.intent.category.LAUNCHER", "android.intent.category.INFO")),
    ("shim-backup", in_manifest(APPLICATION, "")),
    ("shim-transfer", in_manifest('android:dataExtractionRules="@xml/droidgate_shim_transfer"', "")),
    ("shim-debuggable", added('android:debuggable="true"', APPLICATION)),
    ("shim-test-only", added('android:testOnly="true"', APPLICATION)),
    ("shim-matching-flags", added('android:intentMatchingFlags="enforceIntentFilter"', APPLICATION)),
    ("shim-texts", in_manifest('android:description="@string/droidgate_shim_description"', "")),
    (
        "shim-text-lengths",
        in_manifest('android:label="@string/droidgate_shim_label"', f'android:label="{"x" * 32_769}"'),
    ),
    ("shim-text-lengths", ("res/values/droidgate_shim_strings.xml", " (via droidgate)", "x" * 32_769)),
    ("shim-handshake", ("assets/policy.json", '"handshake":1', '"handshake":2')),
    ("shim-handshake", ("assets/policy.json", '"build":"', '"build":"0')),
    ("shim-handshake", ("assets/policy.json", '"sources":[{"package":"dev', '"sources":[{"package":"com')),
    (
        "shim-no-grants",
        ("assets/policy.json", '{"app":', '{"grants":[{"caller":"any-app","capability":"*"}],"app":'),
    ),
    ("shim-mmcp-activity", in_manifest("android.intent.category.DEFAULT", "android.intent.category.INFO")),
    ("shim-mmcp-activity", added('android:permission="a.b.C"', ACTIVITY)),
    ("shim-mmcp-receiver", in_manifest("com.example.ACTION_MMCP_INVOKE", "com.example.OTHER")),
    ("shim-mmcp-receiver", added('android:permission="a.b.C"', RECEIVER)),
    ("shim-function-service", in_manifest("BIND_APP_FUNCTION_SERVICE", "BIND_OTHER_SERVICE")),
    ("shim-function-service", in_manifest('"function_service.xml"', '"gone.xml"')),
    ("shim-function-service", ("assets/policy.json", '"functions":{"page_count":"', '"functions":{"x":"no_')),
    (
        "shim-frontends-alone",
        in_manifest("dev.droidgate.shim.frontends.ToolService", "dev.droidgate.shim.OtherService"),
    ),
]
BREACHES_OF_BARE: list[tuple[str, Edit]] = [
    ("shim-instrumentation", in_manifest("ShellIdentityInstrumentation", "OtherInstrumentation")),
    (
        "shim-instrumentation",
        in_manifest('targetPackage="dev.droidgate.shim"', 'targetPackage="dev.droidgate.other"'),
    ),
    ("shim-functions-permission", in_manifest("EXECUTE_APP_FUNCTIONS", "POST_NOTIFICATIONS")),
    ("shim-overlay-permission", in_manifest("HIDE_OVERLAY_WINDOWS", "SYSTEM_ALERT_WINDOW")),
    ("shim-identity-service", in_manifest("ShellIdentityService", "OtherService")),
    ("shim-identity-service", added('android:permission="a.b.C"', IDENTITY)),
    (
        "shim-identity-service",
        in_manifest(
            f'{IDENTITY}\n            android:exported="true"', f'{IDENTITY} android:exported="false"'
        ),
    ),
    (
        "shim-identity-service",
        in_manifest(
            f'{IDENTITY}\n            android:exported="true" />',
            f'{IDENTITY} android:exported="true"><intent-filter><action android:name="a.b"/>'
            "</intent-filter></service>",
        ),
    ),
]
OF_FACTS = {"shim-minimum-sdk": "MINIMUM_SDK", "shim-target-sdk": "TARGET_SDK"}


@pytest.fixture
def build_with(monkeypatch: pytest.MonkeyPatch) -> Callable[..., bytes]:
    """Return what builds the shim of the PDF tool with edits of its source tree."""

    def build(*edits: Edit, made: Callable[[], BuiltShim] = pdf_tool) -> bytes:
        def edited(tree: Mapping[str, bytes], **facts: Any) -> Packing:
            files = dict(tree)
            for path, old, new in edits:
                text = files[path].decode()
                assert old in text, f"{old!r} is not in {path}"
                files[path] = text.replace(old, new).encode()
            return pack(files, **facts)

        monkeypatch.setattr(shims, "pack", edited)
        return made().apk

    return build


def pdf_tool() -> BuiltShim:
    return shim_of(sample_app("pdf-tool/app"), advertise=frozenset(EVERYTHING))


@pytest.mark.parametrize(
    ("rule", "edit"), BREACHES, ids=[f"{number}-{item[0]}" for number, item in enumerate(BREACHES)]
)
def test_a_breach_of_each_rule_is_found(build_with: Callable[..., bytes], rule: str, edit: Edit) -> None:
    found = lint_shim_manifest(build_with(edit))
    assert rule in {item.rule for item in found}


@pytest.mark.parametrize(
    ("rule", "edit"),
    BREACHES_OF_BARE,
    ids=[f"{number}-{item[0]}" for number, item in enumerate(BREACHES_OF_BARE)],
)
def test_a_breach_of_the_one_with_the_shells_identity_is_found(
    build_with: Callable[..., bytes], rule: str, edit: Edit
) -> None:
    assert rule in {
        item.rule for item in lint_shim_manifest(build_with(edit, made=lambda: build_bare_shim(KEY)))
    }


def test_a_shim_that_does_not_see_who_calls_its_functions_is_found(build_with: Callable[..., bytes]) -> None:
    seen = in_manifest('<package android:name="dev.droidgate.shim" />', "")
    found = lint_shim_manifest(build_with(seen, made=lambda: shim_of(sample_app("notes/app"))))
    assert [item.rule for item in found] == ["shim-query-packages"]


@pytest.mark.parametrize("rule", OF_FACTS)
def test_another_release_is_found(monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    monkeypatch.setattr(shims, OF_FACTS[rule], 29)
    found = lint_shim_manifest(shim_of(sample_app("pdf-tool/app")).apk)
    assert [item.rule for item in found] == [rule]


def test_every_rule_is_broken_by_some_test() -> None:
    assert {item[0] for item in BREACHES} | OF_FACTS.keys() == {rule.id for rule, _ in CHECKS}
    assert len(CHECKS) >= 30


def test_every_rule_has_a_source_and_an_id_of_its_own() -> None:
    ids = [rule.id for rule, _ in CHECKS]
    assert len(set(ids)) == len(ids)
    for rule, _ in CHECKS:
        assert re.match(r"[012]\.\d", rule.section), rule
        assert rule.requirement


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("advertise", [(), EVERYTHING], ids=["plain", "advertised"])
def test_every_built_shim_keeps_every_rule(module: str, advertise: tuple[str, ...]) -> None:
    assert lint_shim_manifest(sample_shim(module, *advertise).apk) == ()


def test_the_bare_and_the_aggregate_shim_keep_every_rule() -> None:
    assert lint_shim_manifest(build_bare_shim(KEY).apk) == ()
    together = shim_of(*map(sample_app, MODULES), aggregate=True, advertise=frozenset(EVERYTHING))
    assert lint_shim_manifest(together.apk) == ()


def test_an_app_that_is_not_a_shim_breaks_many_rules() -> None:
    codes = {item.rule for item in lint_shim_manifest(packed("", minimum_sdk=24, target_sdk=36))}
    assert codes >= {"shim-components", "shim-notification-permission", "shim-handshake"}


def test_what_is_not_an_apk_is_an_error() -> None:
    with pytest.raises(InputError):
        lint_shim_manifest(b"PK")
