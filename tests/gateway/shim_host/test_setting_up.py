"""What is set up for a shim: the commands as Android takes them, and every refusal a record of its own."""

import shlex

import pytest

from droidgate.devices.device import Device
from droidgate.shims import installing, installing as access
from droidgate.shims.installing import GRANT, HANDSHAKE, Step, install_shim, set_up_shim
from droidgate.shims.place import ShimPlace
from droidgate.shims.shim_facts import ShimFacts
from gateway.devices.fake_adb_server import Answer
from gateway.shim_host.fake_shim import APPLICATION_ID, SIGNER, STATUS, FakeShim

ADDED = f"Added: {APPLICATION_ID}\n".encode()
EVERY_KIND = ("mmcp-activity", "app-function")


def set_up(device: Device, sdk: int, kinds: tuple[str, ...] = EVERY_KIND) -> list[Step]:
    return list(access.set_up_access(ShimPlace(device, 0, str(sdk)), APPLICATION_ID, kinds))


def outcomes(steps: list[Step]) -> dict[str, str]:
    return {step.what: step.outcome for step in steps}


def commands(shim: FakeShim) -> list[list[str]]:
    return [words for words in shim.commands if words[0] != "content" and words != ["true"]]


def test_each_release_is_asked_for_what_it_knows(device: Device, shim: FakeShim) -> None:
    shim.outputs["dumpsys deviceidle"] = Answer(ADDED)
    for sdk, needed in ((24, 0), (26, 1), (29, 2), (33, 3)):
        shim.commands.clear()
        steps = set_up(device, sdk)
        assert sum(step.outcome == "done" for step in steps) == needed, sdk
        assert sum(step.outcome == "not-needed" for step in steps) == 4 - needed, sdk
        assert len(commands(shim)) == needed, sdk


def test_commands_are_those_of_the_reference(device: Device, shim: FakeShim) -> None:
    set_up(device, 37)
    assert commands(shim) == [
        ["appops", "set", "--user", "0", APPLICATION_ID, "SYSTEM_ALERT_WINDOW", "allow"],
        ["dumpsys", "deviceidle", "whitelist", f"+{APPLICATION_ID}"],
        ["pm", "grant", "--user", "0", APPLICATION_ID, "android.permission.POST_NOTIFICATIONS"],
    ]


def test_routes_decide_what_a_shim_is_allowed(device: Device, shim: FakeShim) -> None:
    shim.outputs["dumpsys deviceidle"] = Answer(ADDED)
    steps = {item.what: item for item in set_up(device, 37, ("mobile-mcp", "app-function"))}
    assert steps[access.OVERLAY].outcome == "not-needed"
    assert steps[access.NOTIFICATIONS].outcome == "done"
    assert "POST_NOTIFICATIONS" in steps[access.NOTIFICATIONS].why
    functions = steps[access.APP_FUNCTIONS]
    assert (functions.outcome, functions.why) == ("not-needed", "dev.droidgate.shim calls them for all shims")
    assert all(words[0] not in {"appops", "am", "cmd"} for words in commands(shim))
    steps = {item.what: item for item in set_up(device, 37, ("mmcp-activity",))}
    assert "SYSTEM_ALERT_WINDOW" in steps[access.OVERLAY].why


def test_a_shim_that_offers_nothing_is_allowed_nothing(device: Device, shim: FakeShim) -> None:
    assert {item.outcome for item in set_up(device, 37, ())} == {"not-needed"}
    assert commands(shim) == []


@pytest.mark.parametrize(
    ("command", "answer", "what", "said"),
    [
        ("appops set", Answer(stderr=b"Error: No UID for x\n", status=255), access.OVERLAY, "No UID"),
        ("appops set", Answer(stderr=b"Error: no\n"), access.OVERLAY, "Error: no"),
        ("dumpsys deviceidle", Answer(b"Unknown package: x\n"), access.BATTERY, "Unknown package"),
        ("dumpsys deviceidle", Answer(b""), access.BATTERY, "status 0"),
        ("dumpsys deviceidle", Answer(ADDED, status=1), access.BATTERY, "Added"),
        ("dumpsys deviceidle", Answer(b"Added: dev.droidgate.other\n"), access.BATTERY, "other"),
        (
            "pm grant",
            Answer(
                stderr=b"Exception occurred while executing 'grant':\n"
                b"java.lang.SecurityException: not a changeable permission type\n\tat x\n",
                status=255,
            ),
            access.NOTIFICATIONS,
            "SecurityException: not a changeable",
        ),
    ],
)
def test_a_refusal_is_a_record_with_androids_words(
    device: Device, shim: FakeShim, command: str, answer: Answer, what: str, said: str
) -> None:
    shim.outputs[command] = answer
    (step,) = [item for item in set_up(device, 37) if item.what == what]
    assert step.outcome == "refused"
    assert said in step.why
    assert step.command is not None


def facts(build: str) -> ShimFacts:
    return ShimFacts(APPLICATION_ID, build, ("createNote",), frozenset({"mobile-mcp"}), ("a.b",), SIGNER)


def test_the_command_of_an_installation_can_be_typed_as_it_is_reported(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installing, "install_apks", lambda *_, **__: None)
    name = "my shim; (1).apk"
    done = install_shim(ShimPlace(device, 0, "24"), facts("ef" * 32), b"", file_name=name, any_app=None)
    assert shlex.split(done.steps[0].command or "")[-1] == name


def test_another_build_than_the_one_that_was_installed_does_not_work(device: Device, shim: FakeShim) -> None:
    shim.methods["grant"] = lambda _: {"grant": STATUS["grants"][0]}
    place = ShimPlace(device, 0, "24")
    good = set_up_shim(place, facts(STATUS["build"]), any_app=True)
    assert (good.works, outcomes(list(good.steps))[GRANT]) == (True, "done")
    other = set_up_shim(place, facts("ef" * 32), any_app=True)
    assert (other.works, outcomes(list(other.steps))[HANDSHAKE]) == (False, "refused")
    assert GRANT not in outcomes(list(other.steps))


@pytest.mark.parametrize(("said", "asked"), [(None, []), (True, ["grant"]), (False, ["revoke"])])
def test_who_may_call_changes_only_by_a_yes_or_a_no(
    device: Device, shim: FakeShim, asked: list[str], *, said: bool | None
) -> None:
    shim.methods["grant"] = lambda _: {"grant": STATUS["grants"][0]}
    shim.methods["revoke"] = lambda _: {"revoked": 0}
    set_up_shim(ShimPlace(device, 0, "24"), facts(STATUS["build"]), any_app=said)
    assert [method for method, _ in shim.calls if method in {"grant", "revoke"}] == asked
