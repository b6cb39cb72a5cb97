"""The user's screen: grants with revoke, a switch for each capability, and the history with clear."""

from __future__ import annotations

from droidgate_shim.engine.authority import EVERYTHING
from droidgate_shim.phone.apps.behaviour import Activity
from droidgate_shim.phone.apps.shim.core import core_of
from droidgate_shim.phone.screen.views import View

_SHOWN_CALLS = 20


class ManageActivity(Activity):
    """What the user sees and changes; views are numbered in the order in which they are shown."""

    def view(self) -> View:
        """Return grants, switches and history."""
        core = core_of(self.context)
        children = [View("switch", "asking", "Ask me about new callers", checked=core.settings.asking)]
        for number, grant in enumerate(core.grants.all()):
            what = "everything" if grant.capability == EVERYTHING else grant.capability
            children.append(View("text", f"grant_{number}", f"{grant.package or 'any app'}: {what}"))
            children.append(View("button", f"revoke_{number}", "Revoke"))
        for number, capability in enumerate(core.table.routes):
            on = capability not in core.settings.switched_off
            children.append(View("switch", f"switch_{number}", capability, checked=on))
        for number, one in enumerate(reversed(core.history.all()[-_SHOWN_CALLS:])):
            if isinstance(one, dict):
                came = f"{one['caller'] or 'unknown'}: {one['capability']}"
                shown = f"{came}: {one['token'] or 'done'} ({one['ms']} ms)"
                children.append(View("text", f"call_{number}", shown))
        children.append(View("button", "clear", "Clear the history"))
        return View("column", children=tuple(children))

    def on_click(self, view_id: str) -> None:
        """Revoke, switch or clear."""
        core = core_of(self.context)
        name, _, number = view_id.partition("_")
        if view_id == "clear":
            core.history.clear()
        elif view_id == "asking":
            core.settings.ask(on=not core.settings.asking)
        elif name == "revoke" and number.isdecimal() and int(number) < len(core.grants.all()):
            grant = core.grants.all()[int(number)]
            core.grants.remove(grant.package, grant.capability)
        elif name == "switch" and number.isdecimal() and int(number) < len(core.table.routes):
            capability = list(core.table.routes)[int(number)]
            core.settings.switch(capability, on=capability in core.settings.switched_off)
