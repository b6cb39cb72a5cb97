"""Data classes behave as those of `dataclasses`, which are the other side of each row."""

import copy
import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import field
from types import SimpleNamespace
from typing import Any, ClassVar

from droidgate_mappings import records
from titled_rows import titled


def _classes(record: Any) -> Any:
    @record(frozen=True, slots=True)
    class Point:
        kind: ClassVar[str] = "point"
        x: int
        y: int = 2
        notes: list[str] = field(default_factory=list, compare=False)
        hidden: int = field(default=0, repr=False)

    @record(frozen=True, slots=True)
    class Named(Point):
        name: str = "origin"
        length: int = field(init=False)
        made: dict[str, int] = field(init=False, default_factory=dict)
        fixed: int = field(init=False, default=3)

        def __post_init__(self) -> None:
            object.__setattr__(self, "length", len(self.name))

    @record(slots=True, kw_only=True)
    class Counter:
        count: int = 0
        step: int

        def __repr__(self) -> str:
            return f"counter at {self.count}"

    @record(frozen=True, slots=True, eq=False)
    class Token:
        text: str = ""

    @record(frozen=True, slots=True)
    class Nothing:  # noqa: PLW1641
        def __eq__(self, other: object) -> bool:
            return other == "nothing"

    return SimpleNamespace(**{name: made for name, made in locals().items() if name != "record"})


def _matched(value: Any, cls: Any) -> Any:
    match value:
        case cls(x, y):
            return x, y


@titled(
    "use",
    {
        "arguments by position and by name": lambda c: [c.Point(1, notes=["a"]), c.Named(1, 2, [], 4, "b")],
        "a default is made for each object": lambda c: c.Point(1).notes is c.Point(1).notes,
        "values that are not arguments": lambda c: (c.Named(1).length, c.Named(1).made, c.Named(1).fixed),
        "only named arguments": lambda c: (c.Counter(step=1), c.Counter(step=1, count=5).count),
        "a missing argument": lambda c: c.Point(),
        "a positional argument where only named ones are": lambda c: c.Counter(1),
        "an unknown argument": lambda c: c.Named(1, length=2),
        "equal": lambda c: (c.Point(1) == c.Point(1, notes=["a"]), c.Counter(step=1) == c.Counter(step=1)),
        "unequal": lambda c: (c.Point(1) == c.Point(3), c.Point(1) == c.Named(1), c.Point(1) == 1),
        "compared by identity": lambda c: (c.Token() == c.Token(), len({c.Token(), c.Token()})),
        "a comparison of its own": lambda c: c.Nothing() == "nothing",
        "members of a set": lambda c: len({c.Point(1), c.Point(1), c.Named(1), c.Nothing(), c.Nothing()}),
        "a hash of what can change": lambda c: hash(c.Counter(step=1)),
        "a value that is set": lambda c: setattr(c.Point(1), "x", 2),
        "a value that is deleted": lambda c: delattr(c.Named(1), "name"),
        "a value that may be set": lambda c: setattr(c.Counter(step=1), "count", 2),
        "a value that has no slot": lambda c: setattr(c.Counter(step=1), "other", 2),
        "copies": lambda c: [make(c.Named(1, notes=["a"])) for make in (copy.copy, copy.deepcopy)],
        "another value": lambda c: dataclasses.replace(c.Named(1), y=5),
        "fields and values": lambda c: dataclasses.asdict(c.Named(1)),
        "fields without an object": lambda c: [member.name for member in dataclasses.fields(c.Named)],
        "patterns": lambda c: _matched(c.Named(1), c.Point),
        "parameters": lambda c: list(inspect.signature(c.Named).parameters),
    },
)
def test_a_data_class_behaves_as_that_of_python(use: Callable[[Any], object]) -> None:
    own, other = (_outcome(use, _classes(module.dataclass)) for module in (records, dataclasses))
    assert own == other


def _outcome(use: Callable[[Any], object], classes: Any) -> str:
    try:
        return repr(use(classes))
    except dataclasses.FrozenInstanceError as error:
        return type(error).__name__
    except (AttributeError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
