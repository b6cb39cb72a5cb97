"""Broadcasts to receivers, as the shell and an agent send them."""

import threading
from collections.abc import Iterator

import pytest

from device_shim.phone_system.phone_system_apps import (
    ACTION,
    AGENT,
    TOOL,
    Inbox,
    component,
    ignore,
    make_agent,
    make_phone,
    make_tool,
    raises_android,
    run,
    text_bundle,
    wait,
)
from droidgate_phone.common.faults import Faults
from droidgate_phone.java.app_values import BroadcastResult
from droidgate_phone.java.intents import ComponentName, Intent
from droidgate_phone.system import AndroidSystem
from still_clock import StillClock

RECEIVER = component("receiver", "Answer")
ANSWER = ComponentName(TOOL, f"{TOOL}.Answer")
EXPLICIT = ("-n", f"{TOOL}/.Answer", "--es", "text", 'he said "no"')


def filtered(priority: int) -> str:
    return f'<intent-filter android:priority="{priority}"><action android:name="{ACTION}"/></intent-filter>'


@pytest.fixture
def system() -> Iterator[AndroidSystem]:
    """A phone with an agent, and a tool with a receiver."""
    with make_phone("36.1", make_agent(), make_tool(RECEIVER)) as phone:
        yield phone


def send(system: AndroidSystem, intent: Intent) -> BroadcastResult | None:
    """Send an ordered broadcast as the agent does; return its result, None where none comes."""
    inbox: Inbox[BroadcastResult] = Inbox(system)
    system.app_context(AGENT).send_ordered_broadcast(intent, inbox.put)
    return inbox.take()


def crashes(system: AndroidSystem) -> list[tuple[object, object]]:
    return [(event["package"], event["cause"]) for event in system.log.of_kind("app-crash")]


@pytest.mark.parametrize("sdk", ["26", "30", "36.1", "37"], ids="API {}".format)
def test_the_shell_prints_the_result_of_a_broadcast(sdk: str) -> None:
    with make_phone(sdk, make_tool(RECEIVER)) as system:
        ran = run(system, "am", "broadcast", "-a", ACTION, *EXPLICIT)
        assert ran.status == 0
        assert ran.stdout.startswith(
            f"Broadcasting: Intent {{ act={ACTION} flg=0x400000 cmp={TOOL}/.Answer (has extras) }}\n"
            'Broadcast completed: result=1, data="he said "no"", extras: Bundle[mParcelledData.dataSize='
        )


@pytest.mark.parametrize(("first", "second", "data"), [(10, 5, "AA"), (5, 10, "Aa")])
def test_receivers_answer_in_the_order_of_their_priorities(first: int, second: int, data: str) -> None:
    receivers = zip(("Answer", "Louder"), (first, second), strict=True)
    parts = (component("receiver", name, inside=filtered(priority)) for name, priority in receivers)
    with make_phone("36.1", make_tool("".join(parts))) as system:
        system.app_context(TOOL)
        ran = run(system, "am", "broadcast", "-a", ACTION, "-p", TOOL, "--es", "text", "a")
        assert f'result=2, data="{data}"' in ran.stdout


@pytest.mark.parametrize(("target", "is_visible", "words", "code"), [
    pytest.param(36, False, (), 0, id="in the background"),
    pytest.param(25, False, (), 1, id="an app for Android 7"),
    pytest.param(36, True, (), 1, id="on the screen"),
    pytest.param(36, False, ("-p", TOOL), 1, id="to its package"),
    pytest.param(36, False, ("-f", "0x01000000"), 1, id="FLAG_RECEIVER_INCLUDE_BACKGROUND"),
])  # fmt: skip
def test_an_implicit_broadcast_reaches_no_app_in_the_background_from_android_8_on(
    target: int, words: tuple[str, ...], code: int, *, is_visible: bool
) -> None:
    tool = make_tool(RECEIVER + component("activity", "Screen"), target=target, minimum=24)
    with make_phone("36.1", tool) as system:
        if is_visible:
            run(system, "am", "start", "-W", "-n", f"{TOOL}/.Screen")
        else:
            system.app_context(TOOL)
        ran = run(system, "am", "broadcast", "-a", ACTION, "--es", "text", "a", *words)
        assert ran.stdout.splitlines()[1].startswith(f"Broadcast completed: result={code}")


def test_a_broadcast_to_a_package_does_not_reach_a_stopped_one_unless_it_says_so(
    system: AndroidSystem,
) -> None:
    command = ("am", "broadcast", "-a", ACTION, "-p", TOOL, "--es", "text", "a")
    assert "result=0\n" in run(system, *command).stdout
    assert "result=1, data" in run(system, *command, "--include-stopped-packages").stdout
    # The broadcast has started the app, so it is stopped no more.
    assert "result=1, data" in run(system, *command).stdout


@pytest.mark.parametrize(("attributes", "why"), [
    ({"exported": "false"}, "not exported from uid"),
    ({"permission": "com.example.P"}, "requires com.example.P due to receiver com.example.tool/.Answer"),
    ({"permission": "android.permission.DUMP"}, None),
], ids=["not exported", "guarded", "guarded by a permission of the shell"])  # fmt: skip
def test_a_receiver_that_is_not_open_to_the_sender_is_passed_over(
    attributes: dict[str, str], why: str | None
) -> None:
    with make_phone("36.1", make_tool(component("receiver", "Answer", **attributes))) as system:
        assert f"result={0 if why else 1}" in run(system, "am", "broadcast", *EXPLICIT).stdout
        skipped = [str(event["why"]) for event in system.log.of_kind("broadcast-skipped")]
        assert (len(skipped), (why or "") in "".join(skipped)) == (bool(why), True)


@pytest.mark.parametrize(("flags", "seconds"), [("0x10000000", 10), ("0", 60)])
def test_a_receiver_that_does_not_answer_is_passed_over_after_androids_time(
    system: AndroidSystem, flags: str, seconds: int
) -> None:
    system.faults = Faults(silent=frozenset({TOOL}))
    begun = system.clock.now()
    ran = run(system, "am", "broadcast", "-f", flags, *EXPLICIT)
    assert ran.stdout.endswith("Broadcast completed: result=0\n")
    assert system.clock.now() - begun == seconds


def test_an_agent_gets_the_result_with_its_extras(system: AndroidSystem) -> None:
    result = send(system, Intent(component=ANSWER, extras=text_bundle("a")))
    assert result == BroadcastResult(1, "a", text_bundle("a"))


def test_a_crashing_receiver_leaves_the_result_as_it_was(system: AndroidSystem) -> None:
    system.faults = Faults(crashing=frozenset({TOOL}))
    assert run(system, "am", "broadcast", *EXPLICIT).stdout.endswith("Broadcast completed: result=0\n")
    assert crashes(system)


def test_what_only_the_system_may_send_is_refused(system: AndroidSystem) -> None:
    ran = run(system, "am", "broadcast", "-a", "android.intent.action.BOOT_COMPLETED")
    assert ran.status == 255
    assert ran.stderr == (
        "\nException occurred while executing 'broadcast':\njava.lang.SecurityException: Permission Denial: "
        "not allowed to send broadcast android.intent.action.BOOT_COMPLETED from pid=4711, uid=2000\n"
    )


ONEWAY_TEXT = "x" * 300_000
"""More than a one-way call carries, and less than the sender's call does."""
UNDELIVERABLE = {
    "30": "android.app.RemoteServiceException: can't deliver broadcast",
    "36.1": "android.app.RemoteServiceException$CannotDeliverBroadcastException: can't deliver broadcast",
}


@pytest.mark.parametrize("sdk", ["30", "36.1"], ids="API {}".format)
def test_a_broadcast_that_is_too_large_for_its_receiver_ends_the_receiver(sdk: str) -> None:
    with make_phone(sdk, make_agent(), make_tool(RECEIVER)) as system:
        intent = Intent(component=ANSWER, extras=text_bundle(ONEWAY_TEXT))
        system.app_context(AGENT).send_ordered_broadcast(intent, ignore)
        wait(system, 1)
        assert (TOOL, UNDELIVERABLE[sdk]) in crashes(system)
        assert system.processes.of_package(TOOL) == []


def test_a_broadcast_that_is_too_large_for_its_sender_fails_at_the_sender(system: AndroidSystem) -> None:
    with raises_android("android.os.TransactionTooLargeException"):
        send(system, Intent(component=ANSWER, extras=text_bundle(ONEWAY_TEXT * 2)))
    assert crashes(system) == []


def test_a_result_that_is_too_large_together_with_its_broadcast_ends_the_sender(
    system: AndroidSystem,
) -> None:
    assert send(system, Intent(component=ANSWER, extras=text_bundle(ONEWAY_TEXT[:150_000]))) is None
    assert crashes(system) == [(AGENT, UNDELIVERABLE["36.1"])]


@pytest.mark.parametrize("mutable", [True, False], ids=["mutable", "immutable"])
def test_a_pending_intent_that_is_sent_too_much_ends_its_creator(
    system: AndroidSystem, *, mutable: bool
) -> None:
    inbox: Inbox[Intent] = Inbox(system)
    token = system.app_context(AGENT).create_pending_intent(inbox.put, mutable=mutable)
    system.app_context(TOOL).send_pending_intent(token, Intent(extras=text_bundle(ONEWAY_TEXT)))
    sent = inbox.take(1)
    # What an immutable one is sent is not delivered at all.
    ended = [(AGENT, UNDELIVERABLE["36.1"])]
    assert (sent, crashes(system)) == ((None, ended) if mutable else (Intent(), []))


def test_a_broadcast_that_names_its_receiver_starts_a_stopped_app(system: AndroidSystem) -> None:
    # ResolveIntentHelper.queryIntentReceiversInternal looks at the state only where it goes through filters.
    result = send(system, Intent(component=ANSWER))
    assert result is not None
    assert result.code == 1


def test_a_phone_stops_where_the_host_had_no_thread_left_for_a_broadcast(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = StillClock()
    start = threading.Thread.start

    def start_no_broadcast(thread: threading.Thread) -> None:
        if thread.name == "phone:broadcast":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_no_broadcast)
    with make_phone("36.1", make_agent(), make_tool(RECEIVER), clock=clock) as system:
        with pytest.raises(RuntimeError):
            system.app_context(AGENT).send_ordered_broadcast(Intent(component=ANSWER), ignore)
        # Nothing counts as under way: the phone's time still passes for who waits.
        assert not clock.wait(clock.signal(), 5)
