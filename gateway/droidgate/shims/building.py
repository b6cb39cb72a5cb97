"""From sources to signed shims: apps, what to offer of them, and who signs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import TypedDict, Unpack

from droidgate.shims.source_apps import read_source_apps
from droidgate_android.apk.signing_keys import SigningKey, key_path, load_key, load_or_make_key
from droidgate_shim.builder.protocols import (
    LeftOut,
    check_something_is_left,
    choose_protocols,
    chosen_protocols,
)
from droidgate_shim.builder.shims import BuiltShim, ShimOptions, build_shims
from droidgate_shim.builder.source_app import SourceApp

Report = Callable[[str], None]
"""Is called with a line for a person, such as what is done now."""


def ignore(line: str) -> None:
    """Report nothing."""
    del line


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest(ShimOptions):
    """Shims to build, and how they are made.

    Attributes:
        sources: Apps: APKs, containers or folders of APKs, projects, phones.
        signer: SHA-256 of the certificate that will sign the app of a project.
        key: PEM file of the key that signs; the user's own by default.
        protocols: Protocols whose apps get a shim, as `chosen_protocols` takes them.
    """

    sources: tuple[str, ...]
    signer: str | None = None
    key: Path | None = None
    protocols: tuple[str, ...] = ()

    @property
    def chosen_protocols(self) -> frozenset[str]:
        """The protocols whose apps get a shim.

        Raises:
            UsageError: a name is not that of a format that a shim can call.
        """
        return chosen_protocols(self.protocols, only=self.only, advertise=self.advertise)


@dataclass(frozen=True, slots=True)
class Key:
    """A signing key.

    Attributes:
        signing: The key.
        path: Its PEM file.
    """

    signing: SigningKey
    path: Path


@dataclass(frozen=True, slots=True)
class ShimBuild:
    """Shims that were built.

    Attributes:
        shims: The shims, each with its signed APK as bytes and its findings.
        unused: The apps that got no shim; their findings have the reasons.
        key: What signed them.
        left_out: What was left out because of its protocol.
    """

    shims: tuple[BuiltShim, ...]
    unused: tuple[SourceApp, ...]
    key: Key
    left_out: LeftOut = field(default_factory=LeftOut)


class BuildOptions(TypedDict, total=False):
    """How shims are made, as users say it.

    Attributes:
        only: Ids of the capabilities to offer; every one where it is empty.
        aggregate: One shim for all apps, in place of one for each.
        advertise: Protocols other than Mobile-MCP by which agents reach the shim: `mmcp`, `mmcp-broadcast`,
            `appfunctions`.
        deadline_ms: How long a call may take, in milliseconds.
        signer: SHA-256 of the certificate that will sign the app of a project, which has none yet.
        key: PEM file of the key that signs; by default the user's own, which is made at the first use.
        protocols: Protocols whose apps get a shim: `appfunctions`, `mmcp`, `mobile-mcp`, or `all`. By default
            all but `mobile-mcp`, whose apps agents reach by themselves; with `only` or `advertise` all.
    """

    only: Collection[str]
    aggregate: bool
    advertise: Collection[str]
    deadline_ms: int | None
    signer: str | None
    key: str | PathLike[str] | None
    protocols: Collection[str]


def build_request(sources: Iterable[str | PathLike[str]], options: BuildOptions) -> BuildRequest:
    """Return what is asked for, from what users say."""
    key = options.get("key")
    return BuildRequest(
        sources=tuple(fspath(source) for source in sources),
        only=tuple(options.get("only", ())),
        aggregate=options.get("aggregate", False),
        advertise=frozenset(options.get("advertise", ())),
        deadline_ms=options.get("deadline_ms"),
        signer=options.get("signer"),
        key=None if key is None else Path(key),
        protocols=tuple(options.get("protocols", ())),
    )


def build_shim(*sources: str | PathLike[str], **options: Unpack[BuildOptions]) -> ShimBuild:
    """Build a signed shim for each app that has a capability to offer; nothing is written but a new key.

    Args:
        sources: Apps: APKs, containers or folders of APKs, projects, phones.
        options: See `BuildOptions`.

    Raises:
        InputError: a source or the key cannot be read, or no app has a capability that a shim can call.
        UsageError: no source is given, or an option names what does not exist.
        DeviceError: a phone cannot be reached or used.
        WriteError: a new key cannot be kept.
    """
    request = build_request(sources, options)
    return build_from(request, chosen_key(request.key))


def build_from(request: BuildRequest, key: Key) -> ShimBuild:
    """Build what is asked for, signed with a key.

    Raises:
        As `build_shim`.
    """
    protocols = request.chosen_protocols
    apps, left_out = choose_protocols(read_source_apps(request.sources, signer=request.signer), protocols)
    check_something_is_left(apps, left_out)
    built = build_shims(apps, request, key.signing)
    return ShimBuild(built, unused_apps(apps, built, request.only), key, left_out)


def chosen_key(path: Path | None, report: Report = ignore) -> Key:
    """Return the key of a file, or the user's own, which is made where there is none yet and reported.

    Raises:
        InputError: it cannot be read.
        WriteError: a new one cannot be kept.
    """
    if path is not None:
        return Key(load_key(path), path)
    own = key_path()
    is_new = not own.exists()
    key = Key(load_or_make_key(), own)
    if is_new:
        report(f"made a signing key: {own}; keep it, as only it can sign what replaces these shims")
    return key


def known_key(path: Path | None) -> SigningKey | None:
    """Return the key of a file, or the user's own where there is one.

    Raises:
        InputError: it cannot be read.
    """
    found = path or key_path()
    return load_key(found) if path is not None or found.exists() else None


def unused_apps(
    apps: Sequence[SourceApp], built: Sequence[BuiltShim], only: Collection[str]
) -> tuple[SourceApp, ...]:
    """Return the apps that got no shim, but for those of which nothing was chosen.

    Args:
        apps: The apps.
        built: The shims.
        only: What was chosen; everything where it is empty.
    """
    used = {package for item in built for package in item.packages}
    if only:
        used.update(app.package for app in apps if any(provider.capabilities for provider in app.providers))
    return tuple(app for app in apps if app.package not in used)
