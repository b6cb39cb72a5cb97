"""How a shim opens the screens of App Actions (shim.md): each fulfilment as an intent with gaps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.apk_budgets import MAX_XML_BYTES
from droidgate_android.apk.declared_digests import entry_behind, events_of_entry, recipe_digest
from droidgate_android.apk.reader import Apk
from droidgate_app_actions.format import ENTITY_LINK, NAMES
from droidgate_app_actions.fulfilment_targets import listed_values, starting_facts
from droidgate_app_actions.read import find_action_files
from droidgate_app_actions.url_templates import OPERATORS, LinkError, Template, parse_template
from droidgate_mappings.formats.application import Component
from droidgate_mappings.formats.shim_backend import ShimBackend
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.names import qualified_class

_XML: Final = "@xml/"
_FLAGS: Final = "0x10008000"
"""NEW_TASK, and CLEAR_TASK, without which an open screen only comes to the front, with its old extras."""
_Facts = Mapping[str, Any]


class AppActionBackend(ShimBackend[Apk]):
    """Calls of activities that report nothing."""

    def digest(self, apk: Apk, component: Component) -> str:
        """Return the digest of the files that the app's manifest names, whichever component starts.

        Raises:
            InputError: one cannot be read.
        """
        del component
        named = [each for each in find_action_files(read_application(apk)) if each.reference.startswith(_XML)]
        events = []
        for each in named:
            archive, entry = entry_behind(apk, each.reference, each.meta_data)
            events.append(events_of_entry(apk, archive, entry, archive.read_entry(entry, MAX_XML_BYTES)))
        names = ",".join(each.reference.removeprefix(_XML) for each in named)
        return recipe_digest(f"xml({names})", b"".join(events))

    def target(self, provider: Provider, capability: Capability) -> Mapping[str, Json]:
        """Return the intents of the fulfilments that a shim may start, in order.

        Raises:
            InputError: there is none; the message says why.
        """
        inventory = listed_values(capability)
        package = provider.package or ""
        starts: list[Json] = []
        reason = "it has no fulfilment that starts an activity"
        for fulfilment in starting_facts(capability):
            for needs, starting, is_filled in _choices(fulfilment, inventory):
                closed = starting.get("closed_because")
                if closed:
                    reason = f"what it starts is closed to other apps: {closed}"
                    continue
                try:
                    intent = _intent(starting, fulfilment.get("parameters", ()) if is_filled else (), package)
                except LinkError as error:
                    reason = str(error)
                    continue
                starts.append({"needs": dict(needs), "intent": intent})
        if not starts:
            raise InputError(reason)
        values: dict[str, Json] = {name: ids for name, items in inventory.items() if (ids := _ids(items))}
        return {
            "kind": "app-action",
            "package": package,
            "action": capability.id,
            "values": values,
            "starts": starts,
        }


def _choices(
    fulfilment: _Facts, inventory: Mapping[str, Mapping[str, _Facts]]
) -> Iterator[tuple[Mapping[str, Json], _Facts, bool]]:
    """Yield what a fulfilment needs, what it then starts, and whether that takes the arguments.

    A listed value with a link or an intent of its own is a start of its own.
    """
    needs: dict[str, Json] = dict.fromkeys(fulfilment.get("required", ()))
    keys = [key for key in fulfilment.get("parameters", ()) if key in inventory]
    for key in fulfilment.get("match_required", ()):
        if key in keys and key in needs:
            needs[key] = list(inventory[key])
    if fulfilment["kind"] == "shortcut" and keys:
        for value, item in inventory[keys[0]].items():
            if "starts" in item:
                yield {**needs, keys[0]: [value]}, item["starts"], False
    elif fulfilment.get("template") == ENTITY_LINK:
        for key in keys:
            for value, item in inventory[key].items():
                if "url" in item:
                    filled = {name: fact for name, fact in fulfilment.items() if name != "template"}
                    yield {**needs, key: [value]}, {**filled, "data": item["url"], "linked": key}, True
    else:
        yield needs, fulfilment, fulfilment["kind"] != "shortcut"


def _ids(items: Mapping[str, _Facts]) -> dict[str, Json]:
    """Return the ids of listed values by their other names, in small letters; an id that is one is itself."""
    ids: dict[str, Json] = {}
    for value, item in items.items():
        for name in item.get("names", ()):
            ids.setdefault(name.lower(), value)
    return ids | {value: value for value in items if value.lower() in ids}


def _intent(starting: _Facts, keys: Iterable[str], package: str) -> list[Json]:
    """Return an intent as `Intent.parseUri` reads it, with a gap for each parameter.

    Raises:
        LinkError: its link is not opened.
    """
    template = starting.get("template")
    link: Template = parse_template(template, starting.get("data"))
    parts: list[Json] = []
    for part in link:
        if isinstance(part, str):
            parts.append(part)
            continue
        first, separator, is_named = OPERATORS[part[0]]
        # A text between two expressions begins the second anew.
        parts.append("")
        for name in part[1]:
            named = f"{name}=" if is_named else ""
            parts.append([name, first + named, separator + named])
    used = {starting.get("linked"), *(name for part in link if not isinstance(part, str) for name in part[1])}
    class_name, action = starting.get("class"), starting.get("action", NAMES["view_action"])
    # Android 13 refuses a class with an action that no filter of it has; no action passes everywhere.
    fixed = {"action": "" if starting.get("action_unmatched") else action, "launchFlags": _FLAGS}
    if class_name:
        fixed["component"] = f"{package}/{qualified_class(class_name, package)}"
    else:
        fixed["package"] = package
    fixed.update({f"S.{_encoded(key)}": value for key, value in starting.get("extras", {}).items()})
    parts.append("#Intent" + "".join(f";{key}={_encoded(value)}" for key, value in fixed.items()))
    for key in keys:
        if key not in used:
            before = f";S.{_encoded(key)}="
            parts.append([key, before, before])
    return [*parts, ";end"]


def _encoded(text: str) -> str:
    return quote(text, safe="/", errors="replace")
