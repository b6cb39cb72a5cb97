"""What `shim doctor` makes of what a device and a shim say."""

import re
from dataclasses import replace
from typing import Any

import pytest

from droidgate.devices.device import Device
from droidgate.shims import doctor
from droidgate.shims.device_user import DeviceUser, InstalledShim, installed_shims
from droidgate.shims.doctor import CheckKind, DeviceState, DoctorCheck, accessibility, examine
from droidgate.shims.shim_facts import ShimFacts
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from gateway.devices.fake_adb_server import Answer
from gateway.shims.fake_shim import APPLICATION_ID, HELLO, SIGNER, STATUS, FakeShim, installed_shim
from requirements_of_tests import CHECKOUT
from titled_rows import titled

PROPERTIES = "[ro.build.version.sdk]: [36]\n[ro.build.version.release]: [16]\n[ro.product.model]: [M]\n"
PACKAGES = (
    f"package:/data/app/x/base.apk={APPLICATION_ID} versionCode:1 uid:10001\n"
    "package:/data/app/y/base.apk=com.example.notes versionCode:7 uid:10002\n"
)
LOCKED = ' User "Owner" (id=0, flags=0x4c13) (current): trustState=UNTRUSTED, deviceLocked={}, x=0\n'


EVERY_KIND = frozenset({"mmcp-activity", "mmcp-broadcast", "app-function", "app-action", "mobile-mcp"})
FACTS = ShimFacts(APPLICATION_ID, "1" * 64, ("createNote",), EVERY_KIND, ("com.example.notes",), SIGNER)
HOLDER = ShimFacts(SHIM_PACKAGE, "2" * 64, (), frozenset(), (), SIGNER)
SERVICES_ON = b"com.example.reader/.ReaderService\n"
BOUND = (
    "ACCESSIBILITY MANAGER (dumpsys accessibility)\n\n"
    "User state[\n     Bound services:{}\n     Enabled services:{{x}}]\n"
)


@pytest.fixture(autouse=True)
def facts(monkeypatch: pytest.MonkeyPatch) -> dict[str, ShimFacts]:
    """Return what the APKs of the installed shims say."""
    facts_by_id = {APPLICATION_ID: FACTS}
    monkeypatch.setattr(doctor, "installed_facts", lambda _, package: facts_by_id.get(package.name))
    return facts_by_id


@pytest.fixture
def answering(shim: FakeShim) -> FakeShim:
    """Return a shim on a phone that answers each command of the checks."""
    shim.outputs = {
        "getprop": Answer(PROPERTIES.encode()),
        "pm list": Answer(PACKAGES.encode()),
        "cmd package": Answer(f"{APPLICATION_ID}/dev.droidgate.shim.frontends.ToolService\n".encode()),
        "cmd app_function": Answer(stderr=b"cmd: Can't find service: app_function\n", status=20),
        "dumpsys trust": Answer(LOCKED.format(0).encode()),
    }
    return shim


def checks(device: Device, sdk: int = 36) -> dict[str, DoctorCheck]:
    device_user = DeviceUser(device, 0, str(sdk))
    return {item.kind.id: item for item in examine(device_user, installed_shims(device_user))}


def holder(*, lends: bool = True) -> InstalledShim:
    access = {**STATUS["access"], "execute_app_functions": lends}
    return installed_shim(SHIM_PACKAGE, routes=[], access=access)


def functions(device: Device, *others: InstalledShim, sdk: int = 36) -> DoctorCheck:
    """Return what is found of a shim's app functions, with these shims installed too."""
    device_user = DeviceUser(device, 0, str(sdk))
    present = [item for item in installed_shims(device_user) if item.application_id == APPLICATION_ID]
    items = examine(device_user, (*present, *others))
    own = [item for item in items if item.application_id == APPLICATION_ID]
    (item,) = [item for item in own if item.kind.id == "app-functions-access"]
    return item


def states(device: Device, sdk: int = 36) -> dict[str, str]:
    return {name: item.state for name, item in checks(device, sdk).items()}


def status_with(shim: FakeShim, **changes: Any) -> None:
    shim.methods["status"] = lambda _: {**STATUS, **changes}


def test_every_problem_has_a_fix(device: Device, answering: FakeShim) -> None:
    status_with(
        answering,
        targets=[{"package": "com.example.notes", "state": "changed", "version_code": 8}],
        access=dict.fromkeys(STATUS["access"], False),
        grants=[],
        asking=False,
    )
    answering.outputs["dumpsys trust"] = Answer(LOCKED.format(1).encode())
    answering.outputs["cmd package"] = Answer(b"com.example.other/com.example.other.ToolService\n")
    results = checks(device)
    problems = {name for name, item in results.items() if item.state == "problem"}
    assert problems == {
        "screen-lock", "app-function-shell", "visibility", "targets", "battery-exemption",
        "notifications", "activity-start-route", "app-functions-access", "grants",
    }  # fmt: skip
    assert all(item.fix for item in results.values() if item.state == "problem")


def test_checks_of_a_working_shim_are_ok_but_for_those_of_functions(
    device: Device, answering: FakeShim
) -> None:
    status_with(answering, access=dict.fromkeys(STATUS["access"], True), grants=STATUS["grants"][1:])
    results = states(device)
    assert functions(device, holder()).state == "ok"
    assert {name for name, state in results.items() if state != "ok"} == {
        *("app-function-shell", "app-functions-access", "tool-start")
    }


def test_one_app_calls_the_functions_of_all_shims_or_the_fix_is_reported(
    device: Device, answering: FakeShim, facts: dict[str, ShimFacts]
) -> None:
    del answering
    missing = functions(device)
    assert (missing.state, "is not installed" in missing.found) == ("problem", True)
    idle = functions(device, holder(lends=False))
    assert (idle.state, "as after a restart" in idle.found) == ("problem", True)
    assert idle.fix == "droidgate shim install"
    assert functions(device, InstalledShim(SHIM_PACKAGE, None)).state == "problem"
    assert functions(device, holder()).state == "ok"
    assert functions(device, holder(), sdk=37).state == "unknown"
    assert functions(device, holder(), sdk=35).state == "problem"
    facts[APPLICATION_ID] = replace(FACTS, kinds=frozenset({"mobile-mcp"}))
    assert functions(device).state == "not-needed"


def test_a_caller_of_functions_that_another_key_signed_is_a_problem(
    device: Device, answering: FakeShim, facts: dict[str, ShimFacts]
) -> None:
    listed = f"{PACKAGES}package:/data/app/z/base.apk={SHIM_PACKAGE} versionCode:1 uid:10003\n"
    answering.outputs["pm list"] = Answer(listed.encode())
    facts[SHIM_PACKAGE] = replace(HOLDER, signer="0" * 64)
    report = functions(device, holder())
    assert (report.state, "signed with another key" in report.found) == ("problem", True)


@pytest.mark.parametrize(("enabled", "dumped", "state"), [
    pytest.param(Answer(b"null\n"), Answer(), "not-needed", id="none was ever on"),
    pytest.param(Answer(b"\n"), Answer(), "not-needed", id="none is on"),
    pytest.param(Answer(SERVICES_ON), Answer(BOUND.encode()), "problem", id="one is on and not bound"),
    pytest.param(Answer(SERVICES_ON), Answer(BOUND.replace(":{}", ":{Service[label=Reader]}").encode()), "ok",
        id="one is on and bound"),
    pytest.param(Answer(SERVICES_ON), Answer(b"something else\n"), "unknown", id="a dump of another shape"),
    pytest.param(Answer(SERVICES_ON), Answer(stderr=b"denied\n", status=1), "unknown",
        id="a dump that is refused"),
    pytest.param(Answer(stderr=b"denied\n", status=1), Answer(), "unknown", id="a setting that is refused"),
])  # fmt: skip
def test_accessibility_services_that_are_switched_on_have_to_be_bound(
    device: Device, shim: FakeShim, enabled: Answer, dumped: Answer, state: str
) -> None:
    shim.outputs |= {"settings get": enabled, "dumpsys accessibility": dumped}
    assert accessibility(DeviceUser(device, 0, "36")).state == state


def test_accessibility_is_looked_at_where_the_permission_is_lent(device: Device, answering: FakeShim) -> None:
    answering.outputs["settings get"] = Answer(SERVICES_ON)
    assert "accessibility" not in states(device)
    device_user = DeviceUser(device, 0, "36")
    results = {item.kind.id: item for item in examine(device_user, (*installed_shims(device_user), holder()))}
    assert results["accessibility"].state == "unknown"


def test_grants_that_hold_for_started_calls_too_are_reported(
    device: Device, answering: FakeShim, facts: dict[str, ShimFacts]
) -> None:
    status_with(answering, grants=STATUS["grants"][1:])
    assert "started" not in checks(device)["grants"].found
    facts[APPLICATION_ID] = replace(FACTS, read_only=("createNote",))
    check = checks(device)["grants"]
    assert check.state == "ok"
    assert "also for started calls: com.example.agent: createNote" in check.found


def access(*allowed: str) -> dict[str, Any]:
    return {"access": {name: name in allowed for name in STATUS["access"]}}


def target(state: str) -> dict[str, Any]:
    return {"targets": [{"package": "com.example.notes", "state": state, "version_code": None}]}


DISABLED = {"pm list -d": b"package:com.example.notes\npackage:com.example.other\n"}
NOBODY = {"cmd package": b"No services found\n"}


@titled(("reported", "printed", "sdk", "check", "state", "words"), {
    "a grant to any app": ({}, {}, 36, "grants", "risk", "every capability"),
    "a grant to one of them": ({}, {}, 36, "grants", "risk", "com.example.agent"),
    "asking by a window or a notification":
        (access("overlay", "notifications"), {}, 36, "consent", "ok", "a window or a notification"),
    "asking by a notification alone":
        (access("notifications"), {}, 36, "consent", "ok", "asks by a notification"),
    "asking in no way": (access(), {}, 36, "consent", "problem", "needs_user"),
    "asking by a window on old releases": (access(), {}, 28, "consent", "ok", "a window"),
    "asking is off":
        ({**access(), "asking": False}, {}, 36, "consent", "not-needed", "switched off"),
    "an app that is gone": (target("absent"), {}, 36, "targets", "problem", ""),
    "an app of another signer": (target("other-signer"), {}, 36, "targets", "problem", ""),
    "an app that changed": (target("changed"), {}, 36, "targets", "problem", ""),
    "a disabled app, which no shim sees":
        ({}, DISABLED, 36, "targets", "problem", "com.example.notes is disabled"),
    "an action that nobody answers": ({}, NOBODY, 36, "visibility", "problem", ""),
})  # fmt: skip
def test_a_check_has_the_state_of_what_the_shim_reports_and_the_phone_prints(
    device: Device,
    answering: FakeShim,
    reported: dict[str, Any],
    printed: dict[str, bytes],
    sdk: int,
    check: str,
    state: str,
    words: str,
) -> None:
    status_with(answering, **reported)
    answering.outputs |= {command: Answer(output) for command, output in printed.items()}
    item = checks(device, sdk)[check]
    assert (item.state, words in item.found) == (state, True)


def test_a_hidden_service_is_unknown(
    device: Device, answering: FakeShim, facts: dict[str, ShimFacts]
) -> None:
    del answering
    facts[APPLICATION_ID] = replace(FACTS, services=("com.example.absent/.S", "com.example.notes/.S"))
    device_user = DeviceUser(device, 0, "36")
    results = [
        item for item in examine(device_user, installed_shims(device_user)) if item.kind.id == "tool-start"
    ]
    assert [item.state for item in results] == ["unknown", "unknown"]
    assert "is not installed" in results[0].found


def test_the_kinds_of_a_shim_that_cannot_be_read_are_all(device: Device) -> None:
    seen = DeviceState(DeviceUser(device, 0, "36"), (), {}, {})
    assert seen.kinds_of(APPLICATION_ID) == EVERY_KIND


@pytest.mark.parametrize(("sdk", "not_needed"), [
    (25, {"battery-exemption", "notifications", "activity-start-route", "app-function-shell"}),
    (28, {"notifications", "activity-start-route", "app-function-shell"}),
    (30, {"notifications", "app-function-shell"}),
    (33, {"app-function-shell"}),
    (36, set[str]()),
], ids=["7.1", "9", "11", "13", "16"])  # fmt: skip
def test_old_releases_need_less(device: Device, answering: FakeShim, sdk: int, not_needed: set[str]) -> None:
    del answering
    names = {name for name, state in states(device, sdk).items() if state == "not-needed"}
    assert names == {*not_needed, "tool-start"}


@pytest.mark.parametrize("garbage", [b"", b"nothing known\n", b"\xff\xfe"])
def test_what_dumpsys_says_otherwise_is_unknown(device: Device, answering: FakeShim, garbage: bytes) -> None:
    answering.outputs["dumpsys trust"] = Answer(garbage)
    assert states(device)["screen-lock"] == "unknown"


def test_a_shim_of_another_version_is_reported_with_the_rest(device: Device, answering: FakeShim) -> None:
    answering.methods["status"] = lambda _: {"error": {"token": "unsupported_version", "message": "2"}}
    results = checks(device)
    assert (results["handshake"].state, results["handshake"].fix is not None) == ("problem", True)
    assert results["screen-lock"].state == "ok"
    assert "targets" not in results


def test_a_shim_without_capabilities_needs_no_agents(device: Device, answering: FakeShim) -> None:
    status_with(answering, routes=[], sources=[], targets=[])
    assert HELLO["routes"]
    results = checks(device)
    asked_by_agents = {"visibility", "targets", "grants", "consent", "notifications"}
    assert asked_by_agents.isdisjoint(results)


# Each check of `shim doctor` is a step of the page that a person with a phone works through


PAGE = (CHECKOUT / "docs" / "guides" / "prove-on-a-phone.md").read_text(encoding="utf-8")
CHECKS = [item for item in vars(doctor).values() if isinstance(item, CheckKind)]
STEPS = re.findall(r"^### (\d+)\. [^`\n]+(?:`([a-z-]+)`)?$", PAGE, re.MULTILINE)


def test_each_step_has_a_section_of_its_own() -> None:
    assert [int(number) for number, _ in STEPS] == list(range(1, 25))


def test_each_check_of_the_doctor_names_its_step_and_the_page_names_the_check() -> None:
    assert {int(step): check for step, check in STEPS if check} == {item.step: item.id for item in CHECKS}


def test_checks_have_ids_of_their_own_and_come_in_the_order_of_the_steps() -> None:
    assert len({item.id for item in CHECKS}) == len(CHECKS)
    assert [item.step for item in CHECKS] == sorted(item.step for item in CHECKS)


def test_each_step_says_what_is_expected() -> None:
    sections = re.split(r"^### \d+\. ", PAGE, flags=re.MULTILINE)[1:]
    assert [section.partition("\n")[0] for section in sections if "xpected" not in section] == []
