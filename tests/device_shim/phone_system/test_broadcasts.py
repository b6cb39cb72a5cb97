"""Broadcasts to receivers, as the shell and an agent send them."""

import threading

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
    package_of,
    raises_android,
    run,
    wait,
)
from droidgate_phone.common.faults import Faults
from droidgate_phone.java.app_values import BroadcastResult
from droidgate_phone.java.intents import Bundle, ComponentName, Intent
from still_clock import StillClock

RECEIVER = component("receiver", "Answer")
ANSWER = ComponentName(TOOL, f"{TOOL}.Answer")
EXPLICIT = ("-n", f"{TOOL}/.Answer", "--es", "text", 'he said "no"')


def filtered(priority: int) -> str:
    return f'<intent-filter android:priority="{priority}"><action android:name="{ACTION}"/></intent-filter>'


@pytest.mark.parametrize("sdk", ["26", "30", "36.1", "37"], ids="API {}".format)
def test_the_shell_prints_the_result_of_a_broadcast(sdk: str) -> None:
    with make_phone(sdk, make_tool(RECEIVER)) as system:
        ran = run(system, "am", "broadcast", "-a", ACTION, *EXPLICIT)
        assert ran.status == 0
        assert ran.stdout.startswith(
            f"Broadcasting: Intent {{ act={ACTION} flg=0x400000 cmp={TOOL}/.Answer (has extras) }}\n"
            'Broadcast completed: result=1, data="he said "no"", extras: Bundle[mParcelledData.dataSize='
        )


def test_receivers_answer_in_the_order_of_their_priorities() -> None:
    for first, second, expected in ((10, 5, "aA"), (5, 10, "Aa")):
        tool = make_tool(
            component("receiver", "Answer", inside=filtered(first))
            + component("receiver", "Louder", inside=filtered(second))
        )
        with make_phone("36.1", tool) as system:
            system.app_context(TOOL)
            ran = run(system, "am", "broadcast", "-a", ACTION, "-p", TOOL, "--es", "text", "a")
            expected_data = "AA" if expected == "aA" else "Aa"
            assert f'result=2, data="{expected_data}"' in ran.stdout


def test_an_implicit_broadcast_reaches_no_app_in_the_background_from_android_8_on() -> None:
    def result(target: int, *more: str) -> str:
        tool = make_tool(RECEIVER + component("activity", "Screen"), target=target, minimum=24)
        with make_phone("36.1", tool) as system:
            if "visible" in more:
                run(system, "am", "start", "-W", "-n", f"{TOOL}/.Screen")
            else:
                system.app_context(TOOL)
            words = [word for word in more if word != "visible"]
            return run(system, "am", "broadcast", "-a", ACTION, "--es", "text", "a", *words).stdout.split(
                "\n"
            )[1]

    assert result(36) == "Broadcast completed: result=0"
    assert result(25).startswith("Broadcast completed: result=1")
    assert result(36, "visible").startswith("Broadcast completed: result=1")
    assert result(36, "-p", TOOL).startswith("Broadcast completed: result=1")
    assert result(36, "-f", "0x01000000").startswith("Broadcast completed: result=1")


def test_a_broadcast_to_a_package_does_not_reach_a_stopped_one_unless_it_says_so() -> None:
    with make_phone("36.1", make_tool(RECEIVER)) as system:
        command = ("am", "broadcast", "-a", ACTION, "-p", TOOL, "--es", "text", "a")
        assert "result=0\n" in run(system, *command).stdout
        assert "result=1, data" in run(system, *command, "--include-stopped-packages").stdout
        # The broadcast has started the app, so it is stopped no more.
        assert "result=1, data" in run(system, *command).stdout


def test_a_receiver_that_is_not_exported_or_guarded_is_passed_over() -> None:
    for attributes, why in (
        ({"exported": "false"}, "not exported from uid"),
        ({"permission": "com.example.P"}, "requires com.example.P due to receiver com.example.tool/.Answer"),
    ):
        with make_phone("36.1", make_tool(component("receiver", "Answer", **attributes))) as system:
            ran = run(system, "am", "broadcast", *EXPLICIT)
            assert ran.stdout.endswith("Broadcast completed: result=0\n")
            (skipped,) = system.log.of_kind("broadcast-skipped")
            assert why in skipped["why"]
    with make_phone(
        "36.1", make_tool(component("receiver", "Answer", permission="android.permission.DUMP"))
    ) as system:
        assert "result=1" in run(system, "am", "broadcast", *EXPLICIT).stdout


def test_a_receiver_that_does_not_answer_is_passed_over_after_androids_time() -> None:
    for flags, seconds in (("0x10000000", 10), ("0", 60)):
        with make_phone("36.1", make_tool(RECEIVER), faults=Faults(silent=frozenset({TOOL}))) as system:
            begun = system.clock.now()
            ran = run(system, "am", "broadcast", "-f", flags, *EXPLICIT)
            assert ran.stdout.endswith("Broadcast completed: result=0\n")
            assert system.clock.now() - begun == seconds


def test_an_agent_gets_the_result_with_its_extras() -> None:
    with make_phone("36.1", make_agent(), make_tool(RECEIVER)) as system:
        inbox: Inbox[BroadcastResult] = Inbox(system)
        intent = Intent(
            component=ComponentName(TOOL, f"{TOOL}.Answer"), extras=Bundle.of_strings({"text": "a"})
        )
        system.app_context(AGENT).send_ordered_broadcast(intent, inbox.put)
        assert inbox.take() == BroadcastResult(1, "a", Bundle.of_strings({"text": "a"}))


def test_a_crashing_receiver_leaves_the_result_as_it_was() -> None:
    with make_phone("36.1", make_tool(RECEIVER), faults=Faults(crashing=frozenset({TOOL}))) as system:
        assert run(system, "am", "broadcast", *EXPLICIT).stdout.endswith("Broadcast completed: result=0\n")
        assert system.log.of_kind("app-crash")


def test_what_only_the_system_may_send_is_refused() -> None:
    with make_phone("36.1", make_tool(RECEIVER)) as system:
        ran = run(system, "am", "broadcast", "-a", "android.intent.action.BOOT_COMPLETED")
        assert ran.status == 255
        assert ran.stderr == (
            "\nException occurred while executing 'broadcast':\njava.lang.SecurityException: Permission "
            "Denial: not "
            "allowed to send broadcast android.intent.action.BOOT_COMPLETED from pid=4711, uid=2000\n"
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
        agent = system.app_context(AGENT)
        inbox: Inbox[BroadcastResult] = Inbox(system)
        intent = Intent(component=ANSWER, extras=Bundle.of_strings({"text": ONEWAY_TEXT}))
        agent.send_ordered_broadcast(intent, inbox.put)
        wait(system, 1)
        assert {(event["package"], event["cause"]) for event in system.log.of_kind("app-crash")} >= {
            (TOOL, UNDELIVERABLE[sdk])
        }
        assert system.processes.of_package(TOOL) == []


def test_a_broadcast_that_is_too_large_for_its_sender_fails_at_the_sender() -> None:
    with make_phone("36.1", make_agent(), make_tool(RECEIVER)) as system:
        agent = system.app_context(AGENT)
        intent = Intent(component=ANSWER, extras=Bundle.of_strings({"text": ONEWAY_TEXT * 2}))
        with raises_android("android.os.TransactionTooLargeException"):
            agent.send_ordered_broadcast(intent, ignore)
        assert system.log.of_kind("app-crash") == []


def test_a_result_that_is_too_large_together_with_its_broadcast_ends_the_sender() -> None:
    with make_phone("36.1", make_agent(), make_tool(RECEIVER)) as system:
        results: list[BroadcastResult] = []
        half = Bundle.of_strings({"text": ONEWAY_TEXT[:150_000]})
        system.app_context(AGENT).send_ordered_broadcast(
            Intent(component=ANSWER, extras=half), results.append
        )
        wait(system, 1)
        (crash,) = system.log.of_kind("app-crash")
        assert (crash["package"], crash["cause"]) == (AGENT, UNDELIVERABLE["36.1"])
        assert results == []


@pytest.mark.parametrize("mutable", [True, False], ids=["mutable", "immutable"])
def test_a_pending_intent_that_is_sent_too_much_ends_its_creator(*, mutable: bool) -> None:
    with make_phone("36.1", make_agent(), make_tool(RECEIVER)) as system:
        inbox: Inbox[Intent] = Inbox(system)
        token = system.app_context(AGENT).create_pending_intent(inbox.put, mutable=mutable)
        added = Intent(extras=Bundle.of_strings({"text": ONEWAY_TEXT}))
        system.app_context(TOOL).send_pending_intent(token, added)
        sent = inbox.take(1)
        causes = [event["cause"] for event in system.log.of_kind("app-crash")]
        # What an immutable one is sent is not delivered at all.
        assert (sent, causes) == ((None, [UNDELIVERABLE["36.1"]]) if mutable else (Intent(), []))


def test_a_broadcast_of_an_app_to_a_package_does_not_reach_a_stopped_one_unless_it_says_so() -> None:
    with make_phone("36.1", make_agent(), make_tool(RECEIVER)) as system:
        tool = package_of(system, TOOL)
        for flags, code in ((0, 0), (0x20, 1), (0, 1)):
            inbox: Inbox[BroadcastResult] = Inbox(system)
            intent = Intent(ACTION, package=TOOL, flags=flags, extras=Bundle.of_strings({"text": "a"}))
            system.app_context(AGENT).send_ordered_broadcast(intent, inbox.put)
            result = inbox.take()
            assert result is not None
            assert result.code == code
            assert tool.stopped is not bool(code)


def test_a_broadcast_that_names_its_receiver_starts_a_stopped_app() -> None:
    # ResolveIntentHelper.queryIntentReceiversInternal looks at the state only where it goes through filters.
    with make_phone("36.1", make_agent(), make_tool(RECEIVER)) as system:
        inbox: Inbox[BroadcastResult] = Inbox(system)
        system.app_context(AGENT).send_ordered_broadcast(Intent(component=ANSWER), inbox.put)
        result = inbox.take()
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
