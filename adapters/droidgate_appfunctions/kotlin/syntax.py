"""Kotlin text as declarations, through tree-sitter; nothing inside a function's body is looked at.

After an error in a class, tree-sitter often gives the whole class as one error. To find the error's line, the
text is cut after a line, its open brackets are closed, and it is parsed again: the error is in the first line
after the longest text that can still be completed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from time import thread_time
from typing import Any, Final, Literal

import tree_sitter_kotlin
from tree_sitter import Language, Node, Parser

from droidgate_appfunctions.kotlin.declarations import (
    Annotation,
    ClassDeclaration,
    FunctionDeclaration,
    Import,
    Name,
    ParameterDeclaration,
    PropertyDeclaration,
    SourceDeclarations,
    TypeAlias,
    TypeArgument,
    TypeParameter,
    TypeReference,
)
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.model.errors import BudgetError, InputError

_TEXT_TOKENS: Final = rb"""//[^\n]*|/\*|\*/|\"{3}|"|\\.|\$\{|'(?:\\.[^'\n]*|[^'\\\n])'"""
"""What decides whether a bracket is code: comments, quotes, escapes, templates and characters."""

_TOKEN_BEFORE_ERROR: Final = re.compile(_TEXT_TOKENS + rb"|[{}()\[\]]|\n")
_CLOSERS: Final = {b"{": b"}", b"${": b"}", b"(": b")", b"[": b"]"}
_QUOTES: Final = frozenset({b'"', b'"""'})
_COMPLETIONS: Final = (b"", b"fun x() {}", b"0")
"""What a statement that ends in the middle may need: nothing, the declaration of annotations, or a value."""

_WINDOW: Final = 4
"""Lines around a line that are tried too: a text that ends in the middle of a statement may fit nothing."""

MAX_BYTES: Final = 1024 * 1024
"""Bytes that are parsed for one error; a text of 1000 lines needs less."""


def find_error_line(data: bytes, parsed_line: int, has_error: Callable[[bytes], bool]) -> int:
    """Return the 1-based line of the first syntax error of a Kotlin text.

    Args:
        data: The text.
        parsed_line: What is returned where finding the line would take too long.
        has_error: Returns whether a text has a syntax error.
    """
    search = _Search(_cuts(data), has_error, data)
    right, wrong = 0, len(search.cuts) + 1
    while wrong - right > 1 and search.left > 0:
        middle = (right + wrong) // 2
        after = next((item for item in search.window(middle, 1, wrong) if search.is_right(item)), None)
        if after is not None:
            right = after
            continue
        before = next((item for item in search.window(middle - 1, -1, right) if search.is_right(item)), right)
        right, wrong = max(right, before), middle
    return parsed_line if search.left <= 0 else min(wrong, len(search.cuts))


@dataclass(frozen=True, slots=True)
class _Open:
    """What is open at a place: a token, and what is open around it; whether one of them is no bracket."""

    token: bytes
    outer: _Open | None
    is_in_text: bool


@dataclass(frozen=True, slots=True)
class _Cut:
    """The end of a line in the text, and what is open there; `fits` is false inside texts and comments."""

    end: int
    inside: _Open | None
    fits: bool

    @property
    def closers(self) -> bytes:
        """What closes the text there; made when it is asked for, since that of each line would be long."""
        closers: list[bytes] = []
        inside = self.inside
        while inside is not None:
            closers += (_CLOSERS[inside.token], b"\n")
            inside = inside.outer
        return b"".join(closers)


@dataclass(slots=True)
class _Search:
    cuts: list[_Cut]
    has_error: Callable[[bytes], bool]
    data: bytes
    left: int = MAX_BYTES
    known: dict[int, bool] = field(default_factory=dict)

    @staticmethod
    def window(start: int, step: int, stop: int) -> range:
        """Return the lines from a line to the last one before `stop`, at most `_WINDOW` of them."""
        reach = start + step * _WINDOW
        return range(start, min(reach, stop) if step > 0 else max(reach, stop), step)

    def is_right(self, line: int) -> bool:
        """Return whether the text up to a line has no error that a completion would not remove."""
        if line not in self.known:
            cut = self.cuts[line - 1]
            self.known[line] = cut.fits and any(
                self.fits(self.data[: cut.end] + item + b"\n" + cut.closers) for item in _COMPLETIONS
            )
        return self.known[line]

    def fits(self, text: bytes) -> bool:
        self.left -= len(text)
        return self.left > 0 and not self.has_error(text)


def _cuts(data: bytes) -> list[_Cut]:
    """Return the cut after each line of a text."""
    cuts: list[_Cut] = []
    top: _Open | None = None
    is_open = True
    for found in _TOKEN_BEFORE_ERROR.finditer(data):
        token, inside = found[0], b"" if top is None else top.token
        is_opened = is_closed = False
        if token == b"\n":
            cuts.append(_cut(found.end(), top, is_open=is_open))
            is_closed = inside == b'"'
        elif inside == b"/*":
            is_opened, is_closed = token == b"/*", token == b"*/"
        elif inside in _QUOTES:
            is_opened, is_closed = token == b"${", token == inside
        elif token in _CLOSERS or token in _QUOTES or token == b"/*":
            is_opened = True
        elif token in _CLOSERS.values():
            is_closed = _CLOSERS.get(inside) == token
            is_open = is_open and is_closed
        if is_opened:
            top = _Open(token, top, token not in _CLOSERS or (top is not None and top.is_in_text))
        elif is_closed and top is not None:
            top = top.outer
    return [*cuts, _cut(len(data), top, is_open=is_open)]


def _cut(end: int, inside: _Open | None, *, is_open: bool) -> _Cut:
    return _Cut(end, inside, is_open and not (inside is not None and inside.is_in_text))


MAX_FILE: Final = 4 * 1024 * 1024
"""Bytes of one file; hand-written Kotlin has a few hundred kilobytes at most."""

MAX_TYPE_DEPTH: Final = 32
"""Types inside angle brackets; also the levels of classes inside classes."""

_STEPS: Final = 1000
_BYTES_OF_STEP: Final = 20
"""Steps that parsing may take: a thousand, and one for this many bytes; real files need one for 90."""

_PIECE: Final = 1024
_PIECES: Final = 20_000
_TIMES_READ: Final = 300
"""Pieces that may be asked for: 20,000, and each this many times; real files need each 15 times."""

_MAX_SECONDS: Final = 5
"""Seconds of computing for one file, where it is very large."""

_LINES_OF_ERROR: Final = 1
"""How many further lines an error has whose place is its own, and not that of the class around it."""

_ANNOTATION_NAME: Final = re.compile(rb"@\s*(?:\w+\s*:\s*)?(?:[\w.`]+\.)?`?(AppFunction\w*)")
_COMMENTS: Final = frozenset({"line_comment", "block_comment"})


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_kotlin.language()))


class ParsingBudget:
    """What parsing may take: a file, its repaired text, or all texts that an error is looked for in.

    The parser's recovery from errors can take exponential time, and reads the same text again and again.

    Args:
        size: Bytes of the file.
        path: The file as a user would write it.
    """

    def __init__(self, size: int, path: str) -> None:
        self.steps_left = _STEPS + size // _BYTES_OF_STEP
        self.pieces_left = _PIECES + size * _TIMES_READ // _PIECE
        self._path = path
        self._ends = thread_time() + _MAX_SECONDS

    def parse(self, data: bytes) -> Node:
        """Return the syntax tree of a text.

        Only a reader by pieces can be stopped, and its nodes have no text, so the text is parsed by pieces
        first. The end of a line is added, since the parser can run for ever at an end right after `@`.

        Raises:
            BudgetError: parsing takes too much.
        """
        data = data if data.endswith(b"\n") else data + b"\n"
        view = memoryview(data)

        def piece_at(offset: int, _: object) -> memoryview | bytes:
            self.pieces_left -= 1
            if self.pieces_left <= 0:
                # An end of the text ends what the parser does between two steps, however much it would read.
                return b"" if offset % _PIECE else b"\n"
            return view[offset : offset + _PIECE]

        def is_too_long(_offset: int, _has_error: bool) -> bool:  # noqa: FBT001 - tree-sitter's signature
            self.steps_left -= 1
            return self._is_spent()

        with suppress(ValueError):
            _parser().parse(piece_at, progress_callback=is_too_long)
        if self._is_spent():
            _parser().reset()
            message = "the file is not read: its syntax has errors, and parsing it takes too long"
            raise BudgetError(message, place=self._path, hint="compile the file to see why")
        return _parser().parse(data).root_node

    def _is_spent(self) -> bool:
        return self.steps_left <= 0 or self.pieces_left <= 0 or thread_time() > self._ends


def text_of(node: Node) -> str:
    """Return the source text of a node."""
    return (node.text or b"").decode("utf-8", errors="replace")


def line_of(node: Node) -> int:
    """Return the 1-based line of a node."""
    return node.start_point[0] + 1


def identifier_of(node: Node) -> str:
    """Return a name without back-ticks."""
    return text_of(node).strip("`")


def parse_file(file: SourceFile, *, is_library: bool = False) -> SourceDeclarations:
    """Return the declarations of a Kotlin file.

    Raises:
        InputError: the text is not Kotlin, or not a Kotlin that the grammar knows.
        BudgetError: the file is larger or deeper than what is read.
    """
    if len(file.data) > MAX_FILE:
        message = f"the file has {len(file.data)} bytes; at most {MAX_FILE} are read"
        raise BudgetError(message, place=file.path, hint="split the file")
    data = file.data.removeprefix(b"\xef\xbb\xbf")
    root = ParsingBudget(len(data), file.path).parse(data)
    if root.has_error or not all(_is_declaration(child) for child in root.children):
        # The grammar requires the end of a line, or a semicolon, after the last member of a class,
        # and does not know context parameters.
        text = end_members(blank_context_parameters(data))
        repaired = ParsingBudget(len(data), file.path).parse(text)
        root = root if repaired.has_error else repaired
    if root.has_error:
        raise _syntax_error(root, data, file.path)
    declarations = SourceDeclarations(
        file.path, _package_of(root), is_library, root, imports=list(_imports_of(root))
    )
    _Walk(declarations).read(root)
    return declarations


def _syntax_error(root: Node, data: bytes, path: str) -> InputError:
    error = _first_error(root)
    line = line_of(error)
    if error.end_point[0] - error.start_point[0] > _LINES_OF_ERROR:
        search = ParsingBudget(len(data), path)
        with suppress(BudgetError):
            line = find_error_line(
                data, line, lambda text: search.parse(end_members(blank_context_parameters(text))).has_error
            )
    text = data.split(b"\n")[line - 1].decode("utf-8", errors="replace")
    message = f"Kotlin syntax error at {_excerpt(text)}"
    return InputError(message, place=f"{path}:{line}", hint="compile the file to see why")


def unread_parts(declarations: SourceDeclarations) -> Iterator[tuple[int, str]]:
    """Yield line and text of what belongs to no declaration that is read.

    Annotations of the library inside a function's body, and what the grammar takes for an expression outside
    of any declaration.
    """
    root = declarations.root
    if root is None:
        return
    for child in root.children:
        inner: Node | None = child
        while inner is not None and inner.type == "annotated_expression":
            inner = inner.children[-1]
        is_read = inner is None or _is_declaration(inner) or inner.type in _DETACHED_ENDS
        if inner is not None and not is_read and _ANNOTATION_NAME.search(child.text or b""):
            yield line_of(inner), _excerpt(text_of(inner))
    for line in declarations.delegations:
        yield line, "a class whose delegate ends with a lambda"
    for found in _ANNOTATION_NAME.finditer(root.text or b""):
        start = found.start() + root.start_byte
        if start in declarations.seen:
            continue
        node = root.descendant_for_byte_range(start, start + 1)
        if node is not None and node.type == "@":
            yield line_of(node), f"@{found[1].decode()}"


_DETACHED_ENDS: Final = frozenset({"parenthesized_expression", "annotation"})
_DECLARATIONS: Final = frozenset(
    {
        *("package_header", "import", "class_declaration", "object_declaration", "function_declaration"),
        *("property_declaration", "type_alias", "file_annotation", "shebang", ";", *_COMMENTS),
    }
)


def _is_declaration(node: Node) -> bool:
    return node.type in _DECLARATIONS


_RECEIVERS: Final = frozenset({"user_type", "nullable_type", "parenthesized_type", "function_type"})

_TOKEN: Final = re.compile(_TEXT_TOKENS + rb"|[{}]")


def end_members(data: bytes) -> bytes:
    """Return Kotlin text with a semicolon in front of each closing brace that is not first on its line."""
    pieces: list[bytes] = []
    written = 0
    around: list[bytes] = []
    for found in _TOKEN.finditer(data):
        token, inside = found[0], around[-1] if around else b"{"
        if inside == b"/*":
            if token == b"/*":
                around.append(token)
            elif token == b"*/":
                around.pop()
        elif inside in {b'"', b'"""'}:
            if token == inside:
                around.pop()
            elif token == b"${":
                around.append(token)
        elif token in {b"/*", b'"', b'"""', b"{"}:
            around.append(token)
        elif token == b"}" and around:
            around.pop()
            last = found.start() - 1
            while last >= written and data[last] in b" \t":
                last -= 1
            before = data[last : last + 1] if last >= written else b""
            if inside == b"{" and before not in {b"", b"\n", b"\r", b"{", b";", b",", b">"}:
                pieces += [data[written : found.start()], b";"]
                written = found.start()
    return b"".join((*pieces, data[written:]))


_CONTEXT_PARAMETERS: Final = re.compile(
    rb"^([ \t]*)(context[ \t]*\([^()\"]*(?:\([^()\"]*\)[^()\"]*)*\))(?=\s*(?:@|[a-z]+\s))", re.MULTILINE
)


def blank_context_parameters(data: bytes) -> bytes:
    """Return Kotlin text with blanks for the context parameters in front of declarations (Kotlin 2.2)."""
    return _CONTEXT_PARAMETERS.sub(lambda found: found[1] + re.sub(rb"[^\n]", b" ", found[2]), data)


def _excerpt(text: str) -> str:
    first = text.strip().partition("\n")[0][:40]
    return repr(first) if first else "the end of the text"


def _first_error(root: Node) -> Node:
    node = root
    while not (node.is_error or node.is_missing):
        inside = next((child for child in node.children if child.has_error or child.is_missing), None)
        if inside is None:
            break
        node = inside
    return node


def _named(node: Node, *types: str) -> Node | None:
    return next((child for child in node.children if child.type in types), None)


def _qualified(node: Node) -> Name:
    return tuple(identifier_of(child) for child in node.children if child.type == "identifier")


def _package_of(root: Node) -> Name:
    header = _named(root, "package_header")
    name = _named(header, "qualified_identifier") if header is not None else None
    return _qualified(name) if name is not None else ()


def _imports_of(root: Node) -> Iterator[Import]:
    for node in root.children:
        name = _named(node, "qualified_identifier") if node.type == "import" else None
        if name is None:
            continue
        segments = _qualified(name)
        alias = node.children[-1]
        if alias.type == "*":
            yield Import(segments, None)
        else:
            yield Import(segments, identifier_of(alias) if alias.type == "identifier" else segments[-1])


class _Walk:
    def __init__(self, file: SourceDeclarations) -> None:
        self.file = file
        self.pending: list[tuple[Node, ClassDeclaration | None]] = []
        self.detached: list[Annotation] = []

    def read(self, root: Node) -> None:
        self.pending = [(root, None)]
        while self.pending:
            node, outer = self.pending.pop()
            self.detached = []
            first_kdoc: str | None = None
            for child, kdoc in _with_kdoc(node.children):
                if child.type == "annotated_expression":
                    self.detached.extend(self.detached_annotations(child))
                    first_kdoc = first_kdoc or kdoc
                else:
                    self.read_declaration(child, outer, kdoc or first_kdoc)
                    self.detached, first_kdoc = [], None

    def detached_annotations(self, node: Node) -> Iterator[Annotation]:
        """Yield annotations that the grammar takes for an expression in front of a declaration.

        It does so where the last of several has one argument without a name: `@A @B("x") class C`.
        """
        expression: Node | None = node
        while expression is not None and expression.type == "annotated_expression":
            found = [annotation for child in expression.children for annotation in self.annotations_of(child)]
            expression = expression.children[-1]
            if found and expression.type == "parenthesized_expression":
                values = tuple((None, child) for child in expression.children if child.is_named)
                found[-1] = replace(found[-1], arguments=values)
            yield from found

    def annotations_of(self, node: Node) -> Iterable[Annotation]:
        return self.annotations(node) if node.type == "annotation" else ()

    def read_declaration(self, node: Node, outer: ClassDeclaration | None, kdoc: str | None) -> None:
        if node.type in {"class_declaration", "object_declaration", "companion_object"}:
            self.read_class(node, outer, kdoc)
        elif node.type == "function_declaration":
            function = self.function(node, outer, kdoc)
            (self.file.functions if outer is None else outer.functions).append(function)
        elif node.type == "property_declaration":
            self.read_property(node, outer, kdoc)
        elif node.type == "secondary_constructor" and outer is not None:
            outer.has_secondary_constructor.append(line_of(node))
        elif node.type == "type_alias" and outer is None:
            self.read_alias(node)

    def read_class(self, node: Node, outer: ClassDeclaration | None, kdoc: str | None) -> None:
        modifiers, annotations = self.declared(node)
        name = node.child_by_field_name("name")
        kind: Literal["class", "interface", "object", "companion"] = "class"
        if node.type == "companion_object":
            kind = "companion"
        elif node.type == "object_declaration":
            kind = "object"
        elif _named(node, "interface") is not None:
            kind = "interface"
        constructor = _named(node, "primary_constructor")
        parameters = _named(constructor, "class_parameters") if constructor is not None else None
        own = {"fun"} if _named(node, "fun") is not None else set()
        declaration = ClassDeclaration(
            name=identifier_of(name) if name is not None else "Companion",
            kind=kind,
            line=line_of(name or node),
            file=self.file,
            outer=outer,
            modifiers=modifiers | own | ({"enum"} if _named(node, "enum_class_body") is not None else set()),
            annotations=annotations,
            type_parameters=self.type_parameters(node),
            constructor=None if constructor is None else self.class_parameters(parameters),
            constructor_modifiers=self.modifiers(constructor)[0] if constructor is not None else frozenset(),
            supertypes=tuple(self.supertypes(node)),
            kdoc=kdoc,
        )
        if len(declaration.path) > MAX_TYPE_DEPTH:
            message = f"classes are nested more than {MAX_TYPE_DEPTH} levels deep"
            raise BudgetError(message, place=str(self.file.place(declaration.line)))
        classes = self.file.classes if outer is None else outer.classes
        if declaration.name in classes:
            place = str(self.file.place(declaration.line))
            raise InputError(f"{declaration.name} is declared a second time", place=place, hint="remove one")
        classes[declaration.name] = declaration
        body = _named(node, "class_body", "enum_class_body")
        if body is not None:
            self.pending.append((body, declaration))
        elif _ends_with_lambda(node):
            self.file.delegations.append(declaration.line)

    def class_parameters(self, node: Node | None) -> tuple[ParameterDeclaration, ...]:
        if node is None:
            return ()
        return tuple(
            self.class_parameter(child, kdoc)
            for child, kdoc in _with_kdoc(node.children)
            if child.type == "class_parameter"
        )

    def class_parameter(self, node: Node, kdoc: str | None) -> ParameterDeclaration:
        modifiers, annotations = self.modifiers(node)
        name = _named(node, "identifier")
        return ParameterDeclaration(
            name=identifier_of(name) if name is not None else "",
            type=self.type_in(node),
            line=line_of(name or node),
            annotations=annotations,
            has_default=_named(node, "=") is not None,
            is_property=_named(node, "val", "var") is not None,
            is_vararg="vararg" in modifiers,
            kdoc=kdoc,
        )

    def function(self, node: Node, owner: ClassDeclaration | None, kdoc: str | None) -> FunctionDeclaration:
        modifiers, annotations = self.declared(node)
        name = node.child_by_field_name("name")
        body = _named(node, "function_body")
        parameters = _named(node, "function_value_parameters")
        has_receiver = _named(node, ".") is not None
        receiver = next((child for child in node.children if child.type in _RECEIVERS), None)
        return_type = self.type_in(node) if _named(node, ":") is not None else None
        if kdoc is None:
            kdoc = next((text_of(child) for child in node.children if _is_kdoc(child)), None)
        return FunctionDeclaration(
            name=identifier_of(name) if name is not None else "",
            line=line_of(name or node),
            file=self.file,
            owner=owner,
            modifiers=modifiers,
            annotations=annotations,
            type_parameters=self.type_parameters(node),
            parameters=tuple(self.parameters(parameters)) if parameters is not None else (),
            receiver=self.type(receiver) if has_receiver and receiver is not None else None,
            return_type=return_type,
            has_body=body is not None,
            is_expression=body is not None and _named(body, "=") is not None,
            kdoc=kdoc,
        )

    def parameters(self, node: Node) -> Iterator[ParameterDeclaration]:
        found: dict[str, Any] = {}
        modifiers: tuple[frozenset[str], tuple[Annotation, ...]] = frozenset(), ()
        for child in node.children:
            if child.type == "parameter_modifiers":
                modifiers = self.modifiers_in(child)
            elif child.type == "parameter":
                if found:
                    yield ParameterDeclaration(**found)
                name = _named(child, "identifier")
                found = {
                    "name": identifier_of(name) if name is not None else "",
                    "type": self.type_in(child),
                    "line": line_of(name or child),
                    "annotations": modifiers[1],
                    "is_vararg": "vararg" in modifiers[0],
                }
                modifiers = frozenset(), ()
            elif child.type == "=" and found:
                found["has_default"] = True
        if found:
            yield ParameterDeclaration(**found)

    def read_property(self, node: Node, outer: ClassDeclaration | None, kdoc: str | None) -> None:
        variable = _named(node, "variable_declaration")
        name = _named(variable, "identifier") if variable is not None else None
        if variable is None or name is None:
            return
        modifiers, annotations = self.modifiers(node)
        equals = next((index for index, child in enumerate(node.children) if child.type == "="), None)
        declaration = PropertyDeclaration(
            name=identifier_of(name),
            line=line_of(name),
            modifiers=modifiers,
            annotations=annotations,
            type=self.type_in(variable) if _named(variable, ":") is not None else None,
            value=node.children[equals + 1] if equals is not None else None,
            kdoc=kdoc,
        )
        (self.file.properties if outer is None else outer.properties).setdefault(
            declaration.name, declaration
        )

    def read_alias(self, node: Node) -> None:
        name = node.child_by_field_name("type") or _named(node, "identifier")
        target = node.children[-1]
        if name is not None:
            alias = TypeAlias(
                identifier_of(name), self.type(target), self.type_parameters(node), self.file, line_of(name)
            )
            self.file.aliases.setdefault(alias.name, alias)

    def supertypes(self, node: Node) -> Iterator[TypeReference]:
        specifiers = _named(node, "delegation_specifiers")
        for specifier in specifiers.children if specifiers is not None else ():
            inner = specifier.children[0] if specifier.type == "delegation_specifier" else None
            if inner is not None and inner.type in {"constructor_invocation", "explicit_delegation"}:
                inner = inner.children[0]
            if inner is not None:
                yield self.type(inner)

    def type_parameters(self, node: Node) -> tuple[TypeParameter, ...]:
        listed = _named(node, "type_parameters")
        found: list[TypeParameter] = []
        for child in listed.children if listed is not None else ():
            name = _named(child, "identifier") if child.type == "type_parameter" else None
            if name is not None:
                bound = self.type_in(child) if _named(child, ":") is not None else None
                found.append(TypeParameter(identifier_of(name), bound))
        return tuple(found)

    def type_in(self, node: Node) -> TypeReference:
        """Return the type after the colon of a node."""
        after = False
        for child in node.children:
            if after and child.is_named and child.type not in _COMMENTS:
                return self.type(child)
            after = after or child.type == ":"
        return TypeReference((), line_of(node), text_of(node)[:80])

    def type(self, node: Node, depth: int = 0) -> TypeReference:
        if depth > MAX_TYPE_DEPTH:
            message = f"types are nested more than {MAX_TYPE_DEPTH} levels deep"
            raise BudgetError(message, place=str(self.file.place(line_of(node))))
        nullable = False
        inner: Node | None = node
        while inner is not None and inner.type in {"nullable_type", "parenthesized_type"}:
            nullable = nullable or inner.type == "nullable_type"
            inner = next((child for child in inner.children if child.is_named), None)
        line, text = line_of(node), " ".join(text_of(node)[:200].split())
        if inner is None or inner.type != "user_type":
            return TypeReference((), line, text, nullable=nullable)
        name: list[str] = []
        arguments: tuple[TypeArgument, ...] = ()
        annotations: tuple[Annotation, ...] = ()
        for child in inner.children:
            if child.type == "identifier":
                if arguments:
                    return TypeReference((), line, text, nullable=nullable)
                name.append(identifier_of(child))
            elif child.type == "type_arguments":
                arguments = tuple(self.type_arguments(child, depth))
            elif child.type == "type_modifiers":
                annotations = self.modifiers_in(child)[1]
        return TypeReference(tuple(name), line, text, arguments, nullable, annotations)

    def type_arguments(self, node: Node, depth: int) -> Iterator[TypeArgument]:
        for child in node.children:
            if child.type != "type_projection":
                continue
            variance: Literal["", "in", "out"] = ""
            found: TypeReference | None = None
            for part in child.children:
                if part.type == "variance_modifier":
                    variance = "in" if text_of(part) == "in" else "out"
                elif part.is_named and part.type not in _COMMENTS:
                    found = self.type(part, depth + 1)
            yield TypeArgument(found, variance)

    def declared(self, node: Node) -> tuple[frozenset[str], tuple[Annotation, ...]]:
        """Return the modifiers and annotations of a declaration of a file or class."""
        modifiers, annotations = self.modifiers(node)
        return modifiers, (*self.detached, *annotations)

    def modifiers(self, node: Node) -> tuple[frozenset[str], tuple[Annotation, ...]]:
        found = _named(node, "modifiers")
        return self.modifiers_in(found) if found is not None else (frozenset(), ())

    def modifiers_in(self, node: Node) -> tuple[frozenset[str], tuple[Annotation, ...]]:
        words: set[str] = set()
        annotations: list[Annotation] = []
        for child in node.children:
            if child.type == "annotation":
                annotations.extend(self.annotations(child))
            elif child.type.endswith("_modifier"):
                words.add(text_of(child))
        return frozenset(words), tuple(annotations)

    def annotations(self, node: Node) -> Iterable[Annotation]:
        """Yield the annotations of a node, several of `@[A B]`."""
        self.file.seen.add(node.start_byte)
        target = _named(node, "use_site_target")
        for child in node.children:
            invoked = _named(child, "user_type") if child.type == "constructor_invocation" else child
            if invoked is None or invoked.type != "user_type":
                continue
            listed = _named(child, "value_arguments")
            yield Annotation(
                _qualified(invoked),
                line_of(node),
                tuple(arguments_of(listed)) if listed is not None else (),
                identifier_of(target.children[0]) if target is not None else None,
            )


def _ends_with_lambda(node: Node) -> bool:
    """Return whether the grammar took the body of a class for an argument of its delegate."""
    last: Node | None = _named(node, "delegation_specifiers")
    while last is not None and last.children:
        last = last.children[-1]
        if last.type == "annotated_lambda":
            return True
    return False


def arguments_of(node: Node) -> Iterator[tuple[str | None, Node]]:
    """Yield the arguments of a call: the name or None, and the expression."""
    for child in node.children:
        if child.type != "value_argument":
            continue
        parts = [part for part in child.children if part.type not in _COMMENTS]
        named = len(parts) > 2 and parts[1].type == "="  # noqa: PLR2004 - name, equals sign, value
        yield (identifier_of(parts[0]) if named else None), parts[-1]


def _is_kdoc(node: Node) -> bool:
    return node.type == "block_comment" and (node.text or b"").startswith(b"/**") and text_of(node) != "/**/"


def _with_kdoc(nodes: Iterable[Node]) -> Iterator[tuple[Node, str | None]]:
    """Yield the nodes that are not comments, each with the KDoc in front of it."""
    kdoc: str | None = None
    for node in nodes:
        if node.type in _COMMENTS:
            kdoc = text_of(node) if _is_kdoc(node) else kdoc
        else:
            yield node, kdoc
            kdoc = None
