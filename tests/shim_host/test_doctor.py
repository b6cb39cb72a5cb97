"""What `shim doctor` makes of what a device and a shim say."""

from typing import Any

import pytest

from devices.fake_adb_server import Answer
from droidgate.devices.device import Device
from droidgate_shim.host.doctor import Check, examine
from droidgate_shim.host.place import ShimPlace, installed_shims
from shim_host.fake_shim import APPLICATION_ID, HELLO, STATUS, FakeShim

PROPERTIES = "[ro.build.version.sdk]: [36]\n[ro.build.version.release]: [16]\n[ro.product.model]: [M]\n"
PACKAGES = (
    f"package:/data/app/x/base.apk={APPLICATION_ID} versionCode:1 uid:10001\n"
    "package:/data/app/y/base.apk=com.example.notes versionCode:7 uid:10002\n"
)
LOCKED = ' User "Owner" (id=0, flags=0x4c13) (current): trustState=UNTRUSTED, deviceLocked={}, x=0\n'
STOPPED = "Packages:\n    User 0: ceDataInode=1 installed=true hidden=false stopped={} notLaunched=false\n"


@pytest.fixture
def told(shim: FakeShim) -> FakeShim:
    shim.outputs = {
        "getprop": Answer(PROPERTIES.encode()),
        "pm list": Answer(PACKAGES.encode()),
        "cmd package": Answer(f"{APPLICATION_ID}/dev.droidgate.shim.ToolService\n".encode()),
        "cmd app_function": Answer(stderr=b"cmd: Can't find service: app_function\n", status=20),
        "dumpsys trust": Answer(LOCKED.format(0).encode()),
        "dumpsys package": Answer(STOPPED.format("false").encode()),
    }
    return shim


def checks(device: Device, sdk: int = 36) -> dict[str, Check]:
    place = ShimPlace(device, 0, sdk)
    return {one.kind.id: one for one in examine(place, installed_shims(place))}


def states(device: Device, sdk: int = 36) -> dict[str, str]:
    return {name: one.state for name, one in checks(device, sdk).items()}


def status_with(shim: FakeShim, **changes: Any) -> None:
    shim.methods["status"] = lambda _: {**STATUS, **changes}


def test_every_problem_has_a_fix(device: Device, told: FakeShim) -> None:
    status_with(
        told,
        targets=[{"package": "com.example.notes", "state": "changed", "version_code": 8}],
        access=dict.fromkeys(STATUS["access"], False),
        grants=[],
        asking=False,
    )
    told.outputs["dumpsys trust"] = Answer(LOCKED.format(1).encode())
    told.outputs["dumpsys package"] = Answer(STOPPED.format("true").encode())
    told.outputs["cmd package"] = Answer(b"com.example.other/com.example.other.ToolService\n")
    found = checks(device)
    problems = {name for name, one in found.items() if one.state == "problem"}
    assert problems == {
        "screen-lock", "app-function-shell", "visibility", "targets", "stopped-state", "battery-exemption",
        "notifications", "activity-start-route", "app-functions-access", "grants",
    }  # fmt: skip
    assert all(one.fix for one in found.values() if one.state == "problem")


def test_what_is_well_is_ok(device: Device, told: FakeShim) -> None:
    status_with(told, access=dict.fromkeys(STATUS["access"], True))
    assert {name for name, state in states(device).items() if state != "ok"} == {"app-function-shell"}


@pytest.mark.parametrize(
    ("sdk", "not_needed"),
    [
        (25, {"battery-exemption", "notifications", "activity-start-route", "app-function-shell"}),
        (28, {"notifications", "activity-start-route", "app-function-shell"}),
        (30, {"notifications", "app-function-shell"}),
        (33, {"app-function-shell"}),
        (36, set()),
    ],
)
def test_older_releases_need_less(device: Device, told: FakeShim, sdk: int, not_needed: set[str]) -> None:
    del told
    assert {name for name, state in states(device, sdk).items() if state == "not-needed"} == not_needed


@pytest.mark.parametrize("state", ["absent", "other-signer", "changed"])
def test_an_app_that_drifted_is_a_problem(device: Device, told: FakeShim, state: str) -> None:
    status_with(told, targets=[{"package": "com.example.notes", "state": state, "version_code": None}])
    assert checks(device)["targets"].state == "problem"


@pytest.mark.parametrize("garbage", [b"", b"nothing known\n", b"\xff\xfe", b"User 10: stopped=true\n"])
def test_what_dumpsys_says_otherwise_is_unknown(device: Device, told: FakeShim, garbage: bytes) -> None:
    told.outputs["dumpsys trust"] = told.outputs["dumpsys package"] = Answer(garbage)
    found = states(device)
    assert (found["screen-lock"], found["stopped-state"]) == ("unknown", "unknown")


@pytest.mark.parametrize("package", ["--checkin", "com.x; reboot", "", "\u202ecom.x"])
def test_a_package_that_is_none_is_not_asked_for(device: Device, told: FakeShim, package: str) -> None:
    status_with(told, sources=[{**HELLO["sources"][0], "package": package}])
    assert states(device)["stopped-state"] == "unknown"


def test_a_shim_of_another_version_is_told_and_the_rest_is_still_checked(
    device: Device, told: FakeShim
) -> None:
    told.methods["status"] = lambda _: {"error": {"token": "unsupported_version", "message": "2"}}
    found = checks(device)
    assert (found["handshake"].state, found["handshake"].fix is not None) == ("problem", True)
    assert found["screen-lock"].state == "ok"
    assert "targets" not in found


def test_on_17_the_list_of_agents_decides_and_shows_itself_to_nobody(device: Device, told: FakeShim) -> None:
    status_with(told, access=dict.fromkeys(STATUS["access"], True))
    assert states(device, 37)["app-functions-access"] == "unknown"


def test_an_action_that_nobody_answers_is_a_problem(device: Device, told: FakeShim) -> None:
    told.outputs["cmd package"] = Answer(b"No services found\n")
    assert states(device)["visibility"] == "problem"


def test_a_shim_without_capabilities_needs_no_agents(device: Device, told: FakeShim) -> None:
    status_with(told, routes=[], sources=[], targets=[])
    assert HELLO["routes"]
    assert {"visibility", "targets", "stopped-state", "grants"}.isdisjoint(checks(device))
