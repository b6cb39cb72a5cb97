"""A saved answer of `cmd app_function list-app-functions` (reference appfunctions 6.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from droidgate_android.app_search.printed_listing import (
    STATIC_TYPE,
    ListedDocument,
    read_documents,
    without_notices,
)
from droidgate_appfunctions.format import NAMES, NOT_LISTED
from droidgate_appfunctions.listing_reader import ListingReader
from droidgate_mappings.formats.format import Reading, SourceFile
from droidgate_mappings.formats.installed import ListedFunction, ListingError
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place, Provider, reachable_definitions
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.types import Type
from droidgate_mappings.text.json_text import decode_utf8

LISTED_DOCUMENT_LEFT_OUT: Final = finding_code(
    "listed-document-left-out",
    "Documents of a saved listing that are neither functions nor data types of functions; they are left out",
    __name__,
)

_MARK: Final = f'"{STATIC_TYPE}-'.encode()
_HINT: Final = "save the output of: adb shell cmd app_function list-app-functions"
_NOT_LISTED_HINT: Final = "Android 16 QPR2 and later list functions; of an older release, read the app's APK"


def is_saved_listing(data: bytes) -> bool:
    """Return whether a file's content is a listing, or what Android prints in place of one.

    A listing without functions is not recognized.
    """
    if data.startswith(NOT_LISTED):
        return True
    return _MARK in data and without_notices(data.decode("utf-8", "replace")).lstrip().startswith("{")


def read_saved_listing(source: SourceFile, context: ReadingContext) -> Reading:
    """Read a saved listing: one provider for each service of each app, with the states of its functions.

    A signature that cannot be read is a problem, and its function is listed without one.

    Raises:
        InputError: it is not a listing.
    """
    if source.data.startswith(NOT_LISTED):
        first_line = source.data[:200].decode("utf-8", "replace").partition("\n")[0].strip()
        message = f'the phone did not list its functions: "{first_line}"'
        raise InputError(message, place=source.path, hint=_NOT_LISTED_HINT)
    try:
        listed = read_documents(without_notices(decode_utf8(source.data, path=source.path)), source.path)
    except ListingError as error:
        message = f"not a listing of functions: {error.reason}"
        raise InputError(message, place=source.path, hint=_HINT) from None
    documents, listing = listed.documents, listed.functions()
    reader = ListingReader(Place(path=source.path, line=1), context)
    for package, fault in listing.faults.items():
        message = f"the listing of {package} is not read to its end: {fault}"
        reader.problems.append(InputError(message, place=source.path))
    types = _types_by_package(documents, reader)
    groups: dict[tuple[str, str | None, bool], list[ListedFunction]] = {}
    for package, functions in listing.functions.items():
        for function in functions:
            key = (package, function.service, function.of_application)
            groups.setdefault(key, []).append(function)
    providers = [
        reader.read_functions(members, package=package, service=service)
        for (package, service, _), members in groups.items()
    ]
    _report_left_out(documents, {package for package, _, _ in groups}, reader)
    return Reading(tuple(_with_types(providers, types)), tuple(context.findings), tuple(reader.problems))


def _types_by_package(
    documents: Iterable[ListedDocument], reader: ListingReader
) -> dict[str, dict[str, Type]]:
    components: dict[str, list[ListedDocument]] = {}
    for document in documents:
        if document.type == NAMES["component_document"]:
            components.setdefault(document.package, []).append(document)
    types: dict[str, dict[str, Type]] = {}
    for package, members in components.items():
        try:
            types[package] = reader.read_components(member.document for member in members)
        except InputError as error:
            message = f"the data types of {package} cannot be read: {error.message}"
            reader.problems.append(InputError(message, place=str(reader.place), hint=error.hint))
    return types


def _with_types(providers: Sequence[Provider], types: dict[str, dict[str, Type]]) -> list[Provider]:
    """Return the providers, each with the data types that its functions refer to.

    A listing does not say which file a data type is from: those that no function refers to go to the first
    provider of the package.
    """
    needed = [
        {
            name
            for capability in provider.capabilities
            for name in reachable_definitions(capability, types.get(provider.package or "", {}))
        }
        for provider in providers
    ]
    used: dict[str | None, set[str]] = {}
    for provider, names in zip(providers, needed, strict=True):
        used.setdefault(provider.package, set()).update(names)
    completed: list[Provider] = []
    for provider, names in zip(providers, needed, strict=True):
        package_types = types.get(provider.package or "", {})
        unused = package_types.keys() - used.pop(provider.package, package_types.keys())
        definitions = {name: package_types[name] for name in sorted(names | unused)}
        completed.append(provider.changed({"definitions": definitions}))
    return completed


def _report_left_out(documents: Iterable[ListedDocument], packages: set[str], reader: ListingReader) -> None:
    """Report documents of unknown types, and data types of packages without functions."""
    for package, kind in dict.fromkeys((document.package, document.type) for document in documents):
        if kind == STATIC_TYPE or (kind == NAMES["component_document"] and package in packages):
            continue
        reader.context.findings.append(
            Finding(
                code=LISTED_DOCUMENT_LEFT_OUT,
                level=Level.DROPPED,
                pointer="",
                message=f"documents of the type {kind} of {package} are left out",
                source=reader.place,
            )
        )
