"""Finding the method of an app that does a capability: one that chooses what to do by the capability's id.

Protocols whose tools are texts in a manifest have no declaration in code. Only what the code itself says is
used: a method compares a value with the id, in a `switch`, a `when` or an equation. It can be called where
the value is its own parameter and the others are the arguments as a JSON object.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, Literal

from droidgate_android.handlers.places import MARK
from droidgate_mappings.formats.format import ExistingFunction, FunctionParameter, SourceFile
from droidgate_mappings.model.capability import Capability, Place
from droidgate_mappings.records import dataclass, field

_TOKEN: Final = re.compile(
    r"""(?P<skipped>\s++|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?+)
    |(?P<raw>\"{3}(?:[^"]++|"(?!""))*+(?:\"{3})?+)
    |(?P<text>"(?:\\.|[^"\\\n])*+"?+)
    |'(?:\\.|[^'\\\n])*+'?+
    |(?P<word>[^\W\d][\w$]*+)
    |->|==|.""",
    re.VERBOSE | re.DOTALL,
)
_CLASS_WORDS: Final = frozenset({"class", "interface", "enum", "record", "object"})
_NOT_METHODS: Final = frozenset(
    ["if", "for", "while", "switch", "when", "catch", "synchronized", "try", "do", "else", "return", "new"]
)
_MOST_BYTES: Final = 1024 * 1024
"""Bytes of a file of source code; people write shorter ones."""
_MOST_METHODS: Final = 64
"""Methods that are looked at for one id."""
_EXPRESSION: Final = "an expression"
"""What an id is compared with where that has no name."""
_RETURNS: Final[Mapping[str, Literal["json", "json-text"]]] = {"JSONObject": "json", "String": "json-text"}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    line: int


@dataclass(slots=True)
class _Class:
    name: str
    words: frozenset[str]
    extends: str | None
    is_nested: bool
    constructors: list[list[tuple[str, str]]] = field(default_factory=list)
    has_other_constructor: bool = False


@dataclass(slots=True)
class _Method:
    name: str
    words: frozenset[str]
    parameters: list[tuple[str, str]]
    returns: str
    owner: _Class


@dataclass(slots=True)
class _Frame:
    """What a pair of braces is the body of."""

    owner: _Class | None = None
    method: _Method | None = None
    subject: str | None = None
    is_class: bool = False


@dataclass(frozen=True, slots=True)
class _Choice:
    """A method that compares a value with an id."""

    method: _Method
    subject: str
    package: str
    place: Place
    is_kotlin: bool
    imported: frozenset[str]


def find_dispatched_functions(
    capabilities: Sequence[Capability], files: Sequence[SourceFile]
) -> Mapping[str, ExistingFunction]:
    """Return the methods that choose by the ids of capabilities, by id.

    Args:
        capabilities: What the methods may do.
        files: Source code of the app, in Java and Kotlin. Files that droidgate wrote are left out, and
            those of more than a mebibyte.

    Returns:
        Nothing for an id that no method compares a value with. A method that does not know all ids may do
        something else, and is not called. Where several methods know one, only one that can be called counts;
        otherwise `missing` names them.
    """
    ids = {capability.id for capability in capabilities}
    literals = [f'"{name}"'.encode() for name in ids]
    choices: dict[str, list[_Choice]] = {}
    for file in files:
        is_own = MARK.encode() in file.data
        if is_own or len(file.data) > _MOST_BYTES or not any(item in file.data for item in literals):
            continue
        for name, choice in _Scanner(file, ids).choices():
            functions = choices.setdefault(name, [])
            if len(functions) < _MOST_METHODS and all(item.method is not choice.method for item in functions):
                functions.append(choice)
    counts = Counter(id(choice.method) for functions in choices.values() for choice in functions)
    partial = {method: f"{count} of {len(ids)}" for method, count in counts.items() if count < len(ids)}
    return {
        capability.id: _function_of(capability, choices[capability.id], partial)
        for capability in capabilities
        if capability.id in choices
    }


def _function_of(
    capability: Capability, choices: Sequence[_Choice], partial: Mapping[int, str]
) -> ExistingFunction:
    functions = [
        _describe_dispatcher(capability, choice, partial.get(id(choice.method))) for choice in choices
    ]
    callable_ones = [function for function in functions if not function.missing]
    if len(callable_ones) == 1:
        return callable_ones[0]
    if len(functions) == 1:
        return functions[0]
    first, *others = functions
    listed = ", ".join(f"{function.owner}.{function.name}" for function in others)
    return ExistingFunction(
        first.owner, first.name, capability, missing=(f"{listed} compares a value with the id too",)
    )


def _describe_dispatcher(capability: Capability, choice: _Choice, partial: str | None) -> ExistingFunction:
    """Return the method with every reason why other code cannot call it."""
    method, owner = choice.method, choice.method.owner
    parameters = tuple(
        FunctionParameter(name, _role_of(name, written, choice)) for name, written in method.parameters
    )
    if all(parameter.role != "id" for parameter in parameters):
        reason = f"{method.name} compares the id with {choice.subject}, which is not its parameter"
        message = f"{reason}; move what it does then into a method that takes the id and the arguments"
        owner_name = f"{choice.package}.{owner.name}".lstrip(".")
        return ExistingFunction(owner_name, method.name, capability, missing=(message,))
    missing = tuple(_obstacles_to_calling(choice, parameters, partial))
    instance: Literal["static", "object", "class", "context"]
    if {"static", "object"} & (method.words | owner.words):
        instance = "static" if "static" in method.words else "object"
    else:
        instance = "class" if [] in _constructor_types(owner) else "context"
    is_public = choice.is_kotlin or ("public" in method.words and "public" in owner.words)
    is_internal = "internal" in method.words | owner.words
    return ExistingFunction(
        owner=f"{choice.package}.{owner.name}".lstrip("."),
        name=method.name,
        capability=capability.changed({"source": choice.place}),
        parameters=() if missing else parameters,
        instance=instance,
        returns=_RETURNS.get(method.returns, "json"),
        visibility="internal" if is_internal else "public" if is_public else "package",
        is_suspend="suspend" in method.words,
        missing=missing,
    )


def _role_of(name: str, written: str, choice: _Choice) -> Literal["id", "arguments", "context", "argument"]:
    """Return what a parameter takes; `argument` where it cannot be made from JSON."""
    type_ = written.removesuffix("?")
    if name == choice.subject and type_ == "String":
        return "id"
    if type_ == "JSONObject" and type_ in choice.imported:
        return "arguments"
    return "context" if type_ == "Context" and type_ in choice.imported else "argument"


def _obstacles_to_calling(
    choice: _Choice, parameters: Sequence[FunctionParameter], partial: str | None
) -> Iterator[str]:
    """Yield why other code cannot call the method of a choice."""
    method, owner = choice.method, choice.method.owner
    roles = [parameter.role for parameter in parameters]
    for role, (name, written) in zip(roles, method.parameters, strict=True):
        if role == "argument":
            yield f"{name} ({written}) is not made from JSON here"
    if partial is not None:
        yield f"{method.name} knows {partial} ids, so it may do something else"
    elif roles.count("arguments") != 1 and "argument" not in roles:
        yield f"{method.name} does not take the arguments as one JSONObject"
    if method.returns not in _RETURNS:
        yield f"{method.name} returns {method.returns or 'a type that is not written'}"
    hidden = method.words & ({"private", "protected"} if choice.is_kotlin else {"private"})
    if hidden:
        yield f"{method.name} is {min(hidden)}"
    if not {"static", "object"} & (method.words | owner.words):
        yield from _unmade(owner, _constructor_types(owner))
    if "private" in owner.words:
        yield f"{owner.name} is private"
    if owner.is_nested:
        yield f"{owner.name} is a nested class"


def _constructor_types(owner: _Class) -> list[list[str]]:
    types = [[type_ for _, type_ in constructor] for constructor in owner.constructors]
    return types if types or owner.has_other_constructor else [[]]


def _unmade(owner: _Class, types: list[list[str]]) -> Iterator[str]:
    """Yield why an object of a class cannot be made by its constructor alone."""
    kinds = owner.words & {"abstract", "sealed", "interface", "enum", "record"}
    if kinds:
        yield f"{owner.name} is declared as {min(kinds)}"
    if not types:
        yield f"{owner.name} has no constructor that can be called from here"
    elif [] not in types and ["Context"] not in types:
        listed = ", ".join(f"{name} ({type_})" for name, type_ in owner.constructors[0])
        yield f"the constructor of {owner.name} takes {listed}"
    elif owner.extends is not None:
        yield f"{owner.name} extends {owner.extends}, so its constructor may not be all that it needs"


class _Scanner:
    """Reads one file: which braces are bodies of classes, methods and choices."""

    def __init__(self, file: SourceFile, ids: set[str]) -> None:
        self.path = file.path
        self.is_kotlin = file.path.endswith(".kt")
        self.ids = ids
        self.tokens = list(_tokens(file.data.decode("utf-8", "replace")))
        self.package = ""
        self.imported = frozenset(
            name
            for name, package in (("JSONObject", b"org.json."), ("Context", b"android.content."))
            if re.search(rb"import\s++" + re.escape(package) + rb"(?:%b|\*)" % name.encode(), file.data)
        )

    def choices(self) -> list[tuple[str, _Choice]]:
        """Return each comparison of a value with an id inside a method."""
        frames = [_Frame()]
        choices: list[tuple[str, _Choice]] = []
        start = 0
        for at, token in enumerate(self.tokens):
            if token.text == "package" and not self.package:
                self.package = self._package(at + 1)
            if token.kind == "text" and token.text[1:-1] in self.ids:
                frame = frames[-1]
                subject = self._subject(at, frame)
                if frame.method is not None and subject is not None:
                    place = Place(path=self.path, line=token.line)
                    facts = self.package, place, self.is_kotlin, self.imported
                    choice = _Choice(frame.method, subject, *facts)
                    choices.append((token.text[1:-1], choice))
            if token.text == "constructor" and frames[-1].is_class and frames[-1].owner is not None:
                frames[-1].owner.has_other_constructor = True
            if token.text == "{":
                frames.append(self._frame(self.tokens[start:at], frames[-1]))
            elif token.text == "}" and len(frames) > 1:
                frames.pop()
            if token.text in {"{", "}", ";"}:
                start = at + 1
        return choices

    def _package(self, at: int) -> str:
        words: list[str] = []
        while at < len(self.tokens) and (self.tokens[at].kind == "word" or self.tokens[at].text == "."):
            if self.tokens[at].kind == "word" and words and words[-1] != ".":
                break
            words.append(self.tokens[at].text)
            at += 1
        return "".join(words)

    def _text(self, at: int) -> str:
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def _word(self, at: int) -> str | None:
        return self.tokens[at].text if 0 <= at < len(self.tokens) and self.tokens[at].kind == "word" else None

    def _subject(self, at: int, frame: _Frame) -> str | None:
        """Return the name of the value that the text at a token is compared with, None without one."""
        before, after = self._text(at - 1), self._text(at + 1)
        compared = None
        if before == "==":
            compared = at - 2
        elif after == "==":
            compared = at + 2
        elif before == "(" and self._text(at - 2) == "equals":
            compared = at - 4
        elif after == "." and self._text(at + 2) == "equals":
            compared = at + 4
        if compared is not None:
            return self._word(compared) or _EXPRESSION
        is_label = after in {"->", ","} or (after == ":" and before in {"case", ","})
        return frame.subject if is_label and before not in {"(", "="} else None

    def _frame(self, head: list[_Token], around: _Frame) -> _Frame:
        words = [token.text for token in head]
        declaring = [at for at, word in enumerate(words) if word in {*_CLASS_WORDS, "fun"}]
        declaring = [at for at in declaring if at == 0 or words[at - 1] not in {".", ":"}]
        last = declaring[-1] if declaring else None
        subject = self._switched(words)
        method = None
        if last is not None and words[last] == "fun":
            method = self._kotlin_method(head, last, around)
        elif last is not None and last + 1 < len(words):
            owner = self._class(head, last, around)
            return _Frame(owner=owner, is_class=True)
        elif not self.is_kotlin and around.is_class and around.owner is not None:
            method = self._java_method(head, around.owner)
        if method is not None:
            return _Frame(owner=around.owner, method=method, subject=subject)
        return _Frame(owner=around.owner, method=around.method, subject=subject or None)

    @staticmethod
    def _switched(words: list[str]) -> str | None:
        """Return the name that the `switch` or `when` before a brace looks at, if it has one."""
        openings = [
            at for at, pair in enumerate(pairwise(words), 1) if pair in {("switch", "("), ("when", "(")}
        ]
        if not openings or _closing(words, openings[-1]) != len(words) - 1:
            return None
        return words[-2] if openings[-1] == len(words) - 3 else _EXPRESSION

    def _class(self, head: list[_Token], at: int, around: _Frame) -> _Class:
        words = [token.text for token in head]
        name = words[at + 1]
        rest = words[at + 2 :]
        extends = None
        if "extends" in rest and rest.index("extends") + 1 < len(rest):
            extends = rest[rest.index("extends") + 1]
        start = self._start(head, at)
        made = _Class(name, frozenset(words[start : at + 1]), extends, is_nested=around.owner is not None)
        if self.is_kotlin and "(" in rest[:4]:
            opening = at + 2 + rest.index("(")
            end = _closing(words, opening)
            made.has_other_constructor = "private" in rest[: rest.index("(")]
            if not made.has_other_constructor:
                made.constructors.append(_parameters(head[opening + 1 : end], is_kotlin=True))
            rest = words[end + 1 :]
        if self.is_kotlin and ":" in rest:
            supers = rest[rest.index(":") + 1 :]
            made.extends = next((word for word, sign in pairwise(supers) if sign == "("), None)
        return made

    @staticmethod
    def _start(head: list[_Token], at: int) -> int:
        """Return where the modifiers in front of a declaration begin."""
        start = at
        while start and head[start - 1].kind == "word":
            start -= 1
        return start

    def _kotlin_method(self, head: list[_Token], at: int, around: _Frame) -> _Method | None:
        words = [token.text for token in head]
        if around.owner is None or "(" not in words[at:]:
            return None
        opening = words.index("(", at)
        end = _closing(words, opening)
        rest = words[end + 1 :]
        returns = "".join(rest[1:3]).removesuffix("=").removesuffix("{") if rest[:1] == [":"] else ""
        modifiers = frozenset(words[self._start(head, at) : at])
        parameters = _parameters(head[opening + 1 : end], is_kotlin=True)
        return _Method(words[opening - 1], modifiers, parameters, returns, around.owner)

    @staticmethod
    def _java_method(head: list[_Token], owner: _Class) -> _Method | None:
        words = [token.text for token in head]
        end = len(words) - 1
        if "throws" in words:
            end = words.index("throws") - 1
        if end < 2 or words[end] != ")":  # noqa: PLR2004
            return None
        depth, opening = 0, end
        while opening >= 0:
            depth += {")": 1, "(": -1}.get(words[opening], 0)
            if not depth:
                break
            opening -= 1
        if opening < 1 or head[opening - 1].kind != "word" or words[opening - 1] in _NOT_METHODS:
            return None
        parameters = _parameters(head[opening + 1 : end], is_kotlin=False)
        name, before = words[opening - 1], words[: opening - 1]
        if name == owner.name and "private" in before:
            owner.has_other_constructor = True
        elif name == owner.name:
            owner.constructors.append(parameters)
        if "new" in before:
            return None
        return _Method(name, frozenset(before), parameters, before[-1] if before else "", owner)


def _closing(words: list[str], opening: int) -> int:
    depth = 0
    for at in range(opening, len(words)):
        depth += {"(": 1, ")": -1}.get(words[at], 0)
        if not depth:
            return at
    return len(words)


def _parameters(tokens: list[_Token], *, is_kotlin: bool) -> list[tuple[str, str]]:
    """Return the name and the type, without package, of each parameter."""
    chunks: list[list[_Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += {"(": 1, "<": 1, ")": -1, ">": -1}.get(token.text, 0)
        if token.text == "," and not depth:
            chunks.append([])
        else:
            chunks[-1].append(token)
    return [_parameter(chunk, is_kotlin=is_kotlin) for chunk in chunks if chunk]


def _parameter(chunk: list[_Token], *, is_kotlin: bool) -> tuple[str, str]:
    texts = [token.text for token in chunk]
    if not is_kotlin:
        return texts[-1], texts[-2] if len(texts) > 1 else ""
    colon = texts.index(":") if ":" in texts else len(texts)
    end = texts.index("=") if "=" in texts else len(texts)
    return (texts[colon - 1] if colon else ""), "".join(texts[colon + 1 : end]).rpartition(".")[2]


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        if match.lastgroup != "skipped":
            yield _Token(match.lastgroup or "sign", match[0], line)
        line += match[0].count("\n")
