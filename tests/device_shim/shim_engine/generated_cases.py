"""Inputs of the engines made up by a seeded generator, which both have to answer alike.

Types, values and documents; calls, where a plan decides what a call is about, so that most reach a backend
and every token comes up; inputs of the other operations; requests that are broken somewhere.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

from device_shim.shim_engine.conformance.vector_files import load_route_table
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.tables.failure_tokens import load_failure_tokens

SCALARS = ("boolean", "int32", "int64", "float", "double", "string", "bytes")
_WORDS = (
    "", "a", "Milk", "12", "-0.5", "true", "null", "[1]", '{"a":1}', "\u00e9\U0001f600", 'quo"te\\\n',
    "2026-02-24",
)  # fmt: skip
_LONGS = (0, 1, -1, 7, 2**31 - 1, -(2**31), 2**31, 2**53 + 1, 2**63 - 1, -(2**63))
_DECIMALS = (
    "0.5", "-2.25", "1.50", "100.0", "1E+5", "0.1", "3.4028234663852886E+38", "1E-7", "123456.789", "0.0",
)  # fmt: skip
_BYTES = (b"", b"\x00\xff", b"abc")
_KIND = {
    "boolean": "boolean",
    "int32": "long",
    "int64": "long",
    "float": "double",
    "double": "double",
    "string": "string",
    "bytes": "bytes",
}


@dataclass
class TypeMaker:
    """Makes types in the model's JSON.

    Attributes:
        random: Where chance comes from.
        definitions: What references lead to.
    """

    random: Random
    definitions: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        scalars: dict[str, dict[str, Any]] = {
            "Point": _object("x.Point", x=("int32", True), y=("int32", True)),
            "Circle": _object("x.Circle", radius=("double", True)),
            "Square": _object("x.Square", side=("double", True), label=("string", False)),
            "Node": _object("x.Node", value=("string", True)),
        }
        scalars["Node"]["properties"]["next"] = {"type": {"kind": "ref", "name": "Node"}}
        self.definitions.update(scalars)

    def written(self) -> dict[str, dict[str, Any]]:
        """Return the definitions as a route table holds them."""
        return self.definitions

    def type(self, depth: int, *, plain: bool = False) -> dict[str, Any]:
        """Return a type; a plain one is one that app functions can say."""
        kinds = [*SCALARS, *SCALARS]
        if depth > 0:
            kinds += ["array", "array", "object", "ref", "all-of", "one-of"]
        if not plain:
            kinds += ["any", "null", "opaque"][: self.random.choice((1, 1, 2, 3))]
        kind = self.random.choice(kinds)
        made = self._made(kind, depth, plain=plain)
        if self.random.random() < 0.12:
            made["nullable"] = True
        return made

    def _made(self, kind: str, depth: int, *, plain: bool) -> dict[str, Any]:
        if kind == "array":
            items = self.type(0, plain=plain) if plain else self.type(depth - 1)
            if plain:
                items.pop("nullable", None)
            return {"kind": kind, "items": items} if plain or self.random.random() < 0.9 else {"kind": kind}
        if kind == "object":
            return self.object(depth - 1, plain=plain)
        if kind == "ref":
            return {"kind": kind, "name": self.random.choice(list(self.definitions))}
        if kind == "all-of":
            label = _object(None, label=("string", True))
            return {
                "kind": kind,
                "members": [{"kind": "ref", "name": "Point"}, label],
                "qualified_name": "x.All",
            }
        if kind == "one-of":
            made: dict[str, Any] = {
                "kind": kind,
                "alternatives": [{"kind": "ref", "name": "Circle"}, {"kind": "ref", "name": "Square"}],
            }
            return made if self.random.random() < 0.8 else {**made, "exclusive": False}
        made = {"kind": kind}
        if self.random.random() < 0.15:
            made |= self._constraint(kind)
        return made

    def _constraint(self, kind: str) -> dict[str, Any]:
        if kind == "string":
            return self.random.choice(
                (
                    {"keywords": {"maxLength": 3}},
                    {"keywords": {"minLength": 1}},
                    {"pattern": "^[A-Z]?[a-z0-9]*$"},
                    {"enum": ["a", "12"]},
                )
            )
        if kind in {"int32", "int64", "float", "double"}:
            return self.random.choice(
                (
                    {"keywords": {"minimum": 0}},
                    {"keywords": {"exclusiveMaximum": 100}},
                    {"keywords": {"multipleOf": Decimal("0.5")}},
                    {"enum": [1, 7]},
                )
            )
        return {}

    def object(self, depth: int, *, plain: bool = False) -> dict[str, Any]:
        """Return an object of up to four properties."""
        properties = {}
        for index in range(self.random.randrange(5)):
            property_: dict[str, Any] = {"type": self.type(depth, plain=plain)}
            if self.random.random() < 0.4:
                property_["required"] = True
            properties[f"p{index}"] = property_
        made: dict[str, Any] = {"kind": "object", "properties": properties}
        if self.random.random() < 0.5:
            made["qualified_name"] = "x.Made"
        if self.random.random() < 0.05:
            made["keywords"] = {"additionalProperties": self.random.choice((True, False))}
        return made


def _object(name: str | None, **members: tuple[str, bool]) -> dict[str, Any]:
    properties = {
        key: {"type": {"kind": kind}, "required": True} if required else {"type": {"kind": kind}}
        for key, (kind, required) in members.items()
    }
    made: dict[str, Any] = {"kind": "object", "properties": properties}
    return made if name is None else {**made, "qualified_name": name}


@dataclass
class ValueMaker:
    """Makes values of types, and documents of values."""

    random: Random
    definitions: Mapping[str, dict[str, Any]]

    def value(self, declared: Mapping[str, Any], *, bent: float = 0.0, depth: int = 0) -> Json:
        """Return a value that mostly fits; so many of a hundred are written as texts."""
        if declared.get("nullable") and self.random.random() < 0.3:
            return None
        made = self._value(declared, bent, depth)
        if depth and made is not None and not isinstance(made, str) and self.random.random() < bent:
            return canonical_json(made)
        return made

    def _value(self, declared: Mapping[str, Any], bent: float, depth: int) -> Json:
        kind = declared["kind"]
        if "enum" in declared and self.random.random() < 0.8:
            return self.random.choice(declared["enum"])
        if kind == "ref":
            return self.value(self.definitions[declared["name"]], bent=bent, depth=depth + 1)
        if kind == "array":
            items = declared.get("items", {"kind": "int64"})
            return [self.value(items, bent=bent, depth=depth + 1) for _ in range(self.random.randrange(4))]
        if kind == "object":
            return {
                name: self.value(property_["type"], bent=bent, depth=depth + 1)
                for name, property_ in declared["properties"].items()
                if property_.get("required") or self.random.random() < (0.6 if depth < 4 else 0.1)
            }
        if kind == "all-of":
            merged: dict[str, Json] = {}
            for alternative in declared["members"]:
                merged |= self.value(alternative, depth=depth + 1)
            return merged
        if kind == "one-of":
            alternative = self.random.choice(declared["alternatives"])
            made = self.value(alternative, depth=depth + 1)
            name = self.definitions[alternative["name"]].get("qualified_name")
            return {**made, "schemaType": name} if self.random.random() < 0.5 else made
        return self.scalar(kind)

    def scalar(self, kind: str) -> Json:
        """Return a value of a scalar kind."""
        match kind:
            case "boolean":
                return self.random.random() < 0.5
            case "int32":
                return self.random.choice(_LONGS[:6])
            case "int64":
                return self.random.choice(_LONGS)
            case "float":
                return self.random.choice(
                    (0, 1, Decimal("0.5"), Decimal("-2.25"), Decimal("0.1"), Decimal("1E+5"))
                )
            case "double":
                return self.random.choice((0, 7, *map(Decimal, _DECIMALS)))
            case "string":
                return self.random.choice(_WORDS)
            case "bytes":
                return base64.b64encode(self.random.choice(_BYTES)).decode()
            case "any":
                return self.anything(1)
        return None

    def anything(self, depth: int) -> Json:
        """Return any JSON value."""
        kind = self.random.choice(("null", *SCALARS, *(("array", "object") if depth else ())))
        if kind == "array":
            return [self.anything(depth - 1) for _ in range(self.random.randrange(3))]
        if kind == "object":
            return {f"p{index}": self.anything(depth - 1) for index in range(self.random.randrange(3))}
        return self.scalar(kind)

    def property(self, value: Json, declared: Mapping[str, Any] | None) -> Json:
        """Return a document's property of a value, None where there is none."""
        if value is None:
            return None
        declared = self._behind(declared)
        is_list = isinstance(value, list)
        items = declared.get("items") if declared is not None and declared["kind"] == "array" else declared
        kinds = [self._kind(item, self._behind(items)) for item in (value if is_list else [value])]
        kind = kinds[0] if kinds else _KIND.get(items["kind"], "document") if items else "string"
        values = value if is_list else [value]
        if kind == "document":
            values = [self.document(item, items) for item in values if isinstance(item, dict)]
        return {"kind": kind, "values": [item for item in values if _is_of(item, kind)]}

    def document(self, value: Mapping[str, Json], declared: Mapping[str, Any] | None) -> dict[str, Json]:
        """Return the document of an object."""
        declared = self._behind(declared) or {}
        known = declared.get("properties", {})
        made = {}
        for name, item in value.items():
            written = self.property(item, known[name]["type"] if name in known else None)
            if written is not None and name != "schemaType":
                made[name] = written
        schema_type = value.get("schemaType", declared.get("qualified_name", ""))
        return {"schemaType": schema_type if isinstance(schema_type, str) else "", "properties": made}

    def _behind(self, declared: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        if declared is not None and declared["kind"] == "ref":
            return self.definitions[declared["name"]]
        return declared

    @staticmethod
    def _kind(value: Json, declared: Mapping[str, Any] | None) -> str:
        if declared is not None and declared["kind"] in _KIND:
            return _KIND[declared["kind"]]
        if isinstance(value, bool):
            return "boolean"
        if isinstance(value, dict):
            return "document"
        return "long" if isinstance(value, int) else "string" if isinstance(value, str) else "double"


def _is_of(value: Json, kind: str) -> bool:
    """Return whether a document's property of a kind can hold a value."""
    if kind == "document":
        return isinstance(value, dict)
    if kind in {"string", "bytes"}:
        return isinstance(value, str)
    if kind == "boolean":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    return isinstance(value, int) if kind == "long" else isinstance(value, int | Decimal)


class Maker:
    """Makes cases; the same seed makes the same."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.types = TypeMaker(self.random)
        self.values = ValueMaker(self.random, self.types.definitions)


APPROVED = {"signer": "sha256:01", "version_code": 3, "digest": "sha256:02"}
TOKENS = tuple(load_failure_tokens())
PLANS = {
    "success": 35,
    "failure": 13,
    "silent": 3,
    "died": 3,
    "odd-answer": 16,
    "version": 3,
    "unknown": 3,
    "arguments": 7,
    "denied": 4,
    "drift": 5,
    "gone": 2,
    "switched-off": 3,
    "busy": 3,
}
"""What a call is about -> how often, in a hundred."""

_FORMS = {
    "S0": ("mobile-mcp-request", True, "args", False),
    "S1": ("mobile-mcp-request", True, "input", False),
    "MM-4": ("request", False, "args", True),
    "MM-5": ("request", False, "input", True),
    "MM-6": ("request", False, "input", True),
    "MM-6-args": ("request", False, "args", True),
}
_PACKAGES = {
    "mmcp-activity": "com.a",
    "mmcp-broadcast": "com.b",
    "app-function": "com.c",
    "mobile-mcp": "com.d",
}
_EFFECTS: tuple[Json, ...] = (None, {}, {"read_only": True}, {"read_only": False, "destructive": True})
_RETURN = "androidAppfunctionsReturnValue"
_CODES = (
    1000, 1001, 1002, 1003, 1500, 1999, 2000, 2001, 2001, 2001, 2500, 3000, 3500, 3500, 3500, 3501, 0, 4000,
)  # fmt: skip
_SAID = (*TOKENS, *("needs_user", "canceled") * 5)
_TEXTS = (
    "Done", "", "null", "Error: no", "Unknown tool: x", "Error: Missing path", "Error: Invalid path",
    "Errors", "denied", "Unknown capability ID: x", "Missing args.", "\u00e9\U0001f600", '{"a":1,}', "[1,2",
    "1e5",
)  # fmt: skip


class CallMaker(Maker):
    """Makes calls."""

    def calls(self, count: int) -> Iterator[dict[str, Json]]:
        """Yield so many vectors' inputs."""
        for _ in range(count):
            yield self.call()

    def call(self) -> dict[str, Json]:
        """Return one vector's input."""
        plan = self.random.choices(list(PLANS), list(PLANS.values()))[0]
        route = self.route()
        arguments = self.arguments(route, wrong=plan == "arguments")
        dialect = self.random.choice(list(_FORMS))
        carrier = (
            "start" if dialect in {"MM-4", "MM-5"} else "bind" if dialect[:4] == "MM-6" else self.carrier()
        )
        capability = "gone" if plan == "unknown" else route["id"]
        extras = self.request(dialect, capability, arguments, version=plan == "version")
        case: dict[str, Json] = {
            "op": "call",
            "routes": {"format": 1, "definitions": self.types.written(), "routes": [route]},
            "policy": self.policy(plan, route, carrier),
            "carrier": carrier,
            "caller": 10001,
            "extras": extras,
            "backend": self.answer(plan, route),
        }
        targets = self.targets(plan, route)
        if targets is not None:
            case["targets"] = targets
        if self.random.random() < 0.1:
            case["asking"] = self.decision()
        return {**case, "approved": True} if self.random.random() < 0.1 else case

    def questions(self, count: int) -> Iterator[dict[str, Json]]:
        """Yield so many calls with asking on; about half of them have the user asked."""
        for _ in range(count):
            case = {**self.call(), "asking": self.decision()}
            if self.random.random() < 0.7:
                case["policy"] = {**case["policy"], "grants": []}
            yield case

    def decision(self) -> Json:
        token = self.random.choice(("denied", "needs_user"))
        refusal: Json = {"token": token, "text": self.text()}
        return self.random.choice(("yes", "yes", "silent", refusal))

    def carrier(self) -> str:
        return self.random.choice(("start", "bind"))

    def route(self) -> dict[str, Any]:
        kind = self.random.choice(list(_PACKAGES))
        package = _PACKAGES[kind]
        backend: dict[str, Json] = {"kind": kind}
        if kind == "app-function":
            backend |= {"package": package, "function": "f#f"}
        elif kind == "mobile-mcp":
            dialect = self.random.choice(list(_FORMS))
            backend |= {"component": f"{package}/{package}.T", "capability": "c", "dialect": dialect}
        else:
            backend |= {"component": f"{package}/{package}.T", "tool": "t"}
        declared = self.types.object(3, plain=kind == "app-function")
        names = list(declared["properties"])
        output, outputs = self.outputs(plain=kind == "app-function")
        return {
            "id": "cap",
            "input": declared,
            "names": {name: f"{name}_there" for name in names if self.random.random() < 0.2},
            "outputs": outputs,
            "output": output,
            "backend": backend,
            "target": {"package": package, **APPROVED},
            "effects": self.random.choice(_EFFECTS),
        }

    def outputs(self, *, plain: bool) -> tuple[Json, Json]:
        kind = self.random.choices(("fields", "value", "text", "none"), (5, 4, 2, 1))[0]
        if kind == "fields":
            return self.types.object(3, plain=plain), {"kind": "fields"}
        if kind == "value":
            return self.types.type(2, plain=plain), {"kind": "value", "name": "result"}
        return None, {"kind": "text", "name": "result"} if kind == "text" else None

    def arguments(self, route: Mapping[str, Any], *, wrong: bool) -> dict[str, Json]:
        """Return arguments that fit, some written as texts; or some that most likely do not."""
        made: dict[str, Json] = self.values.value(route["input"], bent=0.15)
        if wrong:
            names = list(route["input"]["properties"])
            if names and self.random.random() < 0.8:
                made[self.random.choice(names)] = self.values.anything(2)
            else:
                made = dict(list(made.items())[1:])
        if self.random.random() < 0.1:
            made[self.random.choice(("extra", "p0_there", "schemaType"))] = self.values.anything(1)
        return made

    def request(self, dialect: str, capability: str, arguments: Json, *, version: bool) -> dict[str, Json]:
        extra, wrapped, key, as_text = _FORMS[dialect]
        if version and not wrapped:
            extra, wrapped, as_text = "mobile-mcp-request", True, False
        if isinstance(arguments, dict) and self.random.random() < 0.08:
            arguments = [
                {"name": name, "type": "string", "value": value} for name, value in arguments.items()
            ]
        if as_text != (self.random.random() < 0.08):
            arguments = canonical_json(arguments)
        request_id: Json = self.random.choice(("u-1", "\u00e9", 7, "u-1", "u-1"))
        inner: Json = {"id": request_id, "capability": {"id": capability, key: arguments}}
        if wrapped:
            named: Json = self.random.choice(("2.0", "1.1", 2, True, "")) if version else "1.0"
            if not version and self.random.random() < 0.1:
                named = self.random.choice((1, "1", None))
            inner = {"mobile-mcp-request": {"version": named, "request": inner}}
        return {extra: canonical_json(inner)}

    def policy(self, plan: str, route: Mapping[str, Any], carrier: str) -> Json:
        is_read_only = (route["effects"] or {}).get("read_only") is True
        is_own = carrier == "bind" or (is_read_only and self.random.random() < 0.7)
        mine = {"caller": 10001 if is_own else "any-app", "capability": route["id"]}
        other = {"caller": self.random.choice((10001, 10002)), "capability": "other"}
        every = {"caller": "any-app", "capability": "*"}
        policy: dict[str, Json] = {"grants": [self.random.choice((mine, every))]}
        if plan == "denied":
            choices: tuple[list[Json], ...] = ([], [other], [{"caller": 10002, "capability": "*"}])
            if carrier == "start" and not is_read_only:
                choices = (*choices, [{"caller": 10001, "capability": "*"}])
            policy["grants"] = self.random.choice(choices)
        if self.random.random() < 0.2:
            policy["grants"].append(other)
        if self.random.random() < 0.1:
            policy["app"] = self.values.anything(1)
        if plan == "switched-off":
            policy["switched_off"] = ["cap"]
        if plan == "busy":
            policy["limits"] = {self.random.choice(("open", "open_per_caller", "burst")): 0}
        return policy

    def targets(self, plan: str, route: Mapping[str, Any]) -> Json:
        package = route["target"]["package"]
        if plan == "gone":
            return {}
        if plan == "drift":
            change = self.random.choice(
                ({"digest": "x"}, {"digest": "x"}, {"signer": "x"}, {"version_code": 4})
            )
            return {package: {**APPROVED, **change}}
        return {package: APPROVED} if self.random.random() < 0.2 else None

    def answer(self, plan: str, route: Mapping[str, Any]) -> Json:
        if plan in {"silent", "died"}:
            return {plan: True}
        backend = route["backend"]
        if plan == "failure":
            return self.failure(backend)
        output = route["output"]
        value = self.values.anything(2) if output is None else self.values.value(output, bent=0.1)
        if plan == "odd-answer":
            value = self.odd(value)
        if backend["kind"] == "app-function":
            return {"document": self.document(value, output, odd=plan == "odd-answer")}
        if backend["kind"] == "mobile-mcp":
            return {"extras": self.response(backend["dialect"], value, odd=plan == "odd-answer")}
        text = canonical_json(value) if plan != "odd-answer" or self.random.random() < 0.6 else self.text()
        code = self.random.choice((-1, -1, 0, 1, 2)) if plan == "odd-answer" else -1
        if backend["kind"] == "mmcp-broadcast":
            return {"code": code, "data": text if self.random.random() < 0.95 else None}
        return {"code": code, "extras": {self.random.choice(("result",) * 9 + ("error",)): text}}

    def failure(self, backend: Mapping[str, Any]) -> Json:
        message = self.message()
        if backend["kind"] == "app-function":
            return {"error": {"code": self.random.choice(_CODES), "message": message}}
        if backend["kind"] == "mobile-mcp":
            return {"extras": self.wrapped(backend["dialect"], {"status": "failure", "message": message})}
        if backend["kind"] == "mmcp-broadcast":
            if self.random.random() < 0.5:
                return {"code": 1, "data": canonical_json({"error": message})}
            return {"code": 0, "data": f"Error: {message}"}
        if self.random.random() < 0.1:
            return {"code": 0, "extras": {}}
        if self.random.random() < 0.2:
            return {"code": -1, "extras": {"result": f"Error: {message}"}}
        return {"code": 0, "extras": {self.random.choice(("error", "result")): message}}

    def message(self) -> str:
        if self.random.random() < 0.2:
            return self.text()
        return f"{self.random.choice(_SAID)}{self.random.choice((': x', ':x', '', ' : x', ' x'))}"

    def text(self) -> str:
        return self.random.choice(_TEXTS)

    def odd(self, value: Json) -> Json:
        if isinstance(value, dict) and value and self.random.random() < 0.6:
            name = self.random.choice(list(value))
            if self.random.random() < 0.5:
                return {key: member for key, member in value.items() if key != name}
            return {**value, name: self.values.anything(1), "more": 1}
        return self.values.anything(2)

    def document(self, value: Json, output: Json, *, odd: bool) -> Json:
        if odd and self.random.random() < 0.3:
            value = self.values.anything(2)
        if value is None:
            return {"schemaType": "", "properties": {}}
        if isinstance(value, dict) and self.random.random() < 0.3:
            return self.values.document(value, output)
        returned = self.values.property(value, output)
        return {"schemaType": "", "properties": {} if returned is None else {_RETURN: returned}}

    def response(self, dialect: str, value: Json, *, odd: bool) -> dict[str, str]:
        outputs = value if isinstance(value, dict) else {"result": value}
        output: Json = outputs
        if _FORMS[dialect][2] == "args" or (odd and self.random.random() < 0.3):
            output = [{"name": name, "type": "string", "value": value} for name, value in outputs.items()]
        inner: dict[str, Json] = {"status": "success", "capability": {"id": "c", "output": output}}
        if odd and self.random.random() < 0.4:
            name = self.random.choice(("status", "capability"))
            inner[name] = self.random.choice(("ok", None, {"id": "c"}, 5))
        extras = self.wrapped(dialect, inner)
        if odd and self.random.random() < 0.1:
            extras = {name: text[:-1] for name, text in extras.items()}
        return extras

    @staticmethod
    def wrapped(dialect: str, inner: dict[str, Json]) -> dict[str, str]:
        inner = {"id": "*", **inner}
        if _FORMS[dialect][1]:
            document = {"mobile-mcp-response": {"version": "1.0", "response": inner}}
            return {"mobile-mcp-response": canonical_json(document)}
        return {"response": canonical_json(inner), "mcp_request_id": "*"}


_PIECES = (
    *'{}[]",:\\/ \t\n',
    *(
        "true", "false", "null", "nul", "-", "0", "01", "1.50", "1e5", "1E+400", "-0.0", ".5",
        "9223372036854775808",
    ),
    *(
        "\\u0000", "\\ud83d", "\\ude00", "\\ud83d\\ude00", "\u00e9", "\U0001f600", "\ufeff", "\u2028",
        "\x7f", "\x00",
    ),
    *('"a"', '"a":', '"b":1,', "\\x", "'a'", "//", "NaN"),
)  # fmt: skip
_PATTERN_PIECES = (
    *"abz09.^$|()[]{}*+?-\\,",
    *(
        "\\d", "\\W", "\\s", "(?:", "(?<n>", "(?=", "[^", "a-z", "{2}", "{1,3}", "{2,}", "\\u00e9",
        "\\u{1F600}", "\\b", "\\x41",
    ),
)  # fmt: skip
_TEXT_PIECES = ("a", "b", "z", "0", "9", " ", "\n", "\u00e9", "\U0001f600", "A", "-", "_", "\u2028", "\u00a0")


class CaseMaker(Maker):
    """Makes cases."""

    def cases(self, count: int) -> Iterator[dict[str, Json]]:
        """Yield so many vectors' inputs."""
        makers = (self.text, self.text, self.pattern, self.fit, self.fit, self.written, self.read, self.life)
        for _ in range(count):
            yield self.random.choice(makers)()

    def text(self) -> dict[str, Json]:
        if self.random.random() < 0.3:
            pieces = self.random.choices(_PIECES, k=self.random.randrange(1, 8))
            return {"op": "parse", "text": "".join(pieces)}
        text = canonical_json(self.values.anything(3))
        if self.random.random() < 0.3:
            text = json.dumps(json.loads(text), indent=1)
        for _ in range(self.random.randrange(3)):
            at = self.random.randrange(len(text) + 1)
            text = text[:at] + self.random.choice(_PIECES) + text[at + self.random.randrange(3) :]
        return {"op": "parse", "text": text}

    def pattern(self) -> dict[str, Json]:
        pattern = "".join(self.random.choices(_PATTERN_PIECES, k=self.random.randrange(1, 7)))
        text = "".join(self.random.choices(_TEXT_PIECES, k=self.random.randrange(6)))
        return {"op": "pattern", "pattern": pattern, "text": text}

    def fit(self) -> dict[str, Json]:
        declared = self.types.type(3)
        value = (
            self.values.value(declared, bent=0.2) if self.random.random() < 0.7 else self.values.anything(2)
        )
        case = {"op": "fit", "type": declared, "definitions": self.types.written(), "value": value}
        return {**case, "exact": True} if self.random.random() < 0.2 else case

    def written(self) -> dict[str, Json]:
        declared = self.types.object(3, plain=self.random.random() < 0.8)
        value = self.values.value(declared)
        if self.random.random() < 0.3:
            value = {**value, self.random.choice(("p0", "p1", "more")): self.values.anything(2)}
        return {"op": "write-document", "type": declared, "definitions": self.types.written(), "value": value}

    def read(self) -> dict[str, Json]:
        declared = self.types.type(3, plain=True) if self.random.random() < 0.9 else None
        shown = declared if self.random.random() < 0.8 else self.types.type(3, plain=True)
        value = self.values.anything(2) if shown is None else self.values.value(shown)
        returned = self.values.property(value, shown)
        document: Json = {
            "schemaType": "",
            "properties": {"androidAppfunctionsReturnValue": returned} if returned else {},
        }
        if isinstance(value, dict) and self.random.random() < 0.2:
            document = self.values.document(value, shown)
        return {
            "op": "read-document",
            "type": declared,
            "definitions": self.types.written(),
            "document": document,
        }

    def life(self) -> dict[str, Json]:
        events: list[Json] = []
        at = 0
        for _ in range(self.random.randrange(1, 30)):
            at += self.random.choice((0, 0, 1, 10, 100, 2000))
            kind = self.random.choices(("request", "result", "cancel", "died", "time"), (12, 6, 2, 1, 2))[0]
            event: dict[str, Json] = {"at": at, "event": kind}
            if kind in {"request", "result", "cancel"}:
                event |= {"caller": self.random.choice((1, 2)), "id": self.random.choice("abcdef")}
                if self.random.random() < 0.4:
                    event["carrier"] = self.random.choice(("start", "bind"))
            if kind == "request" and self.random.random() < 0.6:
                event["deadline_ms"] = self.random.choice((0, 1, 50, 100, 3000))
            events.append(event)
        case: dict[str, Json] = {"op": "life", "events": events}
        if self.random.random() < 0.5:
            names = self.random.sample(("open", "open_per_caller", "burst", "per_minute"), 2)
            case["limits"] = {name: self.random.choice((1, 2, 3, 7)) for name in names}
        return case


_IDS_BESIDE: tuple[Json, ...] = ("u-1", 7, "", None, "\U0001f600", "a" * 1_025)
_IDS: tuple[Json, ...] = (*_IDS_BESIDE, 1.5, 2**63, '"quoted"', "\ud83d")
_CHARACTERS = '{}[]",:\\0123456789.eE+-aftn \t\n\x00\ud83d\U0001f600'
_EXTRAS = ("mobile-mcp-request", "request", "mcp_command_json")


class BrokenRequests:
    """Makes requests from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def calls(self, count: int) -> Iterator[Json]:
        """Yield vectors of the op `call`."""
        for _ in range(count):
            extras: dict[str, Json] = {self._random.choice(_EXTRAS): self._text()}
            if self._random.random() < 0.3:
                extras["mcp_request_id"] = self._random.choice(_IDS_BESIDE)
            policy: dict[str, Json] = {"grants": [{"caller": "any-app", "capability": "*"}]}
            if self._random.random() < 0.15:
                # Only the first 4,096 units of these are read.
                extras = {name: self._padded(text) for name, text in extras.items()}
                policy["limits"] = {"burst": 0}
            yield {
                "op": "call",
                "routes": load_route_table("all"),
                "policy": policy,
                "carrier": self._random.choice(["start", "bind"]),
                "caller": 1,
                "extras": extras,
            }

    def _text(self) -> str:
        text = json.dumps(self._document(), ensure_ascii=self._random.random() < 0.5)
        # A lone half of a pair is written as its escape: a line of UTF-8 cannot hold it.
        text = "".join(
            character if not "\ud800" <= character <= "\udfff" else f"\\u{ord(character):04x}"
            for character in text
        )
        for _ in range(self._random.randint(0, 3)):
            text = self._damaged(text)
        return text

    def _padded(self, text: Json) -> Json:
        """Return a text with so many blanks between two of its members that it ends about at the limit."""
        if not isinstance(text, str):
            return text
        at = self._random.randint(0, text.count(","))
        before = ",".join(text.split(",")[:at])
        blanks = " " * max(0, 4_096 - len(text) + self._random.randint(-20, len(text)))
        return f"{before},{blanks}{text[len(before) + 1 :]}" if before else blanks + text

    def _document(self) -> Json:
        choose = self._random.choice
        members: dict[str, Json] = {"id": choose(_IDS), "capability": self._capability()}
        if self._random.random() < 0.2:
            members[choose(["args", "input", "version"])] = choose([{}, None, "2.0"])
        request: dict[str, Json] = {name: members[name] for name in self._shuffled(members)}
        if self._random.random() < 0.3:
            return request
        version = choose(["1.0", "2.0", None, 1])
        wrapper = {"version": version, choose(["request", "request", "call"]): request}
        wrapper = {name: wrapper[name] for name in self._shuffled(wrapper)}
        return {"mobile-mcp-request": wrapper} if self._random.random() < 0.8 else wrapper

    def _capability(self) -> Json:
        choose = self._random.choice
        if self._random.random() < 0.1:
            return choose([None, "get_weather", 5, []])
        given: list[Json] = [{}, {"location": "Bonn"}, '{"location":1e999}', [[[]]], {"days": -0.5e3}, None]
        arguments = choose(given)
        fields = {"id": choose(["get_weather", "", 5]), choose(["args", "input", "other"]): arguments}
        return {name: fields[name] for name in self._shuffled(fields)}

    def _shuffled(self, names: dict[str, Json]) -> list[str]:
        return self._random.sample(list(names), len(names))

    def _damaged(self, text: str) -> str:
        at = self._random.randrange(len(text) + 1)
        kind = self._random.randrange(6)
        if kind == 0:
            return text[:at]
        if kind == 1:
            return text[:at] + text[at + 1 :]
        if kind == 2:
            return text.replace('"id"', '"id":"u-2","id"', 1)
        character = self._random.choice(_CHARACTERS.replace("\ud83d", ""))
        return text[:at] + character + text[at + (kind == 3) :]
