"""What people read on the shim's screens."""

from __future__ import annotations

from enum import StrEnum


class Texts(StrEnum):
    """The shim's own texts, under the names that they have in `Texts.java`."""

    TAP_TO_GO_ON = "Tap to let a call go on"
    TAP_TO_DECIDE = "Tap to decide about a call"
    UNNAMED_CALLER = "An unknown app"
    WANTS = " wants to use "
    OF = " of "
    ARGUMENTS = "Arguments, as the caller wrote them:"
    NO_ARGUMENTS = "It sends no arguments."
    DENY = "Deny"
    ONCE = "Once"
    ALWAYS = "Always"
    ANY_APP = "Any app on this phone"
    EVERYTHING = "everything"
    REVOKE = "Revoke"
    ASKING = "Ask me when an app without permission calls"
    CLEAR = "Clear"
    SUCCESS = "success"
