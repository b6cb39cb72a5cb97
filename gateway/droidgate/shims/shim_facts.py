"""What a shim's APK says of the shim: built a moment ago, in a file, or where it is installed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from droidgate.devices.device_errors import TransferError
from droidgate.devices.packages import InstalledPackage
from droidgate.devices.remote_apk import open_remote_apk
from droidgate.shims.device_user import DeviceUser
from droidgate_android.apk.apk_application import read_application, verify_signers
from droidgate_android.apk.apk_files import MemorySource
from droidgate_android.apk.reader import Apk, ApkSource, open_apk
from droidgate_mappings.formats.installed import SHIM_PACKAGE, is_shim
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass
from droidgate_shim.engine.routes import RouteTable, read_route_table
from droidgate_shim.engine.strict_json import BUILT, parse_strict

if TYPE_CHECKING:
    from droidgate_shim.builder.shims import BuiltShim

ROUTES_ASSET: Final = "assets/routes.json"
POLICY_ASSET: Final = "assets/policy.json"

_MAX_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ShimFacts:
    """What is to be known of a shim to set it up.

    Attributes:
        application_id: Its own.
        build: Digest of what it was built from.
        capabilities: Their ids.
        kinds: Kinds of the backends of its routes.
        packages: The apps behind it.
        signer: SHA-256 of its certificate, hexadecimal.
        read_only: Ids of the capabilities that are declared to change nothing.
        services: Mobile-MCP services that its routes call, each as `package/class`.
    """

    application_id: str
    build: str
    capabilities: tuple[str, ...]
    kinds: frozenset[str]
    packages: tuple[str, ...]
    signer: str
    read_only: tuple[str, ...] = ()
    services: tuple[str, ...] = ()

    @property
    def calls_functions(self) -> bool:
        """One of its routes is an app function."""
        return "app-function" in self.kinds

    @property
    def is_bare(self) -> bool:
        """It has no capabilities of its own."""
        return self.application_id == SHIM_PACKAGE and not self.capabilities


def facts_of(built: BuiltShim, signer: str) -> ShimFacts:
    """Return the facts of a shim that was built, by the digest of the certificate that signed it."""
    return ShimFacts(
        application_id=built.application_id,
        build=built.build,
        capabilities=tuple(built.capabilities),
        kinds=backend_kinds(built.routes),
        packages=tuple(built.packages),
        signer=signer,
        read_only=_read_only(built.routes),
        services=_services(built.routes),
    )


def read_shim_facts(source: ApkSource, *, name: str, installed_on: int | None = None) -> ShimFacts:
    """Return the facts of a shim's APK.

    Args:
        source: The APK.
        name: How errors name it.
        installed_on: SDK of the phone that it is installed on, which verified its signature then; None for a
            file, whose signature is verified here.

    Raises:
        InputError: it is not an APK, or not of a shim, or its signature is not verified.
        DeviceError: it lies on a device, which fails.
    """
    with open_apk(MemorySource(source, name=name) if isinstance(source, bytes) else source) as apk:
        package = apk.package or ""
        if not is_shim(package):
            raise InputError(
                f"it is not a shim but {package or 'an app without a name'}",
                place=name,
                hint="make one with `droidgate shim build`, or name its app with --from",
            )
        policy = _read_asset(apk, POLICY_ASSET, name)
        routes = _read_asset(apk, ROUTES_ASSET, name)
        application = (
            verify_signers(read_application(apk))
            if installed_on is None
            else read_application(apk, installed_on)
        )
        if application.signers_verified is False:
            message = f"its signature is not verified: {application.signature_problem}"
            raise InputError(message, place=name, hint="make it again with `droidgate shim build`")
        signers = application.signers
        app = _object(policy.get("app"))
        build = app.get("build")
        if not isinstance(build, str) or len(signers) != 1:
            raise InputError("its policy has no build, or not one key signed it", place=name)
        return ShimFacts(
            application_id=package,
            build=build,
            capabilities=tuple(_texts(routes.get("routes"), "id")),
            kinds=backend_kinds(routes),
            packages=tuple(_texts(app.get("sources"), "package")),
            signer=signers[0],
            read_only=_read_only(routes),
            services=_services(routes),
        )


def installed_facts(device_user: DeviceUser, package: InstalledPackage) -> ShimFacts | None:
    """Return the facts of an installed shim; None where its APK cannot be read as one.

    Raises:
        DeviceError: the device fails.
    """
    try:
        source = open_remote_apk(device_user.device, package)
        return read_shim_facts(source, name=package.name, installed_on=device_user.sdk)
    except (InputError, TransferError):
        return None


def installed_routes(device_user: DeviceUser, package: InstalledPackage) -> RouteTable:
    """Return the route table of an installed shim.

    Raises:
        InputError: its APK has none.
        DeviceError: the device fails.
    """
    with open_apk(open_remote_apk(device_user.device, package)) as apk:
        return read_route_table(dict(_read_asset(apk, ROUTES_ASSET, package.name)))


def backend_kinds(routes: Json) -> frozenset[str]:
    """Return the kinds of the backends of a route table."""
    return frozenset(_texts([route.get("backend") for route in _routes(routes)], "kind"))


def _read_only(routes: Json) -> tuple[str, ...]:
    declared = [route for route in _routes(routes) if _object(route.get("effects")).get("read_only") is True]
    return tuple(_texts(declared, "id"))


def _services(routes: Json) -> tuple[str, ...]:
    backends = [_object(route.get("backend")) for route in _routes(routes)]
    tool_services = [backend for backend in backends if backend.get("kind") == "mobile-mcp"]
    return tuple(dict.fromkeys(_texts(tool_services, "component")))


def _routes(table: Json) -> list[Mapping[str, Json]]:
    routes = _object(table).get("routes")
    return [_object(item) for item in routes] if isinstance(routes, list) else []


def _read_asset(apk: Apk, asset: str, name: str) -> Mapping[str, Json]:
    part = apk.part_with(asset)
    if part is None:
        raise InputError(f"it has no {asset}", place=name)
    try:
        text = part.archive.read_entry(asset, _MAX_BYTES).decode()
    except UnicodeDecodeError:
        raise InputError(f"{asset} is not text", place=name) from None
    return _object(parse_strict(text, path=f"{name}!/{asset}", limits=BUILT))


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _texts(values: Json, key: str) -> list[str]:
    items = [_object(value).get(key) for value in values] if isinstance(values, list) else []
    return [item for item in items if isinstance(item, str)]
