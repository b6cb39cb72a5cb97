"""Each rule for a built shim, broken in an APK that is otherwise as the builder makes it."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from device_shim.shim_builder.built_samples import (
    EVERYTHING,
    KEY,
    MODULES,
    packed,
    sample_app,
    sample_shim,
    shim_of,
)
from device_shim.shim_builder.manifest_rules import RULES, broken_rules
from droidgate_android.apk import pack as packing
from droidgate_android.apk.pack import Packing, pack
from droidgate_mappings.model.errors import InputError
from droidgate_shim.builder import shims
from droidgate_shim.builder.shims import BuiltShim, build_bare_shim

SHIM = "dev.droidgate.shim"
TRAMPOLINE = f'android:name="{SHIM}.backends.TrampolineActivity"'
SERVICE = f'android:name="{SHIM}.frontends.ToolService"'
HOST = f'android:name="{SHIM}.host.HostProvider"'
APPLICATION = 'android:allowBackup="false"'
RECEIVER = f'android:name="{SHIM}.frontends.MmcpReceiver"'
IDENTITY = f'android:name="{SHIM}.backends.ShellIdentityService"'
ACTIVITY = f'android:name="{SHIM}.frontends.MmcpActivity"'
EXPORTED = '\n            android:exported="true"'
FILTER = '<intent-filter><action android:name="a.b"/></intent-filter>'
POLICY = "assets/policy.json"
DESCRIPTOR = "res/xml/mcp_capabilities.xml"

Edit = tuple[str, str, str]
"""A file, the text to replace in it, and its replacement."""


def put(old: str, new: str) -> Edit:
    return "AndroidManifest.xml", old, new


def added(attribute: str, to: str) -> Edit:
    return put(to, f"{to} android:{attribute}")


def before_queries(element: str) -> Edit:
    return put("<queries>", f"{element}<queries>")


def requested(name: str) -> Edit:
    return before_queries(f'<uses-permission android:name="android.permission.{name}"/>')


def pdf_tool() -> BuiltShim:
    return shim_of(sample_app("pdf-tool/app"), advertise=frozenset(EVERYTHING))


def notes() -> BuiltShim:
    return shim_of(sample_app("notes/app"))


def bare() -> BuiltShim:
    return build_bare_shim(KEY)


BREACHES: tuple[tuple[Callable[[], BuiltShim], str, Edit], ...] = (
    (pdf_tool, "shim-exported-stated",
     put(f'{TRAMPOLINE}\n            android:exported="false"', TRAMPOLINE)),
    (pdf_tool, "shim-exported-surface", put('android:exported="false"', 'android:exported="true"')),
    (pdf_tool, "shim-components", put("ConsentActivity", "QuestionActivity")),
    (pdf_tool, "shim-components", added('enabled="false"', SERVICE)),
    (pdf_tool, "shim-class-names shim-components",
     put(f"{SHIM}.consent.ConsentActivity", "com.other.ConsentActivity")),
    (pdf_tool, "shim-one-process", added('process=":tools"', SERVICE)),
    (pdf_tool, "shim-one-process", added('process=":app"', APPLICATION)),
    (pdf_tool, "shim-query-packages", put('<package android:name="dev.droidgate.sample.pdftool" />', "")),
    (notes, "shim-query-packages", put(f'<package android:name="{SHIM}" />', "")),
    (pdf_tool, "shim-query-actions",
     put('<action android:name="com.example.mMCP.ACTION_TOOL_CALL" />\n        </intent>', "</intent>")),
    (pdf_tool, "shim-query-all shim-permissions", requested("QUERY_ALL_PACKAGES")),
    (pdf_tool, "shim-permissions", requested("INTERNET")),
    (pdf_tool, "shim-foreground-permission", put("FOREGROUND_SERVICE", "POST_NOTIFICATIONS")),
    (pdf_tool, "shim-notification-permission", put("POST_NOTIFICATIONS", "FOREGROUND_SERVICE")),
    (pdf_tool, "shim-overlay-permission", put("SYSTEM_ALERT_WINDOW", "FOREGROUND_SERVICE")),
    (bare, "shim-overlay-permission", put("HIDE_OVERLAY_WINDOWS", "SYSTEM_ALERT_WINDOW")),
    (pdf_tool, "shim-functions-permission", requested("EXECUTE_APP_FUNCTIONS")),
    (bare, "shim-functions-permission", put("EXECUTE_APP_FUNCTIONS", "POST_NOTIFICATIONS")),
    (pdf_tool, "shim-own-permission", before_queries('<permission android:name="a.b.CALL"/>')),
    (pdf_tool, "shim-shared-user", put("<manifest ", '<manifest android:sharedUserId="a.b" ')),
    (pdf_tool, "shim-service-type", put('"shortService"', '"dataSync"')),
    (pdf_tool, "shim-service-type", put('android:foregroundServiceType="shortService"', "")),
    (pdf_tool, "shim-service-open", added('permission="a.b.CALL"', SERVICE)),
    (pdf_tool, "shim-service-open", added('permission="a.b.CALL"', APPLICATION)),
    (pdf_tool, "shim-service-open shim-hidden-filters",
     put(SERVICE + EXPORTED, f'{SERVICE} android:exported="false"')),
    (pdf_tool, "shim-service-found",
     put('"mobile.mcp.SERVICE" />\n            </intent-f', '"a.B" />\n</intent-f')),
    (pdf_tool, "shim-service-texts", put('"mobile.mcp.tool.name"', '"mobile.mcp.tool.title"')),
    (pdf_tool, "shim-service-descriptor shim-routes-declared",
     put('"mobile.mcp.tool.capabilities"', '"mobile.mcp.tool.tools"')),
    (pdf_tool, "shim-service-descriptor shim-routes-declared",
     put("@xml/mcp_capabilities", "@string/droidgate_shim_label")),
    (pdf_tool, "shim-routes-declared", (DESCRIPTOR, 'id="merge"', 'id="join"')),
    (pdf_tool, "shim-routes-declared", (DESCRIPTOR, "mobile-mcp-capabilities", "mcp")),
    (pdf_tool, "shim-trampoline-theme", put("Theme.Translucent.NoTitleBar", "Theme.NoDisplay")),
    (pdf_tool, "shim-trampoline-history", added('noHistory="true"', TRAMPOLINE)),
    (pdf_tool, "shim-trampoline-orientation", added('screenOrientation="portrait"', TRAMPOLINE)),
    (pdf_tool, "shim-trampoline-mode", put('launchMode="standard"', 'launchMode="singleTask"')),
    (pdf_tool, "shim-trampoline-affinity", put('android:taskAffinity=""', "")),
    (pdf_tool, "shim-trampoline-recents", put('android:excludeFromRecents="true"', "")),
    (pdf_tool, "shim-trampoline-changes", put("|orientation|", "|")),
    (pdf_tool, "shim-hidden-filters",
     put('Theme.DeviceDefault.Dialog" />', f'Theme.DeviceDefault.Dialog">{FILTER}</activity>')),
    (pdf_tool, "shim-data-filters",
     put("<category android:name=", '<data android:scheme="content"/><category android:name=')),
    (pdf_tool, "shim-host-guard", put('android:writePermission="android.permission.DUMP"', "")),
    (pdf_tool, "shim-host-guard", put('readPermission="android.permission.DUMP"', 'readPermission="a.b.C"')),
    (pdf_tool, "shim-host-authority", put('.host"', '.other"')),
    (pdf_tool, "shim-host-grants", added('grantUriPermissions="true"', HOST)),
    (pdf_tool, "shim-instrumentation", before_queries(
        f'<instrumentation android:name="{SHIM}.backends.ShellIdentityInstrumentation"'
        f' android:targetPackage="{SHIM}.of.dev.droidgate.sample.pdftool"/>')),
    (bare, "shim-instrumentation", put("ShellIdentityInstrumentation", "OtherInstrumentation")),
    (bare, "shim-instrumentation", put(f'targetPackage="{SHIM}"', 'targetPackage="dev.droidgate.other"')),
    (pdf_tool, "shim-identity-service",
     put("</application>", f'<service {IDENTITY} android:exported="true"/></application>')),
    (bare, "shim-identity-service shim-exported-surface",
     put("ShellIdentityService", "OtherService")),
    (bare, "shim-identity-service", added('permission="a.b.C"', IDENTITY)),
    (bare, "shim-identity-service", put(IDENTITY + EXPORTED, f'{IDENTITY} android:exported="false"')),
    (bare, "shim-identity-service",
     put(f"{IDENTITY}{EXPORTED} />", f"{IDENTITY}{EXPORTED}>{FILTER}</service>")),
    (pdf_tool, "shim-question-texts", (POLICY, '"capabilities":{"', '"capabilities":{"x')),
    (pdf_tool, "shim-question-texts", (POLICY, '"description":"', '"description":"\u200b')),
    (pdf_tool, "shim-launcher", put("android.intent.category.LAUNCHER", "android.intent.category.INFO")),
    (pdf_tool, "shim-backup", put(APPLICATION, "")),
    (pdf_tool, "shim-transfer", put('android:dataExtractionRules="@xml/droidgate_shim_transfer"', "")),
    (pdf_tool, "shim-debuggable", added('debuggable="true"', APPLICATION)),
    (pdf_tool, "shim-test-only", added('testOnly="true"', APPLICATION)),
    (pdf_tool, "shim-matching-flags", added('intentMatchingFlags="enforceIntentFilter"', APPLICATION)),
    (pdf_tool, "shim-texts", put('android:description="@string/droidgate_shim_description"', "")),
    (pdf_tool, "shim-text-lengths",
     put('android:label="@string/droidgate_shim_label"', f'android:label="{"x" * 32_769}"')),
    (pdf_tool, "shim-text-lengths",
     ("res/values/droidgate_shim_strings.xml", " (via droidgate)", "x" * 32_769)),
    (pdf_tool, "shim-handshake", (POLICY, '"handshake":1', '"handshake":2')),
    (pdf_tool, "shim-handshake", (POLICY, '"build":"', '"build":"0')),
    (pdf_tool, "shim-handshake", (POLICY, '"sources":[{"package":"dev', '"sources":[{"package":"com')),
    (pdf_tool, "shim-no-grants",
     (POLICY, '{"app":', '{"grants":[{"caller":"any-app","capability":"*"}],"app":')),
    (pdf_tool, "shim-mmcp-activity", put("android.intent.category.DEFAULT", "android.intent.category.INFO")),
    (pdf_tool, "shim-mmcp-activity", added('permission="a.b.C"', ACTIVITY)),
    (pdf_tool, "shim-mmcp-receiver", put("com.example.ACTION_MMCP_INVOKE", "com.example.OTHER")),
    (pdf_tool, "shim-mmcp-receiver", added('permission="a.b.C"', RECEIVER)),
    (pdf_tool, "shim-function-service", put("BIND_APP_FUNCTION_SERVICE", "BIND_OTHER_SERVICE")),
    (pdf_tool, "shim-function-service", put('"function_service.xml"', '"gone.xml"')),
    (pdf_tool, "shim-function-service", (POLICY, '"functions":{"page_count":"', '"functions":{"x":"no_')),
    (pdf_tool, "shim-frontends-alone shim-exported-surface shim-routes-declared",
     put(f"{SHIM}.frontends.ToolService", f"{SHIM}.OtherService")),
)  # fmt: skip
OF_FACTS = {"shim-minimum-sdk": "MINIMUM_SDK", "shim-target-sdk": "TARGET_SDK"}


@pytest.mark.parametrize(
    ("make", "rules", "edit"), BREACHES, ids=[f"{number}-{row[1]}" for number, row in enumerate(BREACHES)]
)
def test_a_breach_of_each_rule_is_found(
    make: Callable[[], BuiltShim], rules: str, edit: Edit, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, old, new = edit

    def pack_edited(tree: Mapping[str, bytes] | Path, **facts: Any) -> Packing:
        if isinstance(tree, Path):
            # The sample app that the shim is for.
            return pack(tree, **facts)
        text = tree[path].decode()
        assert old in text, f"{old!r} is not in {path}"
        return pack({**tree, path: text.replace(old, new).encode()}, **facts)

    monkeypatch.setattr(packing, "pack", pack_edited)
    assert broken_rules(make().apk).keys() == {*rules.split()}


@pytest.mark.parametrize("rule", OF_FACTS)
def test_another_release_is_found(monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    monkeypatch.setattr(shims, OF_FACTS[rule], 29)
    assert list(broken_rules(shim_of(sample_app("pdf-tool/app")).apk)) == [rule]


def test_every_rule_has_an_id_of_its_own_and_a_source_and_is_broken_by_some_test() -> None:
    ids = [rule for rule, *_ in RULES]
    assert len(ids) == len(set(ids)) >= 30
    assert {rules.split()[0] for _, rules, _ in BREACHES} | OF_FACTS.keys() == set(ids)
    assert [rule for rule, section, *_ in RULES if not re.match(r"[012]\.\d", section)] == []


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("advertise", [(), EVERYTHING], ids=["plain", "advertised"])
def test_every_built_shim_keeps_every_rule(module: str, advertise: tuple[str, ...]) -> None:
    assert broken_rules(sample_shim(module, *advertise).apk) == {}


def test_the_bare_and_the_aggregate_shim_keep_every_rule() -> None:
    assert broken_rules(bare().apk) == {}
    together = shim_of(*map(sample_app, MODULES), aggregate=True, advertise=frozenset(EVERYTHING))
    assert broken_rules(together.apk) == {}


def test_what_is_not_a_shim_breaks_many_rules_or_is_an_error() -> None:
    broken = broken_rules(packed("", minimum_sdk=24, target_sdk=36))
    assert broken.keys() >= {"shim-components", "shim-notification-permission", "shim-handshake"}
    with pytest.raises(InputError):
        broken_rules(b"PK")
