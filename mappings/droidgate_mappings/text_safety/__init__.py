"""What is unsafe in texts that apps show to people and models: hidden characters, names that look alike,
and over-long texts.

Names and descriptions come from apps and are data (reference android-runtime 3.1). This package reports what
is in them; its callers decide what follows: a mark, a refusal, a cleaned text.
"""

from typing import Final

from droidgate_mappings.text_safety.hidden import (
    escaped_character,
    hidden_characters,
    html_table,
    is_hidden,
    json_escape,
    one_line,
    visible,
    visible_json,
    with_hidden,
    without_hidden,
)
from droidgate_mappings.text_safety.look_alikes import folded_skeleton, look_alikes, skeleton

MAX_NAME: Final = 128
"""Characters of a name; MCP's own limit for tools (reference android-runtime 3.1)."""

MAX_DESCRIPTION: Final = 1_024
"""Characters of a description that a model should be shown."""

__all__ = [
    "MAX_DESCRIPTION",
    "MAX_NAME",
    "escaped_character",
    "folded_skeleton",
    "hidden_characters",
    "html_table",
    "is_hidden",
    "json_escape",
    "look_alikes",
    "one_line",
    "skeleton",
    "visible",
    "visible_json",
    "with_hidden",
    "without_hidden",
]
