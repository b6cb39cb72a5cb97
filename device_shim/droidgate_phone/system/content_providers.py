"""Content providers, as `content` and other apps call them (AOSP's ContentProviderHelper and Transport)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from droidgate_phone.common.uids import ROOT_UID, SYSTEM_UID
from droidgate_phone.java.app_values import AndroidError
from droidgate_phone.java.intents import Bundle
from droidgate_phone.java.uris import Uri
from droidgate_phone.system.behaviour import ContentProvider
from droidgate_phone.system.callers import CallerIdentity
from droidgate_phone.system.manifests import InstalledComponent
from droidgate_phone.system.messengers import DEAD_OBJECT
from droidgate_phone.system.package_records import InstalledPackage
from droidgate_phone.system.parcels import TRANSACTION_LIMIT, cross_bundle
from droidgate_phone.system.processes import (
    AndroidNotModelledError,
    AppNotRespondingError,
    AppProcess,
    DeadProcessError,
)
from droidgate_phone.system.system_core import SystemCore

ANSWER_SECONDS: Final = 300.0
"""How long the phone waits for a provider; Android itself would wait for ever."""

Value = TypeVar("Value")


class ContentManager:
    """The content providers of one phone."""

    def __init__(self, core: SystemCore) -> None:
        self._core = core
        self._instances: dict[tuple[str, int], ContentProvider] = {}

    def call(self, caller: CallerIdentity, uri: str, method: str, argument: str | None) -> Bundle | None:
        """Call a method; the framework checks only that the provider may be opened (reference 1.8).

        Raises:
            AndroidError: Android refuses, the app died, or its code is not modelled.
        """
        result = self._run(caller, uri, lambda provider: provider.call(method, argument, caller.uid))
        self._core.log.record("provider-call", uri=uri, method=method, caller_uid=caller.uid)
        return None if result is None else cross_bundle(result, TRANSACTION_LIMIT)

    def read(self, caller: CallerIdentity, uri: str) -> bytes:
        """Return what `openFile(uri, "r")` gives.

        Raises:
            AndroidError: as `call`, and java.io.FileNotFoundException.
        """
        self._check_data(caller, uri, writing=False)
        content = self._run(caller, uri, lambda provider: provider.open_for_reading(uri, caller.uid))
        if content is None:
            raise AndroidError("java.io.FileNotFoundException", f"No files supported by provider at {uri}")
        return bytes(content)

    def write(self, caller: CallerIdentity, uri: str, content: bytes) -> None:
        """Write through `openFile(uri, "w")`.

        Raises:
            AndroidError: as `read`.
        """
        self._check_data(caller, uri, writing=True)
        is_written = self._run(
            caller, uri, lambda provider: provider.open_for_writing(uri, bytes(content), caller.uid)
        )
        if not is_written:
            raise AndroidError("java.io.FileNotFoundException", f"No files supported by provider at {uri}")

    def _find(self, caller: CallerIdentity, uri: str) -> tuple[InstalledPackage, InstalledComponent]:
        authority = Uri(uri).provider
        for package in self._core.packages.all():
            for component in package.components("provider"):
                if (
                    authority in component.authorities
                    and package.is_component_enabled(component)
                    and self._core.resolver.can_see(caller.uid, package)
                ):
                    return package, component
        raise AndroidError("java.lang.IllegalStateException", f"Could not find provider: {authority}")

    def _check_open(
        self, caller: CallerIdentity, package: InstalledPackage, component: InstalledComponent
    ) -> None:
        if caller.uid in (ROOT_UID, SYSTEM_UID, package.uid):
            return
        holds = self._core.packages.permissions.holds
        start = (
            f"Permission Denial: opening provider {component.name} from "
            f"{'(null)' if caller.process is None else caller.describe()} (pid=4711, uid={caller.uid})"
        )
        if not component.exported:
            message = f"{start} that is not exported from UID {package.uid}"
        elif not holds(caller.uid, component.permission) and not holds(
            caller.uid, component.write_permission
        ):
            message = f"{start} requires {component.permission} or {component.write_permission}"
        else:
            return
        raise AndroidError("java.lang.SecurityException", message)

    def _check_data(self, caller: CallerIdentity, uri: str, *, writing: bool) -> None:
        package, component = self._find(caller, uri)
        self._check_open(caller, package, component)
        needed = component.write_permission if writing else component.permission
        holds = self._core.packages.permissions.holds
        if caller.uid in (ROOT_UID, SYSTEM_UID, package.uid) or holds(caller.uid, needed):
            return
        message = (
            f"Permission Denial: {'writing' if writing else 'reading'} {component.name} uri {uri} from "
            "pid=4711, "
            f"uid={caller.uid} requires {needed}, or grantUriPermission()"
        )
        raise AndroidError("java.lang.SecurityException", message)

    def _run(self, caller: CallerIdentity, uri: str, code: Callable[[ContentProvider], Value]) -> Value:
        package, component = self._find(caller, uri)
        self._check_open(caller, package, component)
        app = self._core.code_of(package)
        provider = app.PROVIDERS.get(component.code_class) if app is not None else None
        if provider is None:
            raise AndroidNotModelledError(f"the code of provider {package.name}/{component.name}")
        self._core.resolver.interacted(caller.uid, package.uid)
        process = self._core.start_process(package, component.process)

        processes = self._core.processes
        try:
            instance = processes.call_code(
                process, lambda: self._instance(package, component, process, provider), ANSWER_SECONDS
            )
            return processes.call_binder(process, lambda: code(instance), ANSWER_SECONDS)
        except DeadProcessError:
            raise AndroidError(DEAD_OBJECT, "") from None
        except AppNotRespondingError:
            raise AndroidNotModelledError(
                f"waiting more than {ANSWER_SECONDS:.0f} s for a provider"
            ) from None

    def _instance(
        self,
        package: InstalledPackage,
        component: InstalledComponent,
        process: AppProcess,
        provider: type[ContentProvider],
    ) -> ContentProvider:
        key = (component.name, process.pid)
        if key not in self._instances:
            self._instances[key] = provider(self._core.context_for(package, process))
        return self._instances[key]
