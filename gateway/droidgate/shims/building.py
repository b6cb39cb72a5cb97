"""From sources to signed shims: apps, what to offer of them, and who signs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from os import PathLike
from pathlib import Path

from droidgate.shims.source_apps import read_source_apps
from droidgate.sources.source_schemes import source_names
from droidgate_android.apk.signing_keys import SigningKey, key_path, load_key, load_or_make_key
from droidgate_mappings.records import dataclass, field
from droidgate_shim.builder.protocols import (
    LeftOut,
    check_something_is_left,
    choose_protocols,
    chosen_protocols,
)
from droidgate_shim.builder.shim_choices import ShimOptions
from droidgate_shim.builder.shims import BuiltShim, build_shims
from droidgate_shim.builder.source_app import SourceApp

Notify = Callable[[str], None]
"""Is called with a line for a person, such as what is done now."""


def ignore(line: str) -> None:
    """Report nothing."""
    del line


@dataclass(frozen=True, slots=True)
class KeyFile:
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
    key: KeyFile
    left_out: LeftOut = field(default_factory=LeftOut)

    def __repr__(self) -> str:
        """Return one line: what there is, counted."""
        return f"<ShimBuild shims={len(self.shims)}, unused={len(self.unused)}>"


def build_shim(
    *sources: str | PathLike[str], options: ShimOptions | None = None, report: Notify = ignore
) -> ShimBuild:
    """Build a signed shim for each app that has a capability to offer; nothing is written but a new key.

    Args:
        sources: Apps: APKs, containers or folders of APKs, projects, phones.
        options: How the shims are made, where that is not the default.
        report: Is called with a line where a key is made.

    Raises:
        InputError: a source or the key cannot be read, or no app has a capability that a shim can call.
        UsageError: no source is given, or an option names what does not exist.
        DeviceError: a phone cannot be reached or used.
        WriteError: a new key cannot be kept.

    Example:
        >>> droidgate.pack("pdf-tool").write("pdf-tool.apk")
        'created'
        >>> [shim.application_id for shim in droidgate.build_shim("pdf-tool.apk").shims]
        ['dev.droidgate.shim.of.dev.droidgate.sample.pdftool']
    """
    options = options or ShimOptions()
    protocols = chosen_protocols(options)
    apps, left_out = choose_protocols(
        read_source_apps(source_names(sources), signer=options.signer), protocols
    )
    check_something_is_left(apps, left_out)
    key = chosen_key(options.key, report)
    built = build_shims(apps, options, key.signing)
    return ShimBuild(built, unused_apps(apps, built, options.only), key, left_out)


def chosen_key(path: Path | None, report: Notify = ignore) -> KeyFile:
    """Return the key of a file, or the user's own, which is made where there is none yet and reported.

    Raises:
        InputError: it cannot be read.
        WriteError: a new one cannot be kept.
    """
    if path is not None:
        return KeyFile(load_key(path), path)
    own = key_path()
    is_new = not own.exists()
    key = KeyFile(load_or_make_key(), own)
    if is_new:
        report(f"made a signing key: {own}; keep it, as only it can sign what replaces these shims")
    return key


def known_key(path: Path | None) -> SigningKey | None:
    """Return the key of a file, or the user's own where there is one.

    Raises:
        InputError: it cannot be read.
    """
    key_file = path or key_path()
    return load_key(key_file) if path is not None or key_file.exists() else None


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
