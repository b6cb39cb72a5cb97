"""Calls by `am start-activity`: the fulfilment that takes the arguments, as an intent to its own app.

Reference app-actions 1, 4 and 6. No I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from droidgate_app_actions.format import ENTITY_LINK, NAMES, ROUTE
from droidgate_app_actions.fulfilment_targets import COMPARING_SDK, listed_values, starting_facts
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
from droidgate_mappings.model.json_values import Json, one_line_json, pointer_token
from droidgate_mappings.model.names import qualified_class

_DELIVERED: Final = "has been delivered"
"""What Android's warning has where the activity was there and got the intent."""

_Facts = Mapping[str, Any]
_Inventory = Mapping[str, Mapping[str, _Facts]]


class AppActionShellCalls(ShellCalls):
    """How Android's shell starts what a capability declares."""

    route_id = ROUTE

    def write(self, call: ShellCall) -> ScreenStart:
        """Return the intent of the first fulfilment whose required parameters are given.

        Raises:
            NotCarriedError: none takes the arguments, it cannot be started, or its link cannot be filled.
        """
        inventory = listed_values(call.capability)
        values = _values(call, inventory)
        fulfilment = _chosen(call, values, inventory)
        starts = _of_shortcut(fulfilment, values, inventory)
        if starts.get("closed_because"):
            raise NotCarriedError(f"what it starts is closed to other apps: {starts['closed_because']}")
        is_shortcut = fulfilment["kind"] == "shortcut"
        given = {} if is_shortcut else {key: values[key] for key in _keys(fulfilment) if key in values}
        try:
            data, in_link = _link(starts, given, inventory)
        except LinkError as error:
            raise NotCarriedError(f"{call.capability.id}: {error}") from None
        extras = {key: value for key, value in given.items() if key not in in_link}
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
        inventory = listed_values(call.capability)
        fulfilment = _chosen(call, _values(call, inventory), inventory)
        screen = output.activity or call.provider.package
        value = f"The screen {screen} was opened. The app does not report what it does with the call."
        notes = [f"{name} is not passed on" for name in call.arguments if name not in _keys(fulfilment)]
        if _is_refused(fulfilment, call) and "action" in fulfilment:
            action = fulfilment["action"]
            notes.append(f"the intent has no action, since no filter of the activity takes {action}")
        if output.is_late:
            notes.append("Android did not see the screen drawn in time")
        if output.warning is not None and _DELIVERED not in output.warning:
            notes.append("the app's window was only brought to the front, so it may not have got the call")
        return ShellResult(value, note="; ".join(notes) or None)


def _is_refused(starts: _Facts, call: ShellCall) -> bool:
    """Return whether the phone starts the activity only without the action, as Android 13 does."""
    return call.facts.sdk == COMPARING_SDK and bool(starts.get("action_unmatched"))


def _keys(fulfilment: _Facts) -> tuple[str, ...]:
    return tuple(fulfilment.get("parameters", ()))


def _values(call: ShellCall, inventory: _Inventory) -> Mapping[str, str]:
    return {name: _text(value, inventory.get(name, {})) for name, value in call.arguments.items()}


def _text(value: Json, items: Mapping[str, _Facts]) -> str:
    """Return a value as the app receives it: the text, or the id of the listed value that it is a name of."""
    text = value if isinstance(value, str) else one_line_json(value)
    if text in items:
        return text
    named = (
        key for key, item in items.items() if text.casefold() in map(str.casefold, item.get("names", ()))
    )
    return next(named, text)


def _chosen(call: ShellCall, given: Mapping[str, str], inventory: _Inventory) -> _Facts:
    started = starting_facts(call.capability)
    if not started:
        raise NotCarriedError("it has no fulfilment that starts an activity")
    missing = []
    for each in started:
        lacks = [key for key in each.get("required", ()) if key not in given]
        lacks.extend(
            f"a listed value of {key}"
            for key in each.get("match_required", ())
            # Without listed values, the app lists them while it runs.
            if key in given and key in inventory and given[key] not in inventory[key]
        )
        if not lacks:
            return each
        missing.append(", ".join(lacks))
    raise NotCarriedError(f"each fulfilment requires what is not given: {' or '.join(missing)}")


def _of_shortcut(fulfilment: _Facts, values: Mapping[str, str], inventory: _Inventory) -> _Facts:
    """Return what a fulfilment starts: itself, or the shortcut that is bound to a value."""
    if fulfilment["kind"] != "shortcut":
        return fulfilment
    for key in _keys(fulfilment):
        if key in values and key in inventory:
            starts = inventory[key].get(values[key], {}).get("starts")
            if starts is None:
                message = f"no shortcut with an intent is bound to the value {values[key]!r}"
                raise NotCarriedError(message, pointer=f"/{pointer_token(key)}")
            return {"kind": "intent", **starts}
    return fulfilment


def _link(
    starts: _Facts, given: Mapping[str, str], inventory: _Inventory
) -> tuple[str | None, frozenset[str]]:
    """Return the intent's URI, and the parameters that are in it."""
    template = starts.get("template")
    if template is None:
        data = starts.get("data")
        return None if data is None else fixed_link(data), frozenset()
    if template == ENTITY_LINK:
        for key, value in given.items():
            url = inventory.get(key, {}).get(value, {}).get("url")
            if url is not None:
                return fixed_link(url), frozenset({key})
        raise LinkError("its link is that of a listed value, and none is given")
    return fill_template(template, given)
