"""Source apps and shims that the tests of the builder share."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from adapters.apk_writing.packed_samples import packed_module, signing_key
from droidgate.shims.source_apps import read_source_apps
from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.reader import Apk, open_apk
from droidgate_mappings.fit import fit_provider
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.types import ObjectType, Type
from droidgate_shim.builder.shim_choices import ShimOptions
from droidgate_shim.builder.shims import BuiltShim, build_shims
from droidgate_shim.builder.source_app import SourceApp, complete_broadcast
from model_types import record, required
from strategies import random_provider

KEY = signing_key("ec")
PACKAGE = "com.acme.tools"
SIGNER = "5" * 64
MODULES = ("clock-in/app", "pdf-tool/app", "weather/app", "notes/app", "notes/legacy", "tally/app")
EVERYTHING = ("mmcp", "mmcp-broadcast", "appfunctions")
WEATHER_TOOLS = (
    ("currentWeather", "The weather at a place", '{"location":"string"}'),
    ("forecast", "The next days", '{"location":"string","days":"string"}'),
)
CALLED_DIALECTS = (
    ("mmcp", "1.0"), ("mmcp", "draft"), ("mmcp", "broadcast"), ("appfunctions", "v2"), ("appfunctions", "v1"),
    ("appfunctions", "platform"), ("mobile-mcp", "1.0"), ("mobile-mcp", "prototype"),
)  # fmt: skip


def parameters(**types: Type) -> ObjectType:
    return record({name: required(item) for name, item in types.items()})


def source_app(
    *capabilities: Capability,
    protocol: str = "mmcp",
    dialect: str = "1.0",
    package: str = PACKAGE,
    component: str | None = None,
    definitions: Mapping[str, Type] | None = None,
) -> SourceApp:
    """Return an app with one provider, as if it had been read."""
    provider = Provider(
        protocol=protocol,
        dialect=dialect,
        package=package,
        component=component or f"{package}.Tools",
        definitions=dict(definitions or {}),
        capabilities=capabilities,
    )
    return app_with(provider, package=package)


def app_with(*providers: Provider, package: str = PACKAGE) -> SourceApp:
    return SourceApp(
        package=package,
        label=package.rpartition(".")[2].capitalize(),
        version_code=7,
        signer=SIGNER,
        instructions="Ask it.",
        providers=providers,
        digests={(provider.protocol, provider.component or ""): f"mmcp:{'0' * 64}" for provider in providers},
    )


def shim_of(*apps: SourceApp, **options: Any) -> BuiltShim:
    (shim,) = build_shims(apps, ShimOptions(**options), KEY)
    return shim


def routes_of(shim: BuiltShim) -> dict[str, dict[str, Any]]:
    return {route["id"]: route for route in shim.routes["routes"]}


def generated_app(seed: int, protocol: str, dialect: str) -> SourceApp:
    """Return an app with a wild provider that this dialect can declare."""
    item = load_formats()[protocol].dialect(dialect)
    assert item.capacity is not None
    wild = random_provider(Random(seed)).model_copy(update={"package": PACKAGE, "extensions": {}})
    fitted = fit_provider(wild, item.capacity, protocol, dialect).provider
    return app_with(fitted.model_copy(update={"component": f"{PACKAGE}.Tools"}))


@cache
def sample_app(module: str) -> SourceApp:
    """Return a sample app as read from its packed APK; the weather app has been asked for its tools."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "app.apk")
        path.write_bytes(packed_module(module))
        (app,) = read_source_apps([str(path)])
    for component in app.unasked_components:
        app = complete_broadcast(app, component, WEATHER_TOOLS)
    return app


@cache
def sample_shim(module: str, *advertise: str) -> BuiltShim:
    return shim_of(sample_app(module), advertise=frozenset(advertise))


def packed(manifest_body: str, files: Mapping[str, str | bytes] | None = None, **facts: Any) -> bytes:
    """Return a signed APK of an app with these elements in its application element."""
    package = facts.pop("package", PACKAGE)
    manifest = (
        f'<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="{package}">'
        f'<application android:label="Tools"{facts.pop("application", "")}>{manifest_body}</application>'
        "</manifest>"
    )
    tree = {name: item.encode() if isinstance(item, str) else item for name, item in (files or {}).items()}
    return pack_project({"AndroidManifest.xml": manifest.encode(), **tree}, key=KEY, **facts)


def opened(apk: bytes) -> tuple[Apk, Application]:
    item = open_apk(apk)
    return item, read_application(item)


def application_of(shim: BuiltShim) -> Application:
    with open_apk(shim.apk) as apk:
        return read_application(apk)


def declared_in(apk: bytes, protocol: str = "mobile-mcp") -> Sequence[Provider]:
    """Return what a built APK declares, read without any leniency."""
    with open_apk(apk) as item:
        context = ReadingContext(strict=True)
        reading = load_formats()[protocol].read_application(read_application(item), context)
    assert reading.problems == ()
    return reading.providers
