"""A virtual phone that a computer reaches, with shims for its apps, and what came over adb."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from droidgate.calls.approvals import Approval, ApprovalRequest, Approver
from droidgate.calls.audit_log import AuditLog
from droidgate.calls.call_requests import CallRequest, CallResult
from droidgate.calls.caller import CallControls, CapabilityCaller
from droidgate.calls.pins import PinStore
from droidgate.calls.policy import Policy
from droidgate.devices.app_installation import install_apks, uninstall
from droidgate.devices.device import Device
from droidgate.shims.device_user import device_user_of
from droidgate.shims.installation_steps import install_archive, install_shim
from droidgate.shims.shim_facts import ShimFacts, facts_of
from droidgate.shims.source_apps import read_source_apps
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.signing_keys import SigningKey, load_or_make_key, make_key
from droidgate_mappings.values.failures import CallError
from droidgate_phone.apps.sample_packages import sample_packages, signing_key
from droidgate_phone.phone import start_phone
from droidgate_shim.builder.sample_apps import sample_apps_directory
from droidgate_shim.builder.shim_choices import ShimOptions
from droidgate_shim.builder.shims import build_bare_shim, build_shims
from gateway.devices.test_against_virtual_phone import real_adb_server
from gateway.mobile_agent.made_phone import ObservedPhone, device_on

SAMPLE = "dev.droidgate.sample."
CLOCK_IN = f"{SAMPLE}clockin"
NOTES = f"{SAMPLE}notes"
LEGACY = f"{NOTES}.legacy"
PDF_TOOL = f"{SAMPLE}pdftool"
TALLY = f"{SAMPLE}tally"
WEATHER = f"{SAMPLE}weather"

BEHIND_SHIMS = frozenset({CLOCK_IN, PDF_TOOL, TALLY})


ANDROID = 'xmlns:android="http://schemas.android.com/apk/res/android"'
PLACE = "custom.actions.intent.SHOW_WEATHER"
THING = "actions.intent.GET_THING"
APP_ACTIONS = f"""<shortcuts {ANDROID}>
    <capability android:name="{PLACE}">
        <intent android:targetPackage="{WEATHER}" android:targetClass="{WEATHER}.MainActivity">
            <parameter android:name="place" android:key="place" />
        </intent>
    </capability>
    <capability android:name="{THING}"><intent>
        <url-template android:value="weather://places{{?name}}" />
        <parameter android:name="thing.name" android:key="name" android:required="true" />
    </intent></capability>
</shortcuts>"""


def add_app_actions(project: Path, declared: str = APP_ACTIONS) -> None:
    """Let a copy of the weather app declare App Actions, which its screen takes."""
    main = project / "src/main"
    (main / "res/xml").mkdir()
    (main / "res/xml/shortcuts.xml").write_text(declared, encoding="utf-8")
    manifest = (main / "AndroidManifest.xml").read_text(encoding="utf-8")
    entry = '<meta-data android:name="android.app.shortcuts" android:resource="@xml/shortcuts" /></activity>'
    (main / "AndroidManifest.xml").write_text(manifest.replace("</activity>", entry), encoding="utf-8")


def weather_with_app_actions(folder: Path, package: str = WEATHER, host: str = "places") -> bytes:
    """Return the weather app as an APK that declares App Actions, as a package and with links to a host."""
    project = folder / f"{package}-{host}"
    shutil.copytree(sample_apps_directory() / "weather" / "app", project)
    add_app_actions(project)
    manifest = project / "src/main/AndroidManifest.xml"
    text = manifest.read_text(encoding="utf-8").replace(f'package="{WEATHER}"', f'package="{package}"')
    manifest.write_text(text.replace('host="places"', f'host="{host}"'), encoding="utf-8")
    return pack_project(project, key=signing_key(), package=package)


def allow_once(_: ApprovalRequest) -> Approval:
    """Allow a call, as a user does who is asked."""
    return Approval(allowed=True)


@dataclass
class ReachedPhone(ObservedPhone):
    """A phone and the way to it."""

    device: Device
    folder: Path

    def replace_legacy(self, *, other_signer: bool = False, other_text: bool = False) -> None:
        """Replace the app of legacy notes, by one of another signer, or that declares something else."""
        project = Path(tempfile.mkdtemp(dir=self.folder)) / "app"
        shutil.copytree(sample_apps_directory() / "notes" / "legacy", project)
        if other_text:
            path = project / "src/main/assets/app_functions.xml"
            text = path.read_text(encoding="utf-8")
            assert "Write down a new note." in text
            path.write_text(text.replace("Write down a new note.", "Send it to me."), encoding="utf-8")
        key = make_key() if other_signer else signing_key()
        if other_signer:
            uninstall(self.device, LEGACY)
        install_apks(self.device, {"base.apk": pack_project(project, key=key, package=LEGACY)})

    def restore_legacy(self) -> None:
        """Install the app of legacy notes as it was."""
        uninstall(self.device, LEGACY)
        self.replace_legacy()

    def caller(self, *, approver: Approver = allow_once, policy: Policy | None = None) -> CapabilityCaller:
        """Return what calls its apps, with files of its own."""
        return CapabilityCaller(
            self.device,
            policy=policy or Policy(),
            pins=PinStore(self.folder),
            audit=AuditLog(self.folder / "audit", self.folder),
            approver=approver,
        )

    def call(self, capability: str, /, **given: Any) -> CallResult:
        """Call a capability; what is not the option of a request, of a call or `caller` is an argument."""
        of_request = {name: given.pop(name) for name in ("app", "deadline", "files") if name in given}
        of_call = {name: given.pop(name) for name in ("cancel", "trace") if name in given}
        caller: CapabilityCaller = given.pop("caller", None) or self.caller()
        return caller.call(CallRequest(capability, given, **of_request), CallControls(**of_call))

    def failure(self, capability: str, /, **options: Any) -> CallError:
        """Return how a call fails, which it has to."""
        with pytest.raises(CallError) as raised:
            self.call(capability, **options)
        return raised.value

    def install_shims(self, apps: Path, key: SigningKey) -> list[ShimFacts]:
        """Install the bare shim, which asks receivers, and one for each of the apps; return these."""
        installed = []
        device_user = device_user_of(self.device)
        bare = build_bare_shim(key)
        install_archive(device_user, bare.apk, bare.file_name)
        for app in read_source_apps([str(apps)]):
            (built,) = build_shims([app], ShimOptions(), key)
            facts = facts_of(built, key.digest)
            done = install_shim(device_user, facts, built.apk, file_name=built.file_name)
            assert done.works, done.steps
            installed.append(facts)
        return installed


@contextmanager
def reached_phone(
    folder: Path, *, sdk: str = "36.1", adb: bool = False, shims: bool = True
) -> Iterator[ReachedPhone]:
    """Start a phone with the sample apps and shims that the user's own key signs."""
    keys = (folder / ".android" / "adbkey.pub",)
    with (
        start_phone(sdk=sdk, server_port=0, adb_keys=keys) as phone,
        ExitStack() as stack,
    ):
        server = stack.enter_context(real_adb_server(phone, folder)) if adb else None
        device = device_on(phone) if server is None else Device(server, phone.serial)
        reached = ReachedPhone(phone, device, folder)
        if shims:
            apps = folder / "apps"
            apps.mkdir()
            for package in sample_packages():
                if package.package in BEHIND_SHIMS:
                    (apps / f"{package.package}.apk").write_bytes(package.apk)
            reached.install_shims(apps, load_or_make_key())
        yield reached


@contextmanager
def default_phone(folder: Path, *, shims: bool = True) -> Iterator[ReachedPhone]:
    """Start such a phone, and let this process's environment name it and a home of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DROIDGATE_HOME", str(folder / "home"))
        with reached_phone(folder, shims=shims) as phone:
            patch.setenv("ANDROID_ADB_SERVER_PORT", str(phone.phone.server_port))
            yield phone
