"""Calls that the way through the shell carries only with care, or not at all: then a shim carries them."""

from __future__ import annotations

import base64
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from droidgate.calls.audit_reading import read_calls
from droidgate.calls.call_requests import CallRequest, CallResult
from droidgate.shims.place import place_of
from droidgate.shims.shell_identity import set_up_identity
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.signing_keys import load_or_make_key
from droidgate_mappings.values.failures import CallError
from droidgate_phone.apps.sample_packages import sample_packages, signing_key
from droidgate_phone.common.faults import Faults
from gateway.calling.phones_with_shims import NOTES, ReachedPhone, default_phone, reached_phone
from requirements_of_tests import CHECKOUT

CREATE = f"{NOTES}.NotesService#createNote"
LONG = "語" * 15_000
OFFICE = {"place": "the office", "radiusMeters": 123.456789012345}
KIND = {"schemaType": f"{NOTES}.Reminder$AtPlace"}


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReachedPhone]:
    folder = tmp_path_factory.mktemp("phone")
    with default_phone(folder, shims=False) as phone:
        (notes,) = (package.apk for package in sample_packages() if package.package == NOTES)
        (folder / "notes.apk").write_bytes(notes)
        key = load_or_make_key()
        shims = phone.install_shims(folder / "notes.apk", key)
        # A shim calls app functions by a right of the shell.
        assert set_up_identity(place_of(phone.device), shims, key).works
        yield phone


def create(reached: ReachedPhone, **arguments: object) -> CallResult:
    return reached.caller().call(CallRequest(CREATE, {"title": "a", "content": "b", **arguments}))


@pytest.mark.parametrize(("labels", "route"), [(["x"], "app-function-shell"), ([], "shim")])
def test_a_request_of_more_than_32_kib_arrives_whole_either_way(
    reached: ReachedPhone, labels: list[str], route: str
) -> None:
    assert len(LONG.encode()) > 32 * 1024
    result = create(reached, content=LONG, labels=labels)
    assert result.route == route
    assert (result.value["content"], result.value["labels"]) == (LONG, labels)


@pytest.mark.parametrize(("labels", "route"), [(["x"], "app-function-shell"), ([], "shim")])
def test_numbers_and_one_of_several_types_arrive_as_they_were_sent(
    reached: ReachedPhone, labels: list[str], route: str
) -> None:
    result = create(reached, labels=labels, reminder=OFFICE)
    assert (result.route, result.value["reminder"]) == (route, {**KIND, **OFFICE})
    whole = create(reached, labels=labels, reminder={**OFFICE, "radiusMeters": 250})
    assert (whole.route, whole.value["reminder"]) == (route, {**KIND, **OFFICE, "radiusMeters": 250})


def test_a_value_that_is_none_of_several_types_is_refused_before_anything_is_sent(
    reached: ReachedPhone,
) -> None:
    before = len(reached.commands())
    with pytest.raises(CallError) as raised:
        create(reached, reminder={"place": "the office"})
    assert raised.value.failure.token == "invalid_argument"
    assert "/reminder" in str(raised.value)
    assert not any("execute-app-function" in command for command in reached.commands()[before:])


def test_what_the_shell_cannot_carry_says_why_it_goes_through_a_shim(reached: ReachedPhone) -> None:
    plan = reached.caller().explain(CallRequest(CREATE, {"title": "a", "content": "b", "labels": []}))
    assert plan.route.route == "shim"
    (reason,) = plan.passed_over
    assert "empty" in reason


def test_what_is_too_long_for_a_command_goes_through_a_shim(reached: ReachedPhone) -> None:
    plan = reached.caller().explain(CallRequest(CREATE, {"title": "a", "content": "é" * 70_000}))
    assert plan.route.route == "shim"
    assert plan.passed_over[0].endswith("a command carries 131,071")


def test_bytes_are_not_sent_by_the_shell(tmp_path: Path) -> None:
    module = tmp_path / "app"
    shutil.copytree(CHECKOUT / "device_shim/apps/notes/app", module)
    descriptor = module / "src/main/assets/notes_service.xml"
    head, name, rest = descriptor.read_text(encoding="utf-8").partition("<name>content</name>")
    before, kind, after = head.rpartition("<type>8</type>")
    descriptor.write_text(f"{before}<type>2</type>{after}{name}{rest}", encoding="utf-8")
    assert (kind, name) != ("", "")
    given = {"title": "a", "content": base64.b64encode(b"\0\xff").decode()}
    with reached_phone(tmp_path, shims=False) as reached:
        reached.phone.install(pack_project(module, key=signing_key(), package=NOTES, version_code=99))
        before_call = len(reached.commands())
        with pytest.raises(CallError) as raised:
            reached.caller().call(CallRequest(CREATE, given))
        assert "/content: " in raised.value.message
        assert "bytes" in raised.value.message
        assert "droidgate shim install" in str(raised.value.hint)
        sent = reached.commands()[before_call:]
        assert not any("execute-app-function" in command for command in sent)


@pytest.mark.slow
def test_ctrl_c_ends_a_call_while_the_app_is_silent_and_the_log_says_so(reached: ReachedPhone) -> None:
    reached.phone.system.faults = Faults(silent=frozenset({NOTES}))
    arguments = ["--arg", "title=a", "--arg", "content=b", "--yes", "--deadline", "5"]
    with subprocess.Popen(
        [sys.executable, "-m", "droidgate", "call", CREATE, "--serial", reached.phone.serial, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        until = time.monotonic() + 60
        while not any("title" in command for command in reached.commands()[-1:]) and time.monotonic() < until:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    reached.phone.system.faults = Faults()
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    (*_, last) = read_calls(Path(os.environ["DROIDGATE_HOME"]) / "state/audit")
    assert last.end is not None
    assert last.end["result"] == "canceled"
    assert create(reached).route == "app-function-shell"
