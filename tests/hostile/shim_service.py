"""The service of a shim as apps reach it: bound, with their messages, and whether it still runs."""

import json
from typing import Any

from device_shim.shim_phone.world import AGENT, SHIM, World
from droidgate_phone.java.app_values import Binding, Message
from droidgate_phone.java.intents import Bundle, ComponentName, Intent
from waiting import wait_until

SERVICE = ComponentName(SHIM, "dev.droidgate.shim.frontends.ToolService")


def bound(world: World, caller: str = AGENT) -> tuple[Binding, list[dict[str, Any]]]:
    """Return a binding of an agent to the shim, and the responses that come."""
    answers: list[dict[str, Any]] = []

    def receive(message: Message) -> None:
        text = message.data.get_string("mobile-mcp-response") or ""
        answers.append(json.loads(text)["mobile-mcp-response"]["response"])

    binding = world.system.app_context(caller).bind_service(Intent(component=SERVICE), receive)
    assert binding is not None
    return binding, answers


def send(binding: Binding, text: str) -> None:
    """Send a request in a message."""
    binding.send(Message(1, Bundle.of_strings({"mobile-mcp-request": text})))


def is_running(world: World) -> bool:
    """Return whether the service runs."""
    return any(item.name == SERVICE for item in world.system.services.running())


def wait_until_ended(world: World) -> None:
    """Wait until the service has ended."""
    wait_until(lambda: not is_running(world))
