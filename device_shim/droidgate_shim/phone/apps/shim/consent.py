"""Asking the user (docs/shim.md 3): questions that wait, and the screen that shows one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from droidgate_shim.engine.authority import Carrier
from droidgate_shim.engine.engine import Preview
from droidgate_shim.engine.strict_json import write_strict
from droidgate_shim.phone.apps.behaviour import Activity
from droidgate_shim.phone.apps.shim.core import core_of
from droidgate_shim.phone.apps.shim.identity import Grant, Origin
from droidgate_shim.phone.apps.shim.openers import Opener, Wanted, number_of
from droidgate_shim.phone.intents import Intent
from droidgate_shim.phone.screen.views import View

if TYPE_CHECKING:
    from droidgate_shim.phone.apps.shim.core import Core

CONSENT: Final = "dev.droidgate.shim.ConsentActivity"
MOST_QUESTIONS: Final = 4
QUESTION_SECONDS: Final = 60.0
ARMED_SECONDS: Final = 0.5
_CERTIFICATE_DIGITS: Final = 8


@dataclass(slots=True, eq=False)
class Question:
    """One question.

    Attributes:
        asked: What is asked for.
        origin: By whom.
        is_named: Android names the caller.
        then: Goes on with the request, approved or not.
        opener: Opens its screen.
        screen: The screen that shows it.
        stop: Cancels its end.
    """

    asked: Preview
    origin: Origin
    is_named: bool
    then: Callable[[bool], None]
    opener: Opener | None = None
    screen: ConsentActivity | None = None
    stop: Callable[[], None] | None = None


class ConsentDesk:
    """The questions that wait for the user, one shown at a time."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._questions: list[Question] = []
        self._refused: dict[int, int] = {}

    def ask(self, asked: Preview, origin: Origin, carrier: Carrier, then: Callable[[bool], None]) -> bool:
        """Put a question; false where there is no room for it, and nobody will be asked."""
        if len(self._questions) >= MOST_QUESTIONS or self._is_heard(origin.uid):
            return False
        question = Question(asked, origin, carrier == "bind" and bool(origin.packages), then)
        self._questions.append(question)
        question.stop = self._core.platform.after(QUESTION_SECONDS, lambda: self.answer(question, "deny"))
        if self._questions[0] is question:
            self._show(question)
        return True

    def _is_heard(self, uid: int) -> bool:
        """Tell whether a caller's question waits, or was refused so lately that another is a nuisance."""
        refused = self._refused.get(uid)
        is_too_soon = refused is not None and self._core.now() - refused < QUESTION_SECONDS * 1000
        return is_too_soon or any(one.origin.uid == uid for one in self._questions)

    def refuse(self, question: Question) -> None:
        """End a question with the user's no."""
        if question in self._questions:
            self._refused[question.origin.uid] = self._core.now()
        self.answer(question, "deny")

    def _show(self, question: Question) -> None:
        wanted = Wanted(
            CONSENT,
            "An app asks for a tool",
            f"Tap to decide about {question.asked.capability}",
            QUESTION_SECONDS,
            lambda _: self.answer(question, "deny"),
        )
        question.opener = Opener(self._core, wanted)
        question.opener.start()

    def opened(self, number: int, screen: ConsentActivity) -> Question | None:
        """Return the question that a screen was opened for, None where it was answered."""
        question = self._questions[0] if self._questions else None
        if question is None or question.opener is None or question.opener.number != number:
            return None
        question.opener.opened()
        question.screen = screen
        return question

    def answer(self, question: Question, answer: str) -> None:
        """End a question with `deny`, `once` or `always`; a second answer changes nothing."""
        if question not in self._questions:
            return
        was_first = self._questions[0] is question
        self._questions.remove(question)
        if question.stop is not None:
            question.stop()
        if question.opener is not None:
            question.opener.give_up()
        if question.screen is not None:
            question.screen.context.platform.finish_activity()
        if answer == "always" and question.is_named:
            for one in question.origin.packages:
                grant = Grant(one.name, one.signers[0], question.asked.capability, self._core.now())
                self._core.grants.add(grant)
        question.then(answer in ("once", "always"))
        if was_first and self._questions:
            self._show(self._questions[0])


class ConsentActivity(Activity):
    """Shows who asks for what, and takes the answer."""

    question: Question | None = None
    shown_at = 0.0

    def on_create(self, intent: Intent) -> None:
        """Show the question that it was opened for."""
        self.question = core_of(self.context).desk.opened(number_of(intent), self)
        self.shown_at = self.context.now()
        if self.question is None:
            self.finish()

    def view(self) -> View | None:
        """Return caller, capability, app and the exact arguments, and the answers."""
        question = self.question
        if question is None:
            return View("column")
        source = _source_of(core_of(self.context), question.asked.capability)
        shown = [
            View("text", "title", "Allow this call?"),
            *_caller_views(question),
            View("text", "capability", question.asked.capability),
            View("text", "source_app", source),
            View("text", "arguments", write_strict(dict(question.asked.arguments))),
            View("button", "deny", "Deny"),
            View("button", "once", "Once"),
        ]
        if question.is_named:
            shown.append(View("button", "always", "Always"))
        return View("column", children=tuple(shown))

    def on_click(self, view_id: str) -> None:
        """Take an answer, unless it comes before anybody can have read the question."""
        is_armed = self.context.now() - self.shown_at >= ARMED_SECONDS
        question = self.question
        if question is None or not is_armed or view_id not in ("deny", "once", "always"):
            return
        if view_id == "always" and not question.is_named:
            return
        desk = core_of(self.context).desk
        if view_id == "deny":
            desk.refuse(question)
        else:
            desk.answer(question, view_id)

    def on_destroy(self) -> None:
        """Take leaving the screen as a no."""
        if self.question is not None:
            core_of(self.context).desk.refuse(self.question)


def _caller_views(question: Question) -> list[View]:
    if not question.is_named:
        return [View("text", "caller", "an app that Android does not name")]
    shown = [
        f"{one.label} ({one.name}, {one.signers[0][:_CERTIFICATE_DIGITS] if one.signers else 'unsigned'})"
        for one in question.origin.packages
    ]
    return [View("text", "caller", one) for one in shown]


def _source_of(core: Core, capability: str) -> str:
    prepared = core.table.routes.get(capability)
    if prepared is None:
        return ""
    package = prepared.route.target.package
    found = core.platform.find_package(package)
    return package if found is None else f"{found.label} ({package})"
