"""The results of the tools, in UFO's shapes and words (reference mobile-agent 2)."""

from __future__ import annotations

from collections.abc import Sequence

from droidgate.calls.screen.controls import Control
from droidgate_mappings.model.json_values import Json


def failure(error: str) -> dict[str, Json]:
    """Return the result of a tool that did nothing."""
    return {"success": False, "error": error}


def input_result(action: str, *, error: str = "") -> dict[str, Json]:
    """Return the result of `tap`, `swipe` and `press_key`; an error means that it failed."""
    return {"success": not error, "action": action, "output": "", "error": error}


def app_target(number: str, package: str) -> dict[str, Json]:
    """Return an app as a TargetInfo, with the member `package` that UFO's page has in place of `type`."""
    target = {"kind": "third_party_agent", "name": package, "id": number, "type": package, "rect": None}
    return {**target, "package": package}


def control_targets(controls: Sequence[Control]) -> list[Json]:
    """Return controls as TargetInfos."""
    return [
        {
            "kind": "control",
            "name": control.name,
            "id": control.id,
            "type": control.type,
            "rect": list(control.rect),
        }
        for control in controls
    ]


def control_line(control: Control) -> str:
    """Return a control as one short text: its id, its type, the point in its middle, and its name."""
    x, y = control.center
    return f"{control.id} {control.type} {x},{y} {control.name}"


def control_info(control: Control, *, with_rect: bool) -> dict[str, Json]:
    """Return a control as results of actions name it."""
    info: dict[str, Json] = {"id": control.id, "name": control.name, "type": control.type}
    return {**info, "rect": list(control.rect)} if with_rect else info
