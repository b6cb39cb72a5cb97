"""Providers that handlers are made for in these tests."""

from droidgate_android.projects.android_project import application_from_tree
from droidgate_mappings.formats.format import HandlerCode, HandlerRequest, find_format
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.types import AnyType, ArrayType, ObjectType, OpaqueType, Property, Type
from model_types import (
    all_of,
    array,
    binary,
    boolean,
    float32,
    float64,
    int32,
    int64,
    null,
    one_of,
    optional,
    record,
    ref,
    required,
    string,
)
from requirements_of_tests import CHECKOUT

SAMPLE_MODULES = {
    "clock-in/app": "mobile-mcp",
    "pdf-tool/app": "mmcp",
    "notes/app": "appfunctions",
    "notes/legacy": "appfunctions",
}


def sample_provider(module: str) -> Provider:
    """Return the provider of a sample app's module, read from its files."""
    folder = CHECKOUT / "device_shim/apps" / module / "src/main"
    tree = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    application = application_from_tree(tree, path=str(folder))
    reading = find_format(SAMPLE_MODULES[module])[0].read_application(application, ReadingContext())
    return reading.providers[0]


WEATHER = Provider(
    protocol="mmcp",
    dialect="broadcast",
    package="dev.droidgate.sample.weather",
    component=".WeatherReceiver",
    capabilities=(
        Capability(
            id="currentWeather", description="One sentence.", input=record({"location": required(string())})
        ),
        Capability(
            id="forecast",
            description="JSON.",
            input=record({"location": required(string()), "days": required(string())}),
        ),
        Capability(id="warmestPlace", input=record({"places": required(string())})),
    ),
)

_EVERY_KIND: dict[str, Type] = {
    "flag": boolean(),
    "small": int32(),
    "whole": int64(),
    "single": float32(),
    "number": float64(),
    "text": string(),
    "blob": binary(),
    "nothing": null(),
    "list": array(string()),
    "loose": ArrayType(),
    "lists": array(array(int32())),
    "thing": record({"a": required(string()), "b": optional(int64())}),
    "both": all_of(ref("Node"), record({"c": required(boolean())})),
    "either": one_of(ref("one.Left"), ref("one.Right"), qualified_name="one.Either"),
    "loop": ref("Loop"),
    "handle": OpaqueType(class_name="android.app.PendingIntent"),
    "whatever": AnyType(),
    "choice": string(enum=("a", 'b"\\', "c\n", "日本", "*/")),
    "level": int32(enum=(1, 2, 3)),
}

KEYWORDS = ("int", "public", "this", "null", "fun", "val", "when", "in", "is", "_", "yield")
WILD = Provider(
    protocol="mcp",
    package="dev.wild.app",
    component=".Wild",
    name="Wild */ \\u002a\\u002f",
    description="ends a comment */ and begins one /* and escapes \\u002a\\u002f \U0001f600 \ud800",
    definitions={
        "Node": record({"value": required(int32()), "next": optional(ref("Node", nullable=True))}),
        "Loop": ref("Loop"),
        "one.Left": record({"left": required(string())}, qualified_name="one.Left"),
        "one.Right": record({"right": required(int64())}, qualified_name="one.Right"),
        "two.Left": ObjectType(),
        "class": record({"class": required(string())}),
        "int": array(ref("int")),
    },
    capabilities=(
        Capability(
            id="class",
            description="*/ class E {} /* \\u002a\\u002f @param {@code <b>} \u2028 \u202e end\r\nnext line",
            input=record({name: required(string(description=f"{name} */ \\u000a")) for name in KEYWORDS}),
            output=record({"class": required(string())}),
        ),
        Capability(id="wait", input=record({name: optional(item) for name, item in _EVERY_KIND.items()})),
        Capability(id="notify", input=record({name: required(item) for name, item in _EVERY_KIND.items()})),
        Capability(
            id="fifty",
            input=record(
                {
                    f"part {position}": Property(type=kind, required=position % 2 == 0)
                    for position, kind in enumerate((boolean(), int64(), float64(), string(), boolean()) * 10)
                }
            ),
            output=array(int32()),
        ),
        Capability(
            id="more than a method of Java takes",
            input=record({f"p{position}": required(string()) for position in range(256)}),
        ),
        Capability(id="getClass", output=null()),
        Capability(
            id="日本語",
            description="日本語",
            input=record({"日本": required(string()), "日木": required(string())}),
        ),
        Capability(id="日木語", output=array(ref("Node"))),
        Capability(id='quote"\\\n$x${y}', output=int64(nullable=True)),
        Capability(id="a.b/c#d", input=AnyType(), output=ref("one.Left")),
        Capability(id="a.b/e#d", input=ObjectType(keywords={"additionalProperties": True})),
        Capability(id="", output=binary()),
        Capability(id="long", description="word " * 3000, input=record({"x" * 500: required(string())})),
    ),
)


def handlers_for(
    provider: Provider, target: str, language: str = "java", namespace: str = "dev.made.app"
) -> tuple[Provider, HandlerCode]:
    """Return a provider as a dialect holds it, and its handlers."""
    target_format, dialect = find_format(target)
    assert target_format.write is not None
    assert target_format.write_handlers is not None
    if target_format.in_code is not None:
        dialect = target_format.in_code(dialect, language)
    written = target_format.write(provider, dialect).provider
    request = HandlerRequest(written, dialect, language, namespace, {})
    return written, target_format.write_handlers(request)


def folder_name(target: str) -> str:
    """Return a target as part of a Java package."""
    return "t_" + "".join(item if item.isalnum() else "_" for item in target)
