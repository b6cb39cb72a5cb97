"""The built-in intents of App Actions, as data (reference app-actions 3)."""

from functools import cache
from typing import Literal

from droidgate_mappings.model.types import Frozen
from droidgate_mappings.tables.loading import load_table

FieldType = Literal["number", "date-time", "duration"]


class BuiltInIntent(Frozen):
    """One built-in intent that Google's pages still list.

    Attributes:
        name: Without the prefix `actions.intent.`.
        description: What it asks an app for.
        fields: The paths of its fields; empty where they are not known.
        needs_inventory: Its fields only have values that the app lists.
    """

    name: str
    description: str
    fields: tuple[str, ...] = ()
    needs_inventory: bool = False


class BuiltInIntents(Frozen):
    """All of them.

    Attributes:
        current: Those that Google's pages still list.
        deprecated: The names of those that ended in February 2024.
        types: What a field's path ends in -> its type, where that is not text.
        named: A field's path -> values that Google Assistant knew for it.
    """

    current: tuple[BuiltInIntent, ...]
    deprecated: frozenset[str]
    types: dict[str, FieldType]
    named: dict[str, tuple[str, ...]]

    def find(self, name: str) -> BuiltInIntent | None:
        """Return a current intent by its name without prefix."""
        return next((intent for intent in self.current if intent.name == name), None)

    def type_of(self, path: str) -> FieldType | None:
        """Return the type of a field, None where it is text."""
        return next((kind for ending, kind in self.types.items() if path.endswith(ending)), None)


@cache
def load_built_in_intents() -> BuiltInIntents:
    """Return the table.

    Raises:
        ValueError: the TOML does not fit the schema.
    """
    return load_table("app_actions/built_in_intents.toml", BuiltInIntents)
