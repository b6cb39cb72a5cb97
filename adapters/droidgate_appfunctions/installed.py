"""AppFunctions on a phone: the files of an app joined with what the system lists (reference 3, 6.1, 6.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from droidgate_appfunctions.listing_reader import ListingReader
from droidgate_appfunctions.read import read_application
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.component_reading import read_access
from droidgate_mappings.formats.format import Reading
from droidgate_mappings.formats.installed import DeviceFacts, InstalledState, ListedFunction
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Place, Provider, State
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import pointer_token
from droidgate_mappings.tables.app_functions import load_indexing

if TYPE_CHECKING:
    from droidgate_android.app_search.indexer_reports import IndexingReport

_code = partial(finding_code, module=__name__)

NOT_INDEXED: Final = _code(
    "function-not-indexed",
    "The app declares a function that the phone does not list; the message says what would explain it",
)
ONLY_LISTED: Final = _code(
    "function-only-listed", "The phone lists a function that the app's files do not declare"
)
STATE_NOT_KNOWN: Final = _code(
    "function-state-not-known",
    "The phone has no listing of functions: whether they are indexed and enabled is not known",
)

_CAUSES: Final = 2
_FLAG_HINT: Final = (
    "wait some seconds after an installation and try again; else look at the flag: "
    "adb shell aflags list | grep enable_app_functions_schema_parser"
)


def read_installed(application: Application, state: InstalledState, context: ReadingContext) -> Reading:
    """Read an installed app: components and descriptions of its files, states of the system's listing.

    Functions that only the listing has are read from it, in providers of their own.

    Raises:
        InputError: the files cannot be read, and the listing has nothing of the app either.
    """
    try:
        reading = read_application(application, context)
    except InputError as error:
        if not state.functions or context.strict:
            raise
        reading = Reading(findings=tuple(context.findings), problems=(error,))
    if state.fault is not None:
        message = f"what the phone lists of {application.package} is not read to its end: {state.fault}"
        problem = InputError(message, place=str(application.place))
        reading = replace(reading, problems=(*reading.problems, problem))
    if state.functions is None:
        return replace(reading, findings=(*reading.findings, *_not_known(reading, state, application)))
    listed = {function.id: function for function in state.functions}
    declared = {capability.id for provider in reading.providers for capability in provider.capabilities}
    rest = [function for function in state.functions if function.id not in declared]
    place = Place(path=application.place.path, inner="cmd app_function list-app-functions")
    reader = ListingReader(place, ReadingContext(strict=context.strict))
    listed_providers = list(_providers_of(rest, application, reader))
    return Reading(
        (*(_with_states(provider, listed, state.facts) for provider in reading.providers), *listed_providers),
        (
            *reading.findings,
            *_not_indexed(reading, listed, application, state.facts),
            *_only_listed(listed_providers),
            *reader.context.findings,
        ),
        (*reading.problems, *reader.problems),
    )


def _not_known(reading: Reading, state: InstalledState, application: Application) -> Iterator[Finding]:
    if any(provider.capabilities for provider in reading.providers):
        reason = state.not_listed_because or "the phone has no listing of functions"
        yield Finding(
            code=STATE_NOT_KNOWN,
            level=Level.NOTE,
            pointer="",
            message=f"whether the functions are indexed and enabled is not known: {reason}",
            source=application.place,
            hint="the shell of Android 16 QPR2 and later lists them",
        )


def _with_states(provider: Provider, listed: Mapping[str, ListedFunction], facts: DeviceFacts) -> Provider:
    """Return the provider with what the phone's listing says of each function.

    A function in its default state that states no default has the release's (reference 3.2).
    """
    defaults = {release.enabled_when_missing for release in load_indexing().of_sdk(facts.sdk_full)}
    default = defaults.pop() if len(defaults) == 1 else None

    def stated(capability: Capability) -> Capability:
        entry = listed.get(capability.id)
        if entry is None:
            state = State(indexed=False)
        else:
            is_silent = entry.enabled is None and "enabledByDefault" not in entry.document
            enabled = default if is_silent and not entry.of_application else entry.enabled
            state = State(enabled=enabled, indexed=True)
        return capability.changed({"state": state})

    return provider.changed({"capabilities": tuple(map(stated, provider.capabilities))})


def _not_indexed(
    reading: Reading, listed: Mapping[str, ListedFunction], application: Application, facts: DeviceFacts
) -> Iterator[Finding]:
    missing = [
        capability
        for provider in reading.providers
        for capability in provider.capabilities
        if capability.id not in listed
    ]
    if not missing:
        return
    reports = list(_indexing_reports(application, facts.sdk_full))
    for item in missing:
        explained = _explanation(item.id, reports)
        yield Finding(
            code=NOT_INDEXED,
            level=Level.WARNING,
            pointer=f"/{pointer_token(item.id)}",
            message=f"the phone does not list the function {item.id}: {explained or _NO_REASON}",
            source=item.source,
            hint=None if explained else _FLAG_HINT,
        )


_NO_REASON: Final = "by its release's rules it would be indexed, so the indexer has not read it yet"


def why_not_indexed(application: Application, function_id: str, sdk_full: str) -> str | None:
    """Return why the indexers of an API level leave a function out, None where each would list it."""
    return _explanation(function_id, _indexing_reports(application, sdk_full.removesuffix(".0")))


def _indexing_reports(application: Application, sdk_full: str) -> Iterator[IndexingReport]:
    """Yield what each release of an API level indexes of an application."""
    # The model of the indexer takes long to import, and most phones list every function.
    from droidgate_android.app_search.indexed_packages import simulate_indexing

    for release in load_indexing().of_sdk(sdk_full):
        yield simulate_indexing(application, release)


def _explanation(function_id: str, reports: Iterable[IndexingReport]) -> str | None:
    """Return why a release does not index a function, None where each one would."""
    for report in reports:
        if function_id in report.functions():
            continue
        own = [item.message for item in report.ignored if item.name == function_id]
        files = [dropped_file.message for dropped_file in report.dropped_files]
        services = [item.message for item in report.ignored if item.kind == "service"]
        causes = list(dict.fromkeys([*own, *files, *services]))[:_CAUSES]
        explanation = "; ".join(causes) or "no file that declares it is read"
        return f"{explanation} ({report.release.title})"
    return None


def _providers_of(
    functions: Iterable[ListedFunction], application: Application, reader: ListingReader
) -> Iterator[Provider]:
    groups: dict[tuple[str | None, bool], list[ListedFunction]] = {}
    for function in functions:
        groups.setdefault((function.service, function.of_application), []).append(function)
    components = {
        application.qualified_name(component): component for component in application.of_kind("service")
    }
    for (service, _), members in groups.items():
        listed = reader.read_functions(members, package=application.package, service=service)
        component = components.get(service or "")
        if component is not None:
            access = read_access(application, component, is_set_by_library=True)
            listed = listed.changed({"access": access})
        yield listed


def _only_listed(providers: Iterable[Provider]) -> Iterator[Finding]:
    for provider in providers:
        for capability in provider.capabilities:
            yield Finding(
                code=ONLY_LISTED,
                level=Level.NOTE,
                pointer=f"/{pointer_token(capability.id)}",
                message=(
                    f"the phone lists the function {capability.id}, which no file of the app declares: "
                    "it was registered at run time, or indexed from an older version"
                ),
                source=capability.source,
            )
