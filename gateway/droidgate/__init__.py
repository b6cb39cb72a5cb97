"""One gateway between Android's agent-tool protocols.

The names in `__all__` are the Python interface (docs/guides/use-from-python.md); everything else may change.
Each is imported
when it is first used, so that importing droidgate takes no time.
"""

TYPE_CHECKING = False
"""True for type checkers; the name in `typing` takes ten milliseconds, in which Ctrl-C prints a traceback."""

if TYPE_CHECKING:
    from droidgate.calls.audit_log import AuditLog
    from droidgate.calls.call_requests import CallResult
    from droidgate.calls.caller import CallPlan
    from droidgate.calls.phones import Phone, open_device
    from droidgate.calls.pins import PinStore
    from droidgate.calls.policy import Policy
    from droidgate.coverage.coverage_document import Report
    from droidgate.coverage.report import report_coverage
    from droidgate.coverage.scanning import ScanOptions, scan
    from droidgate.devices.describing import DeviceDescription, list_devices
    from droidgate.migration.migrating import Migration, migrate
    from droidgate.migration.project_packing import PackedApp, pack
    from droidgate.serving.client_settings.settings_installation import ClientChange, install_client
    from droidgate.serving.mobile_agent.mobile_agent_process import serve_mobile_agent
    from droidgate.serving.server_process import serve
    from droidgate.shims.answers import ShimRefusalError
    from droidgate.shims.building import ShimBuild, build_shim
    from droidgate.shims.phone_shims import PhoneShims
    from droidgate.sources import Providers, read
    from droidgate.sources.differences import diff
    from droidgate.sources.linting import LintReport, lint
    from droidgate.sources.phone_callability import callability_of
    from droidgate_mappings.compare import Change, Comparison, Weight
    from droidgate_mappings.formats.format import Format, load_formats
    from droidgate_mappings.model.capability import Capability, Place, Provider
    from droidgate_mappings.model.errors import (
        BudgetError,
        DeviceError,
        DroidgateError,
        InputError,
        UsageError,
        WriteError,
    )
    from droidgate_mappings.model.findings import Finding, Level
    from droidgate_mappings.translate import Conversion, convert
    from droidgate_mappings.values.failures import CallError
    from droidgate_mappings.values.function_calls import FunctionCall, read_function_call
else:
    from importlib import import_module as _import_module

    _HOMES = {
        "droidgate.serving.client_settings.settings_installation": ("ClientChange", "install_client"),
        "droidgate.calls.audit_log": ("AuditLog",),
        "droidgate.calls.caller": ("CallPlan",),
        "droidgate.calls.call_requests": ("CallResult",),
        "droidgate_mappings.values.failures": ("CallError",),
        "droidgate.calls.pins": ("PinStore",),
        "droidgate.calls.policy": ("Policy",),
        "droidgate_mappings.compare": ("Change", "Comparison", "Weight"),
        "droidgate.coverage.coverage_document": ("Report",),
        "droidgate.coverage.report": ("report_coverage",),
        "droidgate.coverage.scanning": ("ScanOptions", "scan"),
        "droidgate.devices.describing": ("DeviceDescription", "list_devices"),
        "droidgate_mappings.formats.format": ("Format", "load_formats"),
        "droidgate_mappings.values.function_calls": ("FunctionCall", "read_function_call"),
        "droidgate.migration.migrating": ("Migration", "migrate"),
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
        "droidgate.migration.project_packing": ("PackedApp", "pack"),
        "droidgate.serving.mobile_agent.mobile_agent_process": ("serve_mobile_agent",),
        "droidgate.serving.server_process": ("serve",),
        "droidgate.sources": ("Providers", "read"),
        "droidgate.sources.phone_callability": ("callability_of",),
        "droidgate.sources.differences": ("diff",),
        "droidgate.sources.linting": ("LintReport", "lint"),
        "droidgate.calls.phones": ("Phone", "open_device"),
        "droidgate_mappings.translate": ("Conversion", "convert"),
        "droidgate.shims.building": ("ShimBuild", "build_shim"),
        "droidgate.shims.answers": ("ShimRefusalError",),
        "droidgate.shims.phone_shims": ("PhoneShims",),
    }

    def __getattr__(name: str) -> object:
        for module, names in _HOMES.items():
            if name in names:
                value = globals()[name] = getattr(_import_module(module), name)
                return value
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = [
    "AuditLog",
    "BudgetError",
    "CallError",
    "CallPlan",
    "CallResult",
    "Capability",
    "Change",
    "ClientChange",
    "Comparison",
    "Conversion",
    "DeviceDescription",
    "DeviceError",
    "DroidgateError",
    "Finding",
    "Format",
    "FunctionCall",
    "InputError",
    "Level",
    "LintReport",
    "Migration",
    "PackedApp",
    "Phone",
    "PhoneShims",
    "PinStore",
    "Place",
    "Policy",
    "Provider",
    "Providers",
    "Report",
    "ScanOptions",
    "ShimBuild",
    "ShimRefusalError",
    "UsageError",
    "Weight",
    "WriteError",
    "build_shim",
    "callability_of",
    "convert",
    "diff",
    "install_client",
    "lint",
    "list_devices",
    "load_formats",
    "migrate",
    "open_device",
    "pack",
    "read",
    "read_function_call",
    "report_coverage",
    "scan",
    "serve",
    "serve_mobile_agent",
]
