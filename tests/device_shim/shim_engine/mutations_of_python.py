"""Small systematic changes to Python modules, and whether the vectors notice them.

Run as a program it is the other side: `python mutations_of_python.py MODULE` reads the module's changed
source from standard input, imports the engine with it, runs the vectors, and prints the id of the first that
fails.
"""

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import ModuleType

from droidgate_mappings.tables.failure_tokens import load_failure_tokens

MODULES = (
    *(
        f"droidgate_mappings.values.{item}"
        for item in ("arguments", "constraints", "failures", "names", "patterns", "values")
    ),
    *(
        f"droidgate_shim.engine.{item}"
        for item in (
            "authority", "backends", "carried", "engine", "open_calls", "partial_json", "rates", "requests",
            "responses", "routes", "strict_json",
        )
    ),
    "droidgate_appfunctions.wire_documents",
)  # fmt: skip
SECONDS = 60.0
"""After this long a changed engine counts as noticed: it runs for ever."""

_SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


@dataclass(frozen=True)
class Mutant:
    """One change of a module: of which node in the order of `ast.walk`, and which of its changes."""

    module: str
    line: int
    what: str
    node: int
    change: int

    @property
    def key(self) -> tuple[str, str, str]:
        """Module, text of the line, and change: what stays when other lines are added."""
        lines = source_of(self.module).splitlines()
        return self.module, lines[self.line - 1].strip() if self.line else "", self.what

    def source(self) -> str:
        """Return the module's changed source."""
        tree = _tree_of(self.module)
        node = next(item for at, item in enumerate(ast.walk(tree)) if at == self.node)
        list(_changes(node))[self.change][1](node)
        return ast.unparse(ast.fix_missing_locations(tree))


def _tree_of(module: str) -> ast.Module:
    return ast.parse(source_of(module))


def source_of(module: str) -> str:
    """Return the text of a module."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


def mutants_of(module: str) -> list[Mutant]:
    """Return every change of a module."""
    return [
        Mutant(module, getattr(node, "lineno", 0), what, index, at)
        for index, node in enumerate(_telling(_tree_of(module)))
        for at, (what, _) in enumerate(_changes(node))
    ]


def _telling(tree: ast.Module) -> Iterator[ast.AST]:
    """Walk a module; human-readable words, types and names of exports are nodes that nothing changes."""
    silent: set[int] = set()
    for node in ast.walk(tree):
        silent.update(id(inner) for part in _silent_parts(node) for inner in ast.walk(part))
        yield ast.Pass() if id(node) in silent else node


_BOUNDS = frozenset({"forget_full", "_spend", "_raise_if_too_much", "check_depth"})
"""Functions that bound time and memory, and change no outcome."""

_BOUND_NAMES = frozenset(
    {"BUILT", "MAX_DEPTH", "MAX_STEPS", "_MAX_DIGITS", "_MAX_STEPS", "_MAX_SCALE", "exit_code"}
)
"""Names of such bounds, and of what only the command line looks at."""

_WORD_MAKERS = frozenset({"_counted", "_compared"})
"""Functions whose texts are human-readable."""

_NOT_ASKED = _BOUNDS | frozenset(
    {
        # Results are human-readable.
        *("_shown", "_kind_of", "unreadable"),
        # The vectors come with numbers exact.
        "exact_numbers",
        # What the edges call, and no operation of the vectors.
        *("app_functions_code", "use_policy", "fail", "cancel", "next_deadline", "journal", "held", "size"),
        *("write_journal_entry", "answer_journal_entry", "parse_route_table", "parse_policy", "changes"),
        "__len__",
    }
)


def _silent_parts(node: ast.AST) -> Iterator[ast.AST]:
    if (
        isinstance(node, ast.JoinedStr)
        or _is_assignment_to(node, _BOUND_NAMES)
        or any(_is_call(node, item) for item in ("TypeVar", "lru_cache"))
    ):
        yield node
    elif isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
        yield node.annotation
    elif isinstance(node, ast.FunctionDef):
        if node.name in _NOT_ASKED:
            yield node
        elif node.returns is not None:
            yield node.returns
    elif _is_call(node, "dataclass"):
        yield from node.keywords  # type: ignore[attr-defined]
    elif (isinstance(node, ast.BinOp) and isinstance(node.left, ast.Name) and node.left.id == "depth") or (
        isinstance(node, ast.keyword) and node.arg in {"path", "place", "hint"}
    ):
        yield node
    elif isinstance(node, ast.Raise) or any(_is_call(node, item) for item in _WORD_MAKERS):
        yield from (inner for inner in ast.walk(node) if _is_word(inner))


def _is_assignment_to(node: ast.AST, names: Iterable[str]) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else []
    targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
    return any(isinstance(target, ast.Name) and target.id in names for target in targets)


def _is_call(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _name_of(called: ast.Name | ast.Attribute) -> str:
    return called.id if isinstance(called, ast.Name) else called.attr


def _is_word(node: ast.AST) -> bool:
    """Return whether a constant of a raised error is not a token."""
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value not in load_failure_tokens()
    )


Change = tuple[str, Callable[[ast.AST], None]]


def _changes(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        swapped = _SWAPPED[type(node.ops[0])]
        yield (
            f"{type(node.ops[0]).__name__} to {swapped.__name__}",
            lambda item: _set(item, "ops", [swapped()]),
        )
    elif isinstance(node, ast.BoolOp):
        other: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield f"to {type(other).__name__}", lambda item: _set(item, "op", other)
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield "condition negated", _negate
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        opposite: ast.operator = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        yield f"to {type(opposite).__name__}", lambda item: _set(item, "op", opposite)
    elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield "returns None", lambda item: _set(item, "value", ast.Constant(None))
    elif isinstance(node, ast.Constant):
        yield from _changed_constant(node.value)
    if isinstance(node, ast.FunctionDef | ast.If | ast.For | ast.While | ast.With | ast.Try):
        for at, statement in enumerate(node.body):
            if _is_deletable(statement):
                yield f"without {ast.unparse(statement)}", lambda item, at=at: _delete(item, at)  # type: ignore[misc]


def _set(node: ast.AST, name: str, value: object) -> None:
    setattr(node, name, value)


def _negate(node: ast.AST) -> None:
    assert isinstance(node, ast.If | ast.IfExp | ast.While)
    node.test = ast.UnaryOp(ast.Not(), node.test)


def _delete(node: ast.AST, at: int) -> None:
    node.body[at] = ast.Pass()  # type: ignore[attr-defined]


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_deletable(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        called = statement.value.func if isinstance(statement.value, ast.Call) else None
        return isinstance(called, ast.Name | ast.Attribute) and _name_of(called) not in _BOUNDS
    return isinstance(statement, ast.Raise | ast.AugAssign | ast.Continue)


def _changed_constant(value: object) -> Iterator[Change]:
    if isinstance(value, bool):
        yield f"{value} to {not value}", lambda item: _set(item, "value", not value)
    elif isinstance(value, int):
        yield f"{value} to {value + 1}", lambda item: _set(item, "value", value + 1)
    elif isinstance(value, str) and value and " " not in value and not value.startswith(("droidgate", "__")):
        yield f"{value!r} to {value + '!'!r}", lambda item: _set(item, "value", value + "!")


def sample(count: int, seed: int, modules: Sequence[str] = MODULES) -> list[Mutant]:
    """Return so many changes, drawn from all modules together."""
    every = [mutant for module in modules for mutant in mutants_of(module)]
    return Random(seed).sample(every, min(count, len(every)))


def survivors(mutants: Sequence[Mutant], *, at_once: int = 2) -> list[Mutant]:
    """Return those that no vector notices."""
    with ThreadPoolExecutor(at_once) as pool:
        noticed = list(pool.map(lambda item: is_noticed(item.module, item.source()), mutants))
    return [mutant for mutant, seen in zip(mutants, noticed, strict=True) if not seen]


def is_noticed(module: str, source: str) -> bool:
    """Return whether the vectors, or the import, distinguish a module's source from the right one.

    Raises:
        RuntimeError: the other side did not come so far.
    """
    command = [sys.executable, __file__, module]
    try:
        run = subprocess.run(
            command, input=source, capture_output=True, text=True, check=False, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return True
    if not run.stdout.startswith(_READY):
        raise RuntimeError(run.stderr)
    return run.stdout.removeprefix(_READY).strip() != _SURVIVED


_READY = "ready"
_SURVIVED = "survived"


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module another source."""

    def __init__(self, module: str, source: str) -> None:
        self.module, self.source = module, source

    def find_spec(
        self, fullname: str, _path: object = None, _target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.module:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=fullname)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.source, self.module, "exec"), module.__dict__)


def main(arguments: Sequence[str]) -> None:
    """Run the vectors with the module's source from standard input."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    vectors = importlib.import_module("shim_engine.conformance.vector_files").load_vectors()
    comparison = importlib.import_module("shim_engine.comparison")
    sys.stdout.write(_READY)
    sys.stdout.flush()
    for loaded in [module for module in sys.modules if module == arguments[0]]:
        raise RuntimeError(f"{loaded} is imported already")
    sys.meta_path.insert(0, _Changed(arguments[0], sys.stdin.read()))
    evaluate = importlib.import_module("shim_engine.conformance.evaluation").evaluate
    for vector in vectors:
        outcome = evaluate(vector.case)
        if not comparison.equal(outcome, vector.expect) or comparison.omissions(outcome, vector.says):
            sys.stdout.write(vector.id)
            return
    sys.stdout.write(_SURVIVED)


if __name__ == "__main__":
    main(sys.argv[1:])
