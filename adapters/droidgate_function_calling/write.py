"""Writing tool lists of OpenAI, Anthropic and Gemini.

`fit_provider` decides what can be said; what is left is written without loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from droidgate_function_calling.format import (
    ANTHROPIC,
    FORMAT_ID,
    GEMINI,
    OPENAI,
    OPENAI_CHAT,
    TABLES,
)
from droidgate_mappings.fit import Loss, fit_provider, without_own_facts
from droidgate_mappings.formats.format import Artifact, Writing
from droidgate_mappings.json_schema import NAMESPACE, NOTATION, add_discriminators, write_schema
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import (
    Json,
    pointer_name,
    readable_json,
)
from droidgate_mappings.model.types import (
    AnyType,
    Type,
)
from droidgate_mappings.tables.capacity import Capacity
from droidgate_mappings.tables.loading import DialectTable

_SCHEMA_OBJECT: Final = Loss(
    "notation-dropped", Level.RENAMED, "the target takes a JSON object as a schema; it means the same"
)
FILE_NAME: Final = "tools.json"

_TOO_MANY_TOOLS: Final = Loss(
    finding_code(
        "too-many-tools", "The vendor's API refuses a list of so many tools; give it some of them", __name__
    ),
    Level.IMPOSSIBLE,
    "the list has {count} tools; the API takes {most} at once",
    "send the tools that a conversation needs",
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
    changed = provider
    if not is_same_dialect:
        # Facts of another vendor's list.
        changed = without_own_facts(provider, TABLES, lambda _: True, reported)
    fitted = fit_provider(changed, capacity, FORMAT_ID, dialect.id)
    written = _with_schema_objects(fitted.provider, reported)
    findings = (*reported, *fitted.findings)
    if provider.protocol != FORMAT_ID:
        written, added = add_discriminators(written, fitted.names)
        findings = (*findings, *added)
    findings = (*findings, *_count(written, dialect))
    artifact = Artifact(FILE_NAME, readable_json(_document(written, dialect.id)) + "\n", "document")
    return Writing((artifact,), written, findings, fitted.names)


def _own_capacity(capacity: Capacity) -> Capacity:
    """Return what a list carries of a list of the same dialect: all that the reader found."""
    everything = TABLES.dialects[0].capacity
    if everything is None:
        raise AssertionError(TABLES.dialects[0].id)
    return everything.changed(
        {
            "extensions": everything.extensions | {NAMESPACE, NOTATION},
            "input_shape": "any",
            "output_shape": capacity.output_shape,
            "most_description": capacity.most_description,
            "top_words_excluded": frozenset(),
            "alike_dialects": None,
        }
    )


def _count(provider: Provider, dialect: DialectTable) -> tuple[Finding, ...]:
    most, count = dialect.most_capabilities, len(provider.capabilities)
    if most is None or count <= most:
        return ()
    return (_TOO_MANY_TOOLS.finding("/capabilities", source=provider.source, count=count, most=most),)


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
    reported += [_SCHEMA_OBJECT.finding(f"{pointer}/{leaf}") for leaf in leaves]
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


def _write_openai_chat(tool: _Tool, capability: Capability, provider: Provider) -> _Tool:
    facts = dict(_facts_of(capability))
    wrapper: Any = facts.pop("wrapper", {})
    function = {**tool, "parameters": _schema(capability.input, provider), **facts}
    return {"type": "function", "function": function, **wrapper}


def _write_anthropic(tool: _Tool, capability: Capability, provider: Provider) -> _Tool:
    return {
        **tool,
        "input_schema": _schema(capability.input, provider),
        **_facts_of(capability),
    }


def _write_gemini(tool: _Tool, capability: Capability, provider: Provider) -> _Tool:
    written = {**tool, "parametersJsonSchema": _schema(capability.input, provider)}
    if capability.output is not None:
        written["responseJsonSchema"] = _schema(capability.output, provider)
    return {**written, **_facts_of(capability)}


_TOOLS: Final[Mapping[str, Callable[[_Tool, Capability, Provider], _Tool]]] = {
    OPENAI: _write_openai,
    OPENAI_CHAT: _write_openai_chat,
    ANTHROPIC: _write_anthropic,
    GEMINI: _write_gemini,
}
