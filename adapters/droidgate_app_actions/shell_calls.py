"""Calls by `am start-activity`: the fulfilment that takes the arguments, as an intent to its own app.

Reference app-actions 1, 4 and 6. No I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_app_actions.format import NAMES, ROUTE
from droidgate_app_actions.fulfilment_targets import (
    COMPARING_SDK,
    Choice,
    Facts,
    choices,
    ids_by_name,
    listed_values,
)
from droidgate_app_actions.url_templates import LinkError, fill_template, fixed_link
from droidgate_mappings.formats.shell_calls import (
    NotCarriedError,
    ScreenOutput,
    ScreenStart,
    ShellAnswer,
    ShellCall,
    ShellCalls,
    ShellResult,
)
from droidgate_mappings.model.json_values import Json, one_line_json
from droidgate_mappings.model.names import qualified_class

_DELIVERED: Final = "has been delivered"
"""What Android's warning has where the activity was there and got the intent."""


class AppActionShellCalls(ShellCalls):
    """How Android's shell starts what a capability declares."""

    route_id = ROUTE

    def write(self, call: ShellCall) -> ScreenStart:
        """Return the intent of the first fulfilment whose required parameters are given.

        Raises:
            NotCarriedError: none takes the arguments, it cannot be started, or its link cannot be filled.
        """
        values = _values(call)
        choice = _chosen(call, values)
        starts = choice.starts
        passed_values = {key: values[key] for key in choice.passed if key in values}
        try:
            data, in_link = _link(starts, passed_values)
        except LinkError as error:
            raise NotCarriedError(f"{call.capability.id}: {error}") from None
        extras = {key: value for key, value in passed_values.items() if key not in in_link}
        package, class_name = call.provider.package or "", starts.get("class")
        action = None if _is_refused(starts, call) else starts.get("action", NAMES["view_action"])
        return ScreenStart(
            package=package,
            component=f"{package}/{qualified_class(class_name, package)}" if class_name else None,
            action=action,
            data=data,
            extras={**starts.get("extras", {}), **extras},
        )

    def read(self, call: ShellCall, output: ShellAnswer) -> ShellResult:
        """Return that the screen was opened, which is all that Android reports."""
        if not isinstance(output, ScreenOutput):
            raise TypeError(output)
        choice = _chosen(call, _values(call))
        fulfilment, starts = choice.fulfilment, choice.starts
        screen = output.activity or call.provider.package
        value = f"The screen {screen} was opened. The app does not report what it does with the call."
        notes = [
            f"{name} is not passed on"
            for name in call.arguments
            if name not in fulfilment.get("parameters", ())
        ]
        if _is_refused(starts, call) and "action" in starts:
            action = starts["action"]
            notes.append(f"the intent has no action, since no filter of the activity takes {action}")
        if output.is_late:
            notes.append("Android did not see the screen drawn in time")
        if output.warning is not None and _DELIVERED not in output.warning:
            notes.append("the app's window was only brought to the front, so it may not have got the call")
        return ShellResult(value, note="; ".join(notes) or None)


def _is_refused(starts: Facts, call: ShellCall) -> bool:
    """Return whether the phone starts the activity only without the action, as Android 13 does."""
    return call.facts.sdk == COMPARING_SDK and bool(starts.get("action_unmatched"))


def _values(call: ShellCall) -> Mapping[str, str]:
    inventory = listed_values(call.capability)
    return {name: _text(value, inventory.get(name, {})) for name, value in call.arguments.items()}


def _text(value: Json, items: Mapping[str, Facts]) -> str:
    """Return a value as the app receives it: the text, or the id of the listed value that it is a name of."""
    text = value if isinstance(value, str) else one_line_json(value)
    ids = ids_by_name(items)
    return ids.get(text, ids.get(text.lower(), text))


def _chosen(call: ShellCall, values: Mapping[str, str]) -> Choice:
    """Return the first choice that can be started with these values."""
    obstacle: str | None = None
    missing: dict[str, None] = {}
    listed_by_key = listed_values(call.capability)
    for choice in choices(call.capability):
        lacks = [
            f"a listed value of {key}" if key in values else key
            for key, listed in choice.needs.items()
            if key not in values or (listed is not None and values[key] not in listed)
        ]
        lacks += [
            f"a listed value of {key}"
            for key in choice.fulfilment.get("match_required", ())
            if key in values
            and key not in choice.needs
            and key in listed_by_key
            and values[key] not in listed_by_key[key]
        ]
        if lacks:
            missing[", ".join(lacks)] = None
        elif choice.obstacle is None:
            return choice
        else:
            obstacle = obstacle or f"{call.capability.id}: {choice.obstacle}"
    if obstacle is None and missing:
        obstacle = f"each fulfilment requires what is not given: {' or '.join(missing)}"
    raise NotCarriedError(obstacle or "it has no fulfilment that starts an activity")


def _link(starts: Facts, values: Mapping[str, str]) -> tuple[str | None, frozenset[str]]:
    """Return the intent's URI, and the parameters that are in it."""
    template, data = starts.get("template"), starts.get("data")
    if template is not None:
        return fill_template(template, values)
    in_link = frozenset({starts["linked"]} if "linked" in starts else ())
    return None if data is None else fixed_link(data), in_link
