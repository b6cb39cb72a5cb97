"""`app_metadata`: the app-wide guidance for agents, and what the user reads (reference 2.g)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lxml import etree

from droidgate_appfunctions.fields import (
    TOOLS_NAMESPACE,
    ElementSource,
    check_noise,
    element_text,
    kept_element,
    local_name,
)
from droidgate_appfunctions.format import NAMES, facts_of
from droidgate_appfunctions.xml_writing import render_part
from droidgate_mappings.formats.application import Resources
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, field, replace
from droidgate_mappings.text.aapt_text import (
    MAX_STRING_RESOURCE_BYTES,
    escape_attribute_value,
    escape_string_resource,
    escape_xml_attribute,
    read_attribute_value,
    read_xml_attribute,
    reference_in,
)
from droidgate_mappings.text.xml_text import Element, child_elements, escape_text, quoted_attribute

_NAMESPACE: Final = NAMES["metadata_namespace"]
_OLD_NAMESPACE: Final = NAMES["metadata_namespace_old"]
_INSTRUCTIONS: Final = "instructions"
_DESCRIPTION: Final = "description"
_DISPLAY: Final = "displayDescription"
_KNOWN_ATTRIBUTES: Final = (_INSTRUCTIONS, _DESCRIPTION, _DISPLAY)


@dataclass(frozen=True, slots=True)
class AppMetadata:
    """What an `app_metadata` file says.

    Attributes:
        instructions: How to use the app's functions, for language models.
        description: What they do, as human-readable text; None where its string resource is missing.
        facts: How it is written, where not in the usual way.
        place: Where it is.
    """

    instructions: str | None = None
    description: str | None = None
    facts: dict[str, Json] = field(default_factory=dict)
    place: Place | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing in it, as where its file is missing."""
        return self.instructions is None and self.description is None and not self.facts


def read_metadata(
    root: Element, source: ElementSource, resources: Resources | None = None, *, compiled: bool = False
) -> AppMetadata:
    """Read an `<AppFunctionAppMetadata>` element.

    Args:
        root: The root element.
        source: Its path, and how lenient to be.
        resources: Resolve `@string/` references, where there are any.
        compiled: It came out of compiled XML, whose texts hold no escapes any more.

    Raises:
        InputError: another root element.
    """
    if local_name(root) != NAMES["metadata_root"]:
        message = f"the root element is <{local_name(root)}>, not <{NAMES['metadata_root']}>"
        raise source.error(message, root, f"write <{NAMES['metadata_root']}>; agents get no guidance from it")
    facts: dict[str, Json] = {}
    attributes = _read_attributes(root, source, facts)
    if compiled:
        attributes = {name: _source_text(value) for name, value in attributes.items()}
    texts: dict[str, str | None] = {}
    for name in _KNOWN_ATTRIBUTES:
        texts[name] = _text(attributes.get(name), resources)
        if texts[name] is not None:
            del attributes[name]
    instructions, legacy = texts[_INSTRUCTIONS], texts[_DESCRIPTION]
    if instructions is None:
        instructions = legacy
    else:
        facts["metadataAttribute"] = _INSTRUCTIONS
        if legacy is not None:
            facts["legacyDescription"] = legacy
    if attributes:
        # References that do not resolve are among them, as written.
        facts["metadataAttributes"] = dict(attributes)
    _check_content(root, source)
    children = [kept_element(child) for child in child_elements(root)]
    if children:
        facts["metadataElements"] = children
    return AppMetadata(instructions, texts[_DISPLAY], facts, source.place(root))


def metadata_attributes(attributes: Mapping[str, str]) -> dict[str, str]:
    """Return those of an element's foreign attributes that belong to `app_metadata`.

    Args:
        attributes: Value by `{namespace}name`.
    """
    names = {f"{{{space}}}{name}" for space in (_OLD_NAMESPACE, _NAMESPACE) for name in _KNOWN_ATTRIBUTES}
    return {name: value for name, value in attributes.items() if name in names}


def metadata_of_attributes(
    attributes: Mapping[str, str], place: Place, context: ReadingContext, resources: Resources
) -> AppMetadata:
    """Return the guidance that attributes of `<application>` state, as a file would state it (row A40).

    Args:
        attributes: What `metadata_attributes` returned.
        place: Where the application element is.
        context: Takes the findings.
        resources: Resolve `@string/` references.
    """
    root: Element = etree.Element(NAMES["metadata_root"], dict(attributes))
    metadata = read_metadata(root, ElementSource(place.path, context), resources)
    return replace(metadata, place=place)


def _check_content(root: Element, source: ElementSource) -> None:
    if element_text(root).strip():
        message = f"<{local_name(root)}> has text, which Android does not read; it is left out"
        source.allow("A02", message, root, lost=True)
    for child in child_elements(root):
        check_noise(child, source)


def _read_attributes(root: Element, source: ElementSource, facts: dict[str, Json]) -> dict[str, str]:
    """Return the attributes by name; one in the older namespace, where Android looks first, wins."""
    spaces: dict[str, dict[str, str]] = {_OLD_NAMESPACE: {}, _NAMESPACE: {}}
    for key, value in root.attrib.items():
        namespace, _, name = str(key).removeprefix("{").rpartition("}")
        if namespace in spaces:
            spaces[namespace][name] = str(value)
        elif namespace != TOOLS_NAMESPACE:
            where = f"in the namespace {namespace}" if namespace else "in no namespace"
            message = f"the attribute {name} is {where}, which Android does not read; it is left out"
            hint = f"write appfn:{name} with the namespace {_NAMESPACE}"
            source.allow("A33", message, root, hint, lost=True)
    old, new = spaces.values()
    if old:
        facts["metadataNamespace"] = "res-auto"
    if old and new:
        message = f"the attributes {', '.join(new)} are in another namespace than {', '.join(old)}"
        differs = any(name in old and old[name] != value for name, value in new.items())
        if differs:
            message += "; where both have a value, only the one of res-auto is read"
        source.allow("A33", message, root, "write all of them in one namespace", lost=differs)
    return {**new, **old}


def _source_text(text: str) -> str:
    return text if reference_in(text) is not None else escape_xml_attribute(text)


def _text(raw: str | None, resources: Resources | None) -> str | None:
    if raw is None:
        return None
    reference = reference_in(raw)
    if reference is None:
        return read_xml_attribute(raw)
    return resources.read_text(reference) if resources is not None else None


def has_metadata(provider: Provider) -> bool:
    """Return whether a provider says something that is written into `app_metadata`."""
    facts = facts_of(provider.extensions)
    has_text = provider.instructions is not None or provider.description is not None
    return has_text or any(name.startswith("metadata") for name in facts)


def write_metadata(provider: Provider, *, with_resources: bool = True) -> tuple[str, str | None]:
    """Return the text of the `app_metadata` file, and of the values file with its string or None.

    Without resources the description is in the attribute itself.

    Raises:
        WriteError: a text holds half of a surrogate pair.
    """
    facts = facts_of(provider.extensions)
    old = facts.get("metadataNamespace") is not None
    namespace = _OLD_NAMESPACE if old else _NAMESPACE
    attributes: list[tuple[str, str]] = []
    attribute = facts.get("metadataAttribute", _DESCRIPTION)
    if provider.instructions is not None:
        attributes.append((attribute, _literal(provider.instructions)))
    legacy = facts.get("legacyDescription")
    if legacy is not None and attribute != _DESCRIPTION:
        attributes.append((_DESCRIPTION, _literal(legacy)))
    values: str | None = None
    if provider.description is not None:
        string = _string_resource(provider.description) if with_resources else None
        if string is None:
            attributes.append((_DISPLAY, _literal(provider.description)))
        else:
            attributes.append((_DISPLAY, f"@string/{NAMES['metadata_string']}"))
            values = string
    attributes.extend(facts.get("metadataAttributes", {}).items())
    stated = "".join(f"\n    appfn:{name}={quoted_attribute(value)}" for name, value in attributes)
    root = NAMES["metadata_root"]
    start = f'<?xml version="1.0" encoding="utf-8"?>\n<{root} xmlns:appfn="{namespace}"{stated}'
    children = facts.get("metadataElements")
    if not children:
        return f"{start} />\n", values
    return f"{start}>\n{render_part(children)}</{root}>\n", values


def _literal(text: str) -> str:
    """Return an attribute that stays a string where no library declares its format."""
    escaped = escape_xml_attribute(text)
    return escaped if isinstance(read_attribute_value(escaped), str) else escape_attribute_value(text)


def _string_resource(text: str) -> str | None:
    # Counted generously: a long text is written into the attribute itself.
    if len(text.encode("utf-8", "surrogatepass")) * 2 > MAX_STRING_RESOURCE_BYTES:
        return None
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        "<resources>\n"
        f'    <string name="{NAMES["metadata_string"]}" formatted="false">'
        f"{escape_text(escape_string_resource(text))}</string>\n"
        "</resources>\n"
    )
