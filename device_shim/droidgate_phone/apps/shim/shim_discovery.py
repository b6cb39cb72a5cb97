"""Asking an mMCP receiver for its tools: the ordered DISCOVERY broadcast (shim.md 4, 5)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final, TypeAlias

from droidgate_mappings.model.json_values import Json
from droidgate_phone.apps.shim.call_control import CallControl
from droidgate_phone.apps.shim.installed_targets import BROADCAST
from droidgate_phone.java.app_values import AndroidError, BroadcastResult
from droidgate_phone.java.intents import ComponentName, Intent
from droidgate_phone.system.processes import AndroidNotModelledError
from droidgate_shim.engine.strict_json import write_strict

ACTION_DISCOVERY: Final = "com.example.ACTION_MMCP_DISCOVERY"
FLAG_INCLUDE_STOPPED_PACKAGES: Final = 0x20
DISCOVERY_MS: Final = 5_000
MOST_TOOLS: Final = 256

Tools: TypeAlias = list[list[str | None]]
"""Name, description and parameters of each tool, in the answer's order; None for what it does not have."""


class Discoveries:
    """The answers of receivers; each is kept until its package changes."""

    def __init__(self, control: CallControl) -> None:
        self._control = control
        self._known: dict[tuple[ComponentName, str], Tools] = {}
        self.not_modelled: dict[ComponentName, str] = {}
        """Why nothing of a receiver ran on the virtual phone."""

    def ask(self, component: ComponentName, then: Callable[[Tools | None], None]) -> None:
        """Ask a receiver for its tools, and go on with them; with None where it does not answer in time."""
        control, package = self._control, self._control.platform.find_package(component.package)
        key = (component, "" if package is None else package.code_path)
        if package is None or key in self._known:
            then(self._known.get(key))
            return
        waiting = [then]

        def end(tools: Tools | None) -> None:
            if waiting:
                waiting.pop()(tools)

        def receive(result: BroadcastResult) -> None:
            cancel()
            tools = _tools_of(result)
            if tools is not None:
                self._known[key] = tools
            end(tools)

        cancel = control.platform.after(DISCOVERY_MS / 1000, lambda: end(None))
        try:
            intent = Intent(ACTION_DISCOVERY, component, flags=FLAG_INCLUDE_STOPPED_PACKAGES)
            control.context.send_ordered_broadcast(intent, receive)
        except AndroidError as error:
            cancel()
            if isinstance(error, AndroidNotModelledError):
                self.not_modelled[component] = error.message
            end(None)


def digest_of(tools: Tools | None) -> str:
    """Return the digest of a discovery's answer, as a target has it; another one where none came."""
    if tools is None:
        return ""
    content: dict[str, Json] = {"tools": [_filled(*tool) for tool in tools]}
    return f"{BROADCAST}:{hashlib.sha256(write_strict(content).encode()).hexdigest()}"


def _tools_of(result: BroadcastResult) -> Tools | None:
    listed = result.extras.values.get("tools")
    if listed is None or not isinstance(listed.value, tuple) or len(listed.value) > MOST_TOOLS:
        return None
    read = result.extras.get_string
    return [[str(name), read(f"{name}.description"), read(f"{name}.parameters")] for name in listed.value]


def _filled(name: str | None, description: str | None, parameters: str | None) -> list[Json]:
    """Return a tool as its digest has it, without what the receiver did not report."""
    return [name, description or "", "{}" if parameters is None else parameters]
