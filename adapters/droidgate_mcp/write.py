"""Writing lists of MCP tools, and how many bytes of them a model is given.

A reference such as `#` names a definition by its place in the schema. Where the written schema has something
else at that place, the definition goes into `$defs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_
from typing import Any, Final

from droidgate_mappings.fit import Fitted, Loss, fit_provider
from droidgate_mappings.formats.format import Artifact, Writing
from droidgate_mappings.json_schema import (
    NAMESPACE,
    add_discriminators,
    place_definitions,
    replace_references,
    write_schema,
)
from droidgate_mappings.model.capability import Capability, Provider, reachable_definitions
from droidgate_mappings.model.errors import DroidgateError, WriteError
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.json_values import Json, canonical_json, readable_json
from droidgate_mappings.model.leaves import different_leaves, leaves_of_provider
from droidgate_mappings.model.types import AnyType, Extensions, Type, as_extensions
from droidgate_mappings.tables.loading import DialectTable
from droidgate_mappings.text.json_text import WRITTEN, parse_json
from droidgate_mcp.format import FORMAT_ID, MODERN, PROVIDER_META, TABLES, TOOL_META
from droidgate_mcp.tool_facts import (
    ANNOTATIONS_FACT,
    ANNOTATIONS_POINTER,
    HINTS,
    META_POINTER,
    TITLE_FACT,
    document_fact,
    is_member,
    member_name,
    members_of_container,
    stated_rules,
)
from droidgate_mcp.tool_list import holds_meta, is_further_field, placed_fields, placed_further, put_together

_SERVER_FACT: Final = Loss(
    "notation-dropped",
    Level.RENAMED,
    "an array of tools has no room for facts about the server; a result is written",
)
_DEFINITION_PLACE: Final = Loss(
    "notation-dropped",
    Level.RENAMED,
    "the definition is written into `$defs`; its old place in the schema is another one now",
)


def place_all_definitions(
    provider: Provider, findings: tuple[Finding, ...]
) -> tuple[Provider, tuple[Finding, ...]]:
    """Return a provider whose schemas refer to the same definitions as before, and what changed for that.

    `#` is the root of a schema. Where an output is written inside an object, `#` would mean that object;
    the definition is written into `$defs` then.

    Args:
        provider: The provider as it is written.
        findings: What was reported so far; a leaf is not reported again.

    Returns:
        The provider, and all findings.
    """
    definitions = dict(provider.definitions)
    capabilities = tuple(_place_in(capability, definitions) for capability in provider.capabilities)
    if all(map(is_, capabilities, provider.capabilities)):
        return provider, findings
    placed = provider.changed({"capabilities": capabilities, "definitions": definitions})
    reported = {finding.pointer for finding in findings}
    changed = different_leaves(dict(leaves_of_provider(provider)), dict(leaves_of_provider(placed)))
    return placed, (
        *findings,
        *(_DEFINITION_PLACE.finding(leaf) for leaf in changed if leaf not in reported),
    )


def _place_in(capability: Capability, definitions: dict[str, Type]) -> Capability:
    changes: dict[str, Any] = {}
    for name in ("input", "output"):
        root = getattr(capability, name)
        if root is None:
            continue
        placed, replaced = place_definitions(root, definitions)
        if replaced:
            changes[name] = replace_references(placed, replaced)
            for definition in _definitions_of(root, definitions):
                definitions[definition] = replace_references(definitions[definition], replaced)
    return capability.changed(changes)


def _definitions_of(root: Type, definitions: dict[str, Type]) -> set[str]:
    """Return the definitions that a schema holds or reaches."""
    names = {*root.extensions[NAMESPACE]["definitions"].values()} & definitions.keys()
    parts = [root, *(definitions[name] for name in names)]
    return names.union(*(reachable_definitions(part, definitions) for part in parts))


FILE_NAME: Final = "tools.json"

_TEXT_FIELDS: Final = ("package", "component", "name", "description", "instructions")
_MEMBERS_OF_HANDSHAKE: Final = frozenset({"execution"})
"""Members of a tool that revision 2026-07-28 took away."""


def write(provider: Provider, dialect: DialectTable) -> Writing:
    """Write a provider as the result of `tools/list`, or as the kind of document that it was read from.

    Raises:
        WriteError: the dialect is not written.
    """
    fitted = _fit(provider, dialect)
    written, findings = fitted.provider, fitted.findings
    fact = document_fact(dialect.id)
    shape = written.extensions.get(FORMAT_ID, {}).get(fact)
    tools = [_write_tool(capability, written, dialect.id) for capability in written.capabilities]
    meta = _write_provider_meta(written, shape, fact)
    if meta and not holds_meta(shape):
        written, shape = _without_fact(written, fact), None
        lost = _SERVER_FACT.finding(f"/extensions/{FORMAT_ID}/{fact}")
        findings = (*findings, lost)
    document = put_together(shape, dialect.id, tools, _placed_members(written, shape), meta)
    artifact = Artifact(FILE_NAME, readable_json(document) + "\n", "document")
    return Writing((artifact,), written, findings, fitted.names)


def find_losses(provider: Provider, dialect: DialectTable) -> tuple[Finding, ...]:
    """Return the findings of writing a provider of another format that holds no facts of this one.

    Raises:
        WriteError: the dialect is not written.
    """
    return _fit(provider, dialect).findings


def _fit(provider: Provider, dialect: DialectTable) -> Fitted:
    if dialect.capacity is None:
        raise WriteError(f"MCP {dialect.id} is not written")
    fitted = fit_provider(provider, dialect.capacity, FORMAT_ID, dialect.id)
    written, findings = place_all_definitions(fitted.provider, fitted.findings)
    if provider.protocol != FORMAT_ID:
        written, added = add_discriminators(written, fitted.names)
        findings = (*findings, *added)
    return Fitted(written, findings, fitted.names)


def _without_fact(provider: Provider, fact: str) -> Provider:
    own = {name: value for name, value in provider.extensions[FORMAT_ID].items() if name != fact}
    return provider.changed({"extensions": as_extensions(FORMAT_ID, own, provider.extensions)})


def _further_fields(provider: Provider) -> dict[str, Json]:
    own = provider.extensions.get(FORMAT_ID, {})
    return {name: value for name, value in own.items() if is_further_field(name)}


def _placed_members(provider: Provider, shape: Mapping[str, Json] | None) -> dict[str, Json]:
    """Return by JSON Pointer what a document of a shape holds next to its tools and its layout."""
    if shape is None:
        return {}
    texts = {
        shape["places"][name]: text
        for name in placed_fields(shape)
        if (text := getattr(provider, name)) is not None
    }
    return {**texts, **placed_further(shape, _further_fields(provider))}


def _write_provider_meta(provider: Provider, shape: Mapping[str, Json] | None, used: str) -> dict[str, Json]:
    """Return `_meta` of the whole list: the document itself states the fact `used`."""
    placed = placed_fields(shape)
    written: dict[str, Json] = {
        name: text
        for name in _TEXT_FIELDS
        if name not in placed and (text := getattr(provider, name)) is not None
    }
    access = stated_rules(provider.access)
    if access:
        written["access"] = access
    definitions = _write_unreached(provider)
    if definitions:
        written["definitions"] = definitions
    extensions = _of_others(provider.extensions)
    if extensions:
        written["extensions"] = extensions
    further = _further_fields(provider)
    unplaced = further.keys() - placed_further(shape, further).keys()
    if unplaced:
        written["fields"] = {name: value for name, value in further.items() if name in unplaced}
    own = provider.extensions.get(FORMAT_ID, {})
    documents = {
        name: document for name, document in own.items() if not name.startswith("/") and name != used
    }
    if documents:
        written["documents"] = documents
    meta = members_of_container(own, META_POINTER)
    return {**meta, PROVIDER_META: written} if written else meta


def _of_others(extensions: Extensions) -> Extensions:
    return {item: facts for item, facts in extensions.items() if item != FORMAT_ID}


def _write_unreached(provider: Provider) -> dict[str, Json]:
    """Return the schemas of the definitions that no tool's schema holds, with those they refer to."""
    definitions = provider.definitions
    placed: set[str] = set()
    for capability in provider.capabilities:
        placed |= reachable_definitions(capability, definitions)
        for root in (capability.input, capability.output):
            layout = root.extensions.get(NAMESPACE) if root is not None else None
            if layout is not None:
                stated = set(layout["definitions"].values()) & definitions.keys()
                placed |= stated
    unreached = [name for name in definitions if name not in placed]
    for name in list(unreached):
        unreached += sorted(reachable_definitions(definitions[name], definitions) - set(unreached))
    if not unreached:
        return {}
    layout = {NAMESPACE: {"definitions": {f"$defs/{name}": name for name in unreached}}}
    schemas: dict[str, Json] = write_schema(AnyType(extensions=layout), definitions)["$defs"]
    return schemas


def _write_tool(capability: Capability, provider: Provider, dialect_id: str) -> dict[str, Json]:
    own: Mapping[str, Json] = capability.extensions.get(FORMAT_ID, {})
    members = {member_name(fact): value for fact, value in own.items() if is_member(fact)}
    written = _write_tool_meta(capability, members, dialect_id)
    tool: dict[str, Json] = {"name": capability.id}
    if capability.title is not None and own.get(TITLE_FACT) != "annotations":
        tool["title"] = capability.title
    if capability.description is not None:
        tool["description"] = capability.description
    tool["inputSchema"] = _write_root(capability.input, provider)
    output = capability.output
    if output is not None:
        schema = _write_root(output, provider)
        if isinstance(schema, bool):
            written["output"] = schema
        else:
            tool["outputSchema"] = schema
    annotations = _write_annotations(capability, own)
    if annotations is not None:
        tool["annotations"] = annotations
    tool.update(members)
    meta = {**members_of_container(own, META_POINTER), **({TOOL_META: written} if written else {})}
    if meta:
        tool["_meta"] = meta
    return tool


def _write_root(root: Type, provider: Provider) -> Json:
    return write_schema(root, provider.definitions)


def _write_tool_meta(capability: Capability, members: dict[str, Json], dialect_id: str) -> dict[str, Json]:
    """Return what our `_meta` key holds, and take from `members` what the revision has no place for."""
    written: dict[str, Json] = {}
    if capability.version is not None:
        written["version"] = capability.version
    access = stated_rules(capability.access)
    if access:
        written["access"] = access
    if dialect_id == MODERN:
        removed = {name: members.pop(name) for name in sorted(_MEMBERS_OF_HANDSHAKE & members.keys())}
        if removed:
            written["members"] = removed
    extensions = _of_others(capability.extensions)
    if extensions:
        written["extensions"] = extensions
    return written


def _write_annotations(capability: Capability, own: Mapping[str, Json]) -> dict[str, Json] | None:
    annotations: dict[str, Json] = {}
    if capability.title is not None and TITLE_FACT in own:
        annotations["title"] = capability.title
    annotations.update(members_of_container(own, ANNOTATIONS_POINTER))
    for word, name in HINTS.items():
        hint = getattr(capability.effects, name) if capability.effects is not None else None
        if hint is not None:
            annotations[word] = hint
    return annotations if annotations or ANNOTATIONS_FACT in own else None


def size_for_models(provider: Provider, writing: Writing) -> tuple[int, ...] | None:
    """Return the bytes of each tool's canonical JSON without `_meta`; None where it cannot be written.

    Args:
        provider: What was written.
        writing: The outcome in the default dialect.
    """
    if provider.protocol == FORMAT_ID and provider.extensions:
        # Written back as the kind of document that it was read from; without these facts it is a result.
        try:
            writing = write(provider.changed({"extensions": {}}), TABLES.dialects[0])
        except DroidgateError:
            return None
    tools = parse_json(writing.artifacts[0].text, limits=WRITTEN)["tools"]
    return tuple(map(_size_of, tools))


def _size_of(tool: Mapping[str, Json]) -> int:
    visible_members = {name: value for name, value in tool.items() if name != "_meta"}
    return len(canonical_json(visible_members).encode("utf-8", "surrogatepass"))
