"""One gateway between Android's agent-tool protocols.

The names in `__all__` are the Python interface (docs/guides/use-from-python.md); everything else may change.
Each is imported when it is first used, so that importing droidgate takes no time.
"""

TYPE_CHECKING = False
"""True for type checkers; the name in `typing` takes ten milliseconds, in which Ctrl-C prints a traceback."""

if TYPE_CHECKING:
    from droidgate.calls.audit_log import AuditLog as AuditLog
    from droidgate.calls.call_requests import CallResult as CallResult
    from droidgate.calls.caller import CallPlan as CallPlan
    from droidgate.calls.phones import Phone as Phone, open_device as open_device
    from droidgate.calls.pins import PinStore as PinStore
    from droidgate.calls.policy import Policy as Policy
    from droidgate.calls.why import why as why
    from droidgate.converting.conversion import Conversion as Conversion, convert as convert
    from droidgate.converting.model_calls import (
        FunctionCall as FunctionCall,
        read_function_call as read_function_call,
    )
    from droidgate.coverage.coverage_document import CoverageReport as CoverageReport
    from droidgate.coverage.gate_chains import WhyAnswer as WhyAnswer
    from droidgate.coverage.report import report_coverage as report_coverage
    from droidgate.coverage.scan import ScanOptions as ScanOptions, scan as scan
    from droidgate.devices.describing import (
        DeviceDescription as DeviceDescription,
        list_devices as list_devices,
    )
    from droidgate.migration.migration_plan import Migration as Migration, migrate as migrate
    from droidgate.migration.project_packing import PackedApp as PackedApp, pack as pack
    from droidgate.serving.client_settings.settings_installation import (
        ClientChange as ClientChange,
        install_client as install_client,
    )
    from droidgate.serving.mobile_agent.mobile_agent_process import serve_mobile_agent as serve_mobile_agent
    from droidgate.serving.server_process import serve as serve
    from droidgate.shims.answers import ShimRefusalError as ShimRefusalError
    from droidgate.shims.building import ShimBuild as ShimBuild, build_shim as build_shim
    from droidgate.shims.phone_shims import PhoneShims as PhoneShims
    from droidgate.sources import Providers as Providers, read as read
    from droidgate.sources.callability import callability_of as callability_of
    from droidgate.sources.differences import diff as diff
    from droidgate.sources.linting import LintReport as LintReport, lint as lint
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
    from droidgate_mappings.values.failures import CallError as CallError
    from droidgate_shim.builder.shims import ShimOptions as ShimOptions

    __all__: list[str]
    __version__: str
else:
    from importlib import import_module as _import_module

    _NAMES = {
        "droidgate.calls.audit_log": ("AuditLog",),
        "droidgate.calls.call_requests": ("CallResult",),
        "droidgate.calls.caller": ("CallPlan",),
        "droidgate.calls.phones": ("Phone", "open_device"),
        "droidgate.calls.pins": ("PinStore",),
        "droidgate.calls.policy": ("Policy",),
        "droidgate.calls.why": ("why",),
        "droidgate.coverage.coverage_document": ("CoverageReport",),
        "droidgate.coverage.gate_chains": ("WhyAnswer",),
        "droidgate.coverage.report": ("report_coverage",),
        "droidgate.coverage.scan": ("ScanOptions", "scan"),
        "droidgate.devices.describing": ("DeviceDescription", "list_devices"),
        "droidgate.converting.conversion": ("Conversion", "convert"),
        "droidgate.migration.migration_plan": ("Migration", "migrate"),
        "droidgate.converting.model_calls": ("FunctionCall", "read_function_call"),
        "droidgate.migration.project_packing": ("PackedApp", "pack"),
        "droidgate.serving.client_settings.settings_installation": ("ClientChange", "install_client"),
        "droidgate.serving.mobile_agent.mobile_agent_process": ("serve_mobile_agent",),
        "droidgate.serving.server_process": ("serve",),
        "droidgate.shims.answers": ("ShimRefusalError",),
        "droidgate.shims.building": ("ShimBuild", "build_shim"),
        "droidgate.shims.phone_shims": ("PhoneShims",),
        "droidgate.sources": ("Providers", "read"),
        "droidgate.sources.callability": ("callability_of",),
        "droidgate.sources.differences": ("diff",),
        "droidgate.sources.linting": ("LintReport", "lint"),
        "droidgate_mappings.compare": ("Change", "Comparison", "Weight"),
        "droidgate_mappings.formats.format": ("Format", "load_formats"),
        "droidgate_mappings.model.capability": ("Capability", "Place", "Provider"),
        "droidgate_mappings.model.errors": (
            "BudgetError",
            "DeviceError",
            "DroidgateError",
            "InputError",
            "UsageError",
            "WriteError",
        ),
        "droidgate_mappings.model.findings": ("Finding", "Level"),
        "droidgate_mappings.values.failures": ("CallError",),
        "droidgate_shim.builder.shims": ("ShimOptions",),
    }
    """The names above by their modules."""
    _HOMES = {name: module for module, names in _NAMES.items() for name in names}
    __all__ = sorted(_HOMES)  # noqa: PLE0605 - it is a list

    def __getattr__(name: str) -> object:
        if name == "__version__":
            return _import_module("droidgate.computer.version").VERSION
        if name not in _HOMES:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        value = globals()[name] = getattr(_import_module(_HOMES[name]), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *_HOMES})
