"""Providers that handlers are made for in these tests."""

from droidgate.formats import HandlerCode, find_format
from droidgate.leniency import ReadingContext
from droidgate.model.capability import Capability, Provider
from droidgate.model.types import (
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    RefType,
    ScalarType,
    Type,
)
from droidgate.sources.android_project import application_from_tree
from droidgate_phone.sample_apps import sample_apps_directory

SAMPLE_MODULES = {
    "clock-in/app": "mobile-mcp",
    "pdf-tool/app": "mmcp",
    "notes/app": "appfunctions",
    "notes/legacy": "appfunctions",
}


def needed(one: Type) -> Property:
    return Property(type=one, required=True)


def optional(one: Type) -> Property:
    return Property(type=one)


TEXT = ScalarType(kind="string")
WHOLE = ScalarType(kind="int64")
SMALL = ScalarType(kind="int32")
NUMBER = ScalarType(kind="double")
FLAG = ScalarType(kind="boolean")
VOID = ScalarType(kind="null")


def sample_provider(module: str) -> Provider:
    """Return the provider of a sample app's module, read from its files."""
    folder = sample_apps_directory() / module / "src/main"
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
            id="currentWeather",
            description="One sentence.",
            input=ObjectType(properties={"location": needed(TEXT)}),
        ),
        Capability(
            id="forecast",
            description="JSON.",
            input=ObjectType(properties={"location": needed(TEXT), "days": needed(TEXT)}),
        ),
        Capability(id="warmestPlace", input=ObjectType(properties={"places": needed(TEXT)})),
    ),
)

_EVERY_KIND: dict[str, Type] = {
    "flag": FLAG,
    "small": SMALL,
    "whole": WHOLE,
    "single": ScalarType(kind="float"),
    "number": NUMBER,
    "text": TEXT,
    "blob": ScalarType(kind="bytes"),
    "nothing": VOID,
    "list": ArrayType(items=TEXT),
    "loose": ArrayType(),
    "lists": ArrayType(items=ArrayType(items=SMALL)),
    "thing": ObjectType(properties={"a": needed(TEXT), "b": optional(WHOLE)}),
    "both": AllOfType(members=(RefType(name="Node"), ObjectType(properties={"c": needed(FLAG)}))),
    "either": OneOfType(
        alternatives=(RefType(name="one.Left"), RefType(name="one.Right")), qualified_name="one.Either"
    ),
    "loop": RefType(name="Loop"),
    "handle": OpaqueType(class_name="android.app.PendingIntent"),
    "whatever": AnyType(),
    "choice": ScalarType(kind="string", enum=("a", 'b"\\', "c\n", "日本", "*/")),
    "level": ScalarType(kind="int32", enum=(1, 2, 3)),
}

WILD = Provider(
    protocol="mcp",
    package="dev.wild.app",
    component=".Wild",
    name="Wild */ \\u002a\\u002f",
    description="ends a comment */ and begins one /* and escapes \\u002a\\u002f \U0001f600 \ud800",
    definitions={
        "Node": ObjectType(
            properties={"value": needed(SMALL), "next": optional(RefType(name="Node", nullable=True))}
        ),
        "Loop": RefType(name="Loop"),
        "one.Left": ObjectType(properties={"left": needed(TEXT)}, qualified_name="one.Left"),
        "one.Right": ObjectType(properties={"right": needed(WHOLE)}, qualified_name="one.Right"),
        "two.Left": ObjectType(),
        "class": ObjectType(properties={"class": needed(TEXT)}),
        "int": ArrayType(items=RefType(name="int")),
    },
    capabilities=(
        Capability(
            id="class",
            description="*/ class E {} /* \\u002a\\u002f @param {@code <b>} \u2028 \u202e end\r\nnext line",
            input=ObjectType(
                properties={
                    name: needed(ScalarType(kind="string", description=f"{name} */ \\u000a"))
                    for name in (
                        "int",
                        "public",
                        "this",
                        "null",
                        "fun",
                        "val",
                        "when",
                        "in",
                        "is",
                        "_",
                        "yield",
                    )
                }
            ),
            output=ObjectType(properties={"class": needed(TEXT)}),
        ),
        Capability(
            id="wait",
            input=ObjectType(properties={name: optional(one) for name, one in _EVERY_KIND.items()}),
        ),
        Capability(
            id="notify",
            input=ObjectType(properties={name: needed(one) for name, one in _EVERY_KIND.items()}),
        ),
        Capability(
            id="fifty",
            input=ObjectType(
                properties={
                    f"part {position}": Property(type=kind, required=position % 2 == 0)
                    for position, kind in enumerate((FLAG, WHOLE, NUMBER, TEXT, FLAG) * 10)
                }
            ),
            output=ArrayType(items=SMALL),
        ),
        Capability(
            id="more than a method of Java takes",
            input=ObjectType(properties={f"p{position}": needed(TEXT) for position in range(256)}),
        ),
        Capability(id="getClass", output=VOID),
        Capability(
            id="日本語",
            description="日本語",
            input=ObjectType(properties={"日本": needed(TEXT), "日木": needed(TEXT)}),
        ),
        Capability(id="日木語", output=ArrayType(items=RefType(name="Node"))),
        Capability(id='quote"\\\n$x${y}', output=ScalarType(kind="int64", nullable=True)),
        Capability(id="a.b/c#d", input=AnyType(), output=RefType(name="one.Left")),
        Capability(id="a.b/e#d", input=ObjectType(keywords={"additionalProperties": True})),
        Capability(id="", output=ScalarType(kind="bytes")),
        Capability(
            id="long", description="word " * 3000, input=ObjectType(properties={"x" * 500: needed(TEXT)})
        ),
    ),
)


def handlers_for(
    provider: Provider, target: str, language: str = "java", namespace: str = "dev.made.app"
) -> tuple[Provider, HandlerCode]:
    """Return a provider as a dialect holds it, and its handlers."""
    target_format, dialect = find_format(target)
    assert target_format.write is not None
    assert target_format.write_handlers is not None
    written = target_format.write(provider, dialect).provider
    return written, target_format.write_handlers(written, dialect, language, namespace)


def folder_name(target: str) -> str:
    """Return a target as part of a Java package."""
    return "t_" + "".join(one if one.isalnum() else "_" for one in target)
