"""Shims: signed APKs that offer what source apps declare (shim.md 1)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from droidgate_android.apk.packed_manifest import AppFacts
from droidgate_mappings.formats.installed import SHIM_PACKAGE, SHIM_PREFIX
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json, one_line_json
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.nearest_names import suggest_name
from droidgate_mappings.text_safety import without_hidden
from droidgate_mappings.text_safety.marks import TextMark
from droidgate_mappings.timed_steps import timed_step
from droidgate_shim.builder.dex import shim_dex
from droidgate_shim.builder.route_building import ShimRoutes, check_selection, plan_routes
from droidgate_shim.builder.shim_choices import ShimOptions
from droidgate_shim.builder.shim_manifest import (
    MINIMUM_SDK,
    TARGET_SDK,
    VERSION_CODE,
    VERSION_NAME,
    PermissionUse,
    ShimManifestFacts,
    advertise,
    frontends_on_request,
    manifest_text,
    permission_uses,
    resource_files,
)
from droidgate_shim.builder.source_app import SourceApp
from droidgate_shim.builder.text_checks import (
    app_marks,
    description_findings,
    name_findings,
    question_texts,
    shown_description,
    shown_name,
    text_findings,
)
from droidgate_shim.deadlines import LONGEST_DEADLINE_MS

if TYPE_CHECKING:
    from droidgate_android.apk.signing_keys import SigningKey

HANDSHAKE: Final = 1
"""The version of the host's and the shim's conversation (shim.md 7)."""

ROUTES_PATH: Final = "assets/routes.json"
POLICY_PATH: Final = "assets/policy.json"

AGGREGATED: Final = finding_code(
    "shim-aggregated",
    "One shim covers several apps: agents choose an app by its name and description first, and see one",
    __name__,
)

_MANIFEST: Final = "AndroidManifest.xml"
_SUFFIX: Final = "(via droidgate)"
_AGGREGATE_LABEL: Final = f"Apps {_SUFFIX}"
_BARE_LABEL: Final = "droidgate"
_BARE_DESCRIPTION: Final = (
    "Calls app functions for the shims of other apps, and lets a computer that is connected by adb ask apps "
    "for their tools."
)


_MOST_REASONS: Final = 3


class NothingToOfferError(InputError):
    """The apps can be read, and have no capability that a shim could call."""


@dataclass(frozen=True, slots=True)
class BuiltShim:
    """A shim.

    Attributes:
        application_id: Its application id.
        label: Its human-readable name.
        apk: The signed archive.
        routes: The content of `assets/routes.json`.
        policy: The content of `assets/policy.json`.
        findings: What it keeps otherwise than the source apps say, and what it leaves out.
        packages: The apps behind it.
        capabilities: Ids of what it offers, in order.
        build: Digest of what it is made of; equal where nothing but the signature differs.
        permissions: What it asks Android for, and for which capabilities.
        marks: What deserves a second look in the texts of apps that it shows to agents and users; pointers
            address its capabilities by position.
    """

    application_id: str
    label: str
    apk: bytes
    routes: Mapping[str, Json]
    policy: Mapping[str, Json]
    findings: tuple[Finding, ...] = ()
    packages: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    build: str = ""
    permissions: tuple[PermissionUse, ...] = ()
    marks: tuple[TextMark, ...] = ()

    @property
    def file_name(self) -> str:
        """How its file is called."""
        return f"{self.application_id}.apk"


@dataclass(frozen=True, slots=True)
class _Content:
    """What goes into one shim.

    Attributes:
        facts: What its manifest says.
        plan: Its routes.
        apps: The apps behind it.
        advertise: What it declares in addition to Mobile-MCP.
        findings: Findings on it.
        marks: What deserves a second look in the texts that it shows.
    """

    facts: ShimManifestFacts
    plan: ShimRoutes = field(default_factory=ShimRoutes)
    apps: Sequence[SourceApp] = ()
    advertise: frozenset[str] = frozenset()
    findings: tuple[Finding, ...] = ()
    marks: tuple[TextMark, ...] = ()


def build_shims(apps: Sequence[SourceApp], options: ShimOptions, key: SigningKey) -> tuple[BuiltShim, ...]:
    """Return a shim for each app that has a capability to offer, or one for all of them.

    The same apps, options, code and key make the same bytes; with an EC key that needs OpenSSL 3.2.

    Args:
        apps: The apps, as `read_source_apps` gives them.
        options: How the shims are made.
        key: What they are signed with; an update of a shim needs the same one.

    Raises:
        NothingToOfferError: no app has a capability that the shim can call.
        UsageError: an option names what is not there.
    """
    _check_options(options)
    check_selection(apps, options.only)
    groups = [list(apps)] if options.aggregate else [[app] for app in apps]
    with timed_step("convert what the apps declare"):
        contents = [content for group in groups if (content := _content(group, options)) is not None]
    if not contents:
        reasons = list(dict.fromkeys(map(_reason, (finding for app in apps for finding in app.findings))))
        hint = "; ".join(reasons[:_MOST_REASONS]) or "`droidgate inspect` prints what apps declare"
        raise NothingToOfferError("no app has a capability that a shim could call", hint=hint)
    return tuple(_build(content, key) for content in contents)


def _reason(finding: Finding) -> str:
    return finding.message if finding.hint is None else f"{finding.message}; {finding.hint}"


def build_bare_shim(key: SigningKey) -> BuiltShim:
    """Return the shim without routes: it calls app functions for the other shims, and serves the host."""
    facts = ShimManifestFacts(SHIM_PACKAGE, _BARE_LABEL, _BARE_DESCRIPTION, has_tools=False)
    return _build(_Content(facts), key)


def _check_options(options: ShimOptions) -> None:
    for kind in sorted(options.advertise - frontends_on_request().keys()):
        message = f"a shim cannot advertise {kind!r}"
        raise UsageError(message, hint=suggest_name(kind, frontends_on_request()))
    deadline = options.deadline_ms
    if deadline is not None and not 0 < deadline <= LONGEST_DEADLINE_MS:
        message = f"a deadline of {deadline} ms is not between 1 and {LONGEST_DEADLINE_MS}"
        raise UsageError(message, hint="Android stops the shim's service after three minutes")


def _content(apps: Sequence[SourceApp], options: ShimOptions) -> _Content | None:
    plan = plan_routes(apps, only=options.only, deadline_ms=options.deadline_ms)
    if not plan.routes:
        return None
    behind = [app for app in apps if any(route.app is app for route in plan.routes)]
    findings = [finding for app in behind for finding in app.findings]
    marks: list[TextMark] = []
    for app in behind:
        place = _place_of(app)
        findings.extend(name_findings(app.label, app.package, source=place))
        own = app_marks(app, place)
        findings.extend(text_findings(own, app.package))
        marks.extend(own)
    marks.extend(
        mark.changed({"pointer": f"/capabilities/{number}{mark.pointer}"})
        for number, route in enumerate(plan.routes)
        for mark in route.marks
    )
    if options.aggregate:
        application_id, label = SHIM_PACKAGE, _AGGREGATE_LABEL
        description = "\n\n".join(f"{_name_of(app)}: {_description_of(app)}" for app in behind)
        findings.append(_aggregated(behind))
    else:
        app = behind[0]
        application_id = f"{SHIM_PREFIX}{app.package}"
        label, description = f"{_name_of(app)} {_SUFFIX}", _description_of(app)
    findings.extend(description_findings(description, application_id, source=Place(path=application_id)))
    facts = ShimManifestFacts(
        application_id,
        label,
        shown_description(description),
        tuple(app.package for app in behind),
        {route.id: str(route.document["backend"]["kind"]) for route in plan.routes},
    )
    return _Content(facts, plan, tuple(behind), options.advertise, tuple(findings), tuple(marks))


def _place_of(app: SourceApp) -> Place | None:
    return next((provider.source for provider in app.providers if provider.source is not None), None)


def _name_of(app: SourceApp) -> str:
    return shown_name(app.label, app.package)


def _description_of(app: SourceApp) -> str:
    texts = (without_hidden(item) for item in (app.instructions, app.description) if item is not None)
    return next((text for text in texts if text.strip()), f"Tools of {_name_of(app)}")


def _aggregated(apps: Sequence[SourceApp]) -> Finding:
    names = ", ".join(map(_name_of, apps))
    return Finding(
        code=AGGREGATED,
        level=Level.WARNING,
        pointer="",
        message=f"{len(apps)} apps are one tool app for agents, which no longer choose among {names}",
        hint="without --aggregate each app has a shim of its own",
        source=Place(path=SHIM_PACKAGE),
    )


def _build(content: _Content, key: SigningKey) -> BuiltShim:
    facts, plan = content.facts, content.plan
    manifest, files, functions = manifest_text(facts), resource_files(facts), dict[str, str]()
    findings = [*content.findings, *plan.findings]
    if facts.has_tools:
        advertisement = advertise(plan, facts, manifest, content.advertise)
        manifest, functions = advertisement.manifest, advertisement.functions
        files |= advertisement.files
        findings += advertisement.findings
    routes = plan.table()
    files[ROUTES_PATH] = one_line_json(routes)
    files[_MANIFEST] = manifest
    dex = shim_dex()
    texts = {route.id: question_texts(route.source.title, route.source.description) for route in plan.routes}
    questions = {name: text for name, text in texts.items() if text}
    app: dict[str, Json] = {
        "handshake": HANDSHAKE,
        "sources": [_source(source_app) for source_app in content.apps],
        **({"functions": functions} if functions else {}),
        **({"capabilities": questions} if questions else {}),
    }
    build = _digest_of({**files, POLICY_PATH: one_line_json({"app": app})}, dex)
    policy: dict[str, Json] = {"app": {**app, "build": build}}
    files[POLICY_PATH] = one_line_json(policy)
    # Calls through a shim know its facts from here, and sign nothing.
    from droidgate_android.apk.pack import pack

    packing = pack(
        {path: text.encode() for path, text in sorted(files.items())},
        key=key,
        facts=AppFacts(facts.application_id, VERSION_CODE, VERSION_NAME, MINIMUM_SDK, TARGET_SDK),
        dex=() if dex is None else (dex,),
    )
    return BuiltShim(
        application_id=facts.application_id,
        label=facts.label,
        apk=packing.apk,
        routes=routes,
        policy=policy,
        findings=tuple(dict.fromkeys((*findings, *packing.findings))),
        packages=tuple(facts.packages),
        capabilities=tuple(route.id for route in plan.routes),
        build=build,
        permissions=permission_uses(facts),
        marks=content.marks,
    )


def _source(app: SourceApp) -> dict[str, Json]:
    return {
        "package": app.package,
        "label": _name_of(app),
        "signer": app.signer,
        "version_code": app.version_code,
    }


def _digest_of(files: Mapping[str, str], dex: bytes | None) -> str:
    parts: Iterable[tuple[str, bytes]] = (
        *((path, files[path].encode()) for path in sorted(files)),
        ("classes.dex", dex or b""),
    )
    whole = hashlib.sha256()
    for path, data in parts:
        whole.update(hashlib.sha256(path.encode()).digest() + hashlib.sha256(data).digest())
    return whole.hexdigest()
