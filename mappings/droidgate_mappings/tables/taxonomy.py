"""App types and use cases of Android's "Android MCP" guideline, and the words that speak of them.

The app types and use cases follow the table of the guideline of Android's Early Access Program (reference
style-and-peers 2.6), in own words; the words name what capabilities do and to what, in seven languages.
"""

from __future__ import annotations

from functools import cache

from pydantic import Field, field_validator

from droidgate_mappings.model.types import Frozen
from droidgate_mappings.tables.loading import load_table


class Meaning(Frozen):
    """One meaning and the words that name it.

    Attributes:
        id: Stable id.
        words: Single words.
        phrases: Two words in a row, as `turn on`.
        like: Ids of meanings that differ only in the way of speaking.
        opening: Stop words, in one form each, that name it only where a text begins with them, but for
            other stop words.
    """

    id: str
    words: tuple[str, ...]
    phrases: tuple[str, ...] = ()
    like: tuple[str, ...] = ()
    opening: tuple[str, ...] = ()

    @field_validator("words", "opening", mode="before")
    @classmethod
    def _are_written_as_text(cls, value: str) -> tuple[str, ...]:
        return tuple(value.split())


class WordsOfCapabilities(Frozen):
    """The meanings: `actions` (verbs), `objects` (nouns), `roles` (parameters' names), and words without any.

    A word names at most one action, one object, and any number of roles. A text is still about an object
    that one of the `aspects` follows.
    """

    stop: tuple[str, ...]
    aspects: tuple[str, ...] = ()
    actions: tuple[Meaning, ...]
    objects: tuple[Meaning, ...]
    roles: tuple[Meaning, ...]

    @field_validator("stop", "aspects", mode="before")
    @classmethod
    def _is_written_as_text(cls, value: str) -> tuple[str, ...]:
        return tuple(value.split())


class Cue(Frozen):
    """What makes a capability one of a use case: one of the actions, done to one of the objects.

    Attributes:
        actions: Ids of actions; empty where any known one will do, and none too.
        objects: Ids of objects; never empty.
        near: Ids of objects of which one has to be in the text too; empty where none has to. A booking is a
            table's only where the text speaks of a table, a restaurant or food.
        alone: The objects identify it too where no verb is said, as in `heart_rate`.
    """

    actions: tuple[str, ...] = ()
    objects: tuple[str, ...] = Field(min_length=1)
    near: tuple[str, ...] = ()
    alone: bool = False


class UseCase(Frozen):
    """One use case of the guideline.

    Attributes:
        id: Stable id: the app type's id, a dot and a word.
        title: What the user does with it, as users read it.
        cues: What identifies it.
    """

    id: str
    title: str
    cues: tuple[Cue, ...] = Field(min_length=1)


class AppType(Frozen):
    """One app type of the guideline, with its use cases in the guideline's order."""

    id: str
    title: str
    use_cases: tuple[UseCase, ...] = Field(min_length=1)


class Taxonomy(Frozen):
    """All app types, in the guideline's order."""

    source: str
    app_types: tuple[AppType, ...]

    def use_cases(self) -> tuple[UseCase, ...]:
        """Return the use cases of all app types, in order."""
        return tuple(use_case for app_type in self.app_types for use_case in app_type.use_cases)


@cache
def load_words() -> WordsOfCapabilities:
    """Return the words that identify capabilities.

    Raises:
        ValueError: the TOML does not fit the schema.
    """
    return load_table("taxonomy_words.toml", WordsOfCapabilities)


@cache
def load_taxonomy() -> Taxonomy:
    """Return the app types and use cases.

    Raises:
        ValueError: the TOML does not fit the schema.
    """
    return load_table("taxonomy.toml", Taxonomy)
