"""A saved answer of `cmd app_function list-app-functions` (reference appfunctions 6.5)."""

from __future__ import annotations

from typing import Final

from droidgate.app_search.listing import (
    STATIC_TYPE,
    ListedDocument,
    ListingError,
    listed_function,
    read_documents,
    without_notices,
)
from droidgate.formats import Reading, SourceFile
from droidgate.installed import ListedFunction
from droidgate.model.capability import Place, Provider, reachable_definitions
from droidgate.model.errors import InputError
from droidgate.model.findings import Finding, Level, finding_code
from droidgate.model.types import Type
from droidgate.parsing.json_text import decode_utf8, parse_json
from droidgate_appfunctions.constants import NAMES
from droidgate_appfunctions.listed import read_listed, read_listed_components

LISTED_DOCUMENT_LEFT_OUT: Final = finding_code(
    "listed-document-left-out",
    "A document of a saved listing is neither a function nor data types; it is left out",
    __name__,
)

_MARK: Final = f'"{STATIC_TYPE}-'.encode()
_HINT: Final = "Save the output of: adb shell cmd app_function list-app-functions"


def is_saved_listing(data: bytes) -> bool:
    """Return whether a file's content is a listing; one without functions is not known as one."""
    return _MARK in data and without_notices(data.decode("utf-8", "replace")).lstrip().startswith("{")


def read_saved_listing(source: SourceFile) -> Reading:
    """Read a saved listing: one provider for each service of each app, with the states of its functions.

    A signature that cannot be read is a problem, and its function is listed without one.

    Raises:
        InputError: it is not a listing.
    """
    text = without_notices(decode_utf8(source.data, path=source.path))
    listing = parse_json(text, path=source.path)
    place = Place(path=source.path, line=1)
    try:
        documents = read_documents(listing)
        functions = [(one.package, listed_function(one)) for one in documents if one.type == STATIC_TYPE]
    except ListingError as error:
        about = "" if error.text is None else f" ({error.text[:100]})"
        message = f"it is not a listing of functions: {error.reason}{about}"
        raise InputError(message, place=source.path, hint=_HINT) from None
    problems: list[InputError] = []
    types = _types_by_package(documents, place, problems)
    groups: dict[tuple[str, str | None], list[ListedFunction]] = {}
    for package, function in functions:
        groups.setdefault((package, function.service), []).append(function)
    providers = [
        _with_types(
            read_listed(members, package=package, service=service, place=place, problems=problems),
            types.get(package, {}),
        )
        for (package, service), members in groups.items()
    ]
    return Reading(tuple(providers), tuple(_left_out(documents, place)), tuple(problems))


def _types_by_package(
    documents: list[ListedDocument], place: Place, problems: list[InputError]
) -> dict[str, dict[str, Type]]:
    components: dict[str, list[ListedDocument]] = {}
    for one in documents:
        if one.type == NAMES["component_document"]:
            components.setdefault(one.package, []).append(one)
    types: dict[str, dict[str, Type]] = {}
    for package, members in components.items():
        try:
            types[package] = read_listed_components([one.document for one in members], place)
        except InputError as error:
            message = f"the data types of {package} cannot be read: {error.message}"
            problems.append(InputError(message, place=str(place), hint=error.hint))
    return types


def _with_types(provider: Provider, types: dict[str, Type]) -> Provider:
    """Return a provider with the data types that its functions refer to."""
    needed = {name for one in provider.capabilities for name in reachable_definitions(one, types)}
    return provider.model_copy(update={"definitions": {name: types[name] for name in sorted(needed)}})


def _left_out(documents: list[ListedDocument], place: Place) -> list[Finding]:
    known = {STATIC_TYPE, NAMES["component_document"]}
    kinds = dict.fromkeys((one.package, one.type) for one in documents if one.type not in known)
    return [
        Finding(
            code=LISTED_DOCUMENT_LEFT_OUT,
            level=Level.DROPPED,
            pointer="",
            message=f"documents of the type {kind} of {package} are left out",
            source=place,
        )
        for package, kind in kinds
    ]
