"""The screen that asks the user about one call (shim.md 3): who, what and the answers.

What else the shim's own screen shows, and how it keeps other windows away, is in its Java classes only.
"""

from __future__ import annotations

from typing import Final

from droidgate_phone.apps.shim.consent import CLOSED, REFUSED, Question
from droidgate_phone.apps.shim.openers import number_of
from droidgate_phone.apps.shim.shim_process import Shim
from droidgate_phone.apps.shim.shown_text import Texts
from droidgate_phone.java.app_values import View
from droidgate_phone.java.intents import Intent
from droidgate_phone.system.behaviour import Activity
from droidgate_shim.engine.strict_json import write_strict

ARMED_MS: Final = 500


class ConsentActivity(Activity):
    """Shows who asks for what, and takes the answer."""

    question: Question | None = None
    shown_at = 0.0

    def on_create(self, intent: Intent) -> None:
        """Show the question that it was opened for."""
        self.question = Shim.of(self.context).consent.opened(number_of(intent), self.leave)
        self.shown_at = self.context.now()
        if self.question is None:
            self.finish()

    def view(self) -> View | None:
        """Return who wants what, the exact arguments, and the answers."""
        question = self.question
        if question is None:
            return View("column")
        shim = Shim.of(self.context)
        capability, arguments = question.ask.capability, question.ask.arguments
        caller, target = question.reply.caller, shim.table.routes[capability].route.target.package
        asker = caller.packages[0].name if caller.is_sender and caller.packages else Texts.UNNAMED_CALLER
        lines = [line for name, value in arguments.items() for line in (name, write_strict(value))]
        buttons = [View("button", "deny", Texts.DENY), View("button", "once", Texts.ONCE)]
        if question.may_always:
            buttons.append(View("button", "always", Texts.ALWAYS))
        views = (
            View("text", "question", f"{asker}{Texts.WANTS}{capability}{Texts.OF}{target}"),
            View("text", "arguments_label", Texts.ARGUMENTS if arguments else Texts.NO_ARGUMENTS),
            View("text", "arguments", "\n".join(lines)),
            View("row", "answers", children=tuple(buttons)),
        )
        return View("column", children=views)

    def on_click(self, view_id: str) -> None:
        """Take an answer, unless nobody can have read the question."""
        question = self.question
        is_armed = self.context.now() - self.shown_at >= ARMED_MS / 1000
        if question is None or not is_armed:
            return
        consent = Shim.of(self.context).consent
        if view_id == "deny":
            consent.refuse(question, REFUSED)
        elif view_id == "once" or (view_id == "always" and question.may_always):
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
