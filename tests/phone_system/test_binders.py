"""A service is asked for a binder once for each intent that differs, and told when nobody is bound by it."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from droidgate_phone.app_api.behaviour import App, Service
from droidgate_phone.app_api.values import Message
from droidgate_phone.intents import ComponentName, Intent
from droidgate_phone.system import AndroidSystem
from phone_system.phone_system_apps import (
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

PLAIN = Intent(ACTION, ComponentName(TOOL, f"{TOOL}.Door"))
TOLD: list[str] = []


class Door(Service):
    """Notes what Android tells it; wants to hear of whoever comes back, unless the intent says otherwise."""

    def on_bind(self, intent: Intent) -> Callable[[Message], None] | None:
        TOLD.append(f"bind {intent.identifier}")
        return ignore

    def on_unbind(self, intent: Intent) -> bool:
        TOLD.append(f"unbind {intent.identifier}")
        return intent.identifier != "deaf"

    def on_rebind(self, intent: Intent) -> None:
        TOLD.append(f"rebind {intent.identifier}")

    def on_destroy(self) -> None:
        TOLD.append("destroy")


class DoorApp(App):
    PACKAGE = TOOL
    SERVICES = {f"{TOOL}.Door": Door}


@pytest.fixture
def system() -> Iterator[AndroidSystem]:
    TOLD.clear()
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
    assert TOLD == ["bind None"]
    bind(system, replace(PLAIN, identifier="one"))
    bind(system, replace(PLAIN, identifier="two"))
    assert TOLD == ["bind None", "bind one", "bind two"]


def test_a_service_ends_with_its_last_binding_and_the_next_one_asks_a_new_service(
    system: AndroidSystem,
) -> None:
    first, second = bind(system), bind(system)
    first()
    assert TOLD == ["bind None"]
    second()
    assert TOLD == ["bind None", "unbind None", "destroy"]
    bind(system)
    assert TOLD[3:] == ["bind None"]


def test_whoever_comes_back_while_the_service_lives_gets_the_binder_of_before(system: AndroidSystem) -> None:
    bind(system)
    one = replace(PLAIN, identifier="one")
    for _ in range(2):
        bind(system, one)()
    assert TOLD == ["bind None", "bind one", "unbind one", "rebind one", "unbind one"]


def test_a_service_that_does_not_ask_for_it_hears_of_the_first_time_only(system: AndroidSystem) -> None:
    bind(system)
    deaf = replace(PLAIN, identifier="deaf")
    for _ in range(2):
        bind(system, deaf)()
    assert TOLD == ["bind None", "bind deaf", "unbind deaf"]
