"""`adb install` of the real adb, in each of its ways."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import adbutils  # type: ignore[import-untyped]
import pytest

from device_shim.phone_system.phone_system_apps import make_apk
from device_shim.phone_transport.conftest import StockAdb
from droidgate_phone.apps.sample_packages import sample_package, sample_packages
from droidgate_phone.phone import VirtualPhone, start_phone

WEATHER = "dev.droidgate.sample.weather"


@pytest.fixture
def apk(tmp_path: Path) -> Path:
    path = tmp_path / "weather.apk"
    path.write_bytes(sample_package("weather").apk)
    return path


def split_apks(folder: Path) -> list[str]:
    """Write a base APK and a split of it."""
    paths = []
    for name, attributes in (("base.apk", ""), ("split.apk", 'split="config.de"')):
        paths.append(str(folder / name))
        (folder / name).write_bytes(make_apk("org.example.split", attributes=attributes))
    return paths


@pytest.fixture(params=["36.1", "26"], ids="API {}".format)
def empty(
    request: pytest.FixtureRequest, stock_adb: StockAdb, adb_keys: tuple[Path, ...]
) -> Iterator[VirtualPhone]:
    """A phone that installs through `abb_exec`, and an old one that does through `exec`."""
    with start_phone(sdk=request.param, apps=False, server_port=0, adb_keys=adb_keys) as phone:
        stock_adb.connect(phone.serial)
        yield phone
        stock_adb.run("disconnect", phone.serial)


def packages(adb: StockAdb, phone: VirtualPhone) -> set[str]:
    listed = adb.on(phone.serial, "shell", "pm list packages").stdout.decode()
    return {line.removeprefix("package:") for line in listed.splitlines()}


def succeeds(result: subprocess.CompletedProcess[bytes]) -> bool:
    return result.returncode == 0 and b"Success" in result.stdout


@pytest.mark.parametrize("way", [[], ["--streaming"], ["--no-streaming"], ["--no-incremental"]], ids=str)
def test_an_apk_is_installed_and_uninstalled(
    empty: VirtualPhone, stock_adb: StockAdb, apk: Path, way: list[str]
) -> None:
    installed = stock_adb.on(empty.serial, "install", *way, str(apk))
    assert succeeds(installed), installed
    assert packages(stock_adb, empty) == {WEATHER}
    again = stock_adb.on(empty.serial, "install", "-r", *way, str(apk))
    assert succeeds(again), again
    removed = stock_adb.on(empty.serial, "uninstall", WEATHER)
    assert succeeds(removed), removed
    assert packages(stock_adb, empty) == set()


def test_several_apks_are_one_package(empty: VirtualPhone, stock_adb: StockAdb, tmp_path: Path) -> None:
    installed = stock_adb.on(empty.serial, "install-multiple", *split_apks(tmp_path))
    assert succeeds(installed), installed
    assert packages(stock_adb, empty) == {"org.example.split"}
    paths = stock_adb.on(empty.serial, "shell", "pm path org.example.split").stdout.decode().splitlines()
    assert [line.rpartition("/")[2] for line in paths] == ["base.apk", "split_config.de.apk"]


def test_removing_what_is_not_there_fails(empty: VirtualPhone, stock_adb: StockAdb) -> None:
    result = stock_adb.on(empty.serial, "uninstall", "org.example.none")
    assert result.returncode == 1
    assert b"Failure" in result.stdout + result.stderr


@pytest.mark.parametrize("own", [False, True])
def test_adbutils_installs_too(empty: VirtualPhone, stock_adb: StockAdb, apk: Path, own: bool) -> None:  # noqa: FBT001
    port = empty.server_port if own else stock_adb.port
    device = adbutils.AdbClient(host="127.0.0.1", port=port).device(serial=empty.serial)
    device.install(str(apk), nolaunch=True, silent=True)
    assert device.list_packages() == [WEATHER]
    device.uninstall(WEATHER)
    assert device.list_packages() == []


def test_the_sample_apps_are_there_at_the_start(stock_adb: StockAdb, adb_keys: tuple[Path, ...]) -> None:
    with start_phone(adb_keys=adb_keys) as phone:
        stock_adb.connect(phone.serial)
        assert packages(stock_adb, phone) == {package.package for package in sample_packages()}
        stock_adb.run("disconnect", phone.serial)


def test_sample_apps_that_need_a_newer_android_are_left_out() -> None:
    with start_phone(sdk="34") as phone:
        installed = {package.name for package in phone.system.packages.all()}
    left_out = {str(event["package"]) for event in phone.log.of_kind("left-out")}
    assert left_out == {"dev.droidgate.sample.notes", "dev.droidgate.sample.notes.legacy"}
    assert installed | left_out == {package.package for package in sample_packages()}


def test_a_phone_can_have_many_packages() -> None:
    with start_phone(apps=False, packages=30) as phone:
        assert len(phone.system.packages.all()) == 30
