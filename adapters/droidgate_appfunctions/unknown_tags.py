"""Tags of a functions file that the schema in force does not declare (reference 2.a, 3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final

from lxml import etree

from droidgate_android.projects.java_text import to_lower_camel_case
from droidgate_appfunctions.constants import NAMES, V1
from droidgate_appfunctions.fields import ElementSource, local_name
from droidgate_appfunctions.schema import Schema
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.tables.app_functions import load_indexing
from droidgate_mappings.tables.loading import read_toml
from droidgate_mappings.text.xml_text import Element, child_elements, xpath_of

UNREAD_TAG: Final = finding_code(
    "unread-tag",
    "A tag that Android's parser skips, of a version 1 file or next to the functions; it is kept as written",
    __name__,
)

_ALWAYS_READ: Final = frozenset({"id", "functionId", "scope"})
"""Tags that every document may have; `scope` has rules of its own (rows A14 and A15)."""
_MAX_TAGS: Final = 100

Tag = tuple[str, str]
"""A document type, and a tag of it."""


def report_unknown_tags(
    functions: Iterable[Element],
    components: Iterable[Element],
    source: ElementSource,
    *,
    dialect: str,
    schema: Schema | None = None,
) -> None:
    """Report each tag that the schema in force does not declare, once for each type of document.

    Args:
        functions: The elements of functions.
        components: The elements of components.
        source: The file, and how lenient to be.
        dialect: The dialect of the file; version 1 has fixed tags, and no release refuses another one.
        schema: The app's own schema; without it, every tag that a known schema declares is known.

    Raises:
        InputError: the reading is strict, and a release drops the file for the tag.
    """
    if dialect == V1:
        _report_version_1(functions, source)
        return
    found: dict[Tag, list[Element]] = {}
    pending = [(function, NAMES["function_document"]) for function in functions]
    pending += [(component, NAMES["component_document"]) for component in components]
    known = schema or _known_schemas()
    while pending:
        element, type_name = pending.pop()
        properties = known.get(type_name, {})
        for child in child_elements(element):
            name = to_lower_camel_case(local_name(child))
            stated = properties.get(name)
            if stated is not None:
                word = str(stated["type"])
                if "appfn:" in word:
                    pending.append((child, word.partition(":")[2]))
            elif name not in _ALWAYS_READ:
                found.setdefault((type_name, local_name(child)), []).append(child)
    for message, element in _messages(found, "is not a property of {type} in the schema"):
        hint = "remove it, or declare it in the schema; Android 16 QPR1 and QPR2 drop the whole file for it"
        source.allow("A38", message, element, hint)


def _report_version_1(functions: Iterable[Element], source: ElementSource) -> None:
    known = load_indexing().fixed_tags.keys() | {"id"}
    found: dict[Tag, list[Element]] = {}
    for function in functions:
        for child in child_elements(function):
            tag = local_name(child)
            if tag not in known:
                found.setdefault((NAMES["function"], tag), []).append(child)
    for message, element in _messages(found, "is not a tag of version 1, so Android does not read it"):
        if any(local_name(other) in known for other in element.iter(etree.Element)):
            message += "; Android 16 reads the tags of version 1 inside it as the function's own"  # noqa: PLW2901
        _report_unread(element, message, source)


def report_unread_elements(elements: Iterable[Element], source: ElementSource) -> None:
    """Report each tag of the elements that stand where functions are expected and are none, once."""
    found: dict[Tag, list[Element]] = {}
    for element in elements:
        found.setdefault((NAMES["root"], local_name(element)), []).append(element)
    for message, element in _messages(found, "is not a function, so Android does not read it"):
        _report_unread(element, message, source, hint=f"write a function as <{NAMES['function']}>")


def _report_unread(element: Element, message: str, source: ElementSource, *, hint: str | None = None) -> None:
    source.context.findings.append(
        Finding(
            code=UNREAD_TAG,
            level=Level.READ,
            pointer=xpath_of(element),
            message=message,
            source=source.place(element),
            hint=hint,
            rule="A39",
        )
    )


def _messages(found: Mapping[Tag, list[Element]], problem: str) -> Iterator[tuple[str, Element]]:
    """Yield what is wrong with each tag, and where it is first; many tags share the last message."""
    kinds = list(found.items())
    for (type_name, tag), elements in kinds[:_MAX_TAGS]:
        times = f" ({len(elements)} times)" if len(elements) > 1 else ""
        yield f"<{tag}> {problem.format(type=type_name)}{times}", min(elements, key=_line)
    if len(kinds) > _MAX_TAGS:
        _, elements = kinds[_MAX_TAGS]
        yield f"{len(kinds) - _MAX_TAGS} more tags are not known", elements[0]


def _line(element: Element) -> int:
    return element.sourceline or 0


@cache
def _known_schemas() -> Schema:
    """Return the properties that any schema declares: Android's own, and those of each known library."""
    known: dict[str, dict[str, dict[str, Json]]] = {}
    tables = [read_toml("app_functions/schemas.toml")["android"]]
    tables += read_toml("app_functions/written_schemas.toml").values()
    for types in tables:
        for name, properties in types.items():
            known.setdefault(name, {}).update(properties)
    return known
