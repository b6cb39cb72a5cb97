"""A service is asked for a binder once for each different intent, and notified when nobody is bound by it."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from device_shim.phone_system.phone_system_apps import (
    ACTION,
    AGENT,
    BEHAVIOURS,
    TOOL,
    component,
    ignore,
    make_agent,
    make_phone,
    make_tool,
)
from droidgate_phone.java.app_values import Message
from droidgate_phone.java.intents import ComponentName, Intent
from droidgate_phone.system import AndroidSystem
from droidgate_phone.system.behaviour import App, Service

PLAIN = Intent(ACTION, ComponentName(TOOL, f"{TOOL}.Door"))
CALLS: list[str] = []


class Door(Service):
    """Records its calls; asks for `on_rebind`, unless the intent says otherwise."""

    def on_bind(self, intent: Intent) -> Callable[[Message], None] | None:
        CALLS.append(f"bind {intent.identifier}")
        return ignore

    def on_unbind(self, intent: Intent) -> bool:
        CALLS.append(f"unbind {intent.identifier}")
        return intent.identifier != "deaf"

    def on_rebind(self, intent: Intent) -> None:
        CALLS.append(f"rebind {intent.identifier}")

    def on_destroy(self) -> None:
        CALLS.append("destroy")


class DoorApp(App):
    PACKAGE = TOOL
    SERVICES = {f"{TOOL}.Door": Door}


@pytest.fixture
def system() -> Iterator[AndroidSystem]:
    CALLS.clear()
    apps = make_agent(), make_tool(component("service", "Door"))
    with make_phone("36.1", *apps, behaviours={**BEHAVIOURS, TOOL: DoorApp}) as made:
        yield made


def bind(system: AndroidSystem, intent: Intent = PLAIN) -> Callable[[], None]:
    """Bind as the agent does, and return what lets go and waits until the service knows."""
    binding = system.app_context(AGENT).bind_service(intent, ignore)
    assert binding is not None

    def let_go() -> None:
        binding.unbind()
        system.clock.wait(system.clock.signal(), 0.5)

    return let_go


def test_equal_intents_share_a_binder_and_others_get_one_of_their_own(system: AndroidSystem) -> None:
    bind(system)
    bind(system, replace(PLAIN, flags=4, categories=()))
    assert CALLS == ["bind None"]
    bind(system, replace(PLAIN, identifier="one"))
    bind(system, replace(PLAIN, identifier="two"))
    assert CALLS == ["bind None", "bind one", "bind two"]


def test_a_service_ends_with_its_last_binding_and_the_next_one_asks_a_new_service(
    system: AndroidSystem,
) -> None:
    first, second = bind(system), bind(system)
    first()
    assert CALLS == ["bind None"]
    second()
    assert CALLS == ["bind None", "unbind None", "destroy"]
    bind(system)
    assert CALLS[3:] == ["bind None"]


def test_a_client_that_binds_again_while_the_service_lives_gets_the_earlier_binder(
    system: AndroidSystem,
) -> None:
    bind(system)
    identified = replace(PLAIN, identifier="one")
    for _ in range(2):
        bind(system, identified)()
    assert CALLS == ["bind None", "bind one", "unbind one", "rebind one", "unbind one"]


def test_a_service_that_does_not_ask_for_it_hears_of_the_first_time_only(system: AndroidSystem) -> None:
    bind(system)
    deaf = replace(PLAIN, identifier="deaf")
    for _ in range(2):
        bind(system, deaf)()
    assert CALLS == ["bind None", "bind deaf", "unbind deaf"]
