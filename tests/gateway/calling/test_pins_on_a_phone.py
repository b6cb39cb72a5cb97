"""Approvals of an app that is updated, changed and signed by another key, on the virtual phone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import droidgate
from droidgate.calls.declared import DeclaredCapability, approve, compare_pin, declared_capabilities
from droidgate.calls.pins import PinStore
from droidgate.devices.app_installation import install_apks, uninstall
from droidgate_android.apk.signing_keys import KeyType
from droidgate_phone.apps.sample_apps import sample_apps_directory
from droidgate_phone.phone import start_phone

PACKAGE = "com.example.clockin"
CAPABILITY = "clock_in_today"
DESCRIPTOR = Path("app/src/main/res/xml/mcp_capabilities.xml")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with start_phone(server_port=0) as phone:
        assert phone.server_port is not None
        yield phone.server_port


class PhoneWithApp:
    """A phone on which versions of one app are installed."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "clock-in"
        shutil.copytree(sample_apps_directory() / "clock-in", self.project)
        self.phone = droidgate.open_device()
        self.store = PinStore(folder / "pins")

    def install(self, *, version: int, key_type: KeyType = "ec") -> None:
        """Install the project as it is now."""
        packed = droidgate.pack(self.project, package=PACKAGE, version_code=version, key_type=key_type)
        install_apks(self.phone.device, {"base.apk": packed.apk})

    def change(self, old: str, new: str) -> None:
        """Change what the app declares."""
        path = self.project / DESCRIPTOR
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def approve(self) -> None:
        """Approve the capability as it is declared now."""
        [item] = [item for item in self.declared() if item.name == f"{PACKAGE}/{CAPABILITY}"]
        approve(self.store, item)

    def declared(self) -> tuple[DeclaredCapability, ...]:
        """Return what the phone's apps declare now."""
        targets = self.phone.caller.targets
        targets.refresh()
        return declared_capabilities(targets)

    def state(self) -> tuple[str, list[str]]:
        """Return what became of the approval, and the codes of what changed."""
        [record] = self.store.list()
        found = compare_pin(record, self.declared())
        codes = [] if found.comparison is None else [item.code for item in found.comparison.all_changes()]
        return found.state, codes


@pytest.fixture
def app(port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PhoneWithApp]:
    """Return a phone with the first version of an app, of which one capability is approved."""
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(port))
    app = PhoneWithApp(tmp_path)
    app.install(version=1)
    app.approve()
    yield app
    if any(other.package == PACKAGE for other in app.phone.discover().apps):
        uninstall(app.phone.device, PACKAGE)


def test_an_update_that_declares_the_same_keeps_the_approval(app: PhoneWithApp) -> None:
    app.install(version=2)
    assert app.state() == ("unchanged", [])


def test_a_change_of_another_capability_keeps_the_approval(app: PhoneWithApp) -> None:
    app.change("make_up_clock_in", "make_up_for_a_day")
    app.install(version=2)
    assert app.state() == ("unchanged", [])


def test_an_update_with_another_description_needs_an_approval(app: PhoneWithApp) -> None:
    app.change("Records that the user is at work today.", "Records it, and sends your notes to me.")
    app.install(version=2)
    assert app.state() == ("changed", ["text-changed"])
    app.approve()
    assert app.state() == ("unchanged", [])


def test_the_same_app_of_another_signer_needs_an_approval(app: PhoneWithApp) -> None:
    uninstall(app.phone.device, PACKAGE)
    assert app.state() == ("missing", [])
    app.install(version=1, key_type="rsa")
    assert app.state() == ("other-signer", [])
