"""What `cmd app_function list-app-functions` prints, AppSearch documents as JSON (appfunctions 6.5).

A phone's answer and a file with a saved one are read here alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from droidgate_mappings.formats.installed import FunctionListing, ListedFunction, ListingError
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.app_functions import load_indexing, load_shell_texts
from droidgate_mappings.text.json_text import parse_json
from droidgate_mappings.text_safety.hidden import one_line

STATIC_TYPE: Final = "AppFunctionStaticMetadata"
RUNTIME_TYPE: Final = "AppFunctionRuntimeMetadata"
MAX_DOCUMENTS: Final = 20_000
"""Of one package."""

_OF_PACKAGE: Final = 2
"""The depth of what is listed of a package."""

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """One element of the listing.

    Attributes:
        package: The package that declares it.
        type: The document's type without the package: `AppFunctionStaticMetadata` for a function.
        document: The document; all values are arrays, nested documents too.
        runtime: What is known about it at run time, such as whether it is enabled; None where nothing is.
    """

    package: str
    type: str
    document: dict[str, Json]
    runtime: dict[str, Json] | None


@dataclass(frozen=True, slots=True)
class ListedDocuments:
    """What a listing has.

    Attributes:
        documents: Those that can be read, in order.
        faults: Why others of a package cannot be read, by package.
    """

    documents: tuple[ListedDocument, ...]
    faults: Mapping[str, str]

    def functions(self) -> FunctionListing:
        """Return the functions of each package."""
        functions: dict[str, list[ListedFunction]] = {}
        faults = dict(self.faults)
        for document in self.documents:
            if document.type == STATIC_TYPE:
                try:
                    function = listed_function(document)
                except ListingError as error:
                    faults.setdefault(document.package, error.reason)
                else:
                    functions.setdefault(document.package, []).append(function)
        return FunctionListing({package: tuple(members) for package, members in functions.items()}, faults)


def without_notices(text: str) -> str:
    """Return an answer without the lines that change nothing, such as which user is taken."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(line for line in lines if not _notices().match(line))


@cache
def _notices() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{notice})" for notice in load_shell_texts().notices))


def read_documents(text: str, path: str) -> ListedDocuments:
    """Return the documents of a listing.

    What an app brings about costs the documents of that app alone.

    Args:
        text: The listing, without notices.
        path: How errors name it.

    Raises:
        InputError: it is not JSON.
        ListingError: it is not a listing.
    """
    faults: dict[str, str] = {}
    try:
        listing = parse_json(text, path=path)
    except InputError as error:
        listing = _parse_packages(text, faults)
        if listing is None:
            raise error from None
    if not isinstance(listing, dict):
        raise ListingError("it is not a JSON object")
    documents: list[ListedDocument] = []
    for package, elements in listing.items():
        try:
            listed = _array(elements)
        except ListingError as error:
            faults[package] = _reason(error)
            continue
        if len(listed) > MAX_DOCUMENTS:
            faults[package] = f"there are more than {MAX_DOCUMENTS} documents"
        for element in listed[:MAX_DOCUMENTS]:
            try:
                documents.append(_read_element(package, element))
            except ListingError as error:
                faults.setdefault(package, _reason(error))
    return ListedDocuments(tuple(documents), faults)


def _parse_packages(text: str, faults: dict[str, str]) -> Json:
    """Parse the value of each package by itself.

    Returns:
        The listing; None where it is not a JSON object even without what the packages have.
    """
    values: dict[str, str] = {}
    shell: list[str] = []
    begin = depth = copied = 0
    for token in _TOKEN.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth == _OF_PACKAGE:
                begin = token.start()
        elif token[0] in "]}":
            depth -= 1
            if depth == _OF_PACKAGE - 1:
                name = str(len(shell))
                shell += (text[copied:begin], f'"{name}"')
                values[name], copied = text[begin : token.end()], token.end()
    try:
        listing = parse_json("".join((*shell, text[copied:])))
    except InputError:
        return None
    if not isinstance(listing, dict):
        return None
    parsed: dict[str, Json] = {}
    for package, name in listing.items():
        try:
            parsed[package] = parse_json(values[str(name)]) if name in values else name
        except InputError as error:
            faults[package] = error.message
    return parsed


def _reason(error: ListingError) -> str:
    return f"{error.reason} ({one_line(error.text[:100])})" if error.text else error.reason


def listed_function(listed_document: ListedDocument) -> ListedFunction:
    """Return the function that a document declares.

    Raises:
        ListingError: the document has no id.
    """
    document, runtime = listed_document.document, listed_document.runtime or {}
    service = _first_text(document, "serviceName")
    of_application = service == load_indexing().names.application_service
    function = _first_text(document, "functionId")
    if function is None:
        raise ListingError("a function has no id")
    enabled = _first_value(runtime, "enabled")
    if not isinstance(enabled, bool):
        enabled = {0: None, 1: True, 2: False}.get(enabled) if isinstance(enabled, int) else None
    # What an application registers while it runs is in force while it is registered, which no document says
    # (reference appfunctions 2.g).
    if enabled is None and not of_application:
        by_default = _first_value(document, "enabledByDefault")
        enabled = by_default if isinstance(by_default, bool) else None
    return ListedFunction(
        id=function,
        enabled=enabled,
        service=None if of_application else service,
        of_application=of_application,
        document=document,
    )


def _read_element(package: str, element: Json) -> ListedDocument:
    if not package or not isinstance(element, dict) or not element:
        raise ListingError("an element is not a document")
    suffix = f"-{package}"
    documents = {name.removesuffix(suffix): value for name, value in element.items() if name.endswith(suffix)}
    runtime = documents.pop(RUNTIME_TYPE, None)
    if len(documents) + (runtime is not None) != len(element) or len(documents) != 1:
        raise ListingError("an element is not one document", ", ".join(element))
    kind, document = next(iter(documents.items()))
    return ListedDocument(package, kind, _document(document), _runtime(runtime, RUNTIME_TYPE + suffix))


def _runtime(runtime: Json, name: str) -> dict[str, Json] | None:
    """Return the joined document, which the listing wraps twice."""
    if runtime is None:
        return None
    return _document(_document_of(runtime).get(name, runtime))


def _document_of(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise ListingError("a document is not a JSON object", str(value))
    return value


def _document(value: Json) -> dict[str, Json]:
    document = _document_of(value)
    for name, values in document.items():
        if not isinstance(values, list):
            raise ListingError("a value is not an array", name)
    return document


def _array(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise ListingError("the value of a package is not an array", str(value))
    return value


def _first_value(document: Mapping[str, Json], name: str) -> Json:
    values = document.get(name)
    return values[0] if isinstance(values, list) and values else None


def _first_text(document: Mapping[str, Json], name: str) -> str | None:
    value = _first_value(document, name)
    return value if isinstance(value, str) else None
