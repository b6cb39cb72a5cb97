"""Reversible name maps: names of one world for another, made once, written out, never parsed back."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from typing import Final

from droidgate_mappings.model.types import Frozen
from droidgate_mappings.records import dataclass

_SUFFIX_LENGTH = 8
_SEPARATORS = re.compile("[.#/:$]")
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_WORD = re.compile(r"[^a-z0-9]+")


class NameEntry(Frozen):
    """One renamed thing: the JSON Pointer of what is renamed in the source model, its name there and in the
    target.
    """

    pointer: str
    original: str
    written: str


@dataclass(frozen=True, slots=True)
class NameRule:
    """What a target allows as a name.

    Attributes:
        allowed: Regular expression of one allowed character, such as `[A-Za-z0-9_-]`.
        first: Regular expression of an allowed first character; `allowed` where empty.
        max_length: In characters.
        replacement: Replaces a run of characters that are not allowed.
    """

    allowed: str
    first: str = ""
    max_length: int = 128
    replacement: str = "_"

    def permits(self, name: str) -> bool:
        """Return whether a name may be written as it is."""
        pattern = _whole_name(self.first or self.allowed, self.allowed)
        return len(name) <= self.max_length and pattern.fullmatch(name) is not None

    def shape(self, name: str) -> str:
        """Return a name of this rule that resembles the given one; two names may become one.

        Of a qualified name that is too long, such as `com.example.Notes#create`, the end is kept.
        """
        shape = re.sub(f"(?:(?!{self.allowed}).)+", self.replacement, name, flags=re.DOTALL).strip(
            self.replacement
        )
        if not shape or re.match(self.first or self.allowed, shape) is None:
            shape = f"n{self.replacement}{shape}" if shape else "n"
        if len(shape) > self.max_length and _SEPARATORS.search(name):
            end = shape[-self.max_length :].strip(self.replacement)
            if end and re.match(self.first or self.allowed, end):
                return end
        return shape[: self.max_length]


@cache
def _whole_name(first: str, allowed: str) -> re.Pattern[str]:
    return re.compile(f"(?:{first})(?:{allowed})*")


def name_suffix(key: str) -> str:
    """Return the stable suffix of a key: 8 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:_SUFFIX_LENGTH]


def map_names(names: Iterable[tuple[str, str]], rule: NameRule) -> dict[str, str]:
    """Map names of one namespace to names that a rule permits, no two alike.

    1. A name that the rule permits, and that occurs once, stays as it is.
    2. Any other name is shaped (`NameRule.shape`). It gets the shaped name if no other name of the namespace
       is that name or has that shape.
    3. Every other name gets a suffix made from its own key: each of several equal names, and each of several
       names with one shape.

    So the result does not depend on the order of the names. A name that is added later changes an earlier one
    only if both need the same shaped name; a suffixed name never changes for that reason.

    Args:
        names: Pairs of a name and its key; keys differ where names are equal.
        rule: What the target allows.

    Returns:
        Key to written name, in the given order.
    """
    pairs = list(names)
    counts = Counter(name for name, _ in pairs)
    used_names = {name for name, count in counts.items() if count == 1 and rule.permits(name)}
    written = {key: name for name, key in pairs if name in used_names}
    if len(written) == len(pairs):
        return written
    shapes = {key: rule.shape(name) for name, key in pairs if name not in used_names}
    uses = Counter(shapes.values())
    free = {key: shape for key, shape in shapes.items() if uses[shape] == 1 and shape not in used_names}
    written.update(free)
    used_names.update(free.values())
    for key in sorted(shapes.keys() - free.keys()):
        salt = key
        while (target := _suffixed(rule, shapes[key], salt)) in used_names:
            salt += "+"
        used_names.add(target)
        written[key] = target
    return {key: written[key] for _, key in pairs}


def _suffixed(rule: NameRule, shape: str, salt: str) -> str:
    suffix = rule.replacement + name_suffix(salt)
    return shape[: rule.max_length - len(suffix)] + suffix


def qualified_class(name: str, package: str | None) -> str:
    """Return a component's class name with its package, as PackageManager would; as it is without one."""
    if not package:
        return name
    return package + name if name.startswith(".") else name if "." in name else f"{package}.{name}"


def class_name_in_snake_case(name: str) -> str:
    """Return the last part of a qualified class name in snake case: `notes_service` of `a.b.NotesService`.

    A nested class gives its own name. Empty where no ASCII letter or digit is left.
    """
    simple = re.split(r"[.$]", name)[-1]
    return _NOT_WORD.sub("_", _WORD_START.sub("_", simple).lower()).strip("_")


BOUNDARIES: Final = ".#/"
"""Characters behind which a short name of a capability or a package may begin."""


def is_end(text: str, name: str) -> bool:
    """Return whether a text is a name or its end behind a boundary."""
    at = len(name) - len(text) - 1
    return text == name or (bool(text) and at >= 0 and name.endswith(text) and name[at] in BOUNDARIES)


def is_named(text: str, package: str, identifier: str, matches: Callable[[str, str], bool] = is_end) -> bool:
    """Return whether a text is the end of a capability's id, behind the end of its package or alone.

    Args:
        text: The text, such as `createNote` or `notes.createNote`.
        package: The app of the capability.
        identifier: Its id.
        matches: Compares an end with a whole name.
    """
    return matches(text, identifier) or any(
        matches(text[:at], package) and matches(text[at + 1 :], identifier)
        for at, character in enumerate(text)
        if character in "./"
    )
