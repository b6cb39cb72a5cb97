"""Asking the user (docs/shim.md 3): questions that wait, and the screen that shows one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from droidgate.calls.failures import Failure
from droidgate.parsing.manifest_limits import utf16_length
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
LONGEST_ARGUMENTS: Final = 4_000
"""UTF-16 units of arguments that somebody reads before they decide."""

REFUSED: Final = Failure("denied", "the user refused this call")
CLOSED: Final = Failure("denied", "the user closed the question about this call without an answer")
UNANSWERED: Final = Failure(
    "needs_user",
    "nobody answered the question about this call on the phone; retry when somebody is there",
)
LOCKED: Final = Failure(
    "needs_user", "the phone is locked, so nobody could be asked about this call; unlock it and retry"
)
_CERTIFICATE_DIGITS: Final = 8


@dataclass(slots=True, eq=False)
class Question:
    """One question.

    Attributes:
        asked: What is asked for.
        origin: By whom.
        is_named: Android names the caller.
        then: Goes on with the request: with the failure of one that is not allowed, with None for a yes.
        opener: Opens its screen.
        screen: The screen that shows it.
        stop: Cancels its end.
    """

    asked: Preview
    origin: Origin
    is_named: bool
    then: Callable[[Failure | None], None]
    opener: Opener | None = None
    screen: ConsentActivity | None = None
    stop: Callable[[], None] | None = None


class ConsentDesk:
    """The questions that wait for the user, one shown at a time."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._questions: list[Question] = []
        self._refused: dict[int, int] = {}

    def ask(
        self, asked: Preview, origin: Origin, carrier: Carrier, then: Callable[[Failure | None], None]
    ) -> Failure | None:
        """Ask a question; return why nobody is asked, None where the user is."""
        obstacle = self._obstacle(origin.uid, asked)
        if obstacle is not None:
            return Failure("denied", obstacle)
        question = Question(asked, origin, carrier == "bind" and bool(origin.packages), then)
        self._questions.append(question)
        question.stop = self._core.platform.after(QUESTION_SECONDS, lambda: self.end(question, UNANSWERED))
        if self._questions[0] is question:
            self._show(question)
        return None

    def _obstacle(self, uid: int, asked: Preview) -> str | None:
        """Return why the user is not asked, None where nothing is in the way."""
        if utf16_length(write_strict(dict(asked.arguments))) > LONGEST_ARGUMENTS:
            return "the arguments are too long to be shown to the user for approval"
        refused = self._refused.get(uid)
        left = 0 if refused is None else round(QUESTION_SECONDS * 1000) - (self._core.now() - refused)
        if left > 0:
            return f"the user refused a call of this app a moment ago; retry in {-(-left // 1000)} s"
        if any(one.origin.uid == uid for one in self._questions):
            return "the user is being asked about another call of this app; retry after its answer"
        if len(self._questions) >= MOST_QUESTIONS:
            return "the user is being asked about too many calls; retry in 60 s"
        return None

    def refuse(self, question: Question, how: Failure) -> None:
        """End a question with the user's no."""
        if question in self._questions:
            self._refused[question.origin.uid] = self._core.now()
        self.end(question, how)

    def _show(self, question: Question) -> None:
        wanted = Wanted(
            CONSENT,
            "An app asks for a tool",
            f"Tap to decide about {question.asked.capability}",
            QUESTION_SECONDS,
            lambda _: self.end(question, UNANSWERED),
        )
        if self._core.platform.is_locked():
            self.end(question, LOCKED)
            return
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

    def allow(self, question: Question, *, always: bool) -> None:
        """End a question with the user's yes, for this call or for all."""
        if question in self._questions and always and question.is_named:
            for one in question.origin.packages:
                grant = Grant(one.name, one.signers[0], question.asked.capability, self._core.now())
                self._core.grants.add(grant)
        self.end(question, None)

    def end(self, question: Question, refusal: Failure | None) -> None:
        """End a question, with None for a yes; a second end changes nothing."""
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
        question.then(refusal)
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
            desk.refuse(question, REFUSED)
        else:
            desk.allow(question, always=view_id == "always")

    def on_destroy(self) -> None:
        """Take leaving the screen as a no."""
        if self.question is not None:
            core_of(self.context).desk.refuse(self.question, CLOSED)


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
