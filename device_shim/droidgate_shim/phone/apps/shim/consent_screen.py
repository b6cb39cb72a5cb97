"""The screen that asks the user about one call (docs/shim.md 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from droidgate.model.capability import Effects
from droidgate_shim.engine.routes import Route
from droidgate_shim.engine.strict_json import write_strict
from droidgate_shim.phone.apps.behaviour import Activity, AndroidError
from droidgate_shim.phone.apps.shim.consent import CLOSED, REFUSED, Question
from droidgate_shim.phone.apps.shim.core import Core, core_of
from droidgate_shim.phone.apps.shim.openers import number_of
from droidgate_shim.phone.apps.shim.shown_text import visible
from droidgate_shim.phone.intents import Intent
from droidgate_shim.phone.screen.views import View

if TYPE_CHECKING:
    from droidgate_shim.phone.apps.platform import PackageFacts

ARMED_SECONDS: Final = 0.5
UNKNOWN_APP: Final = "an unknown app"
COVERED: Final = "Another app covers this screen: only Deny works. Close the other app first."
_CERTIFICATE_DIGITS: Final = 8
_LONGEST_LABEL: Final = 100
_FIRST_HIDING_OVERLAYS: Final = 31


class ConsentActivity(Activity):
    """Shows who asks for what, and takes the answer."""

    question: Question | None = None
    shown_at = 0.0
    is_covered = False

    def on_create(self, intent: Intent) -> None:
        """Show the question that it was opened for."""
        self.question = core_of(self.context).desk.opened(number_of(intent), self)
        self.shown_at = self.context.now()
        if self.question is None:
            self.finish()
            return
        self._hide_overlays()

    def _hide_overlays(self) -> None:
        if self.context.platform.sdk < _FIRST_HIDING_OVERLAYS:
            return
        try:
            self.context.platform.hide_overlay_windows()
        except AndroidError:
            # Taps through other windows are ignored all the same.
            return

    def view(self) -> View | None:
        """Return caller, capability, app and the exact arguments, and the answers."""
        question = self.question
        if question is None:
            return View("column")
        shown = [View("text", "title", "Allow this call?"), *_caller_views(question)]
        shown += _capability_views(core_of(self.context), question)
        arguments = visible(write_strict(dict(question.ask.arguments)))
        shown += [View("text", "arguments_label", "With"), View("text", "arguments", arguments)]
        if self.is_covered:
            shown.append(View("text", "covered", COVERED))
        shown += [View("button", "deny", "Deny"), View("button", "once", "Once")]
        if question.may_always:
            shown.append(View("button", "always", "Always"))
        return View("column", children=tuple(shown))

    def on_click(self, view_id: str) -> None:
        """Take an answer, unless nobody can have read the question, or another window covers it."""
        question = self.question
        is_armed = self.context.now() - self.shown_at >= ARMED_SECONDS
        if question is None or not is_armed:
            return
        desk = core_of(self.context).desk
        if view_id == "deny":
            desk.refuse(question, REFUSED)
        elif view_id in ("once", "always"):
            self.is_covered = self.is_touch_obscured
            if not self.is_covered and (view_id == "once" or question.may_always):
                desk.allow(question, always=view_id == "always")

    def leave(self) -> None:
        """Leave the screen: its question has ended."""
        self.question = None
        self.context.platform.finish_activity()

    def on_destroy(self) -> None:
        """Take leaving the screen as a no."""
        if self.question is not None:
            core_of(self.context).desk.refuse(self.question, CLOSED)


def _caller_views(question: Question) -> list[View]:
    origin = question.receipt.origin
    named = "\n".join(map(_app_text, origin.packages)) or UNKNOWN_APP
    shown = [View("text", "caller_label", "Called by")]
    if origin.is_sender:
        return [*shown, View("text", "caller", named)]
    receiver = [View("text", "receiver_label", "The answer goes to"), View("text", "receiver", named)]
    return [*shown, View("text", "caller", UNKNOWN_APP), *receiver]


def _app_text(package: PackageFacts) -> str:
    digits = package.signers[0][:_CERTIFICATE_DIGITS] if package.signers else "unsigned"
    return f"{_label_of(package)}\n{package.name} \u00b7 {digits}"


def _label_of(package: PackageFacts) -> str:
    return visible(package.label[:_LONGEST_LABEL])


def _capability_views(core: Core, question: Question) -> list[View]:
    """Return what the source app declares about the capability, what it does, its id, and the app."""
    capability = question.ask.capability
    texts = core.app.get("capabilities")
    declared = texts.get(capability) if isinstance(texts, dict) else None
    shown = [View("text", "capability_label", "Capability")]
    for name in ("title", "description"):
        text = declared.get(name) if isinstance(declared, dict) else None
        if isinstance(text, str):
            shown.append(View("text", f"capability_{name}", visible(text)))
    route = core.table.routes[capability].route
    shown.append(View("text", "effect", _effect_text(route.effects)))
    shown.append(View("text", "capability", visible(capability)))
    return [
        *shown,
        View("text", "source_label", "Of the app"),
        View("text", "source_app", _source(core, route)),
    ]


def _effect_text(effects: Effects | None) -> str:
    if effects is None:
        return "May change something"
    if effects.read_only:
        return "Only reads"
    if effects.destructive:
        return "May delete or overwrite something"
    return "Changes something" if effects.read_only is False else "May change something"


def _source(core: Core, route: Route) -> str:
    name = route.target.package
    found = core.platform.find_package(name)
    return f"{name if found is None else _label_of(found)}\n{name}"
