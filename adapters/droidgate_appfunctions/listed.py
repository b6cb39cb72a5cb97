"""Functions as the running system lists them, back to what their file would have said (reference 6.5).

A listed document holds every value in a list, nested documents as objects, and no ids of nested documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from lxml import etree

from droidgate.installed import ListedFunction
from droidgate.leniency import ReadingContext
from droidgate.model.capability import Capability, Place, Provider, State
from droidgate.model.errors import InputError
from droidgate.model.json_values import Json
from droidgate.model.types import Type
from droidgate.parsing.xml_text import Element
from droidgate_appfunctions.constants import APP_LEVEL, FORMAT_ID, NAMES, PLATFORM, UNUSED
from droidgate_appfunctions.fields import Source
from droidgate_appfunctions.read_document import read_functions_file

_BY_INDEXER: Final = frozenset(
    {"packageName", "packageNameHash", "mobileApplicationQualifiedId", "serviceName", "id"}
)
_DEPTH: Final = 64


def read_listed(
    functions: Iterable[ListedFunction],
    *,
    package: str | None,
    service: str | None,
    place: Place,
    problems: list[InputError] | None = None,
) -> Provider:
    """Return the provider of functions that are in no file; a signature that cannot be read is left out.

    The access rules of functions are those of the listing; those of the service are not in it. Types that
    other documents of the app define are named and not known.

    Args:
        functions: The functions of one service.
        package: The app.
        service: Its class; None for functions of the application.
        place: How messages name the listing.
        problems: Takes why a signature cannot be read.
    """
    capabilities = tuple(_capability(one, service, place, problems) for one in functions)
    return Provider(
        protocol=FORMAT_ID,
        dialect=APP_LEVEL if service is None else PLATFORM,
        package=package,
        component=service,
        source=place,
        capabilities=capabilities,
    )


def _capability(
    function: ListedFunction, service: str | None, place: Place, problems: list[InputError] | None
) -> Capability:
    state = State(enabled=function.enabled)
    try:
        read = _read_document(function, service, place)
    except InputError as error:
        read = None
        if problems is not None:
            message = f"the signature of {function.id!r} cannot be read: {error.message}"
            problems.append(InputError(message, place=str(place), hint=error.hint))
    if read is None:
        return Capability(id=function.id, state=state, source=place)
    return read.model_copy(update={"id": function.id, "state": state, "source": place})


def _read_document(function: ListedFunction, service: str | None, place: Place) -> Capability | None:
    root: Element = etree.Element(NAMES["root"])
    document = etree.SubElement(root, NAMES["function_document"])
    etree.SubElement(document, "id").text = _xml_text(function.id)
    left_out = _BY_INDEXER if service is None else _BY_INDEXER | {"scope"}
    _fill(document, {key: held for key, held in function.document.items() if key not in left_out}, place)
    source = Source(place.path, ReadingContext(rows_off=frozenset()))
    level = "application" if service is None else "service"
    return next(iter(read_functions_file(root, source, level=level).capabilities.values()), None)


def read_listed_components(documents: Iterable[Mapping[str, Json]], place: Place) -> dict[str, Type]:
    """Return the data types of an app's component documents.

    Args:
        documents: The documents.
        place: How messages name the listing.

    Raises:
        InputError: one of them cannot be read.
    """
    root: Element = etree.Element(NAMES["root"])
    for held in documents:
        document = etree.SubElement(root, NAMES["component_document"])
        etree.SubElement(document, "id").text = UNUSED
        _fill(document, {key: one for key, one in held.items() if key not in _BY_INDEXER}, place)
    source = Source(place.path, ReadingContext(rows_off=frozenset()))
    return read_functions_file(root, source, level="service").definitions


def _fill(parent: Element, held: Mapping[str, Json], place: Place, depth: int = 0) -> None:
    """Add a document's properties: an element for each value."""
    if depth > _DEPTH:
        raise InputError("the listed document is too deep", place=str(place))
    for name, values in held.items():
        if not name.isalnum() or not name[0].isalpha() or not name.isascii():
            continue
        for value in values if isinstance(values, list) else [values]:
            child = etree.SubElement(parent, name)
            if isinstance(value, Mapping):
                etree.SubElement(child, "id").text = UNUSED
                _fill(child, value, place, depth + 1)
            elif isinstance(value, bool):
                child.text = "true" if value else "false"
            elif value is not None:
                child.text = _xml_text(str(value))


def _xml_text(text: str) -> str:
    """Return a text that XML can hold; other characters are written by their code."""
    return "".join(
        one
        if one in "\t\n" or (one >= " " and not "\ud800" <= one <= "\udfff" and one not in "\ufffe\uffff")
        else f"\\u{ord(one):04x}"
        for one in text
    )
