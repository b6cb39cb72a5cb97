"""The screen that asks the user about one call (shim.md 3)."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from droidgate_mappings.model.capability import Effects
from droidgate_phone.apps.shim.consent import CLOSED, REFUSED, Question
from droidgate_phone.apps.shim.openers import number_of
from droidgate_phone.apps.shim.shim_process import Shim
from droidgate_phone.apps.shim.shown_text import Texts, visible
from droidgate_phone.java.app_values import AndroidError, View
from droidgate_phone.java.intents import Intent
from droidgate_phone.system.behaviour import Activity
from droidgate_shim.engine.strict_json import write_strict

if TYPE_CHECKING:
    from droidgate_phone.java.app_values import PackageFacts
    from droidgate_phone.system.behaviour import Platform

ARMED_MS: Final = 500
_LONGEST_LABEL: Final = 40
_LONGEST_NAME: Final = 48
_FIRST_HIDING_OVERLAYS: Final = 31


def hide_overlays(platform: Platform) -> None:
    """Keep what others draw away from a screen that decides something, where Android can (31)."""
    if platform.sdk >= _FIRST_HIDING_OVERLAYS:
        # Without the permission, taps through other windows allow nothing all the same.
        with contextlib.suppress(AndroidError):
            platform.hide_overlay_windows()


class ConsentActivity(Activity):
    """Shows who asks for what, and takes the answer."""

    question: Question | None = None
    shown_at = 0.0
    is_covered = False
    shows_details = False

    def on_create(self, intent: Intent) -> None:
        """Show the question that it was opened for."""
        self.question = Shim.of(self.context).consent.opened(number_of(intent), self.leave)
        self.shown_at = self.context.now()
        if self.question is None:
            self.finish()
            return
        hide_overlays(self.context.platform)

    def view(self) -> View | None:
        """Return who wants what, the exact arguments, and the answers."""
        question = self.question
        if question is None:
            return View("column")
        shim = Shim.of(self.context)
        capability, arguments = question.ask.capability, question.ask.arguments
        effects = shim.table.routes[capability].route.effects
        views = [*_asking_views(shim, question), View("text", "effect", _effect_text(effects))]
        caption = Texts.ARGUMENTS if arguments else Texts.NO_ARGUMENTS
        lines = [line for name, value in arguments.items() for line in (name, write_strict(value))]
        views += [View("text", "arguments_label", caption)]
        views += [View("text", "arguments", "\n".join(map(visible, lines)))]
        views += [*_description_views(shim, capability), *self._detail_views(question)]
        if self.is_covered:
            views.append(View("text", "covered", Texts.COVERED))
        buttons = [View("button", "deny", Texts.DENY), View("button", "once", Texts.ONCE)]
        if question.may_always:
            buttons.append(View("button", "always", Texts.ALWAYS))
        views.append(View("row", "answers", children=tuple(buttons)))
        return View("column", children=tuple(views))

    def _detail_views(self, question: Question) -> list[View]:
        if not self.shows_details:
            return [View("button", "details", Texts.DETAILS)]
        packages = question.reply.caller.packages
        whole = [text for each in packages for text in (each.name, each.signers[0] if each.signers else "?")]
        target = Shim.of(self.context).table.routes[question.ask.capability].route.target
        return [View("text", "details", "\n".join([*whole, target.package, target.signer]))]

    def on_click(self, view_id: str) -> None:
        """Take an answer, unless nobody can have read the question, or another window covers it."""
        if view_id == "details":
            self.shows_details = True
            return
        question = self.question
        is_armed = self.context.now() - self.shown_at >= ARMED_MS / 1000
        if question is None or not is_armed:
            return
        consent = Shim.of(self.context).consent
        if view_id == "deny":
            consent.refuse(question, REFUSED)
        elif view_id in ("once", "always"):
            self.is_covered = self.is_touch_obscured
            if not self.is_covered and (view_id == "once" or question.may_always):
                consent.allow(question, always=view_id == "always")

    def leave(self) -> None:
        """Leave the screen: its question has ended."""
        self.question = None
        self.context.platform.finish_activity()

    def on_stop(self) -> None:
        """Let the question wait in a notification: what is left, as by Home, nobody finds again."""
        question = self.question
        if question is not None:
            self.leave()
            Shim.of(self.context).consent.hide(question)

    def on_destroy(self) -> None:
        """Take leaving the screen as a no."""
        if self.question is not None:
            Shim.of(self.context).consent.refuse(self.question, CLOSED)


def _asking_views(shim: Shim, question: Question) -> list[View]:
    """Return who wants what, and of a start which app receives the answer."""
    caller, capability = question.reply.caller, question.ask.capability
    target = shim.table.routes[capability].route.target.package
    target_package = shim.platform.find_package(target)
    is_named = caller.is_sender and bool(caller.packages)
    words = [
        *(_label_of(caller.packages[0]) if is_named else Texts.UNNAMED_CALLER, Texts.WANTS),
        *(_shortened(visible(capability)), Texts.OF),
        _shortened(target) if target_package is None else _label_of(target_package),
    ]
    views = [View("text", "question", "".join(words))]
    if caller.packages and not is_named:
        views.append(View("text", "receiver", f"{Texts.RECEIVER}{_label_of(caller.packages[0])}"))
    if caller.packages:
        views.append(View("text", "package", _shortened(caller.packages[0].name)))
    if len(caller.packages) > 1:
        views.append(View("text", "others", Texts.OTHERS % (len(caller.packages) - 1)))
    return views


def _shortened(name: str) -> str:
    """Return a name without its middle where it is longer than anybody reads."""
    half = _LONGEST_NAME // 2
    return name if len(name) <= _LONGEST_NAME else f"{name[:half]}\u2026{name[-half:]}"


def _label_of(package: PackageFacts) -> str:
    label = package.label
    return visible(label if len(label) <= _LONGEST_LABEL else f"{label[:_LONGEST_LABEL]}\u2026")


def _description_views(shim: Shim, capability: str) -> list[View]:
    """Return what the app behind a capability says about it, as its words."""
    texts = shim.app.get("capabilities")
    declared = texts.get(capability) if isinstance(texts, dict) else None
    declared_texts = (
        [declared.get(name) for name in ("title", "description")] if isinstance(declared, dict) else []
    )
    quoted = [f"\u201c{visible(text)}\u201d" for text in declared_texts if isinstance(text, str)]
    views = [View("text", "said_label", Texts.APP_SAYS)] if quoted else []
    return [*views, *(View("text", f"said_{number}", text) for number, text in enumerate(quoted))]


def _effect_text(effects: Effects | None) -> str:
    if effects is None:
        return Texts.EFFECT_UNKNOWN
    if effects.read_only:
        return Texts.READS
    if effects.destructive:
        return Texts.DELETES
    return Texts.CHANGES if effects.read_only is False else Texts.EFFECT_UNKNOWN
