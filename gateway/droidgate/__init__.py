"""One gateway between Android's agent-tool protocols.

The names in `__all__` are the Python interface (docs/guides/use-from-python.md); everything else may change.
Each is imported
when it is first used, so that importing droidgate takes no time.
"""

TYPE_CHECKING = False
"""True for type checkers; the name in `typing` takes ten milliseconds, in which Ctrl-C prints a traceback."""

if TYPE_CHECKING:
    from droidgate.calling.audit_log import AuditLog
    from droidgate.calling.caller import CallPlan
    from droidgate.calling.phones import Phone, open_device
    from droidgate.calling.pins import PinStore
    from droidgate.calling.policy import Policy
    from droidgate.calling.requests import CallResult
    from droidgate.calls.failures import CallError
    from droidgate.clients.installing import ClientChange, install_client
    from droidgate.compare import Change, Comparison, Weight
    from droidgate.coverage.document import Report
    from droidgate.coverage.report import report_coverage
    from droidgate.coverage.scanning import ScanOptions, scan
    from droidgate.devices.describing import DeviceDescription, list_devices
    from droidgate.formats import Format, load_formats
    from droidgate.function_calls import FunctionCall, read_function_call
    from droidgate.migration.migrating import Migration, migrate
    from droidgate.model.capability import Capability, Place, Provider
    from droidgate.model.errors import (
        BudgetError,
        DeviceError,
        DroidgateError,
        InputError,
        UsageError,
        WriteError,
    )
    from droidgate.model.findings import Finding, Level
    from droidgate.packing import PackedApp, pack
    from droidgate.serving.mobile_agent.running import serve_mobile_agent
    from droidgate.serving.running import serve
    from droidgate.sources import Providers, read
    from droidgate.sources.callability import callability_of
    from droidgate.sources.differences import diff
    from droidgate.sources.linting import LintReport, lint
    from droidgate.translate import Conversion, convert
    from droidgate_shim.builder.building import ShimBuild, build_shim
    from droidgate_shim.host.errors import ShimRefusalError
    from droidgate_shim.host.phone_shims import PhoneShims
else:
    from importlib import import_module as _import_module

    _HOMES = {
        "droidgate.clients.installing": ("ClientChange", "install_client"),
        "droidgate.calling.audit_log": ("AuditLog",),
        "droidgate.calling.caller": ("CallPlan",),
        "droidgate.calling.requests": ("CallResult",),
        "droidgate.calls.failures": ("CallError",),
        "droidgate.calling.pins": ("PinStore",),
        "droidgate.calling.policy": ("Policy",),
        "droidgate.compare": ("Change", "Comparison", "Weight"),
        "droidgate.coverage.document": ("Report",),
        "droidgate.coverage.report": ("report_coverage",),
        "droidgate.coverage.scanning": ("ScanOptions", "scan"),
        "droidgate.devices.describing": ("DeviceDescription", "list_devices"),
        "droidgate.formats": ("Format", "load_formats"),
        "droidgate.function_calls": ("FunctionCall", "read_function_call"),
        "droidgate.migration.migrating": ("Migration", "migrate"),
        "droidgate.model.capability": ("Capability", "Place", "Provider"),
        "droidgate.model.errors": (
            "BudgetError",
            "DeviceError",
            "DroidgateError",
            "InputError",
            "UsageError",
            "WriteError",
        ),
        "droidgate.model.findings": ("Finding", "Level"),
        "droidgate.packing": ("PackedApp", "pack"),
        "droidgate.serving.mobile_agent.running": ("serve_mobile_agent",),
        "droidgate.serving.running": ("serve",),
        "droidgate.sources": ("Providers", "read"),
        "droidgate.sources.callability": ("callability_of",),
        "droidgate.sources.differences": ("diff",),
        "droidgate.sources.linting": ("LintReport", "lint"),
        "droidgate.calling.phones": ("Phone", "open_device"),
        "droidgate.translate": ("Conversion", "convert"),
        "droidgate_shim.builder.building": ("ShimBuild", "build_shim"),
        "droidgate_shim.host.errors": ("ShimRefusalError",),
        "droidgate_shim.host.phone_shims": ("PhoneShims",),
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
