"""Marks of what deserves a second look before anybody lets a model use it: hints, no verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from droidgate.callability import ComponentFacts
from droidgate.model.capability import Provider
from droidgate.model.findings import Finding, Level, finding_code
from droidgate.model.leaves import leaves_of_provider
from droidgate.text_safety import (
    MAX_DESCRIPTION,
    MAX_NAME,
    hidden_characters,
    injection_marks,
    look_alikes,
)

EXPORTED_WITHOUT_PERMISSION: Final = finding_code(
    "exported-without-permission",
    "Every app on the phone can call this component: it is exported and asks for no permission",
    __name__,
)
HIDDEN_CHARACTERS: Final = finding_code(
    "hidden-characters", "A text holds characters that nobody sees or that steer what is seen", __name__
)
INJECTION_LIKE_TEXT: Final = finding_code(
    "injection-like-text", "A text reads as if it wanted to command a model, not to describe", __name__
)
LOOK_ALIKE_NAME: Final = finding_code(
    "look-alike-name", "A name that people take for another one of the same provider", __name__
)
OVER_LONG_TEXT: Final = finding_code(
    "over-long-text", "A name or description is longer than a model should be shown", __name__
)

_MAX_SHOWN: Final = 8
_NO_TEXT: Final = ("/kind", "/package", "/component")


def marks_of(provider: Provider, facts: ComponentFacts) -> Iterator[Finding]:
    """Yield the security marks of a provider.

    Args:
        provider: What is declared.
        facts: What decides whether other apps may call the component that declares it.
    """
    if _is_open(facts):
        yield Finding(
            code=EXPORTED_WITHOUT_PERMISSION,
            level=Level.WARNING,
            pointer="/component",
            message=f"every app on the phone can call {provider.component}",
            hint="Name a permission in android:permission, or check who calls",
        )
    for pointer, text in _texts_of(provider):
        yield from _marks_of_text(pointer, text)
    numbers: dict[str, int] = {}
    for number, one in enumerate(provider.capabilities):
        numbers.setdefault(one.id, number)
    for first, name in look_alikes(numbers):
        yield Finding(
            code=LOOK_ALIKE_NAME,
            level=Level.WARNING,
            pointer=f"/capabilities/{numbers[name]}/id",
            message=f"{name!a} can be taken for {first!a}",
            hint="Rename one of them",
        )


def _is_open(facts: ComponentFacts) -> bool:
    is_component = facts.kind not in {None, "application"}
    is_enabled = facts.is_app_enabled and facts.is_enabled
    return is_component and is_enabled and facts.is_exported and facts.permission is None


def _texts_of(provider: Provider) -> Iterator[tuple[str, str]]:
    for number, capability in enumerate(provider.capabilities):
        yield f"/capabilities/{number}/id", capability.id
    for pointer, value in leaves_of_provider(provider):
        if isinstance(value, str):
            if not pointer.endswith(_NO_TEXT):
                yield pointer, value
        elif isinstance(value, list):
            yield from ((pointer, one) for one in value if isinstance(one, str))


def _marks_of_text(pointer: str, text: str) -> Iterator[Finding]:
    hidden = hidden_characters(text)
    if hidden:
        more = f" and {len(hidden) - _MAX_SHOWN} more" if len(hidden) > _MAX_SHOWN else ""
        yield Finding(
            code=HIDDEN_CHARACTERS,
            level=Level.WARNING,
            pointer=pointer,
            message=f"it holds {', '.join(hidden[:_MAX_SHOWN])}{more}",
            hint="Take them out",
        )
    for what in injection_marks(text):
        yield Finding(
            code=INJECTION_LIKE_TEXT,
            level=Level.WARNING,
            pointer=pointer,
            message=what,
            hint="Read it before a model does",
        )
    longest = MAX_NAME if pointer.endswith("/id") else MAX_DESCRIPTION
    if len(text) > longest:
        message = f"it has {len(text)} characters, more than {longest}"
        yield Finding(code=OVER_LONG_TEXT, level=Level.NOTE, pointer=pointer, message=message)
