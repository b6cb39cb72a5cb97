"""Java that opens the screens of App Actions, for handlers of other protocols to call.

The class is of the app whose activities it starts, so it opens those that are closed to other apps, too
(reference app-actions 1 and 4).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from droidgate_android.handlers.java import fill_template, java_string
from droidgate_android.handlers.places import ClassPlace
from droidgate_app_actions.format import ENTITY_LINK, NAMES, OWN_PACKAGE
from droidgate_app_actions.fulfilment_targets import starting_facts
from droidgate_app_actions.url_templates import LinkError, Template, parse_template
from droidgate_mappings.formats.format import ExistingFunction, FunctionParameter
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.names import qualified_class

_WORD: Final = re.compile(r"[A-Za-z]\w*", re.ASCII)
_PARAMETERS: Final = (
    FunctionParameter("context", "context"),
    FunctionParameter("capability", "id"),
    FunctionParameter("arguments", "arguments"),
)


def write_functions(provider: Provider, namespace: str) -> Mapping[str, ExistingFunction]:
    """Return the function that opens the screens of a provider, by the ids of its capabilities.

    Args:
        provider: As it was read.
        namespace: Package of the class that the function is in.
    """
    words = _WORD.findall((provider.component or "").rpartition(".")[2])
    place = ClassPlace(namespace, f"{''.join(words) or 'App'}Screens")
    missing = {capability.id: _missing(capability, provider) for capability in provider.capabilities}
    written = [capability for capability in provider.capabilities if not missing[capability.id]]
    cases = "\n".join(line for capability in written for line in _case(capability, provider.package))
    code = fill_template("droidgate_app_actions", "Screens.java", place, cases=cases)
    artifact = place.java("", code)
    return {
        capability.id: ExistingFunction(
            place.component_name,
            "open",
            capability,
            parameters=_PARAMETERS,
            instance="static",
            missing=missing[capability.id],
            code=artifact if written else None,
        )
        for capability in provider.capabilities
    }


def _missing(capability: Capability, provider: Provider) -> tuple[str, ...]:
    """Return why no code is written for a capability, one clause for each reason."""
    started = starting_facts(capability)
    reasons = [] if started else ["it has no fulfilment that starts an activity"]
    for each in started:
        if each["kind"] == "shortcut" or each.get("template") == ENTITY_LINK:
            reasons.append("its screen depends on the value that is given")
        elif each.get("package") not in {*OWN_PACKAGE, provider.package}:
            reasons.append(f"it starts a screen of {each['package']}")
        else:
            try:
                _link_of(each)
            except LinkError as error:
                reasons.append(str(error))
    return tuple(dict.fromkeys(reasons))


def _link_of(fulfilment: Mapping[str, Any]) -> Template:
    return parse_template(fulfilment.get("template"), fulfilment.get("data"))


def _case(capability: Capability, package: str | None) -> Iterator[str]:
    yield f"            case {java_string(capability.id)}:"
    for fulfilment in starting_facts(capability):
        link = _link_of(fulfilment)
        in_link = {name for part in link if not isinstance(part, str) for name in part[1]}
        yield f"                if (has({_joined('arguments', fulfilment.get('required', ()))})) {{"
        yield f"                    Intent intent = new Intent({java_string(_action(fulfilment))});"
        if link:
            yield f"                    intent.setData(Uri.parse({' + '.join(map(_part, link))}));"
        class_name = fulfilment.get("class")
        if class_name:
            stated = java_string(qualified_class(class_name, package))
            yield f"                    intent.setClassName(app, {stated});"
        else:
            yield "                    intent.setPackage(app);"
        for key, value in fulfilment.get("extras", {}).items():
            yield f"                    intent.putExtra({java_string(key)}, {java_string(value)});"
        extras = [key for key in fulfilment.get("parameters", ()) if key not in in_link]
        yield f"                    return put({_joined('intent, arguments', extras)});"
        yield "                }"
    yield "                break;"


def _action(fulfilment: Mapping[str, Any]) -> str:
    return str(fulfilment.get("action", NAMES["view_action"]))


def _part(part: str | tuple[str, tuple[str, ...]]) -> str:
    if isinstance(part, str):
        return java_string(part)
    return f"expand({_joined(f'arguments, {java_string(part[0])}', part[1])})"


def _joined(first: str, names: tuple[str, ...] | list[str]) -> str:
    return ", ".join([first, *map(java_string, names)])
