"""Calls of functions that the app has already: arguments converted, the result under the declared keys.

One writer for Java and Kotlin, which differ in how an object is made, a default chosen, a property read and
an item converted. What generated code cannot do for a call is said in one comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal

from droidgate_android.handlers.java import JAVA_TYPES, java_string
from droidgate_android.handlers.methods import (
    KOTLIN_WORDS,
    RESERVED_WORDS,
    Method,
    MethodParameter,
    ValueKind,
    is_nullable,
    item_kind_of,
    kind_of,
    resolve,
)
from droidgate_mappings.formats.format import ExistingFunction, FunctionParameter
from droidgate_mappings.model.types import (
    AllOfType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    RefType,
    ScalarType,
    Type,
)
from droidgate_mappings.records import dataclass, field

_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WIDTH: Final = 92
_CONVERSIONS: Final[dict[ValueKind, tuple[str, str]]] = {
    "boolean": ("toBoolean", "toBooleans"),
    "int32": ("toInt", "toInts"),
    "int64": ("toLong", "toLongs"),
    "float": ("toFloat", "toFloats"),
    "double": ("toDouble", "toDoubles"),
    "string": ("toText", "toTexts"),
    "bytes": ("toBytes", ""),
}
"""Methods of the class Values: one value, and the items of a list."""

_PUT_AS_THEY_ARE: Final = frozenset(
    {"boolean", "int32", "int64", "double", "string", "array", "object", "any"}
)
"""Kinds of values that JSONObject.put takes from a method's parameters; lists of scalars are converted."""

_TIMES: Final = frozenset({"java.time.LocalDate", "java.time.LocalTime", "java.time.LocalDateTime"})
_RENAMED: Final = {
    **{(name, "month"): "monthValue" for name in _TIMES},
    **{(name, "nanoOfSecond"): "nano" for name in _TIMES},
    ("java.time.Instant", "nanoAdjustment"): "nano",
    ("java.time.ZoneId", "zoneID"): "id",
}
"""Parts that Jetpack's compiler declares of Java's classes, where the class has another name for them."""

_READABLE: Final = frozenset({name for name, _ in _RENAMED})
_URI: Final = "android.net.Uri"
_RUN_BLOCKING: Final = "kotlinx.coroutines.runBlocking"


class NotCallableError(Exception):
    """Generated code cannot call a function; its text has a clause for each reason."""


def hidden_reasons(
    function: ExistingFunction, language: Literal["java", "kotlin"], package: str
) -> Iterator[str]:
    """Yield why code in a language and package does not see a function, one clause for each reason."""
    if language == "java" and function.is_suspend:
        yield f"{function.name} is a suspend function, which Java cannot call; --language kotlin can"
    if language == "java" and function.visibility == "internal":
        yield f"{function.name} is internal, so Java does not know its name"
    if function.visibility == "package" and function.owner.rpartition(".")[0] != package:
        yield f"{function.name} can be called in its own package only"
    words = [*function.owner.split("."), function.name]
    reserved = RESERVED_WORDS if language == "java" else KOTLIN_WORDS
    if not all(_WORD.fullmatch(word) and word not in reserved for word in words):
        why = "Java or Kotlin reserves" if language == "java" else "needs back-ticks"
        yield f"{function.name}, or its class, has a name that {why}"


@dataclass(slots=True)
class CallWriter:
    """Writes the bodies of a class's methods.

    Attributes:
        language: The language of the class.
        package: Its package.
        prefix: What the names of the generated classes begin with.
        imports: Qualified names of what the bodies use.
        members: Further members of the class: for each class that is read, the method that makes JSON of it.
    """

    language: Literal["java", "kotlin"]
    package: str
    prefix: str
    imports: set[str] = field(default_factory=set)
    members: dict[str, list[str]] = field(default_factory=dict)

    def body(
        self, method: Method, function: ExistingFunction, output: Type | None, definitions: Mapping[str, Type]
    ) -> list[str]:
        """Return the statements that answer a call by what the app's function returns.

        Args:
            method: The method that they are in.
            function: The app's function.
            output: The output that the migrated capability declares.
            definitions: What it refers to.

        Raises:
            NotCallableError: generated code cannot call the function.
        """
        known = set(self.imports), dict(self.members)
        reasons = [*function.missing, *hidden_reasons(function, self.language, self.package)]
        arguments: list[str] = []
        for parameter in function.parameters:
            try:
                arguments.append(self._argument(parameter, function, method))
            except NotCallableError as reason:
                reasons.append(str(reason))
        name = _free_name("result", method)
        try:
            answer = self._answer(name, method, function, resolve(output, definitions) if output else None)
        except NotCallableError as reason:
            reasons.append(str(reason))
        if reasons:
            self.imports, self.members = known
            raise NotCallableError("; ".join(dict.fromkeys(reasons)))
        takes_all = any(parameter.role == "arguments" for parameter in function.parameters)
        before = self._all_arguments(function, method) if takes_all and not method.takes_object else []
        end = "" if self.language == "kotlin" else ";"
        if answer == [f"return {name}{end}"]:
            return [*before, *self._call(function, arguments, "return ")]
        start = ""
        if answer and name in answer[0]:
            start = f"{'val' if self.language == 'kotlin' else self._java_type(function)} {name} = "
        return [*before, *self._call(function, arguments, start), *answer]

    def _call(self, function: ExistingFunction, arguments: list[str], start: str) -> list[str]:
        """Return the statement that makes the call; `start` keeps its result, or is empty."""
        owner = self._class(function.owner)
        is_kotlin = self.language == "kotlin"
        if function.instance in {"class", "context"}:
            made = "(context)" if function.instance == "context" else "()"
            owner = f"{owner}{made}" if is_kotlin else f"new {owner}{made}"
        elif function.instance == "object" and not is_kotlin:
            owner = f"{owner}.INSTANCE"
        call = _call_lines(f"{owner}.{function.name}(", arguments, is_kotlin=is_kotlin)
        values = f"{start}{self.prefix}Values.call"
        if is_kotlin:
            if function.is_suspend:
                self.imports.add(_RUN_BLOCKING)
                call = _in_braces("runBlocking {", call)
            return _in_braces(f"{values} {{", call)
        if start:
            head = f"{values}(() ->"
            if len(call) == 1 and len(head) + len(call[0]) < _WIDTH:
                return [f"{head} {call[0]});"]
            return [head, *(f"        {line}" for line in call[:-1]), f"        {call[-1]});"]
        call[-1] += ";"
        return [*_in_braces(f"{values}(() -> {{", [*call, "return null;"])[:-1], "});"]

    def _argument(self, parameter: FunctionParameter, function: ExistingFunction, method: Method) -> str:
        if parameter.role == "context":
            return "context"
        if parameter.role == "id":
            return self._text(function.capability.id)
        if parameter.role == "arguments":
            return "arguments"
        if parameter.role == "holder":
            literal = "::class.java" if self.language == "kotlin" else ".class"
            return self._values("holder", f"{self._class(parameter.class_name)}{literal}", "context")
        written = function.arguments.get(parameter.name, parameter.name)
        declared = next((item for item in method.parameters if item.name == written), None)
        if declared is None or method.takes_object:
            message = f"{parameter.name} is not among the arguments"
            raise NotCallableError(message)
        return self._converted(parameter, declared, function)

    def _converted(
        self, parameter: FunctionParameter, given: MethodParameter, function: ExistingFunction
    ) -> str:
        declared = _inputs(function)[parameter.name].type
        kind = kind_of(declared, function.definitions)
        is_list = kind == "array"
        item_kind = item_kind_of(declared, function.definitions) if is_list else kind
        conversion = _CONVERSIONS.get(item_kind, ("", ""))[is_list]
        if not conversion:
            type_ = _described(declared, function)
            message = f"{parameter.name} is of type {type_}, which is not made from JSON here"
            raise NotCallableError(message)
        is_same = given.kind == kind and (not is_list or item_kind == given.item_kind == "string")
        value = given.identifier if is_same else self._values(conversion, given.identifier)
        if not given.optional or parameter.default == "null":
            return value
        if parameter.has_other_default:
            message = f"the default value of {parameter.name} is not a literal"
            raise NotCallableError(message)
        if parameter.default is None and not is_nullable(declared, function.definitions):
            message = f"{parameter.name} cannot be null"
            raise NotCallableError(message)
        if parameter.default is None:
            return value
        default = parameter.default
        if kind == "int64" and not default.endswith("L"):
            default += "L"
        return f"{value} ?: {default}" if self.language == "kotlin" else self._values("or", value, default)

    def _all_arguments(self, function: ExistingFunction, method: Method) -> list[str]:
        """Return the statement that puts all arguments into one object, by the names in the source."""
        names = {written: name for name, written in function.arguments.items()}
        pairs = []
        for item in method.parameters:
            value = item.identifier
            if item.kind not in _PUT_AS_THEY_ARE or (item.kind == "array" and item.item_kind != "any"):
                value = self._values("toJson", value)
            if value != item.identifier and item.optional:
                none = f"{item.identifier} == null"
                value = (
                    f"if ({none}) null else {value}"
                    if self.language == "kotlin"
                    else f"{none} ? null : {value}"
                )
            pairs.append((names.get(item.name, item.name), value))
        is_kotlin = self.language == "kotlin"
        made = self._object(pairs, " " * (4 if is_kotlin else 8))
        return f"{'val' if is_kotlin else 'JSONObject'} arguments = {made}{'' if is_kotlin else ';'}".split(
            "\n"
        )

    def _answer(
        self, name: str, method: Method, function: ExistingFunction, output: Type | None
    ) -> list[str]:
        """Return the statement that returns the result; none where the method returns nothing."""
        end = "" if self.language == "kotlin" else ";"
        if method.returns == "void":
            return []
        if function.returns != "value":
            return [f"return {self._json_answer(name, method, function, output)}{end}"]
        declared = function.capability.output
        kind = "void" if declared is None else kind_of(declared, function.definitions)
        if declared is None or kind == "void":
            if method.returns not in {"any", "object"} or method.return_keys:
                message = f"{function.name} returns nothing"
                raise NotCallableError(message)
            self.imports.update(["org.json.JSONObject"] if method.returns == "object" else [])
            return [f"return {'null' if method.returns == 'any' else self._object([])}{end}"]
        return [f"return {self._value_answer(name, method, function, declared, output)}{end}"]

    def _value_answer(
        self, name: str, method: Method, function: ExistingFunction, declared: Type, output: Type | None
    ) -> str:
        kind = kind_of(declared, function.definitions)
        may_be_null = is_nullable(declared, function.definitions)
        item = _free_name("item", method)
        if method.returns == "any":
            is_scalar = isinstance(resolve(declared, function.definitions), ScalarType)
            return name if is_scalar else self._json(name, declared, function, item)
        if method.returns == "object":
            keys = list(output.properties) if isinstance(output, ObjectType) else []
            own = [function.results.get(key, key) for key in _properties(declared, function)]
            if keys == own and keys and not may_be_null:
                return self._json(name, declared, function, item)
            if len(keys) != 1:
                message = f"the result of {function.name} does not have the keys {', '.join(keys)}"
                raise NotCallableError(message)
            return self._object([(keys[0], self._json(name, declared, function, item))])
        is_same_list = kind != "array" or (
            method.return_item_kind == item_kind_of(declared, function.definitions) == "string"
        )
        if method.returns != kind or not is_same_list or (may_be_null and not method.returns_null):
            message = f"{function.name} returns the type {_described(declared, function)}"
            raise NotCallableError(message)
        return name

    def _json_answer(self, name: str, method: Method, function: ExistingFunction, output: Type | None) -> str:
        is_text = function.returns == "json-text"
        properties = output.properties if isinstance(output, ObjectType) else {}
        if method.returns == "object" and function.capability.output is None and len(properties) == 1:
            return self._object([(next(iter(properties)), name if is_text else f"{name}.toString()")])
        if method.returns == "any" or (method.returns == "object" and not is_text):
            return name
        message = f"{function.name} returns JSON"
        raise NotCallableError(message)

    def _json(self, value: str, type_: Type, function: ExistingFunction, item: str = "item") -> str:
        """Return the expression of a value as JSONObject.put takes it; of null it is JSONObject.NULL."""
        resolved = resolve(type_, function.definitions)
        may_be_null = is_nullable(type_, function.definitions)
        if isinstance(resolved, ScalarType) and resolved.kind != "null":
            is_plain = resolved.kind in _PUT_AS_THEY_ARE and not may_be_null
            return value if is_plain else self._values("toJson", value)
        is_kotlin = self.language == "kotlin"
        if isinstance(resolved, ArrayType) and resolved.items is not None:
            if isinstance(resolve(resolved.items, function.definitions), ScalarType):
                return self._values("toJson", value)
            inner = self._json("it" if is_kotlin else item, resolved.items, function)
            values = f"{self.prefix}Values"
            made = (
                f"{values}.toArray({value}) {{ {inner} }}"
                if is_kotlin
                else f"{values}.toArray({value}, {item} -> {inner})"
            )
            return self._values("toJson", made) if may_be_null else made
        self._add_member(type_, resolved, function)
        if not may_be_null:
            return f"toJson({value})"
        if is_kotlin:
            return self._values("toJson", f"{value}?.let {{ toJson(it) }}")
        self.imports.add("org.json.JSONObject")
        return f"({value} == null ? JSONObject.NULL : toJson({value}))"

    def _add_member(self, type_: Type, resolved: Type, function: ExistingFunction) -> None:
        """Add the method that makes JSON of an object of a class."""
        name = _class_of(type_, function)
        if name not in {*function.data_classes, *_READABLE, _URI} or isinstance(
            resolved, OneOfType | OpaqueType
        ):
            message = f"its result has the type {_described(type_, function)}, which is not made into JSON"
            raise NotCallableError(message)
        if name in self.members:
            return
        self.members[name] = []
        try:
            self.members[name] = self._member(name, type_, function)
        except NotCallableError:
            del self.members[name]
            raise

    def _member(self, name: str, type_: Type, function: ExistingFunction) -> list[str]:
        pairs = []
        for key, declared in _properties(type_, function).items():
            if not _WORD.fullmatch(key):
                message = f"{name} has a property {key}"
                raise NotCallableError(message)
            read = self._property("value", _RENAMED.get((name, key), key))
            if name == _URI:
                read = "value.toString()"
            pairs.append((key, self._json(read, declared, function)))
        made = self._object(pairs, " " * (8 if self.language == "kotlin" else 12))
        class_name = self._class(name.replace("$", "."))
        if self.language == "kotlin":
            return [f"private fun toJson(value: {class_name}): JSONObject = {made}"]
        head = f"private static JSONObject toJson({class_name} value) throws JSONException {{"
        return [head, f"    return {made};", "}"]

    def _property(self, value: str, name: str) -> str:
        if self.language == "kotlin":
            return f"{value}.`{name}`" if name in RESERVED_WORDS else f"{value}.{name}"
        is_getter = re.match(r"is[^a-z]", name) is not None
        return f"{value}.{name}()" if is_getter else f"{value}.get{name[:1].upper()}{name[1:]}()"

    def _object(self, pairs: list[tuple[str, str]], indent: str = "") -> str:
        """Return the expression of a JSON object; with an indent, each of several keys is on a line."""
        self.imports.add("org.json.JSONObject")
        made = "JSONObject()" if self.language == "kotlin" else "new JSONObject()"
        puts = [f".put({self._text(key)}, {value})" for key, value in pairs]
        if len(puts) <= 1 or not indent:
            return made + "".join(puts)
        return "".join([made, *(f"\n{indent}{put}" for put in puts)])

    def _values(self, name: str, *arguments: str) -> str:
        return f"{self.prefix}Values.{name}({', '.join(arguments)})"

    def _text(self, text: str) -> str:
        written = java_string(text)
        return written.replace("$", "\\$") if self.language == "kotlin" else written

    def _class(self, qualified: str) -> str:
        """Return how the class is written here: its simple name, or all of it where another has the name."""
        simple = qualified.rpartition(".")[2]
        imported_names = {name.rpartition(".")[2]: name for name in self.imports}
        if imported_names.setdefault(simple, qualified) != qualified or simple in _TAKEN_CLASSES:
            return qualified
        self.imports.add(qualified)
        return simple

    def _java_type(self, function: ExistingFunction) -> str:
        if function.returns != "value":
            self.imports.update(["org.json.JSONObject"] if function.returns == "json" else [])
            return "JSONObject" if function.returns == "json" else "String"
        declared = function.capability.output or ScalarType(kind="null")
        kind = kind_of(declared, function.definitions)
        may_be_null = is_nullable(declared, function.definitions)
        if kind != "array":
            if kind in _CONVERSIONS:
                return JAVA_TYPES[kind][may_be_null]
            return self._class(_class_of(declared, function).replace("$", "."))
        item_kind = item_kind_of(declared, function.definitions)
        if item_kind in _CONVERSIONS and item_kind != "string":
            return f"{JAVA_TYPES[item_kind][0]}[]"
        self.imports.add("java.util.List")
        items = resolve(declared, function.definitions)
        if item_kind == "string" or not isinstance(items, ArrayType) or items.items is None:
            return "List<String>"
        return f"List<{self._class(_class_of(items.items, function).replace('$', '.'))}>"


_TAKEN_CLASSES: Final = frozenset(
    {"Context", "JSONArray", "JSONException", "JSONObject", "List", "String", "Object"}
)


def _call_lines(head: str, arguments: list[str], *, is_kotlin: bool) -> list[str]:
    line = f"{head}{', '.join(arguments)})"
    if len(line) <= _WIDTH or not arguments:
        return [line]
    if is_kotlin:
        return [head, *(f"    {argument}," for argument in arguments), ")"]
    return [head, *(f"        {argument}," for argument in arguments[:-1]), f"        {arguments[-1]})"]


def _in_braces(head: str, lines: list[str]) -> list[str]:
    if len(lines) == 1 and len(head) + len(lines[0]) < _WIDTH:
        return [f"{head} {lines[0]} }}"]
    return [head, *(f"    {line}" for line in lines), "}"]


def _free_name(name: str, method: Method) -> str:
    taken = {parameter.identifier for parameter in method.parameters}
    while name in taken:
        name += "_"
    return name


def _inputs(function: ExistingFunction) -> Mapping[str, Property]:
    declared = function.capability.input
    return declared.properties if isinstance(declared, ObjectType) else {}


def _class_of(type_: Type, function: ExistingFunction) -> str:
    """Return the name of the definition that a type is, behind references; that of an object itself."""
    name = ""
    seen: set[str] = set()
    while isinstance(type_, RefType) and type_.name not in seen:
        seen.add(type_.name)
        name = type_.name
        type_ = function.definitions.get(type_.name, type_)
    if isinstance(type_, OpaqueType):
        return type_.class_name or name
    return name or getattr(type_, "qualified_name", None) or ""


def _described(type_: Type, function: ExistingFunction) -> str:
    """Return the type as code writes it, for a comment."""
    resolved = resolve(type_, function.definitions)
    if isinstance(resolved, ArrayType):
        return "List" if resolved.items is None else f"List<{_described(resolved.items, function)}>"
    return _class_of(type_, function).replace("$", ".") or kind_of(type_, function.definitions)


def _properties(type_: Type, function: ExistingFunction) -> dict[str, Type]:
    """Return the properties of an object, or of all members of a combination, each definition once."""
    properties: dict[str, Type] = {}
    pending, seen = [type_], set[str]()
    while pending:
        current = pending.pop(0)
        if isinstance(current, RefType) and current.name not in seen:
            seen.add(current.name)
            pending.insert(0, function.definitions.get(current.name, current))
        elif isinstance(current, AllOfType):
            pending[:0] = current.members
        elif isinstance(current, ObjectType):
            properties.update({name: item.type for name, item in current.properties.items()})
    return properties
