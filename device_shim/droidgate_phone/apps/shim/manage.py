"""The user's screen: grants with revoke, a switch for each capability, and the history with clear."""

from __future__ import annotations

from typing import Final

from droidgate_phone.app_api.behaviour import Activity
from droidgate_phone.app_api.views import View
from droidgate_phone.apps.shim.consent_screen import hide_overlays
from droidgate_phone.apps.shim.process import core_of
from droidgate_phone.apps.shim.shown_text import visible
from droidgate_phone.intents import Intent
from droidgate_shim.engine.authority import EVERYTHING

_SHOWN_CALLS: Final = 20
_POST_NOTIFICATIONS: Final = "android.permission.POST_NOTIFICATIONS"
_FIRST_ASKING_FOR_NOTIFICATIONS: Final = 33


class ManageActivity(Activity):
    """What the user sees and changes; views are numbered in the order in which they are shown."""

    def on_create(self, intent: Intent) -> None:
        """Ask for notifications: a question to the user is one where no window may open."""
        del intent
        hide_overlays(self.context.platform)
        if core_of(self.context).table.routes:
            self._ask_for_notifications()

    def _lacks_notifications(self) -> bool:
        platform = self.context.platform
        return platform.sdk >= _FIRST_ASKING_FOR_NOTIFICATIONS and not platform.holds(_POST_NOTIFICATIONS)

    def _ask_for_notifications(self) -> None:
        if self._lacks_notifications():
            self.context.platform.request_permissions(_POST_NOTIFICATIONS)

    def view(self) -> View:
        """Return grants, switches and history."""
        core = core_of(self.context)
        children = [View("switch", "asking", "Ask me about new callers", checked=core.settings.asking)]
        for number, grant in enumerate(core.grants.all()):
            what = "everything" if grant.capability == EVERYTHING else grant.capability
            text = visible(f"{grant.package or 'any app'}: {what}")
            children.append(View("text", f"grant_{number}", text))
            children.append(View("button", f"revoke_{number}", "Revoke"))
        if self._lacks_notifications():
            text = "Off: you cannot be asked about calls while another app is open."
            children.append(View("text", "notifications", text))
            children.append(View("button", "allow_notifications", "Allow notifications"))
        for number, capability in enumerate(core.table.routes):
            on = capability not in core.settings.switched_off
            children.append(View("switch", f"switch_{number}", visible(capability), checked=on))
        for number, call in enumerate(reversed(core.history.all()[-_SHOWN_CALLS:])):
            if isinstance(call, dict):
                asked = visible(f"{call['caller'] or 'unknown'}: {call['capability']}")
                text = f"{asked}: {call['token'] or 'done'} ({call['ms']} ms)"
                children.append(View("text", f"call_{number}", text))
        children.append(View("button", "clear", "Clear the history"))
        return View("column", children=tuple(children))

    def on_click(self, view_id: str) -> None:
        """Revoke, switch or clear, unless another window covers the screen."""
        if self.is_touch_obscured:
            return
        core = core_of(self.context)
        name, _, number = view_id.partition("_")
        if view_id == "clear":
            core.history.clear()
        elif view_id == "asking":
            core.settings.ask(on=not core.settings.asking)
        elif view_id == "allow_notifications":
            self._ask_for_notifications()
        elif name == "revoke" and number.isdecimal() and int(number) < len(core.grants.all()):
            grant = core.grants.all()[int(number)]
            core.grants.remove(grant.package, grant.capability)
        elif name == "switch" and number.isdecimal() and int(number) < len(core.table.routes):
            capability = list(core.table.routes)[int(number)]
            core.settings.switch(capability, on=capability in core.settings.switched_off)
