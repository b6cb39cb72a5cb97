"""How a shim opens the screens of App Actions (shim.md): each fulfilment as an intent with gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from droidgate_android.apk.apk_budgets import MAX_XML_BYTES
from droidgate_app_actions.format import NAMES
from droidgate_app_actions.fulfilment_targets import Facts, choices, ids_by_name, listed_values
from droidgate_app_actions.read import find_action_files
from droidgate_app_actions.url_templates import OPERATORS, Template, parse_template
from droidgate_mappings.formats.application import Component
from droidgate_mappings.formats.shim_backend import ShimBackend
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.names import qualified_class

if TYPE_CHECKING:
    from droidgate_android.apk.reader import Apk

_XML: Final = "@xml/"
_FLAGS: Final = "0x10008000"
"""NEW_TASK, and CLEAR_TASK, without which an open screen only comes to the front, with its old extras."""


class AppActionBackend(ShimBackend["Apk"]):
    """Calls of activities that report nothing."""

    def digest(self, apk: Apk, component: Component) -> str:
        """Return the digest of the files that the app's manifest names, whichever component starts.

        Raises:
            InputError: one cannot be read.
        """
        from droidgate_android.apk.apk_application import read_application
        from droidgate_android.apk.declared_digests import entry_behind, events_of_entry, recipe_digest

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
        for choice in choices(capability):
            if choice.obstacle is not None:
                reason = choice.obstacle
                continue
            intent = _intent(choice.starts, choice.passed, package)
            starts.append({"needs": dict(choice.needs), "intent": intent})
        if not starts:
            raise InputError(reason)
        values: dict[str, Json] = {
            name: ids for name, items in inventory.items() if (ids := ids_by_name(items))
        }
        return {
            "kind": "app-action",
            "package": package,
            "action": capability.id,
            "values": values,
            "starts": starts,
        }


def _intent(starting: Facts, keys: Sequence[str], package: str) -> list[Json]:
    """Return an intent as `Intent.parseUri` reads it, with a gap for each parameter."""
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
        for name in filter(keys.__contains__, part[1]):
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
