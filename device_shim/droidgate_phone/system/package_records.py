"""What the phone remembers of an installed package (AOSP's PackageSetting)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from droidgate_mappings.formats.application import Application
from droidgate_phone.system.manifests import InstalledComponent, InstalledManifest, PartKind

if TYPE_CHECKING:
    from droidgate_android.apk.reader import Apk

EnabledState = Literal["default", "enabled", "disabled", "disabled-user"]

_ON = {"enabled": True, "disabled": False, "disabled-user": False}


@dataclass(slots=True)
class InstalledPackage:
    """One installed package.

    Attributes:
        name: Package name.
        uid: Its uid for user 0; packages with a shared user id have one uid together.
        version_code: With its major half.
        version_name: As declared, None without one.
        target_sdk: targetSdkVersion, as Android defaults it.
        minimum_sdk: minSdkVersion.
        signers: SHA-256 of each signing certificate, lower-case hexadecimal.
        code_folder: Where its APKs lie on the phone.
        apks: File name -> bytes of each APK; the first is base.apk.
        manifest: What PackageManager keeps of the manifest.
        application: The app as readers of descriptors see it.
        apk: The opened base APK with its splits.
        granted: Permissions that it holds.
        enabled: State of the package.
        component_states: Class -> state that was set.
        stopped: It has never run since it was installed or force-stopped.
        system: Part of the system image.
        first_installed: Seconds since 1970.
        last_updated: Seconds since 1970.
        installer: Who installed it, None for nobody.
    """

    name: str
    uid: int
    version_code: int
    version_name: str | None
    target_sdk: int
    minimum_sdk: int
    signers: tuple[str, ...]
    code_folder: str
    apks: dict[str, bytes]
    manifest: InstalledManifest
    application: Application
    apk: Apk | None
    granted: set[str] = field(default_factory=set)
    enabled: EnabledState = "default"
    component_states: dict[str, EnabledState] = field(default_factory=dict)
    stopped: bool = True
    system: bool = False
    first_installed: float = 0.0
    last_updated: float = 0.0
    installer: str | None = None

    @property
    def base_path(self) -> str:
        """Path of the base APK."""
        return f"{self.code_folder}/base.apk"

    @property
    def paths(self) -> list[str]:
        """Paths of all APKs, the base first."""
        return [f"{self.code_folder}/{name}" for name in self.apks]

    @property
    def is_enabled(self) -> bool:
        """The package can be used."""
        return _ON.get(self.enabled, self.manifest.application_enabled)

    def is_component_enabled(self, component: InstalledComponent) -> bool:
        """Return whether a component can be used: its own state and the package's."""
        state = self.component_states.get(component.name, "default")
        return self.is_enabled and _ON.get(state, component.enabled)

    def components(self, kind: PartKind | None = None) -> Iterator[InstalledComponent]:
        """Yield the components, of one kind where it is named."""
        return (component for component in self.manifest.components if kind is None or component.kind == kind)

    def find_component(self, kind: PartKind, name: str) -> InstalledComponent | None:
        """Return the component of a class, None where there is none of that kind."""
        return next((component for component in self.components(kind) if component.name == name), None)
