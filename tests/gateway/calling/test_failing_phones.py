"""Calls when an app is silent, dies or is updated, and when the phone goes away.

Each call ends once, and none is sent twice.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from droidgate.calls.approvals import Approval, ApprovalRequest
from droidgate.calls.call_requests import CallRequest, CallResult
from droidgate_android.apk.pack import pack_project
from droidgate_mappings.model.errors import DeviceError, DroidgateError
from droidgate_mappings.values.failures import CallError
from droidgate_phone.apps.sample_packages import signing_key
from droidgate_phone.common.faults import Faults
from gateway.calling.phones_with_shims import CLOCK_IN, NOTES, WEATHER, ReachedPhone, reached_phone
from requirements_of_tests import CHECKOUT

CREATE = f"{NOTES}.NotesService#createNote"
NOTE = {"title": "a", "content": "b"}
DAY = {"date": "2026-02-03"}


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReachedPhone]:
    with reached_phone(tmp_path_factory.mktemp("phone")) as phone:
        yield phone


@pytest.fixture
def reached(started: ReachedPhone) -> Iterator[ReachedPhone]:
    yield started
    started.phone.system.faults = Faults()


def sent(reached: ReachedPhone, word: str) -> int:
    return sum(word in command for command in reached.commands())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("capability", "arguments", "package", "word"),
    [
        (CREATE, NOTE, NOTES, "execute-app-function"),
        ("query_clock_in", DAY, CLOCK_IN, "content call"),
        ("currentWeather", {"location": "Bonn"}, WEATHER, "ACTION_MMCP_INVOKE"),
    ],
    ids=["app function", "shim", "broadcast"],
)
@pytest.mark.parametrize("fault", ["silent", "crashing"])
def test_an_app_that_does_not_answer_is_called_once_and_its_failure_may_have_run(
    reached: ReachedPhone, capability: str, arguments: dict[str, str], package: str, word: str, fault: str
) -> None:
    caller = reached.caller()
    caller.targets.all()
    reached.phone.system.faults = Faults(**{fault: frozenset({package})})  # type: ignore[arg-type]
    before = sent(reached, word)
    with pytest.raises(CallError) as raised:
        caller.call(CallRequest(capability, arguments, deadline=1))
    assert raised.value.failure.token in {"timeout", "interrupted", "backend_failure"}
    assert sent(reached, word) == before + 1


def test_a_call_is_canceled_while_the_app_is_silent_and_others_go_on(tmp_path: Path) -> None:
    with reached_phone(tmp_path, shims=False) as reached:
        _cancel_while_others_go_on(reached)
    # Nor does the end of the phone wait for the app.
    assert reached.phone.log.of_kind("left-running") == []


def _cancel_while_others_go_on(reached: ReachedPhone) -> None:
    caller = reached.caller()
    caller.targets.all()
    reached.phone.system.faults = Faults(silent=frozenset({NOTES}))
    cancel = threading.Event()
    outcomes: list[DroidgateError | CallResult] = []

    def call() -> None:
        try:
            outcomes.append(caller.call(CallRequest(CREATE, NOTE, deadline=120), cancel=cancel))
        except DroidgateError as error:
            outcomes.append(error)

    before = sent(reached, "execute-app-function")
    thread = threading.Thread(target=call)
    thread.start()
    while sent(reached, "execute-app-function") == before:
        threading.Event().wait(0.01)
    assert caller.call(CallRequest(f"{NOTES}.legacy/createNote", NOTE)).value["noteId"]
    assert outcomes == []
    cancel.set()
    thread.join(60)
    (outcome,) = outcomes
    assert isinstance(outcome, CallError)
    assert outcome.failure.token == "canceled"


def test_a_phone_that_goes_away_during_a_call_is_the_error_of_a_device(tmp_path: Path) -> None:
    with reached_phone(tmp_path, shims=False) as reached:
        caller = reached.caller()
        caller.targets.all()
        reached.phone.system.faults = Faults(drop_after=0)
        with pytest.raises(DeviceError):
            caller.call(CallRequest(CREATE, NOTE, deadline=5))


def test_an_updated_app_needs_a_new_approval_only_where_its_declaration_changed(
    tmp_path: Path,
) -> None:
    asked: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> Approval:
        asked.append(request)
        return Approval(allowed=True, remember=True)

    module = tmp_path / "app"
    shutil.copytree(CHECKOUT / "device_shim/apps/notes/app", module)

    with reached_phone(tmp_path, shims=False) as here:

        def update(version: int) -> None:
            here.phone.install(pack_project(module, key=signing_key(), package=NOTES, version_code=version))

        caller = here.caller(approver=approve)
        first = caller.call(CallRequest(CREATE, NOTE))
        update(98)
        second = caller.call(CallRequest(CREATE, NOTE))
        assert [request.state.kind for request in asked] == ["new"]
        descriptor = module / "src/main/assets/notes_service.xml"
        text = descriptor.read_text(encoding="utf-8")
        assert "Write a new note." in text
        descriptor.write_text(
            text.replace("Write a new note.", "Write a note and send it."), encoding="utf-8"
        )
        update(99)
        third = caller.call(CallRequest(CREATE, NOTE))
        assert [request.state.kind for request in asked] == ["new", "changed"]
        # The phone's shell refused the second and third call once each, since the app was another one.
        assert sent(here, "execute-app-function") == 5
        numbers = [
            int(str(result.value["noteId"]).removeprefix("note-")) for result in (first, second, third)
        ]
        assert numbers == [numbers[0], numbers[0] + 1, numbers[0] + 2]
