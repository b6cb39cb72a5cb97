"""One gateway between Android's agent-tool protocols.

The names in `__all__` are the Python interface (docs/guides/use-from-python.md); everything else may change.
Each is imported when it is first used, so that importing droidgate takes no time.
"""

TYPE_CHECKING = False
"""True for type checkers; importing `typing` would take ten milliseconds."""

if TYPE_CHECKING:
    from droidgate.calls.audit_log import AuditLog as AuditLog
    from droidgate.calls.call_requests import CallProgress as CallProgress, CallResult as CallResult
    from droidgate.calls.caller import CallPlan as CallPlan
    from droidgate.calls.phones import Phone as Phone, open_device as open_device
    from droidgate.calls.pins import PinStore as PinStore
    from droidgate.calls.policy import Policy as Policy
    from droidgate.converting.conversion import Conversion as Conversion, convert as convert
    from droidgate.converting.model_calls import (
        FunctionCall as FunctionCall,
        read_function_call as read_function_call,
    )
    from droidgate.coverage.coverage_document import CoverageReport as CoverageReport
    from droidgate.coverage.html.page import render_page as render_page
    from droidgate.coverage.report import (
        ReportOptions as ReportOptions,
        report_coverage as report_coverage,
    )
    from droidgate.coverage.scan import (
        ScanOptions as ScanOptions,
        ScanResult as ScanResult,
        Watcher as Watcher,
        scan as scan,
    )
    from droidgate.devices.adb_client import AdbClient as AdbClient
    from droidgate.devices.describing import (
        DeviceDescription as DeviceDescription,
        list_devices as list_devices,
    )
    from droidgate.gates.gate_chains import WhyAnswer as WhyAnswer
    from droidgate.gates.phone_gates import why as why
    from droidgate.migration.migration_plan import Migration as Migration, migrate as migrate
    from droidgate.migration.project_packing import PackedApp as PackedApp, pack as pack
    from droidgate.serving.client_settings.settings_installation import (
        ClientChange as ClientChange,
        install_client as install_client,
    )
    from droidgate.serving.mobile_agent.mobile_agent_process import (
        ListeningServer as ListeningServer,
        serve_mobile_agent as serve_mobile_agent,
    )
    from droidgate.serving.server_process import Listening as Listening, serve as serve
    from droidgate.shims.building import ShimBuild as ShimBuild, build_shim as build_shim
    from droidgate.shims.device_user import InstalledShim as InstalledShim
    from droidgate.shims.doctor import DoctorCheck as DoctorCheck
    from droidgate.shims.granting import GrantChange as GrantChange
    from droidgate.shims.installations import InstalledShims as InstalledShims, RemovedShims as RemovedShims
    from droidgate.shims.phone_shims import PhoneShims as PhoneShims
    from droidgate.shims.refusals import ShimRefusalError as ShimRefusalError
    from droidgate.shims.shim_calls import ShimAnswer as ShimAnswer
    from droidgate.shims.sync_runs import SyncedChange as SyncedChange
    from droidgate.sources import Providers as Providers, read as read, read_content as read_content
    from droidgate.sources.callability import (
        Callability as Callability,
        callability_of as callability_of,
    )
    from droidgate.sources.differences import diff as diff
    from droidgate.sources.linting import LintReport as LintReport, lint as lint
    from droidgate.sources.phone_source import InstalledApp as InstalledApp, PhoneReading as PhoneReading
    from droidgate_mappings.compare import Change as Change, Comparison as Comparison, Weight as Weight
    from droidgate_mappings.formats.format import Format as Format, load_formats as load_formats
    from droidgate_mappings.model.capability import (
        Capability as Capability,
        Place as Place,
        Provider as Provider,
    )
    from droidgate_mappings.model.errors import (
        BudgetError as BudgetError,
        DeviceError as DeviceError,
        DroidgateError as DroidgateError,
        InputError as InputError,
        UsageError as UsageError,
        WriteError as WriteError,
    )
    from droidgate_mappings.model.findings import Finding as Finding, Level as Level
    from droidgate_mappings.model.types import (
        AllOfType as AllOfType,
        AnyType as AnyType,
        ArrayType as ArrayType,
        ObjectType as ObjectType,
        OneOfType as OneOfType,
        OpaqueType as OpaqueType,
        Property as Property,
        RefType as RefType,
        ScalarType as ScalarType,
        Type as Type,
    )
    from droidgate_mappings.values.failures import CallError as CallError
    from droidgate_shim.builder.shim_choices import ShimOptions as ShimOptions

    __all__: tuple[str, ...]
    __version__: str
else:
    # What a name above is imported from when it is first used; a test holds this to the imports.
    _NAMES = {
        "droidgate.calls.audit_log": "AuditLog",
        "droidgate.calls.call_requests": "CallProgress CallResult",
        "droidgate.calls.caller": "CallPlan",
        "droidgate.calls.phones": "Phone open_device",
        "droidgate.calls.pins": "PinStore",
        "droidgate.calls.policy": "Policy",
        "droidgate.converting.conversion": "Conversion convert",
        "droidgate.converting.model_calls": "FunctionCall read_function_call",
        "droidgate.coverage.coverage_document": "CoverageReport",
        "droidgate.coverage.html.page": "render_page",
        "droidgate.coverage.report": "ReportOptions report_coverage",
        "droidgate.coverage.scan": "ScanOptions ScanResult Watcher scan",
        "droidgate.devices.adb_client": "AdbClient",
        "droidgate.devices.describing": "DeviceDescription list_devices",
        "droidgate.gates.gate_chains": "WhyAnswer",
        "droidgate.gates.phone_gates": "why",
        "droidgate.migration.migration_plan": "Migration migrate",
        "droidgate.migration.project_packing": "PackedApp pack",
        "droidgate.serving.client_settings.settings_installation": "ClientChange install_client",
        "droidgate.serving.mobile_agent.mobile_agent_process": "ListeningServer serve_mobile_agent",
        "droidgate.serving.server_process": "Listening serve",
        "droidgate.shims.building": "ShimBuild build_shim",
        "droidgate.shims.device_user": "InstalledShim",
        "droidgate.shims.doctor": "DoctorCheck",
        "droidgate.shims.granting": "GrantChange",
        "droidgate.shims.installations": "InstalledShims RemovedShims",
        "droidgate.shims.phone_shims": "PhoneShims",
        "droidgate.shims.refusals": "ShimRefusalError",
        "droidgate.shims.shim_calls": "ShimAnswer",
        "droidgate.shims.sync_runs": "SyncedChange",
        "droidgate.sources": "Providers read read_content",
        "droidgate.sources.callability": "Callability callability_of",
        "droidgate.sources.differences": "diff",
        "droidgate.sources.linting": "LintReport lint",
        "droidgate.sources.phone_source": "InstalledApp PhoneReading",
        "droidgate_mappings.compare": "Change Comparison Weight",
        "droidgate_mappings.formats.format": "Format load_formats",
        "droidgate_mappings.model.capability": "Capability Place Provider",
        "droidgate_mappings.model.errors": (
            "BudgetError DeviceError DroidgateError InputError UsageError WriteError"
        ),
        "droidgate_mappings.model.findings": "Finding Level",
        "droidgate_mappings.model.types": (
            "AllOfType AnyType ArrayType ObjectType OneOfType OpaqueType Property RefType ScalarType Type"
        ),
        "droidgate_mappings.values.failures": "CallError",
        "droidgate_shim.builder.shim_choices": "ShimOptions",
    }
    _HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
    __all__ = tuple(sorted(_HOMES))

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name == "__version__":
            return import_module("droidgate.computer.version").VERSION
        if name not in _HOMES:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=import_module(__name__))
        try:
            module = import_module(_HOMES[name])
        except ModuleNotFoundError as error:
            # Elsewhere a package of an extra is imported when it is used; servers are made of theirs.
            if error.name is None or not _HOMES[name].startswith("droidgate.serving."):
                raise
            from droidgate.computer.optional_packages import need

            need(error.name, "serve")
            raise
        value = globals()[name] = getattr(module, name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_HOMES})
