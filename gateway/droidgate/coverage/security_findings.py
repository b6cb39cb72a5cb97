"""The security findings of a scan, about each provider; light, since every worker of a scan makes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from droidgate_mappings.formats.reachability import ComponentFacts
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.text_safety.marks import text_marks

SECURITY_ORIGIN: Final = "security"
"""Where the table `findings` says that these findings are from."""

EXPORTED_WITHOUT_PERMISSION: Final = finding_code(
    "exported-without-permission",
    "Every app on the phone can call this component: it is exported and asks for no permission",
    __name__,
)


def security_findings(
    provider: Provider, facts: ComponentFacts, component: Place | None
) -> Iterator[Finding]:
    """Yield what a provider deserves a second look for: who may call it, and the marks of its texts.

    Args:
        provider: What is declared.
        facts: What decides whether other apps may call the component that declares it.
        component: Where that is in the manifest, None where it is not known.
    """
    if _is_open(facts):
        yield Finding(
            code=EXPORTED_WITHOUT_PERMISSION,
            level=Level.WARNING,
            pointer="/component",
            message=f"every app on the phone can call {provider.component}",
            hint="name a permission in android:permission, or check who calls",
            source=component,
        )
    for mark in text_marks(provider):
        yield mark.as_finding(with_place=False).changed({"source": provider.source})


def _is_open(facts: ComponentFacts) -> bool:
    is_component = facts.kind not in {None, "application"}
    is_enabled = facts.is_app_enabled and facts.is_enabled
    return is_component and is_enabled and facts.is_exported and facts.permission is None
