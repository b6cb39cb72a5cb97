"""The JSON Schemas that are published: which document each command prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from droidgate.cli.output.json_output import Document

_HOMES: Final = {
    "inspect": "output.documents:InspectDocument",
    "convert": "output.documents:FidelityDocument",
    "names": "output.documents:NamesDocument",
    "migrate": "output.documents:MigrationDocument",
    "lint": "output.documents:LintDocument",
    "diff": "output.documents:DiffDocument",
    "pack": "output.documents:PackDocument",
    "devices": "output.documents:DevicesDocument",
    "install-client": "clients.installing_client:InstallClientDocument",
    "discover": "output.documents:DiscoverDocument",
    "call": "calls.calling:CallDocument",
    "call-plan": "calls.calling:CallPlanDocument",
    "serve": "serve.serving:ServePlanDocument",
    "call-trace": "calls.calling:CallTraceDocument",
    "phone-start": "phone.documents:PhoneStartDocument",
    "phone-stop": "phone.documents:PhoneStopDocument",
    "phone-apps": "phone.documents:PhoneAppsDocument",
    "phone-install": "phone.documents:PhoneInstallDocument",
    "phone-push": "phone.documents:PhonePushDocument",
    "phone-status": "phone.documents:PhoneStatusDocument",
    "shim-build": "shim.documents:ShimBuildDocument",
    "shim-install": "shim.documents:ShimInstallDocument",
    "shim-sync": "shim.documents:ShimSyncDocument",
    "shim-status": "shim.documents:ShimStatusDocument",
    "shim-doctor": "shim.documents:ShimDoctorDocument",
    "shim-call": "shim.documents:ShimCallDocument",
    "shim-grant": "shim.documents:ShimGrantDocument",
    "shim-revoke": "shim.documents:ShimGrantDocument",
    "shim-uninstall": "shim.documents:ShimUninstallDocument",
    "formats": "output.documents:FormatsDocument",
    "scan": "coverage.documents:ScanDocument",
    "catalog-sql": "coverage.documents:AnswerDocument",
    "coverage": "coverage.documents:CoverageDocument",
    "pins-list": "pins.approvals:PinsListDocument",
    "pins-diff": "pins.approvals:PinsDiffDocument",
    "pins-approve": "pins.approvals:PinsApproveDocument",
    "pins-remove": "pins.approvals:PinsRemoveDocument",
    "audit-show": "audit.showing:AuditShowDocument",
    "audit-verify": "audit.showing:AuditVerifyDocument",
    "config-show": "config.showing:ConfigShowDocument",
}
"""Command, or file, to the module below `droidgate.cli` and the class of its document."""


class _Published(Mapping[str, "type[Document]"]):
    """The documents, each imported when it is looked up."""

    def __getitem__(self, name: str) -> type[Document]:
        module, _, document = _HOMES[name].partition(":")
        found: type[Document] = getattr(import_module(f"droidgate.cli.{module}"), document)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_HOMES)

    def __len__(self) -> int:
        return len(_HOMES)


PUBLISHED: Final = _Published()
"""Command, or file, to the document that it prints or has."""
