"""What is set up on a device: the commands as Android takes them, and every refusal a record of its own."""

import shlex

import pytest

from devices.fake_adb_server import Answer
from droidgate.devices.device import Device
from droidgate_shim.host import access, installing
from droidgate_shim.host.client import HostClient
from droidgate_shim.host.installing import GRANT, HANDSHAKE, install_shim, set_up_shim
from droidgate_shim.host.place import ShimPlace
from droidgate_shim.host.shim_facts import ShimFacts
from droidgate_shim.host.steps import Step
from shim_host.fake_shim import APPLICATION_ID, SIGNER, STATUS, FakeShim

HELP_37 = (
    "AppFunctionManagerService commands:\n  help\n    Prints this help text.\n\n"
    "  purge-allowlist-cache\n    Purges the cache.\n\n"
)
ADDED = f"Added: {APPLICATION_ID}\n".encode()
EVERY_KIND = ("mmcp-activity", "app-function")


@pytest.fixture(autouse=True)
def _short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_SECONDS_TO_LEND", 0.0)


def set_up(device: Device, sdk: int, kinds: tuple[str, ...] = EVERY_KIND) -> list[Step]:
    place = ShimPlace(device, 0, sdk)
    return list(access.set_up_access(place, HostClient(device, APPLICATION_ID), kinds, SIGNER))


def outcomes(steps: list[Step]) -> dict[str, str]:
    return {one.what: one.outcome for one in steps}


def commands(shim: FakeShim) -> list[list[str]]:
    return [words for words in shim.commands if words[0] != "content" and words != ["true"]]


def test_each_release_is_asked_for_what_it_knows(device: Device, shim: FakeShim) -> None:
    shim.outputs["dumpsys deviceidle"] = Answer(ADDED)
    for sdk, needed in ((24, 0), (26, 1), (29, 2), (33, 3)):
        shim.commands.clear()
        steps = set_up(device, sdk)
        assert sum(one.outcome == "done" for one in steps) == needed, sdk
        assert sum(one.outcome == "not-needed" for one in steps) == 4 - needed, sdk
        assert len(commands(shim)) == needed, sdk


def test_commands_are_those_of_the_reference(device: Device, shim: FakeShim) -> None:
    shim.outputs["cmd app_function"] = Answer(HELP_37.encode())
    set_up(device, 37)
    instrument = "am instrument -w --user 0 "
    instrument += f"'{APPLICATION_ID}/dev.droidgate.shim.ShellIdentityInstrumentation'"
    assert commands(shim) == [
        ["appops", "set", "--user", "0", APPLICATION_ID, "SYSTEM_ALERT_WINDOW", "allow"],
        ["dumpsys", "deviceidle", "whitelist", f"+{APPLICATION_ID}"],
        ["pm", "grant", "--user", "0", APPLICATION_ID, "android.permission.POST_NOTIFICATIONS"],
        ["cmd", "app_function", "help"],
        ["cmd", "app_function", "purge-allowlist-cache"],
        ["cmd", "allowlist", "add-package-multimap", "2", f"{APPLICATION_ID}:{SIGNER}", "*"],
        ["sh", "-c", f"{instrument} </dev/null >/dev/null 2>&1 &"],
    ]


def test_a_shim_that_needs_nothing_special_gets_nothing_special(device: Device, shim: FakeShim) -> None:
    shim.outputs["dumpsys deviceidle"] = Answer(ADDED)
    steps = set_up(device, 37, ("mobile-mcp",))
    assert outcomes(steps)[access.OVERLAY] == "not-needed"
    assert outcomes(steps)[access.APP_FUNCTIONS] == "not-needed"
    assert all(words[0] not in {"appops", "am", "cmd"} for words in commands(shim))


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
        ("cmd allowlist", Answer(stderr=b"cmd: Can't find service\n", status=20), access.ALLOWLIST, "find"),
        ("sh -c", Answer(stderr=b"sh: syntax error\n", status=1), access.APP_FUNCTIONS, "syntax error"),
    ],
)
def test_a_refusal_is_a_record_with_androids_words(
    device: Device, shim: FakeShim, command: str, answer: Answer, what: str, said: str
) -> None:
    shim.outputs["cmd app_function"] = Answer(HELP_37.encode())
    shim.outputs[command] = answer
    (step,) = [one for one in set_up(device, 37) if one.what == what]
    assert step.outcome == "refused"
    assert said in step.why
    assert step.command is not None


def test_a_permission_that_was_not_lent_is_told(device: Device, shim: FakeShim) -> None:
    (step,) = [one for one in set_up(device, 36) if one.what == access.APP_FUNCTIONS]
    assert (step.outcome, "does not hold" in step.why) == ("refused", True)
    held = {**STATUS, "access": {**STATUS["access"], "execute_app_functions": True}}
    shim.methods["status"] = lambda _: held
    (step,) = [one for one in set_up(device, 36) if one.what == access.APP_FUNCTIONS]
    assert step.outcome == "done"


def facts(build: str) -> ShimFacts:
    return ShimFacts(APPLICATION_ID, build, ("createNote",), frozenset({"mobile-mcp"}), ("a.b",), SIGNER)


def test_the_command_of_an_installation_can_be_typed_as_it_is_told(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installing, "install_apks", lambda *_, **__: None)
    name = "my shim; (1).apk"
    done = install_shim(ShimPlace(device, 0, 24), facts("ef" * 32), b"", file_name=name, any_app=None)
    assert shlex.split(done.steps[0].command or "")[-1] == name


def test_another_build_than_the_one_that_was_installed_does_not_work(device: Device, shim: FakeShim) -> None:
    shim.methods["grant"] = lambda _: {"grant": STATUS["grants"][0]}
    place = ShimPlace(device, 0, 24)
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
    set_up_shim(ShimPlace(device, 0, 24), facts(STATUS["build"]), any_app=said)
    assert [method for method, _ in shim.calls if method in {"grant", "revoke"}] == asked
