"""What a shim declares to agents: always to those that each shim serves, on request to those of others.

Each format's own frontend makes its component and files
(`droidgate_mappings.formats.format.Format.shim_frontends`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

from droidgate_android.manifest_edit import merge_manifest
from droidgate_mappings.formats.format import Advertised, ShimOffer, load_formats
from droidgate_mappings.model.findings import Finding
from droidgate_shim.builder.callability import native_protocols
from droidgate_shim.builder.routes import ShimRoutes
from droidgate_shim.builder.shim_manifest import ShimManifestFacts

Frontend = Callable[[ShimOffer], Advertised]


@dataclass(slots=True)
class Advertisement:
    """What is declared.

    Attributes:
        manifest: The manifest with the components.
        files: Further files of the source tree by path.
        functions: Function id -> route id.
        findings: What the protocols' forms lose.
    """

    manifest: str
    files: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def add(self, advertised: Advertised) -> None:
        """Take over files and functions, merge manifests, and add each finding once."""
        for artifact in advertised.artifacts:
            if artifact.role == "manifest":
                self.manifest = merge_manifest(self.manifest, artifact.text, path=artifact.path)
            elif artifact.role != "document":
                self.files[artifact.path] = artifact.text
        self.functions.update(advertised.functions)
        self.findings.extend(item for item in advertised.findings if item not in self.findings)


@cache
def frontends_on_request() -> Mapping[str, Frontend]:
    """Return the frontends of installed formats that a shim has on request, by their words."""
    return {
        name: frontend
        for format_ in load_formats().values()
        if format_.id not in native_protocols()
        for name, frontend in format_.shim_frontends.items()
    }


def advertise(
    plan: ShimRoutes, facts: ShimManifestFacts, manifest: str, kinds: Iterable[str]
) -> Advertisement:
    """Return what a shim declares.

    Args:
        plan: Its routes.
        facts: What its manifest says.
        manifest: Its manifest so far.
        kinds: Of `frontends_on_request`, what to declare in addition.
    """
    offer = ShimOffer(
        facts.application_id,
        facts.label,
        facts.description,
        plan.definitions,
        tuple(route.offered for route in plan.routes),
        tuple(route.declared for route in plan.routes),
    )
    made = Advertisement(manifest)
    formats = load_formats()
    for protocol in sorted(native_protocols()):
        for frontend in formats[protocol].shim_frontends.values():
            made.add(frontend(offer))
    for kind in sorted(set(kinds)):
        made.add(frontends_on_request()[kind](offer))
    return made
