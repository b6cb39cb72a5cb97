"""Where generated classes are: their package, their names, their files."""

from __future__ import annotations

import re
from typing import Final, Literal

from droidgate_android.handlers.methods import RESERVED_WORDS
from droidgate_mappings.formats.format import Artifact
from droidgate_mappings.model.capability import ComponentAccess
from droidgate_mappings.model.errors import WriteError, option_hint
from droidgate_mappings.records import dataclass

MARK: Final = "Made by droidgate, and made anew by it."
"""Is in every generated file that the author does not fill in."""

_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class ClassPlace:
    """The classes of one component.

    Attributes:
        package: Their Java package.
        component: Simple name of the component's class; the names of the others begin with it.
    """

    package: str
    component: str

    @property
    def prefix(self) -> str:
        """What the names of the other classes begin with: no two components share classes."""
        return self.component

    @property
    def component_name(self) -> str:
        """The fully qualified name of the component's class."""
        return f"{self.package}.{self.component}"

    def java(self, suffix: str, text: str, *, role: Literal["code", "skeleton"] = "code") -> Artifact:
        """Return a Java file of the class `prefix + suffix`."""
        return self.file(f"{self.prefix}{suffix}.java", text, role=role)

    def file(self, name: str, text: str, *, role: Literal["code", "skeleton"] = "code") -> Artifact:
        """Return a source file of the package."""
        return Artifact(f"java/{self.package.replace('.', '/')}/{name}", text, role)


def caller_notes(access: ComponentAccess, place: ClassPlace, fact: str) -> tuple[str, ...]:
    """Return a note about callers; nothing for a component that only its own app can call.

    Args:
        access: Who may call the component.
        place: Where its classes are.
        fact: What is not known of a caller, as the beginning of a sentence.
    """
    if access.exported is False:
        return ()
    callers = f"an app that holds {access.permission}" if access.permission else "any app on the phone"
    action = f"before {place.prefix}Capabilities does something that {callers} may not do alone"
    return (f"{fact}. Ask the user {action}.",)


def place_classes(component: str | None, namespace: str) -> ClassPlace:
    """Return where the classes of a component are.

    Args:
        component: The class as the manifest names it: `.Name`, `Name` or fully qualified.
        namespace: Package of the app's classes.

    Raises:
        WriteError: the name cannot be a class of Java.
    """
    name = component or ""
    qualified = f"{namespace}.{name.lstrip('.')}" if name.startswith(".") or "." not in name else name
    words = qualified.split(".")
    if not all(_WORD.fullmatch(word) and word not in RESERVED_WORDS for word in words):
        message = f"{name!r} cannot be a class of Java"
        raise WriteError(
            message,
            hint=option_hint(
                "leave the code out with {}, and write the component by hand",
                "--language none",
                'language="none"',
            ),
        )
    return ClassPlace(".".join(words[:-1]), words[-1])
