"""Functions as `cmd app_function list-app-functions` of a running system prints them, read as their file
would be (reference appfunctions 6.5).

A listed document holds every value in a list, nested documents as objects, and no ids of nested documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from lxml import etree

from droidgate_android.app_search.printed_listing import (
    ListedDocuments,
    read_documents,
    without_notices,
)
from droidgate_appfunctions.fields import ElementSource
from droidgate_appfunctions.format import APP_LEVEL, FORMAT_ID, NAMES, PLATFORM, UNUSED, V1, V2, facts_of
from droidgate_appfunctions.read_document import FunctionReader, read_functions_file
from droidgate_mappings.formats.installed import FunctionListing, ListedFunction, ListingError
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Place, Provider, State
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json, pointer_token
from droidgate_mappings.model.types import Type
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.app_functions import load_shell_texts
from droidgate_mappings.text.xml_text import Element

_COMMAND = "cmd app_function list-app-functions"


def read_printed_listing(text: str, error_text: str) -> FunctionListing:
    """Return the functions of each package.

    Args:
        text: What the command printed on standard output.
        error_text: What it printed on standard error.

    Raises:
        ListingError: it is not a listing, or Android reports an error in place of one.
    """
    return read_printed_documents(text, error_text).functions()


def read_printed_documents(text: str, error_text: str = "") -> ListedDocuments:
    """Return the documents that are listed, those of data types too.

    Raises:
        ListingError: as `read_printed_listing`.
    """
    plain = without_notices(text)
    if not plain.startswith("{"):
        raise _failure_of(plain, error_text)
    try:
        return read_documents(plain, _COMMAND)
    except InputError as error:
        raise ListingError(f"{error.message} ({error.place})", "") from None


def _failure_of(text: str, error_text: str) -> ListingError:
    for stream in (text, error_text):
        line = stream.strip().split("\n", 1)[0].strip()
        fails = any(re.search(failure.pattern, line, re.MULTILINE) for failure in load_shell_texts().failures)
        if line and fails:
            return ListingError(line, is_failure=True)
    return ListingError("it is not an answer", text or error_text)


_code = partial(finding_code, module=__name__)

LISTED_SERVICE_UNKNOWN: Final = _code(
    "listed-service-unknown",
    "A listing before Android 17 does not name the service of its functions; their component is not known",
)
LISTED_SIGNATURE_UNKNOWN: Final = _code(
    "listed-signature-unknown",
    "A listing has no description, parameters or response of a service's functions: their file is of "
    "version 1, or was indexed without its schema",
)
LISTED_PROPERTY_KEPT: Final = _code(
    "listed-property-kept",
    "A property of a listed function that the reader does not know; it is kept as written",
)
LISTED_PROPERTY_LEFT_OUT: Final = _code(
    "listed-property-left-out",
    "A property of a listed document whose name no functions file can have; it is left out",
)

_BY_INDEXER: Final = frozenset(
    {"packageName", "packageNameHash", "mobileApplicationQualifiedId", "serviceName", "id", "functionId"}
)
_PARALLEL: Final = frozenset({"paramNames", "paramTypes", "paramRequired"})
_DYNAMIC: Final = frozenset({"parameters", "response"})
_DEPTH: Final = 64


@dataclass(slots=True)
class ListingReader:
    """Reads the documents of one listing.

    Attributes:
        place: How messages name the listing.
        context: How lenient to be; takes the findings.
        problems: Takes why a signature or a data type cannot be read.
    """

    place: Place
    context: ReadingContext
    problems: list[InputError] = field(default_factory=list)

    def read_functions(
        self, functions: Sequence[ListedFunction], *, package: str | None, service: str | None
    ) -> Provider:
        """Return the provider of one service's or the application's functions.

        A function whose signature cannot be read has its id and its state only. The access rules of functions
        are those of the listing; those of the service are not in it. Types that other documents of the app
        define are named and not known.

        Args:
            functions: At least one; either all of the application or none.
            package: The app.
            service: Class name of their service, None where it has none or the listing does not say.
        """
        dialect = _dialect_of(functions)
        if service is None and dialect != APP_LEVEL:
            message = f"the listing does not name the service of {package}"
            self._report(LISTED_SERVICE_UNKNOWN, Level.NOTE, "", message, _HINT)
        if dialect == V1:
            owner = service or package
            message = f"the listing has no description, parameters or response of the functions of {owner}"
            self._report(LISTED_SIGNATURE_UNKNOWN, Level.NOTE, "", message, _HINT)
        return Provider(
            protocol=FORMAT_ID,
            dialect=dialect,
            package=package,
            component=service,
            source=self.place,
            capabilities=tuple(self._read_function(function, dialect) for function in functions),
        )

    def read_components(self, documents: Iterable[Mapping[str, Json]]) -> dict[str, Type]:
        """Return the data types of an app's component documents.

        Raises:
            InputError: one of them cannot be read.
        """
        root: Element = etree.Element(NAMES["root"])
        for properties in documents:
            document = etree.SubElement(root, NAMES["component_document"])
            etree.SubElement(document, "id").text = UNUSED
            self._fill(document, _without(properties, _BY_INDEXER), "")
        return read_functions_file(
            root, ElementSource(self.place.path, self.context), level="service"
        ).definitions

    def _read_function(self, function: ListedFunction, dialect: str) -> Capability:
        state = State(enabled=function.enabled, indexed=True)
        pointer = f"/{pointer_token(function.id)}"
        try:
            document = self._document_of(function, dialect, pointer)
            source = ElementSource(self.place.path, self.context)
            capability = FunctionReader(source, dialect).read(document)
        except InputError as error:
            message = f"the signature of {function.id!r} cannot be read: {error.message}"
            self.problems.append(InputError(message, place=str(self.place), hint=error.hint))
            return Capability(id=function.id, state=state, source=self.place)
        for element in facts_of(capability.extensions).get("elements", ()):
            message = f"{element[0]} of the function {function.id} is kept as written"
            self._report(LISTED_PROPERTY_KEPT, Level.READ, pointer, message)
        return capability.changed({"id": function.id, "state": state, "source": self.place})

    def _document_of(self, function: ListedFunction, dialect: str, pointer: str) -> Element:
        """Return the element that a functions file would have for a function."""
        document: Element = etree.Element(NAMES["function_document"])
        for name in ("functionId",) if dialect == V1 else ("id", "functionId"):
            etree.SubElement(document, name).text = _xml_text(function.id)
        # The indexer gives every function of a service the scope `global`.
        set_by_android = _BY_INDEXER if dialect == APP_LEVEL else _BY_INDEXER | {"scope"}
        self._fill(document, _without(function.document, set_by_android), pointer)
        return document

    def _fill(self, parent: Element, properties: Mapping[str, Json], pointer: str, depth: int = 0) -> None:
        """Add a document's properties: an element for each value."""
        if depth > _DEPTH:
            raise InputError("the listed document is too deep", place=str(self.place))
        for name, values in properties.items():
            if not name.isalnum() or not name[0].isalpha() or not name.isascii():
                message = f"the property {name!r} is left out"
                self._report(LISTED_PROPERTY_LEFT_OUT, Level.DROPPED, pointer, message)
                continue
            for value in values if isinstance(values, list) else [values]:
                child = etree.SubElement(parent, name)
                if isinstance(value, Mapping):
                    etree.SubElement(child, "id").text = UNUSED
                    self._fill(child, value, pointer, depth + 1)
                elif isinstance(value, bool):
                    child.text = "true" if value else "false"
                elif value is not None:
                    child.text = _xml_text(str(value))

    def _report(self, code: str, level: Level, pointer: str, message: str, hint: str | None = None) -> None:
        self.context.findings.append(
            Finding(code=code, level=level, pointer=pointer, message=message, source=self.place, hint=hint)
        )


_HINT: Final = "read the app's APK to know"


def _dialect_of(functions: Sequence[ListedFunction]) -> str:
    """Return the dialect of a service's functions by the properties that they have.

    Jetpack gives every function a response, so a description without one is hand-written.
    """
    if any(function.of_application for function in functions):
        return APP_LEVEL
    names = {name for function in functions for name in function.document}
    if names & _PARALLEL:
        return PLATFORM
    if names & _DYNAMIC:
        return V2
    return PLATFORM if "description" in names else V1


def _without(properties: Mapping[str, Json], names: frozenset[str]) -> dict[str, Json]:
    return {name: values for name, values in properties.items() if name not in names}


def _xml_text(text: str) -> str:
    """Return a text that XML can hold; other characters are written by their code."""
    return "".join(
        char
        if char in "\t\n" or (char >= " " and not "\ud800" <= char <= "\udfff" and char not in "\ufffe\uffff")
        else f"\\u{ord(char):04x}"
        for char in text
    )
