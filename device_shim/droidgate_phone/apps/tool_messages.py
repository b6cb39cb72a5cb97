"""How the Mobile-MCP sample apps take requests and answer them, as their services in Java do it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from droidgate_phone.app_api.behaviour import Context
from droidgate_phone.app_api.values import AndroidError, Message
from droidgate_phone.intents import Bundle, Intent

MSG_REQUEST: Final = 1
MSG_RESPONSE: Final = 2
KEY_REQUEST: Final = "request"
KEY_RESPONSE: Final = "response"
EXTRA_REQUEST: Final = "mobile-mcp-request"
EXTRA_RESPONSE: Final = "mobile-mcp-response"
EXTRA_CALLBACK: Final = "mcp_callback"

AnswerRequest = Callable[[str | None], str]
"""Returns the response text to a request text, None where the extra was missing."""


def answer_start(context: Context, intent: Intent, answer: AnswerRequest) -> None:
    """Answer through the PendingIntent that came with a started request; do nothing without one."""
    callback = intent.extras.values.get(EXTRA_CALLBACK)
    if callback is None or callback.kind != "pending-intent":
        return
    response = answer(intent.extras.get_string(EXTRA_REQUEST))
    fill_in = Intent(extras=Bundle.of_strings({EXTRA_RESPONSE: response}))
    try:
        context.send_pending_intent(str(callback.value), fill_in)
    except AndroidError:
        # The assistant withdrew its callback.
        return


def answer_message(context: Context, message: Message, answer: AnswerRequest) -> None:
    """Answer a message with `what` 1 under the key that belongs to its own; others are none."""
    if message.what != MSG_REQUEST or message.reply_to is None:
        return
    is_long = EXTRA_REQUEST in message.data.values
    request_key, response_key = (EXTRA_REQUEST, EXTRA_RESPONSE) if is_long else (KEY_REQUEST, KEY_RESPONSE)
    response = answer(message.data.get_string(request_key))
    reply = Message(MSG_RESPONSE, Bundle.of_strings({response_key: response}))
    try:
        context.send_message(message.reply_to, reply)
    except AndroidError:
        # The assistant left before its answer.
        return
