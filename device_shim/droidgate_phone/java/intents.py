"""Intents, bundles and what they may hold, in the serialised form in which they cross between processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote

ExtraKind = Literal[
    "string", "int", "long", "float", "double", "boolean", "string[]", "int[]", "long[]", "bytes", "bundle",
    "pending-intent", "messenger", "null",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Extra:
    """One typed value of a bundle.

    Attributes:
        kind: Java's type of it.
        value: str, int, float, bool, bytes, a tuple of str or int, a `Bundle`, or, for `pending-intent` and
            `messenger`, the token (str) under which the system holds it. None for `null`.
    """

    kind: ExtraKind
    value: str | int | float | bool | bytes | tuple[str, ...] | tuple[int, ...] | Bundle | None


@dataclass(frozen=True, slots=True)
class Bundle:
    """`android.os.Bundle`: typed values by key, in the order they were put."""

    values: Mapping[str, Extra] = field(default_factory=dict)

    @classmethod
    def of_strings(cls, values: Mapping[str, str]) -> Bundle:
        """Return a bundle of strings."""
        return cls({key: Extra("string", value) for key, value in values.items()})

    def get_string(self, key: str) -> str | None:
        """Return a string, None where the key is absent or holds something else, as `Bundle.getString`."""
        extra = self.values.get(key)
        return (
            extra.value
            if extra is not None and isinstance(extra.value, str) and extra.kind == "string"
            else None
        )

    def with_extra(self, key: str, extra: Extra) -> Bundle:
        """Return a bundle with one more value."""
        return Bundle({**self.values, key: extra})


@dataclass(frozen=True, slots=True)
class ComponentName:
    """A component: package and fully qualified class."""

    package: str
    class_name: str

    @classmethod
    def parse(cls, text: str) -> ComponentName | None:
        """Return the component that `pkg/cls` or `pkg/.Cls` names, None for text without slash or class."""
        package, _, name = text.partition("/")
        if not name:
            return None
        return cls(package, package + name if name.startswith(".") else name)

    def flatten(self) -> str:
        """Return `pkg/cls`."""
        return f"{self.package}/{self.class_name}"

    def flatten_short(self) -> str:
        """Return `pkg/.Cls` where the class is in the package, as `ComponentName.flattenToShortString`."""
        if self.class_name.startswith(self.package + "."):
            return f"{self.package}/{self.class_name[len(self.package) :]}"
        return self.flatten()


@dataclass(frozen=True, slots=True)
class Intent:
    """`android.content.Intent`."""

    action: str | None = None
    component: ComponentName | None = None
    package: str | None = None
    categories: tuple[str, ...] = ()
    data: str | None = None
    mime_type: str | None = None
    flags: int = 0
    extras: Bundle = field(default_factory=Bundle)
    identifier: str | None = None

    @classmethod
    def parse(cls, text: str) -> Intent:
        """Return the intent that a text describes (`Intent.parseUri` without flags), of what a shim writes.

        Raises:
            ValueError: it has no `#Intent;...;end`, or another attribute.
        """
        data, _, rest = text.rpartition("#Intent;")
        *attributes, end = rest.split(";")
        if end != "end":
            raise ValueError(text)
        values = {
            unquote(key): unquote(value) for key, _, value in (each.partition("=") for each in attributes)
        }
        extras = {key[2:]: values.pop(key) for key in list(values) if key.startswith("S.")}
        return cls(
            action=values.pop("action", "android.intent.action.VIEW"),
            component=ComponentName.parse(values.pop("component", "")),
            package=values.pop("package", None),
            data=data or None,
            flags=int(values.pop("launchFlags", "0"), 0),
            extras=Bundle.of_strings(extras),
        )

    def filter_comparison(self) -> tuple[object, ...]:
        """Return what two intents have in common that are one to `Intent.filterEquals`."""
        return (
            self.action,
            self.data,
            self.mime_type,
            self.identifier,
            self.package,
            self.component,
            frozenset(self.categories),
        )
