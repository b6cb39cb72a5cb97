"""Kotlin text as declarations: their heads are read, and what is in a body or value is passed over.

An error costs the declaration in whose head it is, and reading goes on with the next one. How far a value
reaches is kotlinc's rule: a line feed ends it, unless the next line begins with one of a few operators.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

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
from droidgate_appfunctions.kotlin.kotlin_tokens import Expression, read_tokens
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.records import dataclass

MAX_FILE: Final = 2 * 1024 * 1024
"""Bytes of one file; hand-written Kotlin has a few hundred kilobytes at most."""

MAX_TYPE_DEPTH: Final = 32
"""Types inside angle brackets; also the levels of classes inside classes."""

MAX_ERRORS: Final = 100
"""Errors of one file that are reported."""

_KEYWORDS: Final = frozenset({"class", "interface", "object", "fun", "val", "var", "typealias"})
_WORDS: Final = """
public private protected internal open abstract final sealed override suspend data enum annotation inner value
inline companion const lateinit operator infix tailrec external expect actual context constructor init import
"""
_BEGINNINGS: Final = frozenset(_WORDS.split())
"""Words that begin a declaration after an error; in front of a declaration, any word is a modifier."""

_ACCESSORS: Final = frozenset({"get", "set", "field"})
_CONTINUATIONS: Final = frozenset({".", "?", "&&", "||", "as"})
"""What goes on with a value at the beginning of a line."""

_OPERANDS: Final = frozenset(
    {"name", "number", "text", "this", "super", "true", "false", "null", "break", "continue"}
)
_ENDS: Final = frozenset({";", ",", ")", "]", "}", ":", "->", "end", *_KEYWORDS} - {"fun", "object"})


def parse_file(file: SourceFile, *, is_library: bool = False) -> SourceDeclarations:
    """Return the declarations of a Kotlin file, and in `errors` those of its syntax.

    Raises:
        BudgetError: the file is larger or deeper than what is read.
    """
    if len(file.data) > MAX_FILE:
        message = f"the file has {len(file.data)} bytes; at most {MAX_FILE} are read"
        raise BudgetError(message, place=file.path, hint="split the file")
    source = read_tokens(file.data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace"))
    declarations = SourceDeclarations(file.path, source, is_library=is_library)
    parser = _Parser(declarations)
    try:
        parser.members(None, len(source.kinds) - 1)
    except RecursionError:
        place = declarations.place(source.line(parser.at))
        raise BudgetError("types or values are nested too deeply", place=str(place)) from None
    for offset in source.unfinished:
        parser.report(offset)
    return declarations


def unread_annotations(declarations: SourceDeclarations) -> Iterator[tuple[int, str]]:
    """Yield line and name of each annotation of the library that belongs to no declaration that is read."""
    source = declarations.source
    for start, kind in enumerate(source.kinds):
        if kind != "@" or source.starts[start] in declarations.seen:
            continue
        token = start + 1
        while source.kinds[token] == "name" and source.kinds[token + 1] in {".", ":"}:
            token += 2
        if source.kinds[token] == "name" and source.word(token).startswith("AppFunction"):
            yield source.line(start), f"@{source.word(token)}"


class _HeadError(Exception):
    """A token that cannot be where it is."""

    def __init__(self, token: int) -> None:
        super().__init__()
        self.token = token


@dataclass(frozen=True, slots=True)
class _Head:
    """What is in front of a declaration, which begins with the token `first`."""

    outer: ClassDeclaration | None
    first: int
    modifiers: frozenset[str]
    annotations: tuple[Annotation, ...]


class _Parser:
    """Reads the tokens of a file from `at` on; `end` is the end of the body that is read.

    Each token is read a bounded number of times: `bodiless` is the end of the body in whose rest no body of a
    function without a name is, and `reread` counts the tokens that are read again after errors in values.
    """

    def __init__(self, file: SourceDeclarations) -> None:
        self.file = file
        self.source = file.source
        self.kinds = file.source.kinds
        self.breaks = file.source.breaks
        self.at = 0
        self.end = 0
        self.bodiless = -1
        self.reread = 0

    def report(self, offset: int) -> None:
        start, end = self.source.text.rfind("\n", 0, offset) + 1, self.source.text.find("\n", offset)
        text = self.source.text[start : end if end >= 0 else None].strip()[:40]
        message = f"Kotlin syntax error at {repr(text) if text else 'the end of the text'}"
        self.report_error(message, self.source.line_at(offset), "compile the file to see why")

    def report_error(self, message: str, line: int, hint: str) -> None:
        if len(self.file.errors) < MAX_ERRORS:
            self.file.errors.append(InputError(message, place=str(self.file.place(line)), hint=hint))

    def take(self, kind: str) -> bool:
        is_taken = self.kinds[self.at] == kind
        self.at += is_taken
        return is_taken

    def require(self, kind: str) -> int:
        if not self.take(kind):
            raise _HeadError(self.at)
        return self.at - 1

    def name(self) -> str:
        return self.source.word(self.require("name"))

    def is_word(self, *words: str, token: int | None = None) -> bool:
        """Return whether a token is a word that is a keyword in some places only."""
        token = self.at if token is None else token
        start = self.source.starts[token]
        return self.kinds[token] == "name" and self.source.text[start : self.source.ends[token]] in words

    def is_next(self, kind: str) -> bool:
        """Return whether a kind follows the token at once."""
        return self.kinds[self.at + 1] == kind and self.source.is_joined(self.at + 1)

    def closer(self, opener: int) -> int:
        closer = self.source.closers.get(opener)
        if closer is None:
            raise _HeadError(opener)
        return closer

    def jump(self, kind: str) -> bool:
        """Pass over brackets, if they are next."""
        is_there = self.kinds[self.at] == kind
        if is_there:
            self.at = self.closer(self.at) + 1
        return is_there

    def members(self, outer: ClassDeclaration | None, end: int) -> None:
        """Read the declarations of a body, or of the file."""
        around, self.end = self.end, end
        while self.at < end:
            start = self.at
            try:
                if not self.take(";"):
                    self.declaration(outer)
            except _HeadError as error:
                self.report(self.source.starts[error.token])
                self.recover(start, error.token)
        self.end = around

    def recover(self, start: int, error: int) -> None:
        """Go on with the next line after an error that begins like a declaration."""
        for token in self.source.steps(start, self.end):
            begins = self.kinds[token] in {"@", *_KEYWORDS} or self.is_word(*_BEGINNINGS, token=token)
            if begins and self.breaks[token] and token >= error and token > start:
                self.at = token
                return
        self.at = self.end

    def declaration(self, outer: ClassDeclaration | None) -> None:
        first = self.at
        head = _Head(outer, first, *self.modifiers())
        kind = self.kinds[self.at]
        if kind in {"class", "interface", "object"} or (
            kind == "fun" and self.kinds[self.at + 1] == "interface"
        ):
            self.read_class(head)
        elif kind == "fun":
            function = self.function(head)
            (self.file.functions if outer is None else outer.functions).append(function)
        elif kind in {"val", "var"}:
            self.read_property(head)
        elif kind == "typealias":
            self.read_alias(outer)
        elif kind == "package" and outer is None:
            self.at += 1
            self.file.package = self.qualified_name()
        elif self.is_word("import") and outer is None:
            self.read_import()
        else:
            self.file.seen.difference_update(self.source.starts[first : self.at])
            self.pass_over(outer)

    def pass_over(self, outer: ClassDeclaration | None) -> None:
        """Pass over an accessor, a secondary constructor or an initializer."""
        if self.is_word("constructor") and outer is not None:
            outer.has_secondary_constructor.append(self.source.line(self.at))
            self.at += 1
            if not self.jump("("):
                raise _HeadError(self.at)
            if self.take(":"):
                self.at += self.kinds[self.at] in {"this", "super"}
                self.jump("(")
        elif self.is_word(*_ACCESSORS):
            self.at += 1
            self.jump("(")
            if self.take(":"):
                self.type()
        elif self.is_word("init"):
            self.at += 1
        else:
            raise _HeadError(self.at)
        self.body()

    def body(self) -> Literal["", "{", "="]:
        """Pass over a body, and return how it begins; whatever is in it, the declaration is read."""
        if self.kinds[self.at] == "{":
            end = self.source.closers.get(self.at)
            if end is None:
                self.report(self.source.starts[self.at])
            self.at = self.end if end is None else end + 1
            return "{"
        if self.take("="):
            self.expression()
            return "="
        return ""

    def modifiers(self) -> tuple[frozenset[str], tuple[Annotation, ...]]:
        """Read what is in front of a declaration; context parameters are the modifier `context`."""
        words: set[str] = set()
        annotations: list[Annotation] = []
        while True:
            following = self.kinds[self.at + 1] if self.kinds[self.at] == "name" else ""
            if self.kinds[self.at] == "@":
                annotations += self.annotations()
            elif self.is_word("context") and following == "(":
                words.add(self.name())
                self.jump("(")
            elif self.is_word(*_ACCESSORS, "import") or following not in {"name", "@", "package", *_KEYWORDS}:
                own_annotations = tuple(item for item in annotations if item.target != "file")
                return frozenset(words), own_annotations
            else:
                words.add(self.name())

    def annotations(self, *, in_type: bool = False, is_read: bool = True) -> list[Annotation]:
        """Read an annotation, or several of `@[A B]`."""
        start = self.require("@")
        if is_read:
            self.file.seen.add(self.source.starts[start])
        target = None
        if self.kinds[self.at] == "name" and self.kinds[self.at + 1] == ":":
            target = self.name()
            self.at += 1
        if self.kinds[self.at] != "[":
            return [self.annotation(start, target, in_type=in_type)]
        end = self.closer(self.at)
        self.at += 1
        annotations: list[Annotation] = []
        while self.at < end:
            annotations.append(self.annotation(start, target, in_type=False))
        self.at = end + 1
        return annotations

    def annotation(self, start: int, target: str | None, *, in_type: bool) -> Annotation:
        name = self.qualified_name()
        if self.kinds[self.at] == "<":
            self.type_arguments(0)
        arguments: tuple[tuple[str | None, Expression], ...] = ()
        # In a type, brackets after a blank are part of it: `@A (B) -> C`.
        if self.kinds[self.at] == "(" and (not in_type or self.source.is_joined(self.at)):
            arguments = tuple(self.source.arguments(self.at))
            self.jump("(")
        return Annotation(name, self.source.line(start), arguments, target)

    def qualified_name(self) -> Name:
        names = [self.name()]
        while self.kinds[self.at] == "." and self.kinds[self.at + 1] == "name":
            self.at += 1
            names.append(self.name())
        return tuple(names)

    def read_import(self) -> None:
        self.at += 1
        name = self.qualified_name()
        alias: str | None = name[-1]
        if self.take("."):
            self.require("*")
            alias = None
        elif self.take("as"):
            alias = self.name()
        self.file.imports.append(Import(name, alias))

    def kdoc(self, first: int) -> str | None:
        """Return the KDoc in front of a declaration, or else in its head, up to its body."""
        tokens = self.source.steps(first, self.at + (self.kinds[self.at] in {"{", "="}))
        return next((self.source.kdoc[token] for token in tokens if token in self.source.kdoc), None)

    def read_class(self, head: _Head) -> None:
        modifiers = head.modifiers | ({"fun"} if self.take("fun") else set())
        kind: Literal["class", "interface", "object", "companion"] = "class"
        if self.kinds[self.at] == "interface":
            kind = "interface"
        elif self.kinds[self.at] == "object":
            kind = "companion" if "companion" in modifiers else "object"
        self.at += 1
        has_name = self.kinds[self.at] == "name" or kind != "companion"
        line = self.source.line(self.at - (not has_name))
        name = self.name() if has_name else "Companion"
        type_parameters = self.type_parameters()
        constructor_modifiers, constructor = self.primary_constructor()
        supertypes = tuple(self.supertypes()) if self.take(":") else ()
        self.pass_constraints()
        declaration = ClassDeclaration(
            name,
            kind,
            line,
            self.file,
            head.outer,
            modifiers,
            head.annotations,
            type_parameters,
            constructor,
            constructor_modifiers,
            supertypes,
            self.kdoc(head.first),
        )
        if len(declaration.path) > MAX_TYPE_DEPTH:
            message = f"classes are nested more than {MAX_TYPE_DEPTH} levels deep"
            raise BudgetError(message, place=str(self.file.place(line)))
        classes = self.file.classes if head.outer is None else head.outer.classes
        if classes.setdefault(name, declaration) is not declaration:
            self.report_error(f"{name} is declared a second time", line, "remove one")
        start = self.at
        if self.body() == "{":
            after, self.at = self.at, start + 1
            end = self.source.closers.get(start, after)
            if "enum" in modifiers:  # its entries end with a semicolon
                semicolons = (item for item in self.source.steps(self.at, end) if self.kinds[item] == ";")
                self.at = next(semicolons, end)
            self.members(declaration, end)
            self.at = after

    def primary_constructor(self) -> tuple[frozenset[str], tuple[ParameterDeclaration, ...] | None]:
        start = self.at
        try:
            modifiers, _ = self.modifiers()
        except _HeadError:  # that of the next declaration
            self.at = start
            return frozenset(), None
        if self.is_word("constructor") or (self.at == start and self.kinds[start] == "("):
            self.at += self.kinds[self.at] == "name"
            return modifiers, tuple(self.parameters())
        self.at = start
        return frozenset(), None

    def supertypes(self) -> Iterator[TypeReference]:
        is_listed = True
        while is_listed:
            yield self.type()
            self.jump("(")
            if self.is_word("by"):
                self.at += 1
                self.expression(takes_lambdas=False)
            is_listed = self.take(",")

    def items(self, end: str) -> Iterator[int]:
        """Go through the items of a list, each with its first token, and pass over its end."""
        while not self.take(end):
            yield self.at
            if self.kinds[self.at] != end:
                self.require(",")

    def parameters(self) -> Iterator[ParameterDeclaration]:
        """Yield the parameters of a function or of a primary constructor."""
        end = self.closer(self.require("("))
        for first in self.items(")"):
            words, annotations = self.modifiers()
            is_property = self.take("val") or self.take("var")
            line, name = self.source.line(self.at), self.name()
            self.require(":")
            kotlin_type = self.type()
            default = None
            if self.take("="):
                start, self.at = self.at, self.source.next_comma(self.at, end)
                default = self.source.between(start, self.at)
            facts = kotlin_type, line, annotations, default, is_property, "vararg" in words
            yield ParameterDeclaration(name, *facts, kdoc=self.source.kdoc.get(first))

    def function(self, head: _Head) -> FunctionDeclaration:
        self.at += 1
        type_parameters = self.type_parameters()
        receiver = self.receiver()
        line, name = self.source.line(self.at), self.name()
        parameters = tuple(self.parameters())
        return_type = self.type() if self.take(":") else None
        if self.is_word("contract") and self.kinds[self.at + 1] == "[":
            self.at += 1
            self.jump("[")
        self.pass_constraints()
        kdoc, body = self.kdoc(head.first), self.body()
        return FunctionDeclaration(
            name,
            line,
            self.file,
            head.outer,
            head.modifiers,
            head.annotations,
            type_parameters,
            parameters,
            receiver,
            return_type,
            has_body=bool(body),
            is_expression=body == "=",
            kdoc=kdoc,
        )

    def receiver(self) -> TypeReference | None:
        """Read the type in front of the name of a function or property: up to the last dot."""
        start = name = self.at
        while self.kinds[self.at] == "@":
            self.annotations()
        while True:
            if not self.jump("("):
                name = self.at
                self.at += self.kinds[self.at] == "name"
            if self.kinds[self.at] == "<":
                self.type_arguments(0)
            while self.take("?"):
                pass
            if not self.take("."):
                break
        self.at = start
        if name == start:
            return None
        receiver = self.type(name=name)
        self.require(".")
        if self.at != name:
            raise _HeadError(self.at)
        return receiver

    def read_property(self, head: _Head) -> None:
        self.at += 1
        self.type_parameters()
        self.receiver()
        line, name = self.source.line(self.at), self.name()
        kotlin_type = self.type() if self.take(":") else None
        self.pass_constraints()
        value, start, kdoc = None, self.at + 1, self.kdoc(head.first)
        if self.take("="):
            self.expression()
            value = Expression(self.source, start, self.at)
        elif self.is_word("by"):
            self.at += 1
            self.expression()
        facts = head.modifiers, head.annotations, kotlin_type, value, kdoc
        properties = self.file.properties if head.outer is None else head.outer.properties
        properties.setdefault(name, PropertyDeclaration(name, line, *facts))

    def read_alias(self, outer: ClassDeclaration | None) -> None:
        self.at += 1
        line, name = self.source.line(self.at), self.name()
        type_parameters = self.type_parameters()
        self.require("=")
        alias = TypeAlias(name, self.type(), type_parameters, self.file, line)
        if outer is None:
            self.file.aliases.setdefault(name, alias)

    def pass_constraints(self) -> None:
        if self.is_word("where"):
            is_listed = True
            while is_listed:
                self.at += 1
                while self.kinds[self.at] == "@":
                    self.annotations()
                self.name()
                self.require(":")
                self.type()
                is_listed = self.kinds[self.at] == ","

    def type_parameters(self) -> tuple[TypeParameter, ...]:
        parameters: list[TypeParameter] = []
        for _ in self.items(">") if self.take("<") else ():
            self.modifiers()
            self.take("in")
            parameters.append(TypeParameter(self.name(), self.type() if self.take(":") else None))
        return tuple(parameters)

    def type(self, depth: int = 0, name: int = -1) -> TypeReference:
        """Read a type; one in front of a name ends at the dot before it."""
        if depth > MAX_TYPE_DEPTH:
            message = f"types are nested more than {MAX_TYPE_DEPTH} levels deep"
            raise BudgetError(message, place=str(self.file.place(self.source.line(self.at))))
        start = self.at
        annotations = tuple(self.type_modifiers())
        segments: Name = ()
        arguments: tuple[TypeArgument, ...] = ()
        is_nullable = False
        if self.take("("):
            end = self.closer(self.at - 1)
            if self.kinds[end + 1] != "->":
                inner = self.type(depth + 1)
                segments, arguments, is_nullable = inner.name, inner.arguments, inner.nullable
                if self.at != end:
                    raise _HeadError(self.at)
            self.at = end + 1
        else:
            segments, arguments = self.class_type(depth, name)
        while self.kinds[self.at] == "?" and not self.is_next(":"):
            self.at += 1
            is_nullable = True
        is_function = self.kinds[self.at : self.at + 2] == [".", "("]
        if is_function:
            self.at = self.closer(self.at + 1) + 1
        if self.kinds[self.at] in {"&", "->"}:
            self.at += 1
            self.type(depth + 1)
            segments, arguments, annotations = (), (), ()
        elif is_function:
            raise _HeadError(self.at)
        text = " ".join(self.source.between(start, self.at)[:200].split())
        return TypeReference(segments, self.source.line(start), text, arguments, is_nullable, annotations)

    def class_type(self, depth: int, end: int) -> tuple[Name, tuple[TypeArgument, ...]]:
        """Read the name of a class and its arguments; a class inside of a generic one has no name."""
        segments: Name = (self.name(),)
        arguments = self.type_arguments(depth) if self.kinds[self.at] == "<" else ()
        while self.kinds[self.at : self.at + 2] == [".", "name"] and self.at + 1 != end:
            self.at += 1
            name = self.name()
            segments = () if arguments or not segments else (*segments, name)
            arguments = self.type_arguments(depth) if self.kinds[self.at] == "<" else ()
        return segments, arguments if segments else ()

    def type_modifiers(self) -> Iterator[Annotation]:
        while True:
            following = self.kinds[self.at + 1] if self.kinds[self.at] == "name" else ""
            if self.kinds[self.at] == "@":
                yield from self.annotations(in_type=True)
            elif self.is_word("suspend") and following in {"(", "name", "@"}:
                self.at += 1
            elif self.is_word("context") and following == "(":
                self.at += 1
                self.jump("(")
            else:
                return

    def type_arguments(self, depth: int) -> tuple[TypeArgument, ...]:
        self.require("<")
        arguments: list[TypeArgument] = []
        for _ in self.items(">"):
            is_out = self.is_word("out") and self.kinds[self.at + 1] in {"name", "(", "@"}
            self.at += is_out
            variance: Literal["", "in", "out"] = "out" if is_out else "in" if self.take("in") else ""
            arguments.append(TypeArgument(None if self.take("*") else self.type(depth + 1), variance))
        return tuple(arguments)

    def expression(self, *, takes_lambdas: bool = True) -> None:
        """Pass over a value; an error in it costs nothing but the rest of its lines."""
        start, is_complete, branches = self.at, False, 0
        try:
            while True:
                kind = self.kinds[self.at]
                branches += kind == "if"
                is_branch = kind == "else" and branches > 0
                if kind == ";" and self.kinds[self.at + 1] == "else" and branches:
                    self.at += 1
                elif is_branch or (self.kinds[self.at - 1] == "}" and self.is_word("catch", "finally")):
                    branches -= is_branch
                    self.at += 1
                    self.jump("(")
                    is_complete = False
                elif self.is_end(is_complete=is_complete) or (kind == "{" and not takes_lambdas):
                    return
                else:
                    self.at += 1
                    is_complete = self.pass_operation(kind, is_complete=is_complete)
        except _HeadError as error:
            self.recover(start, start)
            self.reread += max(0, error.token - self.at)
            if self.reread > len(self.kinds):
                self.recover(start, error.token)

    def is_end(self, *, is_complete: bool) -> bool:
        """Return whether a value ends in front of a token."""
        kind = self.kinds[self.at]
        is_ended = is_complete or self.kinds[self.at - 1] == "return"
        is_next_line = self.breaks[self.at] and kind not in _CONTINUATIONS
        return kind in _ENDS or (is_ended and (is_next_line or kind in {"fun", "object"}))

    def pass_operation(self, kind: str, *, is_complete: bool) -> bool:
        """Pass over an operand or operator that begins before `at`; return whether a value is complete."""
        if kind in {"(", "[", "{"}:
            self.at = self.closer(self.at - 1) + 1
        elif kind in {"if", "for", "while"}:
            self.jump("(")
            return False
        elif kind == "when":
            self.jump("(")
            self.jump("{")
        elif kind == "@":
            return self.pass_at(is_complete=is_complete)
        elif kind == "?":
            self.take(":")
            return False
        elif kind == "<" and is_complete:
            after = self.source.after_type_arguments(self.at - 1)
            self.at = after or self.at
            return after is not None
        elif kind == "!" and is_complete:
            return self.take("!")
        elif kind in {"is", "as"}:
            self.take("?")
            self.type()
        elif kind == "object":
            if self.take(":"):
                list(self.supertypes())
            self.jump("{")
        elif kind == "fun":
            self.pass_function_head()
            return False
        elif kind == "::":
            self.at += self.kinds[self.at] in {"name", "class"}
        elif kind in {"++", "--"}:
            return is_complete
        else:
            # Of two words, the second one is the name of a function between its operands.
            return kind in _OPERANDS and not is_complete
        return True

    def pass_function_head(self) -> None:
        """Pass over the head of a function without a name, if a body follows it."""
        if self.end == self.bodiless:
            return
        bodies = (item for item in self.source.steps(self.at, self.end) if self.kinds[item] in {"{", "="})
        body = next(bodies, None)
        if body is None:
            self.bodiless = self.end
        else:
            self.at = body

    def pass_at(self, *, is_complete: bool) -> bool:
        """Pass over a label or an annotation, and return whether a value is complete after it."""
        is_label = self.source.is_joined(self.at - 1) and self.kinds[self.at - 2] in {*_OPERANDS, ">"}
        is_target = is_label and self.kinds[self.at] == "name" and self.source.is_joined(self.at)
        if is_target:
            self.at += 1
        elif not is_label:
            self.at -= 1
            self.annotations(is_read=False)
        return is_complete and (is_target or not is_label)
