"""What only a shim on the JVM has: where its code comes from, what outlives a process, what is missing."""

import time
from pathlib import Path

import pytest

from device_shim.shim_phone.conftest import ON_THE_JVM
from device_shim.shim_phone.hand_made_shim import make_shim
from device_shim.shim_phone.tool_apps import tool_routes, tool_world
from device_shim.shim_phone.world import SHIM, Begun, World, key, outputs_of
from droidgate_mappings.model.errors import UsageError
from droidgate_phone.apps.jvm_shim import jvm_machine, jvm_parts
from droidgate_phone.apps.shim_runtimes import check_shim_runtime
from droidgate_phone.phone import start_phone
from droidgate_phone.system.releases import load_release


@pytest.fixture
def world(shim_runtime: str) -> World:
    """A phone with a shim on the JVM."""
    assert shim_runtime == "jvm"
    return tool_world(shim_runtime="jvm")


@ON_THE_JVM
def test_what_a_shim_stores_outlives_its_process_and_what_it_holds_does_not(world: World) -> None:
    world.grant("any-app", "desk")
    first = outputs_of(world.ask("desk", {"how": "well"}))
    assert b'"desk"' in world.files_of(SHIM)
    world.system.end_processes(SHIM, "test")
    assert world.host("status")["open"] == 0
    assert outputs_of(world.ask("desk", {"how": "well"})) != {}
    assert first != {}


@ON_THE_JVM
def test_two_phones_share_the_jvm_and_nothing_else(world: World) -> None:
    other = tool_world(shim_runtime="jvm")
    world.grant("any-app", "desk")
    assert other.host("status")["grants"] == []
    assert outputs_of(world.ask("desk", {"how": "well"}))
    other.close()
    assert outputs_of(world.ask("desk", {"how": "well"}))


@ON_THE_JVM
def test_what_is_due_comes_for_one_phone_after_another_has_closed(world: World) -> None:
    world.grant("any-app")
    other = tool_world(shim_runtime="jvm")
    other.grant("any-app", "desk")
    call = Begun(world.ask, "screen", {"how": "well"})
    time.sleep(0.5)
    other.close()
    assert call.result()


@ON_THE_JVM
def test_a_shim_without_code_is_not_a_shim_that_runs(world: World) -> None:
    world.install(make_shim(tool_routes(), key=key(), package="dev.made.empty", code=False))
    ran = world.run(
        "content", "call", "--uri", "content://dev.made.empty.host", "--method", "hello", "--arg", "e30"
    )
    assert "java.lang.ClassNotFoundException" in ran.stderr


def test_what_is_missing_is_reported_with_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    with pytest.raises(UsageError) as missing:
        start_phone(shim_runtime="jvm")
    assert missing.value.hint is not None


def test_without_a_jdk_that_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv(jvm_parts.JDK_VARIABLE, str(tmp_path))
    monkeypatch.setattr(jvm_parts, "_JDK_FOLDERS", tmp_path / "none")
    with pytest.raises(UsageError, match="a JDK of version 21 or later"):
        jvm_parts.find_parts()


def test_a_jvm_that_ends_at_once_is_reported_with_what_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho Error occurred during initialization of VM\n", encoding="utf-8")
    java.chmod(0o755)
    monkeypatch.setattr(jvm_machine, "compiled_bridge", lambda _: tmp_path)
    with pytest.raises(UsageError, match="does not start: Error occurred during initialization of VM"):
        jvm_machine.Machine(jvm_parts.JvmParts(tmp_path, (), tmp_path, ()), 36)


@pytest.mark.parametrize(("name", "release"), [("jvm", "33"), ("js", "36.1")])
def test_what_cannot_be_is_refused_and_not_replaced(name: str, release: str) -> None:
    with pytest.raises(UsageError):
        check_shim_runtime(name, load_release(release))
