"""Asking the user (shim.md 3): the questions that wait, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from droidgate_mappings.text.utf16 import utf16_length
from droidgate_mappings.values.failures import Failure
from droidgate_phone.apps.shim.call_control import CallControl, Reply
from droidgate_phone.apps.shim.caller_grants import StoredGrant
from droidgate_phone.apps.shim.openers import NOT_OPENED, Opener, Opening
from droidgate_phone.apps.shim.shown_text import Texts
from droidgate_shim.engine.authority import NO_GRANT, Carrier
from droidgate_shim.engine.engine import UNANSWERED, Ask
from droidgate_shim.engine.strict_json import write_strict

CONSENT: Final = "dev.droidgate.shim.consent.ConsentActivity"
MOST_QUESTIONS: Final = 4
MOST_REFUSED: Final = 64
LONGEST_ARGUMENTS: Final = 4_000
"""UTF-16 units of arguments that somebody reads before they decide."""

REFUSED: Final = Failure("denied", "the user refused this call")
CLOSED: Final = Failure("denied", "the user closed the question about this call without an answer")
NOT_SHOWN: Final = Failure("needs_user", NOT_OPENED)
_PROTECTED_SDK: Final = 34
"""API level from which Android keeps accessibility services away from the question's buttons."""

REFUSED_MS: Final = 60_000
"""How long after a no its caller may not ask again, so that none wears the user down."""


@dataclass(slots=True, eq=False)
class Question:
    """One question.

    Attributes:
        ask: What is asked about.
        reply: The request.
        is_read_only: The capability is declared read-only.
        may_remember: The release keeps accessibility services away from the screen's buttons.
        opener: Opens its screen.
        leave: Closes the screen that shows it.
    """

    ask: Ask
    reply: Reply
    is_read_only: bool
    may_remember: bool
    opener: Opener | None = None
    leave: Callable[[], None] | None = None

    @property
    def asker(self) -> tuple[Carrier, int]:
        """Who asks; one question of each waits."""
        return self.reply.carrier, self.reply.caller.uid

    @property
    def may_always(self) -> bool:
        """Whether the user may grant the capability: to a sender, else only one that is read-only."""
        caller = self.reply.caller
        return self.may_remember and bool(caller.packages) and (caller.is_sender or self.is_read_only)


class Consent:
    """The questions that wait for the user, one shown at a time."""

    def __init__(self, control: CallControl) -> None:
        self._control = control
        self._questions: list[Question] = []
        self._refused: dict[tuple[Carrier, int], int] = {}

    def ask(self, ask: Ask, reply: Reply) -> Failure | None:
        """Ask a question; return why nobody is asked, None where the user is."""
        prepared = self._control.table.routes.get(ask.capability)
        effects = None if prepared is None else prepared.route.effects
        is_read_only = effects is not None and effects.read_only is True
        question = Question(
            ask, reply, is_read_only, may_remember=self._control.platform.sdk >= _PROTECTED_SDK
        )
        obstacle = self._obstacle(question)
        if obstacle is not None:
            return Failure("denied", obstacle)
        self._questions.append(question)
        reply.on_end.append(lambda: self._close(question))
        if self._questions[0] is question:
            self._show(question, is_seen=self._is_seen())
        return None

    def _obstacle(self, question: Question) -> str | None:
        """Return why the user is not asked, None where nothing is in the way."""
        if utf16_length(write_strict(dict(question.ask.arguments))) > LONGEST_ARGUMENTS:
            return "the arguments are too long to be shown to the user for approval"
        now = self._control.now()
        refused = self._refused.get(question.asker)
        remaining_ms = 0 if refused is None else REFUSED_MS - (now - refused)
        if remaining_ms > 0:
            return f"the user refused a call of this app a moment ago; retry in {-(-remaining_ms // 1000)} s"
        if any(other.asker == question.asker for other in self._questions):
            return "the user is being asked about another call of this app; retry after its answer"
        if len(self._questions) >= MOST_QUESTIONS:
            return "the user is being asked about too many calls; retry in 60 s"
        return None

    def hide(self, question: Question) -> None:
        """Show a question whose window the user has left by a notification."""
        if question in self._questions:
            question.leave = None
            self._show(question, is_seen=False)

    def _show(self, question: Question, *, is_seen: bool) -> None:
        opening = Opening(
            CONSENT,
            Texts.TAP_TO_DECIDE,
            (question.ask.deadline - self._control.now()) / 1000,
            lambda _: self._end(question, NOT_SHOWN),
            is_seen=is_seen,
        )
        question.opener = Opener(self._control, opening)
        question.opener.start()

    def opened(self, number: int, leave: Callable[[], None]) -> Question | None:
        """Return the question that a screen was opened for, None where it has ended; `leave` closes it."""
        question = self._questions[0] if self._questions else None
        if question is None or question.opener is None or question.opener.number != number:
            return None
        question.opener.opened()
        question.leave = leave
        return question

    def allow(self, question: Question, *, always: bool) -> None:
        """End a question with the user's yes, for this call or for all, unless it comes too late.

        While the device sleeps, nobody ends a question at its deadline.
        """
        if question not in self._questions:
            return
        refusal = None if self._control.now() < question.ask.deadline else UNANSWERED
        if refusal is None and always and question.may_always:
            refusal = NO_GRANT
            for package in question.reply.caller.packages:
                signer = package.signers[0]
                self._control.grants.add(
                    StoredGrant(package.name, signer, question.ask.capability, self._control.now())
                )
        self._end(question, refusal)

    def refuse(self, question: Question, how: Failure) -> None:
        """End a question with the user's no."""
        if question in self._questions:
            if len(self._refused) >= MOST_REFUSED:
                self._refused.clear()
            self._refused[question.asker] = self._control.now()
            self._end(question, how)

    def _end(self, question: Question, refusal: Failure | None) -> None:
        """End a question with a decision; a second end changes nothing."""
        if question in self._questions:
            self._close(question)
            self._control.decided(question.reply, refusal)

    def _close(self, question: Question) -> None:
        """Take a question away, whatever ended it, and show the next."""
        if question not in self._questions:
            return
        was_first = self._questions[0] is question
        self._questions.remove(question)
        if question.opener is not None:
            question.opener.give_up()
        if question.leave is not None:
            question.leave()
        if was_first and self._questions:
            self._show(self._questions[0], is_seen=self._is_seen())

    def _is_seen(self) -> bool:
        platform = self._control.platform
        return platform.is_interactive() and not platform.is_keyguard_shown()
