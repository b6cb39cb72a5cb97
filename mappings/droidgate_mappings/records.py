"""Data classes that are defined in a tenth of the time that those of `dataclasses` take.

`dataclasses` compiles every method of every class, and a short command defines two hundred classes. Here
classes with slots share their methods; only `__init__` is compiled, when the first object is made.
"""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING, FrozenInstanceError, field, fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "field", "fields", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, *, slots=False, frozen=False, kw_only=False, eq=True, **others):  # noqa: ANN001, ANN003, ANN201
        """Return the decorator of `dataclasses`, or another one with the same effect."""
        if others or not slots:
            return dataclasses.dataclass(cls, slots=slots, frozen=frozen, kw_only=kw_only, eq=eq, **others)
        add_slots = dataclasses.dataclass(slots=True, kw_only=kw_only, init=False, repr=False, eq=False)

        def decorate(cls):  # noqa: ANN001, ANN202
            # Without a docstring, `dataclasses` would read a signature for one.
            cls.__doc__ = cls.__doc__ or cls.__name__
            return _add_methods(add_slots(cls), frozen=frozen, eq=eq)

        return decorate


def _add_methods(cls: Any, *, frozen: bool, eq: bool) -> Any:
    compared = [field.name for field in fields(cls) if field.compare]
    key = attrgetter(*compared) if compared else type

    def is_equal(self: Any, other: Any) -> Any:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    methods = {"__init__": _FirstInit(cls), "__repr__": _repr}
    if eq:
        methods |= {"__eq__": is_equal, "__hash__": (lambda self: hash(key(self))) if frozen else None}
    if frozen:
        methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
        methods |= {name: vars(_Empty)[name] for name in ("__getstate__", "__setstate__")}
    for name, method in methods.items():
        if vars(cls).get(name) is None:
            setattr(cls, name, method)
    return cls


class _FirstInit:
    """Stands for `__init__` until the first object is made. It sets slots, as `__setattr__` may refuse."""

    def __init__(self, cls: Any) -> None:
        self._cls = cls

    def __get__(self, instance: Any, owner: Any) -> Any:
        names: dict[str, Any] = {}
        plain, named, lines = ["self"], ["*"], ["pass"]
        for member in fields(self._cls):
            name, default = member.name, f"__default_{member.name}"
            names |= {default: member.default, f"__make_{name}": member.default_factory}
            names[f"__set_{name}"] = getattr(self._cls, name).__set__
            has_default = member.default is not member.default_factory
            if member.init:
                (named if member.kw_only else plain).append(f"{name}={default}" if has_default else name)
            value = name if member.init else default
            if member.default_factory is not MISSING:
                value = f"__make_{name}() if {value} is {default} else {value}"
            if member.init or has_default:
                lines.append(f"__set_{name}(self, {value})")
        if hasattr(self._cls, "__post_init__"):
            lines.append("self.__post_init__()")
        parameters = ", ".join(plain + named if named[1:] else plain)
        exec(f"def __init__({parameters}):\n " + "\n ".join(lines), names)  # noqa: S102
        self._cls.__init__ = init = names["__init__"]
        init.__qualname__ = f"{self._cls.__qualname__}.__init__"
        return init.__get__(instance, owner)


def _repr(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse(_self: Any, name: str, *_value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to or delete field {name!r}")


@dataclasses.dataclass(frozen=True, slots=True)
class _Empty:
    """What `dataclasses` gives to every frozen class with slots."""
