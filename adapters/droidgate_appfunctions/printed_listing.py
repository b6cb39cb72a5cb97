"""What a phone prints for `cmd app_function list-app-functions` (reference appfunctions 6.5)."""

from __future__ import annotations

import re

from droidgate_android.app_search.listing import (
    STATIC_TYPE,
    ListedDocument,
    listed_function,
    read_documents,
    without_notices,
)
from droidgate_mappings.formats.installed import ListedFunction, ListingError
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.tables.app_functions import load_shell_texts
from droidgate_mappings.text.json_text import parse_json

_COMMAND = "cmd app_function list-app-functions"


def read_printed_listing(text: str, error_text: str) -> dict[str, tuple[ListedFunction, ...]]:
    """Return the functions of each package.

    Args:
        text: What the command printed on standard output.
        error_text: What it printed on standard error.

    Raises:
        ListingError: it is not a listing, or Android reports an error in place of one.
    """
    functions: dict[str, list[ListedFunction]] = {}
    for document in read_printed_documents(text, error_text):
        if document.type == STATIC_TYPE:
            functions.setdefault(document.package, []).append(listed_function(document))
    return {package: tuple(members) for package, members in functions.items()}


def read_printed_documents(text: str, error_text: str = "") -> list[ListedDocument]:
    """Return the documents that are listed, those of data types too.

    Raises:
        ListingError: as `read_printed_listing`.
    """
    plain = without_notices(text)
    if not plain.startswith("{"):
        raise _failure_of(plain, error_text)
    try:
        listing = parse_json(plain, path=_COMMAND)
    except InputError as error:
        raise ListingError(f"{error.message} ({error.place})", "") from None
    return read_documents(listing)


def _failure_of(text: str, error_text: str) -> ListingError:
    for stream in (text, error_text):
        line = stream.strip().split("\n", 1)[0].strip()
        known = any(re.search(failure.pattern, line, re.MULTILINE) for failure in load_shell_texts().failures)
        if line and known:
            return ListingError(line, is_failure=True)
    return ListingError("it is not an answer", text or error_text)
