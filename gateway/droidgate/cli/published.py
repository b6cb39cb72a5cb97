"""The JSON Schemas that are published: which document each command prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from droidgate.cli.output.json_output import Document

_HOMES: Final = {
    "inspect": "droidgate.cli.output.json_documents:InspectDocument",
    "convert": "droidgate.cli.output.json_documents:FidelityDocument",
    "names": "droidgate.cli.output.json_documents:NamesDocument",
    "migrate": "droidgate.cli.output.json_documents:MigrationDocument",
    "lint": "droidgate.cli.output.json_documents:LintDocument",
    "diff": "droidgate.cli.output.json_documents:DiffDocument",
    "pack": "droidgate.cli.output.json_documents:PackDocument",
    "devices": "droidgate.cli.output.json_documents:DevicesDocument",
    "install-client": "droidgate.cli.clients.installing_client:InstallClientDocument",
    "discover": "droidgate.cli.output.json_documents:DiscoverDocument",
    "call": "droidgate.cli.calls.one_call:CallDocument",
    "call-plan": "droidgate.cli.calls.one_call:CallPlanDocument",
    "serve": "droidgate.cli.serve.serving:ServePlanDocument",
    "call-trace": "droidgate.cli.calls.one_call:CallTraceDocument",
    "phone-start": "droidgate.cli.phone.starting_phones:PhoneStartDocument",
    "phone-stop": "droidgate.cli.phone.using_phones:PhoneStopDocument",
    "phone-apps": "droidgate.cli.phone.using_phones:PhoneAppsDocument",
    "phone-install": "droidgate.cli.phone.using_phones:PhoneInstallDocument",
    "phone-push": "droidgate.cli.phone.using_phones:PhonePushDocument",
    "phone-status": "droidgate.cli.phone.using_phones:PhoneStatusDocument",
    "shim-build": "droidgate.cli.shim.shim_outputs:ShimBuildDocument",
    "shim-install": "droidgate.cli.shim.shim_outputs:ShimInstallDocument",
    "shim-sync": "droidgate.cli.shim.shim_outputs:ShimSyncDocument",
    "shim-status": "droidgate.cli.shim.shim_outputs:ShimStatusDocument",
    "shim-doctor": "droidgate.cli.shim.shim_outputs:ShimDoctorDocument",
    "shim-call": "droidgate.cli.shim.shim_outputs:ShimCallDocument",
    "shim-grant": "droidgate.cli.shim.shim_outputs:ShimGrantDocument",
    "shim-revoke": "droidgate.cli.shim.shim_outputs:ShimGrantDocument",
    "shim-uninstall": "droidgate.cli.shim.shim_outputs:ShimUninstallDocument",
    "formats": "droidgate.cli.output.json_documents:FormatsDocument",
    "scan": "droidgate.cli.coverage.coverage_outputs:ScanDocument",
    "catalog-sql": "droidgate.cli.coverage.coverage_outputs:AnswerDocument",
    "coverage": "droidgate.cli.coverage.coverage_outputs:CoverageDocument",
    "pins-list": "droidgate.cli.pins.pin_commands:PinsListDocument",
    "pins-diff": "droidgate.cli.pins.pin_commands:PinsDiffDocument",
    "pins-approve": "droidgate.cli.pins.pin_commands:PinsApproveDocument",
    "pins-remove": "droidgate.cli.pins.pin_commands:PinsRemoveDocument",
    "audit-show": "droidgate.cli.audit.audit_report:AuditShowDocument",
    "audit-verify": "droidgate.cli.audit.audit_report:AuditVerifyDocument",
    "config-show": "droidgate.cli.config.settings_report:ConfigShowDocument",
}
"""Command, or file, to the module and the class of its document."""


class _Published(Mapping[str, "type[Document]"]):
    """The documents, each imported when it is looked up."""

    def __getitem__(self, name: str) -> type[Document]:
        module, _, document = _HOMES[name].partition(":")
        found: type[Document] = getattr(import_module(module), document)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_HOMES)

    def __len__(self) -> int:
        return len(_HOMES)


PUBLISHED: Final = _Published()
"""Command, or file, to the document that it prints or has."""
