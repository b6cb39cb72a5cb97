"""AppFunctions: what is indexed, what is enabled, and executing (reference appfunctions 3, 5, 7).

What a package's functions are is decided by `droidgate_android.app_search`, the model of the release's
indexer, whenever a package comes, changes or goes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from droidgate_android.app_search.indexed_packages import simulate_indexing
from droidgate_android.app_search.indexer_reports import IndexedDocument
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.tables.app_functions import load_error_codes, load_indexing
from droidgate_phone.common.clocks import wait_for_command
from droidgate_phone.common.uids import ROOT_UID
from droidgate_phone.java.app_values import AndroidError, AppFunctionError, CallingPackage, CancellationSignal
from droidgate_phone.system.callers import CallerIdentity
from droidgate_phone.system.generic_documents import Properties, in_map_order
from droidgate_phone.system.manifests import InstalledComponent
from droidgate_phone.system.package_records import InstalledPackage
from droidgate_phone.system.processes import AndroidNotModelledError, AppProcess
from droidgate_phone.system.system_core import SystemCore
from droidgate_phone.system.timers import Timers

SERVICE_ACTION: Final = "android.app.appfunctions.AppFunctionService"
BIND_PERMISSION: Final = "android.permission.BIND_APP_FUNCTION_SERVICE"
EXECUTE_PERMISSION: Final = "android.permission.EXECUTE_APP_FUNCTIONS"
EXECUTE_SYSTEM_PERMISSION: Final = "android.permission.EXECUTE_APP_FUNCTIONS_SYSTEM"
_RUNTIME_TYPE: Final = "AppFunctionRuntimeMetadata"
_BY_NAME: Final = {error_code.name: code for code, error_code in load_error_codes().items()}

_DECLARE: Final = (
    "Ensure this function is declared in the XML resource referenced by the property within the "
    "<application> tag of your AndroidManifest.xml."
)

_Take = Callable[[Mapping[str, Json] | AppFunctionError], None]
_Run = Callable[[_Take], None]
"""Executes a function, and hands over what comes of it."""

FunctionState = Literal["default", "enabled", "disabled"]
_STATE_NUMBERS: Final[Mapping[FunctionState, int]] = {"default": 0, "enabled": 1, "disabled": 2}


class TimedOutError(TimeoutError):
    """The function did not answer in time, or was cancelled."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One search result of the listing.

    Attributes:
        type: Schema type with the package, as AppSearch names it.
        properties: The document.
        runtime: The joined document with the state at run time, None for other documents than functions.
    """

    type: str
    properties: Properties
    runtime: Properties | None = None


FunctionCode = Callable[[str, Properties], Mapping[str, Json]]
"""Executes a function: its id and the parameters -> the properties of the result document."""


@dataclass(frozen=True, slots=True)
class _Registration:
    """A function that an app executes while it runs."""

    process: AppProcess
    code: FunctionCode
    forget: Callable[[], None]


@dataclass(frozen=True, slots=True)
class _Execution:
    """What is executed: a function with its parameters, in the name of a package."""

    function_id: str
    parameters: Properties
    caller: CallingPackage


def error(name: str, message: str) -> AppFunctionError:
    """Return the error of a name such as `ERROR_DENIED`."""
    return AppFunctionError(_BY_NAME[name], message)


class AppFunctionManager:
    """AppFunctionManagerService of one phone."""

    def __init__(self, core: SystemCore, timers: Timers) -> None:
        self._core = core
        self._timers = timers
        self._lock = threading.RLock()
        self._indexed: dict[str, dict[str, IndexedDocument]] = {}
        self._functions: dict[str, dict[str, IndexedDocument]] = {}
        self._states: dict[tuple[str, str], FunctionState] = {}
        self._allowed: set[tuple[str, str]] = set()
        self._registered: dict[tuple[str, str], _Registration] = {}
        if core.release.app_search is not None:
            core.packages.listen(self._package_changed)

    def _package_changed(self, name: str, package: InstalledPackage | None) -> None:
        release = self._core.release.app_search
        if release is None:
            return
        with self._lock:
            if package is None:
                self._indexed.pop(name, None)
                self._functions.pop(name, None)
                self._states = {key: state for key, state in self._states.items() if key[0] != name}
                return
            report = simulate_indexing(package.application, release)
            self._indexed[name] = dict(report.documents)
            self._functions[name] = report.functions()
        for dropped in report.dropped_files:
            self._core.log.record(
                "app-functions-dropped", package=name, file=dropped.path, reason=dropped.reason
            )

    def packages(self) -> list[str]:
        """Return the packages that have indexed documents."""
        with self._lock:
            return sorted(name for name, documents in self._indexed.items() if documents)

    def functions(self, package: str) -> Mapping[str, IndexedDocument]:
        """Return a package's functions by id."""
        return self._functions.get(package, {})

    def listing(self, package: str | None = None) -> dict[str, list[SearchResult]]:
        """Return what a search over all documents finds, by package, in the order of Android's maps."""
        names = [name for name in self.packages() if package in (None, name)]
        order = in_map_order({name: [] for name in names})
        return {name: self._documents(name) for name in order}

    def _documents(self, package: str) -> list[SearchResult]:
        with self._lock:
            return [self._listed(package, document) for document in self._indexed[package].values()]

    def _listed(self, package: str, document: IndexedDocument) -> SearchResult:
        runtime: Properties | None = None
        if document.function_id is not None:
            runtime = in_map_order(self._runtime(package, document.function_id))
        return SearchResult(f"{document.type}-{package}", in_map_order(document.properties), runtime)

    def _runtime(self, package: str, function_id: str) -> Properties:
        state = self._states.get((package, function_id), "default")
        qualified = f"android$apps-db/app_functions#{package}/{function_id}"
        return {
            "functionId": [function_id],
            "packageName": [package],
            "enabled": [_STATE_NUMBERS[state]],
            "appFunctionStaticMetadataQualifiedId": [qualified],
        }

    @staticmethod
    def runtime_type(package: str) -> str:
        """Return the schema type of a package's runtime documents."""
        return f"{_RUNTIME_TYPE}-{package}"

    def is_enabled(self, package: str, function_id: str) -> bool:
        """Return whether a function can be executed: its state, else what its file says.

        Raises:
            AppFunctionError: the function is unknown.
        """
        document = self.functions(package).get(function_id)
        if document is None:
            raise error("ERROR_FUNCTION_NOT_FOUND", _not_found(package, function_id))
        if _is_of_application(document):
            return (package, function_id) in self._registered
        state = self._states.get((package, function_id), "default")
        return bool(document.enabled) if state == "default" else state == "enabled"

    def set_enabled(self, package: str, function_id: str, state: FunctionState) -> None:
        """Set a function's state.

        Raises:
            AppFunctionError: the function is unknown.
        """
        if function_id not in self.functions(package):
            raise error("ERROR_FUNCTION_NOT_FOUND", f"Function {function_id} does not exist")
        with self._lock:
            self._states[package, function_id] = state
        self._core.log.record("app-function-state", package=package, function=function_id, state=state)

    def register(
        self, package: str, function_id: str, process: AppProcess, code: FunctionCode
    ) -> Callable[[], None]:
        """Have an app execute one of its application-level functions while its process lives.

        Reference appfunctions 2.g.

        Returns:
            What takes the function back.

        Raises:
            AndroidError: the application does not declare it, or it is registered already.
            AndroidNotModelledError: it is a function of an activity.
        """
        document, key = self.functions(package).get(function_id), (package, function_id)
        if document is None or not _is_of_application(document):
            message = f"Unable to register AppFunction {function_id}. {_DECLARE}"
            raise AndroidError("java.lang.IllegalArgumentException", message)
        if document.properties.get("scope") == ["activity"]:
            raise AndroidNotModelledError("functions that an activity registers")
        with self._lock:
            if key in self._registered:
                message = f"App function {function_id} is already registered"
                raise AndroidError("java.lang.IllegalStateException", message)
            self._registered[key] = _Registration(process, code, process.on_death(lambda: self._forget(key)))
        self._core.log.record("app-function-registered", package=package, function=function_id)
        return lambda: self._forget(key)

    def _forget(self, key: tuple[str, str]) -> None:
        with self._lock:
            registration = self._registered.pop(key, None)
        if registration is not None:
            registration.forget()

    def allow_caller(self, agent: str, target: str) -> None:
        """Put an agent and a target on the allowlist (Android 17)."""
        self._allowed.add((agent, target))

    def execute(
        self,
        caller: CallerIdentity,
        package: str,
        function_id: str,
        parameters: Properties,
        *,
        seconds: float,
        signal: CancellationSignal | None = None,
    ) -> Properties:
        """Execute a function and return the properties of its result document.

        Args:
            caller: Who asks.
            package: The app.
            function_id: The function's identifier.
            parameters: Properties of the request's document.
            seconds: How long an answer may take; then the call is cancelled.
            signal: Cancels the call; its app hears that, and what it answers then is dropped.

        Raises:
            AppFunctionError: as the caller's callback gets it.
            TimedOutError: no answer came within the seconds, or the call was cancelled.
            AndroidNotModelledError: the service's code is not modelled.
        """
        if not package:
            raise error("ERROR_INVALID_ARGUMENT", "Target package name cannot be empty.")
        if not self._may_execute(caller, package):
            raise error("ERROR_DENIED", "Caller does not have permission to execute the appfunction")
        self._check_scope(package, function_id)
        if not self.is_enabled(package, function_id):
            raise error("ERROR_DISABLED", "The app function is disabled")
        execution = _Execution(function_id, parameters, self._calling_package(caller))
        registration = self._registered.get((package, function_id))
        remote = CancellationSignal()
        if registration is None:
            process, run = self._started_service(package, execution, remote)
        else:
            process, run = registration.process, partial(_run_registered, registration.code, execution)
        self._core.log.record("app-function", package=package, function=function_id, caller_uid=caller.uid)
        return self._run(process, run, seconds, signal or CancellationSignal(), remote)

    def _calling_package(self, caller: CallerIdentity) -> CallingPackage:
        installed = self._core.packages.find(caller.package or "")
        return CallingPackage(caller.package or "", () if installed is None else installed.signers)

    def _may_execute(self, caller: CallerIdentity, package: str) -> bool:
        """Return what CallerValidatorImpl of the release decides; Android 16 has no case for root."""
        holds = self._core.packages.permissions.holds
        has_list = self._core.release.has("function-caller-allowlist")
        if has_list and (caller.uid == ROOT_UID or holds(caller.uid, EXECUTE_SYSTEM_PERMISSION)):
            return True
        if caller.package == package:
            return True
        is_listed = not has_list or (caller.package or "", package) in self._allowed
        return is_listed and holds(caller.uid, EXECUTE_PERMISSION)

    def _check_scope(self, package: str, function_id: str) -> None:
        document = self.functions(package).get(function_id)
        if document is not None and document.properties.get("scope") == ["activity"]:
            message = "SCOPE_ACTIVITY functions must be targeted with an AppFunctionActivityId"
            raise error("ERROR_FUNCTION_NOT_FOUND", message)

    def _service_of(self, package: str, function_id: str) -> tuple[InstalledPackage, InstalledComponent]:
        """Return the service that runs a function: the one that the index names, else the package's."""
        installed = self._core.packages.find(package)
        document = self.functions(package)[function_id]
        service_names = document.properties.get("serviceName")
        if installed is not None and not _is_of_application(document):
            for component in installed.components("service"):
                is_named = service_names is None or service_names == [component.name]
                if is_named and self._is_function_service(installed, component):
                    return installed, component
        raise error("ERROR_SYSTEM_ERROR", "Cannot find the target service.")

    def _is_function_service(self, package: InstalledPackage, component: InstalledComponent) -> bool:
        return (
            component.permission == BIND_PERMISSION
            and any(SERVICE_ACTION in declared.actions for declared in component.filters)
            and package.is_component_enabled(component)
        )

    def _started_service(
        self, name: str, execution: _Execution, signal: CancellationSignal
    ) -> tuple[AppProcess, _Run]:
        """Return the process of the service that executes a function, started, and what does."""
        package, component = self._service_of(name, execution.function_id)
        app = self._core.code_of(package)
        service = app.APP_FUNCTION_SERVICES.get(component.code_class) if app is not None else None
        if service is None:
            raise AndroidNotModelledError(f"the code of AppFunctions service {package.name}/{component.name}")
        process = self._core.start_process(package, component.process)
        instance = service(self._core.context_for(package, process))

        def run(take: _Take) -> None:
            parameters = in_map_order(execution.parameters)
            instance.on_execute_later(execution.function_id, parameters, execution.caller, signal, take)

        return process, run

    def _run(
        self,
        process: AppProcess,
        run: _Run,
        seconds: float,
        signal: CancellationSignal,
        remote: CancellationSignal,
    ) -> Properties:
        """Execute a function on the main thread of a process, and wait for what comes of it.

        The caller's signal reaches the app as the remote one, as in Android's `RemoteServiceCallerImpl`.
        """
        clock = self._core.clock
        done = clock.signal()
        outcomes: list[Mapping[str, Json] | AppFunctionError | None] = []

        def take(outcome: Mapping[str, Json] | AppFunctionError) -> None:
            outcomes.append(outcome)
            done.set()

        def cancel() -> None:
            if not outcomes:
                outcomes.append(None)
                self._core.processes.run_code(process, remote.cancel)
                done.set()

        forget = process.on_death(done.set)
        began = clock.now()
        try:
            self._core.processes.run_code(process, lambda: run(take))
            signal.set_on_cancel_listener(cancel)
            if not wait_for_command(clock, done, seconds):
                signal.cancel()
                raise TimedOutError
        except BrokenPipeError:
            # What runs in the system server does not notice that the command's client is gone.
            self._timers.after(began + seconds - clock.now(), signal.cancel)
            raise
        finally:
            forget()
        if not outcomes:
            message = "Failed to execute the app function: the service's process died"
            raise error("ERROR_APP_UNKNOWN_ERROR", message)
        outcome = outcomes[0]
        if outcome is None:
            raise TimedOutError
        if isinstance(outcome, AppFunctionError):
            raise outcome
        return in_map_order(
            {name: list(values) for name, values in outcome.items() if isinstance(values, list)}
        )


def _run_registered(code: FunctionCode, execution: _Execution, take: _Take) -> None:
    try:
        outcome = code(execution.function_id, in_map_order(execution.parameters))
    except AppFunctionError as refused:
        take(refused)
        return
    take(outcome)


def _is_of_application(document: IndexedDocument) -> bool:
    return document.properties.get("serviceName") == [load_indexing().names.application_service]


def _not_found(package: str, function_id: str) -> str:
    return f"App function not found with identifier: {function_id} under package: {package}"
