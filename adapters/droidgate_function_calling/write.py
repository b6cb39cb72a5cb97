"""Writing tool lists of OpenAI, Anthropic and Gemini.

`fit_provider` decides what can be said; what is left is written without loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from droidgate_function_calling.strict import is_strict, make_strict, write_strict_schema
from droidgate_function_calling.tables import (
    ANTHROPIC,
    FORMAT_ID,
    GEMINI,
    OPENAI,
    OPENAI_CHAT,
    OPENAI_STRICT,
    TABLES,
)
from droidgate_mappings.fit import fit_provider, losses
from droidgate_mappings.formats.format import Artifact, Writing
from droidgate_mappings.json_schema import NAMESPACE, NOTATION, add_discriminators, write_schema
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json, pointer_name, pointer_token, readable_json
from droidgate_mappings.model.types import AnyType, Extensions, Type
from droidgate_mappings.tables.capacity import Capacity
from droidgate_mappings.tables.loading import DialectTable

FILE_NAME: Final = "tools.json"

TOO_MANY_TOOLS: Final = finding_code(
    "too-many-tools", "The vendor's API refuses a list of so many tools; give it some of them", __name__
)

_Facts = Mapping[str, Json]
_Tool = dict[str, Json]


def write(provider: Provider, dialect: DialectTable) -> Writing:
    """Write a provider as the `tools` of a request, or as the request that it was read from.

    Raises:
        WriteError: the dialect is not written.
    """
    if dialect.capacity is None:
        raise WriteError(f"{FORMAT_ID}+{dialect.id} is not written")
    is_same_dialect = provider.protocol == FORMAT_ID and provider.dialect == dialect.id
    capacity = _own_capacity(dialect.capacity) if is_same_dialect else dialect.capacity
    reported: list[Finding] = []
    changed = provider if is_same_dialect else _without_facts(provider, reported)
    fitted = fit_provider(changed, capacity, FORMAT_ID, dialect.id)
    written = _with_schema_objects(fitted.provider, reported)
    findings = (*reported, *fitted.findings)
    if provider.protocol != FORMAT_ID:
        written, added = add_discriminators(written)
        findings = (*findings, *added)
    if dialect.id == OPENAI_STRICT:
        written, findings = make_strict(provider, written, findings)
    findings = (*findings, *_count(written, dialect))
    artifact = Artifact(FILE_NAME, readable_json(_document(written, dialect.id)) + "\n", "document")
    return Writing((artifact,), written, findings, fitted.names)


def _own_capacity(capacity: Capacity) -> Capacity:
    """Return what a list carries of a list of the same dialect: all that the reader found."""
    everything = TABLES.dialects[0].capacity
    if everything is None:
        raise AssertionError(TABLES.dialects[0].id)
    return everything.model_copy(
        update={
            "extensions": everything.extensions | {NAMESPACE, NOTATION},
            "input_shape": "any",
            "output_shape": capacity.output_shape,
            "top_words_excluded": frozenset(),
            "own_dialects": None,
        }
    )


def _count(provider: Provider, dialect: DialectTable) -> tuple[Finding, ...]:
    most, count = dialect.most_capabilities, len(provider.capabilities)
    if most is None or count <= most:
        return ()
    return (
        Finding(
            code=TOO_MANY_TOOLS,
            level=Level.IMPOSSIBLE,
            pointer="/capabilities",
            message=f"the list has {count} tools; the API takes {most} at once",
            hint="send the tools that a conversation needs",
            source=provider.source,
        ),
    )


def _without_facts(provider: Provider, reported: list[Finding]) -> Provider:
    """Return a provider without the facts of another vendor's list."""
    capabilities = tuple(
        capability.changed(
            {"extensions": _others(capability.extensions, f"/capabilities/{position}", reported)}
        )
        for position, capability in enumerate(provider.capabilities)
    )
    extensions = _others(provider.extensions, "", reported)
    return provider.changed({"extensions": extensions, "capabilities": capabilities})


def _others(extensions: Extensions, pointer: str, reported: list[Finding]) -> Extensions:
    own = extensions.get(FORMAT_ID)
    if own is None:
        return extensions
    for fact in own:
        leaf = f"{pointer}/extensions/{FORMAT_ID}/{pointer_token(fact)}"
        loss = losses.VENDOR_NOTATION if fact in TABLES.notations else losses.VENDOR_FACT
        reported.append(loss.finding(leaf, fact=fact))
    return {format_id: facts for format_id, facts in extensions.items() if format_id != FORMAT_ID}


def _with_schema_objects(provider: Provider, reported: list[Finding]) -> Provider:
    """Return a provider whose outputs are JSON objects as schemas, not `true` or `false`."""
    capabilities = tuple(
        _with_schema_object(capability, f"/capabilities/{position}/output", reported)
        for position, capability in enumerate(provider.capabilities)
    )
    return provider.changed({"capabilities": capabilities})


def _with_schema_object(capability: Capability, pointer: str, reported: list[Finding]) -> Capability:
    output = capability.output
    if not isinstance(output, AnyType) or output.boolean is None:
        return capability
    keywords: dict[str, Json] = {} if output.boolean else {"not": {}}
    leaves = ("boolean", *(f"keywords/{word}" for word in keywords))
    reported += [losses.VENDOR_SCHEMA.finding(f"{pointer}/{leaf}") for leaf in leaves]
    return capability.changed({"output": output.changed({"boolean": None, "keywords": keywords})})


def _document(provider: Provider, dialect_id: str) -> Json:
    facts = provider.extensions.get(FORMAT_ID, {})
    write_tool = _TOOLS[dialect_id]
    tools: list[Json] = [
        write_tool(_common(capability), capability, provider) for capability in provider.capabilities
    ]
    if dialect_id == GEMINI and tools:
        tools = [{"functionDeclarations": tools}]
    if not facts:
        return tools
    return {**{pointer_name(fact[1:]): value for fact, value in facts.items()}, "tools": tools}


def _common(capability: Capability) -> _Tool:
    described = {} if capability.description is None else {"description": capability.description}
    return {"name": capability.id, **described}


def _facts_of(capability: Capability) -> _Facts:
    return capability.extensions.get(FORMAT_ID, {})


def _schema(type_: Type, provider: Provider) -> Json:
    return write_schema(type_, provider.definitions)


def _write_openai(tool: _Tool, capability: Capability, provider: Provider) -> _Tool:
    written = {"type": "function", **tool, "parameters": _schema(capability.input, provider), "strict": False}
    if capability.output is not None:
        written["output_schema"] = _schema(capability.output, provider)
    return {**written, **_facts_of(capability)}


def _write_openai_strict(tool: _Tool, capability: Capability, provider: Provider) -> _Tool:
    if not is_strict(capability, provider.definitions):
        return _write_openai(tool, capability, provider)
    schema = write_strict_schema(capability.input, provider.definitions)
    return {"type": "function", **tool, "parameters": schema, "strict": True}


def _write_openai_chat(tool: _Tool, capability: Capability, provider: Provider) -> _Tool:
    facts = dict(_facts_of(capability))
    wrapper: Any = facts.pop("wrapper", {})
    function = {**tool, "parameters": _schema(capability.input, provider), **facts}
    return {"type": "function", "function": function, **wrapper}


def _write_anthropic(tool: _Tool, capability: Capability, provider: Provider) -> _Tool:
    return {**tool, "input_schema": _schema(capability.input, provider), **_facts_of(capability)}


def _write_gemini(tool: _Tool, capability: Capability, provider: Provider) -> _Tool:
    written = {**tool, "parametersJsonSchema": _schema(capability.input, provider)}
    if capability.output is not None:
        written["responseJsonSchema"] = _schema(capability.output, provider)
    return {**written, **_facts_of(capability)}


_TOOLS: Final[Mapping[str, Callable[[_Tool, Capability, Provider], _Tool]]] = {
    OPENAI: _write_openai,
    OPENAI_STRICT: _write_openai_strict,
    OPENAI_CHAT: _write_openai_chat,
    ANTHROPIC: _write_anthropic,
    GEMINI: _write_gemini,
}
