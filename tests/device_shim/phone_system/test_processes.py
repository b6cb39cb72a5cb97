"""Processes: deaths that are reported, isolated uids."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from device_shim.phone_system.phone_system_apps import (
    AGENT,
    TOOL,
    Inbox,
    bind,
    component,
    ignore,
    make_agent,
    make_phone,
    make_tool,
    package_of,
    raises_android,
    run,
    text_bundle,
    wait,
)
from droidgate_phone.java.app_values import AndroidError, Message
from droidgate_phone.java.intents import ComponentName, Intent
from droidgate_phone.system import AndroidSystem
from droidgate_phone.system.processes import FIRST_ISOLATED_UID, LAST_ISOLATED_UID, DeadProcessError

ECHO = ComponentName(TOOL, f"{TOOL}.Echo")
SERVICE = component("service", "Echo")
ISOLATED = component("service", "Echo", isolatedProcess="true")
HELLO = text_bundle("hello")


@pytest.fixture
def system(request: pytest.FixtureRequest) -> Iterator[AndroidSystem]:
    """A phone with an agent, and a tool with this service, one of the app's own process if none is named."""
    with make_phone("36.1", make_agent(), make_tool(getattr(request, "param", SERVICE))) as phone:
        yield phone


def test_the_death_of_a_messengers_process_is_reported_once(system: AndroidSystem) -> None:
    token = system.app_context(AGENT).platform.create_messenger(ignore)
    deaths: Inbox[str] = Inbox(system)
    system.app_context(TOOL).platform.link_to_death(token, lambda: deaths.put("agent"))
    wait(system)
    assert deaths.take(0.1) is None
    run(system, "am", "force-stop", AGENT)
    assert deaths.take() == "agent"
    wait(system)
    assert deaths._items == ["agent"]


def test_the_code_that_hears_of_a_death_runs_on_its_own_main_thread(system: AndroidSystem) -> None:
    token = system.app_context(AGENT).platform.create_messenger(ignore)
    context = system.app_context(TOOL)
    (process,) = system.processes.of_package(TOOL)
    threads: Inbox[bool] = Inbox(system)
    context.platform.link_to_death(token, lambda: threads.put(process.is_main_thread()))
    system.end_processes(AGENT, "test")
    assert threads.take() is True


def test_a_death_is_not_reported_after_unlinking(system: AndroidSystem) -> None:
    token = system.app_context(AGENT).platform.create_messenger(ignore)
    deaths: list[str] = []
    unlink = system.app_context(TOOL).platform.link_to_death(token, lambda: deaths.append("agent"))
    unlink()
    system.end_processes(AGENT, "test")
    wait(system)
    assert deaths == []


@pytest.mark.parametrize("end", ["process", "messenger"])
def test_linking_to_a_messenger_that_is_gone_throws(system: AndroidSystem, end: str) -> None:
    platform = system.app_context(AGENT).platform
    token = platform.create_messenger(ignore)
    if end == "process":
        system.end_processes(AGENT, "test")
    else:
        platform.close_messenger(token)
    with raises_android("android.os.DeadObjectException"):
        system.app_context(TOOL).platform.link_to_death(token, lambda: None)


def test_code_that_goes_on_after_its_process_has_ended_reaches_nobody(system: AndroidSystem) -> None:
    """On Android the kernel ends all threads at once; a thread of Python goes on until its next call."""
    inbox: Inbox[Message] = Inbox(system)
    context = system.app_context(AGENT)
    token = system.app_context(TOOL).platform.create_messenger(inbox.put)
    callback = system.app_context(TOOL).create_pending_intent(lambda sent: inbox.put(Message(0, sent.extras)))
    binding = bind(system, Intent(component=ECHO), inbox.put)
    system.end_processes(AGENT, "test")
    calls: tuple[Callable[[], object], ...] = (
        lambda: context.send_message(token, Message(1, HELLO)),
        lambda: context.send_pending_intent(callback, Intent(extras=HELLO)),
        lambda: context.start_service(Intent(component=ECHO)),
        lambda: context.files.write("kept", b"x"),
        lambda: context.platform.find_package(TOOL),
        lambda: binding.send(Message(1, HELLO)),
    )
    for call in calls:
        with pytest.raises(DeadProcessError):
            call()
    wait(system)
    assert inbox.take(0.1) is None
    assert system.app_context(AGENT).files.read("kept") is None


def test_a_process_that_died_itself_hears_of_no_death(system: AndroidSystem) -> None:
    token = system.app_context(AGENT).platform.create_messenger(ignore)
    deaths: list[str] = []
    system.app_context(TOOL).platform.link_to_death(token, lambda: deaths.append("agent"))
    system.end_processes(TOOL, "test")
    system.end_processes(AGENT, "test")
    wait(system)
    assert deaths == []


@pytest.mark.parametrize(
    ("system", "is_isolated"),
    [(ISOLATED, True), (SERVICE, False)],
    ids=["isolated", "of the app"],
    indirect=["system"],
)
def test_messages_of_an_isolated_service_have_a_uid_that_no_package_has(
    system: AndroidSystem, *, is_isolated: bool
) -> None:
    inbox: Inbox[Message] = Inbox(system)
    bind(system, Intent(component=ECHO), inbox.put).send(Message(1, HELLO))
    answer = inbox.take()
    assert answer is not None
    is_in_range = FIRST_ISOLATED_UID <= answer.sending_uid <= LAST_ISOLATED_UID
    assert is_in_range is is_isolated
    names = system.app_context(AGENT).platform.packages_of_uid(answer.sending_uid)
    assert list(names) == ([] if is_isolated else [TOOL])


@pytest.mark.parametrize("system", [ISOLATED], indirect=True)
def test_each_isolated_process_has_a_uid_of_its_own_and_ends_with_its_service(system: AndroidSystem) -> None:
    uids = []
    for _ in range(2):
        binding = bind(system, Intent(component=ECHO))
        (process,) = system.processes.of_package(TOOL)
        uids.append(process.uid)
        binding.unbind()
        wait(system)
        assert system.processes.of_package(TOOL) == []
    assert uids == [FIRST_ISOLATED_UID, FIRST_ISOLATED_UID + 1]


@pytest.mark.parametrize("system", [ISOLATED], indirect=True)
def test_an_isolated_process_may_neither_start_nor_bind_nor_keep_files(system: AndroidSystem) -> None:
    bind(system, Intent(component=ECHO))
    (process,) = system.processes.of_package(TOOL)
    context = system.core.context_for(package_of(system, TOOL), process)
    calls: dict[str, Callable[[], object]] = {
        "startService": lambda: context.start_service(Intent(component=ECHO)),
        "bindService": lambda: context.bind_service(Intent(component=ECHO), ignore),
        "startActivity": lambda: context.start_activity(Intent(component=ECHO)),
        "broadcastIntent": lambda: context.send_ordered_broadcast(Intent(), ignore),
        "getIntentSender": lambda: context.create_pending_intent(ignore),
    }
    for name, call in calls.items():
        with pytest.raises(AndroidError, match=f"Isolated process not allowed to call {name}"):
            call()
    assert not context.platform.holds("android.permission.INTERNET")
    assert context.platform.find_package(TOOL) is None
    assert context.files.read("started") is None
    with pytest.raises(AndroidError, match="EACCES"):
        context.files.write("started", b"")
