"""Apps on the virtual phone: read over adb, with the digests that their own APKs have."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from device_shim.shim_builder.built_samples import KEY, packed, sample_shim
from droidgate.shims.source_apps import read_source_apps
from droidgate_mappings.model.errors import InputError
from droidgate_phone.apps.sample_packages import sample_packages
from droidgate_phone.phone import VirtualPhone, start_phone
from droidgate_shim.builder.shims import ShimOptions, build_shims

SAMPLE = "dev.droidgate.sample."


@pytest.fixture
def phone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[VirtualPhone]:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path))
    with start_phone(sdk="36.1", server_port=0, apps=False) as started:
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(started.server_port))
        for sample_package in sample_packages():
            started.install(sample_package.apk)
        yield started


def test_a_phones_apps_are_what_their_apks_say(phone: VirtualPhone, tmp_path: Path) -> None:
    folder = tmp_path / "apks"
    folder.mkdir()
    for item in sample_packages():
        (folder / f"{item.package}.apk").write_bytes(item.apk)
    phone.install(sample_shim("clock-in/app").apk)
    on_phone = {item.package: item for item in read_source_apps([f"adb:{phone.serial}"])}
    in_files = {item.package: item for item in read_source_apps([str(folder)])}
    assert set(on_phone) == set(in_files)
    for package, app in on_phone.items():
        assert app.signer == in_files[package].signer
        assert dict(app.digests) == dict(in_files[package].digests)
        assert app.label == in_files[package].label
        ids = [[kept.id for kept in item.capabilities] for item in app.providers]
        assert ids == [[kept.id for kept in item.capabilities] for item in in_files[package].providers]
    assert on_phone[f"{SAMPLE}weather"].unasked_components == (f"{SAMPLE}weather.WeatherReceiver",)
    built = build_shims(tuple(on_phone.values()), ShimOptions(), KEY)
    assert {item.packages[0] for item in built} == set(on_phone) - {f"{SAMPLE}weather"}


def test_one_app_of_a_phone_can_be_named(phone: VirtualPhone) -> None:
    (app,) = read_source_apps([f"adb:{phone.serial}/{SAMPLE}pdftool"])
    assert app.package == f"{SAMPLE}pdftool"
    phone.install(packed("", package="com.acme.empty", minimum_sdk=26, target_sdk=36))
    with pytest.raises(InputError, match="declares no capability"):
        read_source_apps([f"adb:{phone.serial}/com.acme.empty"])
