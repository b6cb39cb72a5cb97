"""The JSON Schemas that are published: which document each command prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from droidgate.cli.output.json_output import Document

_HOMES: Final = {
    "inspect": "droidgate.cli.descriptors.inspect_documents:InspectDocument",
    "convert": "droidgate.cli.descriptors.run_convert:FidelityDocument",
    "names": "droidgate.cli.descriptors.run_convert:NamesDocument",
    "migrate": "droidgate.cli.descriptors.run_migrate:MigrationDocument",
    "lint": "droidgate.cli.descriptors.run_lint:LintDocument",
    "diff": "droidgate.cli.descriptors.run_diff:DiffDocument",
    "pack": "droidgate.cli.descriptors.run_pack:PackDocument",
    "devices": "droidgate.cli.devices.run_devices:DevicesDocument",
    "install-client": "droidgate.cli.clients.run_install_client:InstallClientDocument",
    "discover": "droidgate.cli.devices.discover_documents:DiscoverDocument",
    "call": "droidgate.cli.calls.call_documents:CallDocument",
    "why": "droidgate.cli.why.run_why:WhyDocument",
    "call-plan": "droidgate.cli.calls.call_documents:CallPlanDocument",
    "serve": "droidgate.cli.serve.run_serve_plan:ServePlanDocument",
    "phone-start": "droidgate.cli.phone.run_phone_start:PhoneStartDocument",
    "phone-stop": "droidgate.cli.phone.run_phone:PhoneStopDocument",
    "phone-apps": "droidgate.cli.phone.run_phone:PhoneAppsDocument",
    "phone-install": "droidgate.cli.phone.run_phone:PhoneInstallDocument",
    "phone-push": "droidgate.cli.phone.run_phone:PhonePushDocument",
    "phone-status": "droidgate.cli.phone.run_phone:PhoneStatusDocument",
    "shim-build": "droidgate.cli.shim.shim_documents:ShimBuildDocument",
    "shim-install": "droidgate.cli.shim.shim_documents:ShimInstallDocument",
    "shim-sync": "droidgate.cli.shim.shim_documents:ShimSyncDocument",
    "shim-status": "droidgate.cli.shim.shim_documents:ShimStatusDocument",
    "shim-doctor": "droidgate.cli.shim.shim_documents:ShimDoctorDocument",
    "shim-call": "droidgate.cli.shim.shim_documents:ShimCallDocument",
    "shim-grant": "droidgate.cli.shim.shim_documents:ShimGrantDocument",
    "shim-revoke": "droidgate.cli.shim.shim_documents:ShimGrantDocument",
    "shim-uninstall": "droidgate.cli.shim.shim_documents:ShimUninstallDocument",
    "agent-install": "droidgate.cli.agent.run_agent:AgentAppsDocument",
    "agent-list": "droidgate.cli.agent.run_agent:AgentListDocument",
    "agent-call": "droidgate.cli.agent.run_agent:AgentCallDocument",
    "agent-log": "droidgate.cli.agent.run_agent:AgentLogDocument",
    "agent-uninstall": "droidgate.cli.agent.run_agent:AgentAppsDocument",
    "verify": "droidgate.cli.verify.run_verify:VerifyDocument",
    "prove": "droidgate.cli.prove.run_prove:ProofDocument",
    "formats": "droidgate.cli.descriptors.run_formats:FormatsDocument",
    "scan": "droidgate.cli.coverage.run_scan:ScanDocument",
    "catalog-sql": "droidgate.cli.coverage.run_catalog_sql:AnswerDocument",
    "coverage": "droidgate.cli.coverage.run_coverage:CoverageDocument",
    "pins-list": "droidgate.cli.pins.run_pins:PinsListDocument",
    "pins-diff": "droidgate.cli.pins.run_pins:PinsDiffDocument",
    "pins-approve": "droidgate.cli.pins.run_pins:PinsApproveDocument",
    "pins-remove": "droidgate.cli.pins.run_pins:PinsRemoveDocument",
    "audit-show": "droidgate.cli.audit.run_audit:AuditShowDocument",
    "audit-verify": "droidgate.cli.audit.run_audit:AuditVerifyDocument",
}
"""Command, or file, to the module and the class of its document."""


class _Published(Mapping[str, "type[Document]"]):
    """The documents, each imported when it is looked up."""

    def __getitem__(self, name: str) -> type[Document]:
        module, _, document = _HOMES[name].partition(":")
        document_class: type[Document] = getattr(import_module(module), document)
        return document_class

    def __iter__(self) -> Iterator[str]:
        return iter(_HOMES)

    def __len__(self) -> int:
        return len(_HOMES)


PUBLISHED: Final = _Published()
"""Command, or file, to the document that it prints or has."""
