"""The route table: which capability of the shim is which call of which app (shim-engine.md 2).

`assets/routes.json` is written by the builder and read once; an error names the place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, StrictInt, StrictStr, ValidationError

from droidgate_mappings.model.capability import Capability, Effects, references_of, type_behind
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import ArrayType, Frozen, ObjectType, Property, ScalarType, Type
from droidgate_mappings.records import dataclass, field
from droidgate_mobile_mcp.format import TABLES
from droidgate_mobile_mcp.wire import WIRE_DIALECTS
from droidgate_shim.deadlines import DEFAULT_DEADLINE_MS
from droidgate_shim.engine.strict_json import BUILT, exact_numbers, parse_strict

FORMAT: Final = 1

_COMPONENT: Final = r"^[^/]+/[^/]+$"
_Text: TypeAlias = Annotated[StrictStr, Field(min_length=1)]
_Component: TypeAlias = Annotated[StrictStr, Field(pattern=_COMPONENT)]

_WORD_KINDS: Final[Mapping[str, str]] = {
    kind: capacity.written_as
    for dialect in TABLES.dialects
    if dialect.capacity is not None
    for kind, capacity in dialect.capacity.types.items()
}
"""Kind of type -> the kind as which the shim's descriptor has it."""

_WORD_TYPES: Final[Mapping[str, Type]] = {
    "boolean": ScalarType(kind="boolean"),
    "int64": ScalarType(kind="int64"),
    "double": ScalarType(kind="double"),
    "string": ScalarType(kind="string"),
    "array": ArrayType(),
    "object": ObjectType(),
}


class ToolBackend(Frozen):
    """A tool of an mMCP app, `component` being `package/class`."""

    kind: Literal["mmcp-activity", "mmcp-broadcast"]
    component: _Component
    tool: _Text


class FunctionBackend(Frozen):
    """An app function."""

    kind: Literal["app-function"]
    package: _Text
    function: _Text


class CapabilityBackend(Frozen):
    """A capability of a Mobile-MCP tool app, called in one of the wire dialects."""

    kind: Literal["mobile-mcp"]
    component: _Component
    capability: _Text
    dialect: _Text = "S0"


class ScreenStart(Frozen):
    """An intent that opens a screen.

    Attributes:
        needs: Parameter of the app -> the values with which it starts, None for any.
        intent: What `Intent.parseUri` reads. A variable is a parameter of the app, what precedes its
            percent-encoded value, and what does behind another variable; without a value it vanishes.
    """

    needs: dict[str, tuple[StrictStr, ...] | None]
    intent: tuple[StrictStr | tuple[StrictStr, StrictStr, StrictStr], ...]


class AppActionBackend(Frozen):
    """Screens of an app, of which the first that takes the arguments opens.

    Attributes:
        action: The capability that declares them.
        values: Parameter of the app -> a name, as it is or in small letters -> the value.
        starts: The screens, in order.
    """

    kind: Literal["app-action"]
    package: _Text
    action: _Text
    values: dict[str, dict[str, StrictStr]] = Field(default_factory=dict)
    starts: Annotated[tuple[ScreenStart, ...], Field(min_length=1)]


Backend: TypeAlias = Annotated[
    ToolBackend | FunctionBackend | CapabilityBackend | AppActionBackend, Field(discriminator="kind")
]


class FieldOutputs(Frozen):
    """The members of the result are the outputs."""

    kind: Literal["fields"]


class NamedOutput(Frozen):
    """The result is one output: as it is declared (`value`), or as text (`text`)."""

    kind: Literal["value", "text"]
    name: _Text = "result"


Outputs: TypeAlias = Annotated[FieldOutputs | NamedOutput, Field(discriminator="kind")]


class Target(Frozen):
    """An app behind the shim, as it was approved or as it is installed.

    Attributes:
        package: Its application id.
        signer: Digest of its signing certificate.
        version_code: Its version.
        digest: Digest of its descriptor.
    """

    package: _Text
    signer: StrictStr
    version_code: StrictInt
    digest: StrictStr


class Route(Frozen):
    """One capability of the shim.

    Attributes:
        id: Its id in the shim's descriptor.
        input: Its arguments, as the descriptor declares them, with the source's constraints.
        names: Parameter -> its name at the backend, for those that differ.
        outputs: How the result becomes outputs; None where there are none.
        output: The source's declared result, None where it declares none.
        backend: What is called.
        target: What was approved.
        deadline_ms: How long a call may take.
        effects: What it may do.
    """

    id: _Text
    input: Type
    names: dict[str, _Text] = Field(default_factory=dict)
    outputs: Outputs | None
    output: Type | None = None
    backend: Backend
    target: Target
    deadline_ms: Annotated[StrictInt, Field(gt=0)] = DEFAULT_DEADLINE_MS
    effects: Effects | None = None

    @property
    def is_read_only(self) -> bool:
        """Whether it is declared to change nothing."""
        return self.effects is not None and self.effects.read_only is True


class _Table(Frozen):
    format: Annotated[StrictInt, Field(ge=FORMAT, le=FORMAT)]
    definitions: dict[str, Type] = Field(default_factory=dict)
    routes: tuple[Route, ...]


@dataclass(frozen=True, slots=True)
class PreparedRoute:
    """A route, with what each call of it needs, computed once.

    Attributes:
        route: The route.
        capability: Its input and output as `droidgate_mappings.values` takes them.
        fields: The outputs that are kept of an object's members; None for all.
        descriptor_output: The outputs as the shim's descriptor declares them.
    """

    route: Route
    capability: Capability
    fields: frozenset[str] | None
    descriptor_output: ObjectType


@dataclass(frozen=True, slots=True)
class RouteTable:
    """The routes of one shim by id, and the definitions that their types refer to."""

    routes: Mapping[str, PreparedRoute] = field(default_factory=dict)
    definitions: Mapping[str, Type] = field(default_factory=dict)


def parse_route_table(text: str) -> RouteTable:
    """Return the route table of `assets/routes.json`.

    Raises:
        InputError: it is not JSON, or not a route table; the error has the place.
    """
    return read_route_table(parse_strict(text, path="routes.json", limits=BUILT))


def read_route_table(document: Json) -> RouteTable:
    """Return the route table of a parsed document.

    Raises:
        InputError: it is not a route table; the error has the place.
    """
    try:
        table = _Table.model_validate(exact_numbers(document))
    except (ValidationError, RecursionError) as error:
        raise unreadable(error, "routes.json") from None
    routes: dict[str, PreparedRoute] = {}
    for index, route in enumerate(table.routes):
        place = f"routes.json: routes.{index}"
        if route.id in routes:
            raise InputError(f"duplicate id {route.id!r}", place=place)
        _check_references([route.input, *([] if route.output is None else [route.output])], table, place)
        _check_names(route, table.definitions, place)
        _check_dialect(route.backend, place)
        routes[route.id] = _prepare(route, table.definitions)
    _check_references(list(table.definitions.values()), table, "routes.json: definitions")
    return RouteTable(routes, table.definitions)


def unreadable(error: ValidationError | RecursionError, path: str) -> InputError:
    """Return the error with the place where a document of the builder does not fit its form."""
    if isinstance(error, RecursionError):
        return InputError("it is nested too deep", place=path)
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    reason = first["msg"][:1].lower() + first["msg"][1:]
    return InputError(reason, place=f"{path}: {where}" if where else path)


def _check_references(types: list[Type], table: _Table, place: str) -> None:
    for type_ in types:
        unknown = next((name for name in references_of(type_) if name not in table.definitions), None)
        if unknown is not None:
            raise InputError(f"the type {unknown!r} that is referred to is not defined", place=place)


def _check_names(route: Route, definitions: Mapping[str, Type], place: str) -> None:
    declared = type_behind(route.input, definitions)
    properties = declared.properties if isinstance(declared, ObjectType) else {}
    unknown = next((name for name in route.names if name not in properties), None)
    if unknown is not None:
        raise InputError(f"the parameter {unknown!r} is not declared", place=f"{place}.names")
    seen: set[str] = set()
    for name in properties:
        backend_name = route.names.get(name, name)
        if backend_name in seen:
            raise InputError(f"two parameters are {backend_name!r} at the backend", place=f"{place}.names")
        seen.add(backend_name)


def _check_dialect(backend: Backend, place: str) -> None:
    if not isinstance(backend, CapabilityBackend):
        return
    dialect = WIRE_DIALECTS.get(backend.dialect)
    if dialect is None or not dialect.served:
        raise InputError(
            f"the wire dialect {backend.dialect!r} is not served", place=f"{place}.backend.dialect"
        )


def _prepare(route: Route, definitions: Mapping[str, Type]) -> PreparedRoute:
    capability = Capability(id=route.id, input=route.input, output=_fitted_output(route, definitions))
    match route.outputs:
        case None:
            return PreparedRoute(route, capability, None, ObjectType())
        case NamedOutput(kind="text", name=name):
            declared: dict[str, Type] = {name: ScalarType(kind="string")}
            fields = None
        case NamedOutput(name=name):
            declared = {} if route.output is None else {name: route.output}
            fields = None
        case _:
            shape = None if route.output is None else type_behind(route.output, definitions)
            members = shape.properties if isinstance(shape, ObjectType) else {}
            declared = {name: item.type for name, item in members.items()}
            fields = frozenset(declared) if declared else None
    words = {name: Property(type=_word_type(item, definitions)) for name, item in declared.items()}
    return PreparedRoute(route, capability, fields, ObjectType(properties=words))


def _fitted_output(route: Route, definitions: Mapping[str, Type]) -> Type | None:
    """Return what a result is fitted to: the declared output, whose members a Mobile-MCP tool may omit
    (specification 3.2).
    """
    output = None if route.output is None else type_behind(route.output, definitions)
    if not isinstance(route.backend, CapabilityBackend) or not isinstance(output, ObjectType):
        return route.output
    optional = {name: property_.changed({"required": False}) for name, property_ in output.properties.items()}
    return output.changed({"properties": optional})


def _word_type(declared: Type, definitions: Mapping[str, Type]) -> Type:
    """Return a type that has this type's word in the shim's descriptor."""
    kind = _WORD_KINDS.get(type_behind(declared, definitions).kind, "string")
    return _WORD_TYPES[kind]
