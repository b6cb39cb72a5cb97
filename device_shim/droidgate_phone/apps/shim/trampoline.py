"""The activity that starts an mMCP activity for its result (docs/shim.md 4)."""

from __future__ import annotations

from droidgate_phone.app_api.behaviour import Activity
from droidgate_phone.app_api.values import ActivityResult, AndroidError
from droidgate_phone.apps.shim.openers import number_of
from droidgate_phone.apps.shim.process import core_of
from droidgate_phone.apps.shim.screen import ScreenCall
from droidgate_phone.intents import Intent


class TrampolineActivity(Activity):
    """Starts one tool for its result; shows nothing of its own."""

    call: ScreenCall | None = None

    def on_create(self, intent: Intent) -> None:
        """Start the tool of the call that it was opened for."""
        core = core_of(self.context)
        self.call = call = core.screen.opened(number_of(intent), self.end)
        if call is None:
            self.finish()
            return
        if not core.may_leave(call.send, call.receipt):
            return
        begun = self.context.now()

        def receive(result: ActivityResult) -> None:
            core.screen.finish(call, result, self.context.now() - begun)

        try:
            self.context.start_activity(call.intent, receive)
        except AndroidError as error:
            core.screen.fail(call, error.message)

    def end(self) -> None:
        """Leave the screen."""
        self.context.platform.finish_activity()
