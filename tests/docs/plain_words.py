"""Words that readers stumble over, and what to write instead; each is looked for where people read.

    python tests/docs/plain_words.py [PATH...]      list what is found

Looked at are pages, tables, docstrings, comments and texts of our own code, and the names that it defines.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

CHECKOUT: Final = Path(__file__).resolve().parents[2]
ROOTS: Final = ("gateway", "adapters", "mappings", "device_shim", "scripts", "benchmarks", "tests")
"""Folders whose texts and names are read."""

QUOTING: Final = frozenset({"plain_words.py", "test_plain_words.py"})
"""Files that have the words as data."""

WORDS: Final = {
    r"\b(?:is|are|was|were|be|been|being) told\b|\btold (?:of|by|in|as|with|where|what|apart)\b": "reported",
    r"(?<!do not )\b(?:tell|tells) (?:whether|what|which|how|where|that|who|of|the|a|an|it|its|them)\b": (
        "report, return, print"
    ),
    r"\b(?:stands|stand|stood) (?:in|at|on|between|beside|there|here|before|after|a second)\b": (
        "is in, is at"
    ),
    r"(?<!on[ -])\bdemand(?:s|ed)?\b": "require",
    r"\bcrossings?\b": "conversion",
    r"(?<!there )\b(?:is|are|was|were) no "
    r"(?!(?:longer|more|doubt|less|later|matter|greater|older|newer|larger)\b)[a-z]": "is not a",
    r"\bnothing to object\b": "no problems found",
    r"\bthe way (?:out|back)\b": "the fix; the reverse mapping",
    r"\bbesides?\b": "next to, in addition to",
    r"\bwithout a word\b": "without output",
    r"\bspelled as\b|\bspelt\b": "written as",
    r"\bfor people\b|\bfor programs\b": "human-readable, machine-readable",
    r"\bmakes no sense\b": "is invalid",
    r"\bhalf-way\b|\bin the midst\b": "in the middle",
    r"\bDESIGN(?:\.md| \d)": "a page of docs/: no other document is in a clone",
    r"\bhitherto\b|\bwhence\b|\bthence\b|\blest\b|\bnought\b|\baught\b": "a common word",
}
"""Expression to what to write instead; matched without regard to case."""

NAMES: Final = frozenset({"one", "ones", "there"})
"""Names that no variable, parameter, function or class has."""

WORDS_OF_NAMES: Final = frozenset({"held", "told", "lot", "spelled", "wanted", "stands"})
"""Words that no such name has as one of its words."""


class Place(NamedTuple):
    """Where a word was found."""

    path: Path
    line: int
    text: str
    instead: str


def find_words(paths: Iterable[Path]) -> Iterator[Place]:
    """Yield each word of `WORDS` in pages and in docstrings, comments and texts of Python and Java files."""
    for path in paths:
        whole = path.read_text(encoding="utf-8")
        if _ANY_EXPRESSION.search(whole) is None:
            # To find a Python file's texts takes most of the time.
            continue
        for line, text in _texts_of(path, whole):
            for word, instead in _EXPRESSIONS:
                for found in word.finditer(text):
                    before = text.count("\n", 0, found.start())
                    yield Place(path, line + before, found[0], instead)


def find_names(paths: Iterable[Path]) -> Iterator[Place]:
    """Yield each name that a Python file defines against `NAMES` and `WORDS_OF_NAMES`."""
    for path in paths:
        if path.suffix == ".py":
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                for name, line in _defined_by(node):
                    bare = name.lower().strip("_")
                    if bare in NAMES or not WORDS_OF_NAMES.isdisjoint(bare.split("_")):
                        yield Place(path, line, name, "a noun that says what it is")


def files_of(roots: Iterable[str] = ROOTS) -> list[Path]:
    """Return our own Python, Java, TOML and Markdown files below folders of the checkout, sorted.

    Those of `QUOTING` are left out.
    """
    found = [
        path
        for root in roots
        for suffix in ("py", "java", "md", "toml")
        for path in (CHECKOUT / root).rglob(f"*.{suffix}")
        if "__pycache__" not in path.parts and path.name not in QUOTING
    ]
    return sorted(found)


_EXPRESSIONS: Final = [(re.compile(word, re.IGNORECASE), instead) for word, instead in WORDS.items()]
_ANY_EXPRESSION: Final = re.compile("|".join(f"(?:{word})" for word in WORDS), re.IGNORECASE)


def _texts_of(path: Path, text: str) -> Iterator[tuple[int, str]]:
    if path.suffix == ".md":
        block = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
        blocks = block.sub(lambda m: "\n" * m[0].count("\n"), text)
        yield 1, re.sub(r"`[^`\n]*`", lambda m: " " * len(m[0]), blocks)
    elif path.suffix == ".toml":
        yield 1, text
    elif path.suffix == ".java":
        for found in re.finditer(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", text, re.DOTALL):
            yield text.count("\n", 0, found.start()) + 1, found[0]
    else:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1)}:
                yield token.start[0], token.string


def _defined_by(node: ast.AST) -> Iterator[tuple[str, int]]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id, node.lineno
    elif isinstance(node, ast.arg):
        yield node.arg, node.lineno
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name, node.lineno


def main(arguments: list[str]) -> int:
    """Print what is found, by file and line; return 1 if anything is."""
    paths = [Path(name) for name in arguments]
    files = [file for path in paths for file in ([path] if path.is_file() else files_of([str(path)]))]
    files = files or [*files_of(), *sorted((CHECKOUT / "docs").rglob("*.md"))]
    places = [*find_words(files), *find_names(files)]
    for place in sorted(places):
        sys.stdout.write(f"{place.path}:{place.line}: {place.text!r}: {place.instead}\n")
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
