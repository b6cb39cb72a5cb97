"""One app borrows the shell's right to call app functions, for all shims (shim.md 4)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from device_shim.phone_system.phone_system_apps import key as other_key, make_apk, uid_of
from device_shim.shim_phone.world import (
    AGENT,
    PLAIN_NOTES,
    SHELL_SHIM,
    World,
    key,
    outputs_of,
    sample_shims,
    token_of,
    token_of_host,
)
from droidgate_phone.apps.agent import request_text
from droidgate_phone.apps.shim.app_function_caller import document_of
from droidgate_phone.apps.shim_runtimes import ShimRuntime
from droidgate_phone.common.faults import Faults
from droidgate_phone.java.app_values import Binding, Message
from droidgate_phone.java.intents import Bundle, ComponentName, Intent
from droidgate_phone.system.app_context import AppPlatform
from droidgate_phone.system.behaviour import App, Instrumentation
from droidgate_shim.builder.shims import build_bare_shim
from droidgate_shim.engine.strict_json import write_strict
from waiting import wait_until

SHIM = f"dev.droidgate.shim.of.{PLAIN_NOTES}"
SERVICE = ComponentName(SHELL_SHIM, "dev.droidgate.shim.backends.ShellIdentityService")
EXECUTE = "android.permission.EXECUTE_APP_FUNCTIONS"

NOTE = {"title": "Bread", "content": "Rye, sliced"}
TEST_PROGRAM = "com.example.program"


class TestProgram(App):
    """A test program with an instrumentation of its own."""

    __test__ = False
    PACKAGE = TEST_PROGRAM
    INSTRUMENTATIONS = {f"{TEST_PROGRAM}.Run": Instrumentation}


@pytest.fixture
def world(tmp_path: Path, shim_runtime: ShimRuntime) -> World:
    """A phone with a shim of an app that has app functions, which the agent may call."""
    world = World("notes-legacy", behaviours={TEST_PROGRAM: TestProgram}, shim_runtime=shim_runtime)
    world.install(sample_shims(tmp_path, "notes-legacy")[0].apk)
    world.grant(AGENT, shim=SHIM)
    return world


def create_note(world: World) -> dict[str, Any]:
    return world.ask("createNote", NOTE, shim=SHIM)


def holds(world: World, package: str) -> bool:
    return world.system.packages.permissions.holds(uid_of(world.system, package), EXECUTE)


@pytest.mark.slow
def test_a_shim_calls_through_the_app_that_borrows_the_right(world: World) -> None:
    with world.instrumented():
        assert not holds(world, SHELL_SHIM)
        assert "Bread" in outputs_of(create_note(world))["result"]
        assert b"Rye, sliced" in world.files_of(PLAIN_NOTES)
        assert not holds(world, SHIM)
        # It is kept for 5 s, for the next call.
        assert holds(world, SHELL_SHIM)
        assert outputs_of(create_note(world))
        wait_until(lambda: not holds(world, SHELL_SHIM))
        assert outputs_of(create_note(world))
    (called, *_) = world.system.log.of_kind("app-function")
    assert called["caller_uid"] == uid_of(world.system, SHELL_SHIM)


def test_uiautomator_works_meanwhile(world: World) -> None:
    with world.instrumented():
        assert outputs_of(create_note(world))
        assert world.run("uiautomator", "dump").status == 0


@pytest.mark.parametrize("installed", [False, True])
def test_without_the_instrumentation_a_call_is_denied_and_the_fix_is_named(
    world: World, installed: Any
) -> None:
    if installed:
        world.install(build_bare_shim(key()).apk)
    response = create_note(world)
    assert token_of(response) == "denied"
    assert "droidgate shim install" in response["message"]


def test_an_app_of_another_certificate_is_not_asked(world: World) -> None:
    world.install(build_bare_shim(other_key("second")).apk)
    with world.instrumented():
        assert token_of(create_note(world)) == "denied"
    assert not world.system.log.of_kind("app-function")


def test_while_a_test_program_has_the_shells_permissions_a_call_is_busy(world: World) -> None:
    before = f'<instrumentation android:name=".Run" android:targetPackage="{TEST_PROGRAM}"/>'
    world.install(make_apk(TEST_PROGRAM, before=before))
    with world.instrumented():
        name = ComponentName(TEST_PROGRAM, f"{TEST_PROGRAM}.Run")
        assert world.system.instrumentations.start(name, {}, connected=True) is not None
        platform = world.system.app_context(TEST_PROGRAM).platform
        assert isinstance(platform, AppPlatform)
        platform.connect_ui_automation(2)
        platform.adopt_shell_permissions()
        assert token_of(create_note(world)) == "busy"
        platform.drop_shell_permissions()
        assert outputs_of(create_note(world))


def test_a_function_that_is_disabled_is_reported_so(world: World) -> None:
    with world.instrumented():
        world.run("cmd", "app_function", "set-enabled", "--package", PLAIN_NOTES, "--function", "createNote",
                  "--state", "disable")  # fmt: skip
        assert token_of(create_note(world)) == "disabled"


def test_after_the_death_of_the_app_in_between_calls_are_denied(world: World) -> None:
    with world.instrumented():
        assert outputs_of(create_note(world))
        world.system.end_processes(SHELL_SHIM, "test")
        # Its instrumentation ended with its process.
        assert token_of(create_note(world)) == "denied"


def caller_apk(package: str, *, signer: str, shared: bool) -> bytes:
    """Return the APK of an app that sees the app with the right."""
    return make_apk(
        package,
        before=f'<queries><package android:name="{SHELL_SHIM}"/></queries>',
        attributes='android:sharedUserId="com.example.shared"' if shared else "",
        signer=signer,
    )


@contextmanager
def bound(world: World, package: str, take: Callable[[Message], None]) -> Iterator[Binding]:
    """Bind the service of the app with the right as another app does."""
    binding = world.system.app_context(package).bind_service(Intent(component=SERVICE), take)
    assert binding is not None
    yield binding
    binding.unbind()


def execute(function: str = "nothing", document: str = '{"schemaType":"","properties":{}}') -> Message:
    texts = {"package": PLAIN_NOTES, "function": function, "document": document}
    return Message(3, Bundle.of_strings(texts))


@pytest.mark.parametrize(("package", "signer", "neighbour"), [
    ("dev.droidgate.shim.of.mine", "first", None),
    ("com.example.agent", "first", None),
    ("dev.droidgate.shim.of.stranger", "second", None),
    ("dev.droidgate.shim.of.shared", "first", "dev.droidgate.shim.of.neighbour"),
], ids=["shim", "no shim", "shim of another certificate", "shim with a shared uid"])  # fmt: skip
def test_only_single_shims_with_the_same_certificate_may_ask(
    world: World, package: str, signer: str, neighbour: str | None
) -> None:
    world.install(build_bare_shim(other_key("first")).apk)
    for name in (package, *([neighbour] if neighbour else [])):
        world.install(caller_apk(name, signer=signer, shared=neighbour is not None))
    answers: list[Message] = []
    with world.instrumented(), bound(world, package, answers.append) as binding:
        binding.send(execute())
        wait_until(lambda: answers)
    assert answers[0].what == 4
    if neighbour is None and (package, signer) == ("dev.droidgate.shim.of.mine", "first"):
        # By asking for the enabled state first, or by executing it.
        code = answers[0].data.values.get("code")
        assert answers[0].data.get_string("token") == "unknown_capability" or (code and code.value == 1003)
    else:
        assert answers[0].data.get_string("token") == "denied"


def test_a_flood_of_another_app_is_dropped_and_shims_are_served(world: World) -> None:
    world.install(build_bare_shim(key()).apk)
    world.install(caller_apk("com.example.agent", signer="second", shared=False))
    answers: list[Message] = []
    with world.instrumented(), bound(world, "com.example.agent", answers.append) as binding:
        for _ in range(200):
            binding.send(execute())
        assert outputs_of(create_note(world))
    # A caller's burst, and what two a second allow meanwhile.
    assert 30 <= len(answers) < 100


@pytest.mark.slow
def test_a_function_that_stays_silent_is_cancelled_and_its_call_times_out(world: World) -> None:
    world.system.faults = Faults(silent=frozenset({PLAIN_NOTES}))
    with world.instrumented():
        response = world.host(
            "call", shim=SHIM, request=request_text("createNote", NOTE, dialect="S1"), deadline_ms=8_000
        )
        assert token_of_host(response) == "timeout"
        wait_until(lambda: not holds(world, SHELL_SHIM))
        assert world.host("status", shim=SHIM)["open"] == 0


@pytest.mark.slow
def test_a_canceled_call_is_not_answered_and_the_right_is_given_back(world: World) -> None:
    world.install(build_bare_shim(other_key("first")).apk)
    world.install(caller_apk("dev.droidgate.shim.of.mine", signer="first", shared=False))
    world.system.faults = Faults(silent=frozenset({PLAIN_NOTES}))
    answers: list[Message] = []
    with world.instrumented(), bound(world, "dev.droidgate.shim.of.mine", answers.append) as binding:
        binding.send(execute("createNote", write_strict(document_of({"title": ["x"], "content": ["y"]}))))
        wait_until(lambda: holds(world, SHELL_SHIM))
        binding.send(Message(5))
        wait_until(lambda: not holds(world, SHELL_SHIM))
    assert answers == []
