"""The JSON Schemas that are published: which document each command prints."""

from __future__ import annotations

from typing import Final

from droidgate.cli.audit.documents import AuditShowDocument, AuditVerifyDocument
from droidgate.cli.calls.documents import CallDocument, CallPlanDocument, CallTraceDocument
from droidgate.cli.clients.documents import InstallClientDocument
from droidgate.cli.config.documents import ConfigShowDocument
from droidgate.cli.coverage.catalog_documents import AnswerDocument, ScanDocument
from droidgate.cli.coverage.coverage_documents import CoverageDocument
from droidgate.cli.output.documents import (
    DevicesDocument,
    DiffDocument,
    DiscoverDocument,
    FidelityDocument,
    FormatsDocument,
    InspectDocument,
    LintDocument,
    MigrationDocument,
    NamesDocument,
    PackDocument,
)
from droidgate.cli.output.json_output import Document
from droidgate.cli.phone.documents import (
    PhoneAppsDocument,
    PhoneInstallDocument,
    PhonePushDocument,
    PhoneStartDocument,
    PhoneStatusDocument,
    PhoneStopDocument,
)
from droidgate.cli.pins.documents import (
    PinsApproveDocument,
    PinsDiffDocument,
    PinsListDocument,
    PinsRemoveDocument,
)
from droidgate.cli.serve.documents import ServePlanDocument
from droidgate.cli.shim.documents import (
    ShimBuildDocument,
    ShimCallDocument,
    ShimDoctorDocument,
    ShimGrantDocument,
    ShimInstallDocument,
    ShimStatusDocument,
    ShimSyncDocument,
    ShimUninstallDocument,
)

PUBLISHED: Final[dict[str, type[Document]]] = {
    "inspect": InspectDocument,
    "convert": FidelityDocument,
    "names": NamesDocument,
    "migrate": MigrationDocument,
    "lint": LintDocument,
    "diff": DiffDocument,
    "pack": PackDocument,
    "devices": DevicesDocument,
    "install-client": InstallClientDocument,
    "discover": DiscoverDocument,
    "call": CallDocument,
    "call-plan": CallPlanDocument,
    "serve": ServePlanDocument,
    "call-trace": CallTraceDocument,
    "phone-start": PhoneStartDocument,
    "phone-stop": PhoneStopDocument,
    "phone-apps": PhoneAppsDocument,
    "phone-install": PhoneInstallDocument,
    "phone-push": PhonePushDocument,
    "phone-status": PhoneStatusDocument,
    "shim-build": ShimBuildDocument,
    "shim-install": ShimInstallDocument,
    "shim-sync": ShimSyncDocument,
    "shim-status": ShimStatusDocument,
    "shim-doctor": ShimDoctorDocument,
    "shim-call": ShimCallDocument,
    "shim-grant": ShimGrantDocument,
    "shim-revoke": ShimGrantDocument,
    "shim-uninstall": ShimUninstallDocument,
    "formats": FormatsDocument,
    "scan": ScanDocument,
    "catalog-sql": AnswerDocument,
    "coverage": CoverageDocument,
    "pins-list": PinsListDocument,
    "pins-diff": PinsDiffDocument,
    "pins-approve": PinsApproveDocument,
    "pins-remove": PinsRemoveDocument,
    "audit-show": AuditShowDocument,
    "audit-verify": AuditVerifyDocument,
    "config-show": ConfigShowDocument,
}
"""Command, or file, to the document that it prints or has."""
