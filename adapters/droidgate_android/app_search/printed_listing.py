"""What `cmd app_function list-app-functions` prints, AppSearch documents as JSON (appfunctions 6.5).

A phone's answer and a file with a saved one are read here alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from droidgate_mappings.formats.installed import ListedFunction, ListingError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.tables.app_functions import load_indexing, load_shell_texts

STATIC_TYPE: Final = "AppFunctionStaticMetadata"
RUNTIME_TYPE: Final = "AppFunctionRuntimeMetadata"
MAX_DOCUMENTS: Final = 20_000


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


def without_notices(text: str) -> str:
    """Return an answer without the lines that change nothing, such as which user is taken."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(line for line in lines if not _notices().match(line))


@cache
def _notices() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{notice})" for notice in load_shell_texts().notices))


def read_documents(listing: Json) -> list[ListedDocument]:
    """Return the documents of a listing, in order.

    Args:
        listing: The parsed JSON.

    Raises:
        ListingError: it is not a listing.
    """
    if not isinstance(listing, dict):
        raise ListingError("it is not a JSON object")
    documents = [
        _read_element(package, element)
        for package, elements in listing.items()
        for element in _array(elements)
    ]
    if len(documents) > MAX_DOCUMENTS:
        raise ListingError(f"there are more than {MAX_DOCUMENTS} documents")
    return documents


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
        raise ListingError("a function has no id", listed_document.package)
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
        raise ListingError("an element is not a document", package)
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
