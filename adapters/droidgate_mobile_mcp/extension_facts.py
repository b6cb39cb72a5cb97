"""The facts of `extensions["mobile-mcp"]`, and what a writer does with those it cannot write.

| where | fact | value |
|---|---|---|
| provider | `version` | the descriptor's version, where it is another 1.x |
| provider | `resource` | the descriptor's reference, where it is not `@xml/mcp_capabilities` |
| provider | `filters` | the service's intent filters, where they are not the usual one |
| provider | `keys` | role -> meta-data name, where it is another dialect's |
| provider | `at-application` | the roles whose meta-data is at the application |
| provider | `application-access` | the access rules that the application element states, not the service |
| provider | `foregroundServiceType` | the service's attribute of this name |
| capability, property | `references` | attributes whose text is a resource reference |
| capability | `input`, `output` | what the element holds in addition to parameters |
| capability | `empty-input` | true for an `<input>` without parameters |
| type | `word-as-written` | another word, or another spelling, of the same type, such as `String` |
| type | `word` | a type word that is not known, or that means more than the type it is read as |
| provider, capability, property | `attributes`, `elements`, `text` | the other parts of the element |

`application-access` is never written: the rules are written at the service, where they mean the same.
Attributes and elements are in source form, as `droidgate_mobile_mcp.capabilities_document` reads them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json, pointer_token
from droidgate_mappings.model.types import ArrayType, Extensions, ObjectType, Property, ScalarType, Type
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.aapt_text import reference_in
from droidgate_mappings.text.xml_text import NOT_XML, TOOLS
from droidgate_mobile_mcp.format import (
    ACTIONS,
    FORMAT_ID,
    KEYS,
    NAMES,
    SAME_MAJOR,
    TABLES,
    WORDS,
    DescriptorForm,
)

Check = Callable[[Json], bool]


_REFERENCE: Final = re.compile(r"@(xml|raw)/[a-z][a-z0-9_]*")
_XML_NAME: Final = re.compile(r"(\{[^{}\s<>&\"]+\})?[A-Za-z_][A-Za-z0-9_.-]*")


def facts_of(extensions: Extensions) -> Mapping[str, Json]:
    """Return this format's facts among extensions."""
    return extensions.get(FORMAT_ID) or {}


def _is_text(value: Json) -> bool:
    return isinstance(value, str) and NOT_XML.search(value) is None


def _is_mapping_of(key: Check, value: Check) -> Check:
    return lambda found: (
        isinstance(found, dict) and bool(found) and all(key(item) and value(found[item]) for item in found)
    )


def _is_list_of(member: Check) -> Check:
    return lambda found: isinstance(found, list) and bool(found) and all(map(member, found))


def _is_name(value: Json) -> bool:
    return isinstance(value, str) and _XML_NAME.fullmatch(value) is not None


def _is_element(value: Json) -> bool:
    if (
        not isinstance(value, dict)
        or not _is_name(value.get("tag"))
        or not value.keys() <= {"tag", "attributes", "content"}
    ):
        return False
    content = value.get("content", [])
    attributes = value.get("attributes", {})
    return (
        isinstance(content, list)
        and isinstance(attributes, dict)
        and all(_is_name(name) and _is_text(text) for name, text in attributes.items())
        and all(_is_trimmed(item) or _is_element(item) for item in content)
    )


def _is_trimmed(value: Json) -> bool:
    return _is_text(value) and bool(value) and value == value.strip()


def _is_filter(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"actions", "categories"}
        and all(isinstance(names, list) and all(map(_is_text, names)) for names in value.values())
    )


def _is_role(value: Json) -> bool:
    return value in KEYS


def _unknown_part_checks(*known: str) -> dict[str, Check]:
    """Return the checks of what an element holds in addition to its known attributes."""
    return {
        "attributes": _is_mapping_of(
            lambda name: _is_name(name) and name not in known and not name.startswith(TOOLS), _is_text
        ),
        "elements": _is_list_of(_is_element),
        "text": _is_trimmed,
    }


_NO_PARAMETERS: Final = ObjectType()
_REST: Final = _unknown_part_checks()
_SERVICE: Final[dict[str, Check]] = {"foregroundServiceType": _is_text}


def _provider_checks(form: DescriptorForm, facts: Mapping[str, Json]) -> dict[str, Check]:
    """Return the checks of a provider's facts: only what a reader would find in a file of this form."""
    usual = [{"actions": [form.action], "categories": []}]
    keys = facts.get("keys")
    used = {**form.keys, **keys} if isinstance(keys, dict) else form.keys
    checks = {
        **(_unknown_part_checks("version") if form.root == NAMES["root"] else _REST),
        **_SERVICE,
        "resource": lambda value: (
            isinstance(value, str)
            and _REFERENCE.fullmatch(value) is not None
            and value != NAMES["descriptor_resource"]
        ),
        "filters": lambda value: (
            isinstance(value, list)
            and value != usual
            and all(map(_is_filter, value))
            and any(action in item["actions"] for item in value for action in ACTIONS)
        ),
        "keys": lambda value: (
            isinstance(value, dict)
            and bool(value)
            and all(
                _is_role(role) and value[role] in KEYS[role] and value[role] != form.keys[role]
                for role in value
            )
        ),
        "at-application": lambda value: (
            isinstance(value, list)
            and bool(value)
            and all(_is_role(role) and used[role] == KEYS[role][1] for role in value)
        ),
    }
    if form.version is not None:
        checks["version"] = lambda value: (
            isinstance(value, str) and value != form.version and SAME_MAJOR.fullmatch(value) is not None
        )
    return checks


def _is_rest(value: Json) -> bool:
    return isinstance(value, dict) and all(name in _REST and _REST[name](value[name]) for name in value)


_CAPABILITY: Final[dict[str, Check]] = {
    **_unknown_part_checks("id", "description", "version"),
    "output": lambda value: _is_rest(value) and bool(value),
}


_INPUT: Final = _unknown_part_checks("name", "type", "required", "description")
_OUTPUT: Final = _unknown_part_checks("name", "type", "description")


def _are_references(texts: Mapping[str, str | None]) -> Check:
    """Return the check that a value lists, in order, attributes whose text is a resource reference."""
    usable = [
        name
        for name, text in texts.items()
        if text is not None and text == text.strip() and reference_in(text) is not None
    ]
    return lambda value: isinstance(value, list) and value == [item for item in usable if item in value] != []


def keep_writable_facts(provider: Provider, form: DescriptorForm) -> tuple[Provider, tuple[Finding, ...]]:
    """Return a fitted provider without those facts of this format that its dialect cannot write, and a
    finding for each.

    Facts of a reader are always written in the dialect they were read from; others come from another dialect,
    or from a model that was made or changed by hand.
    """
    keeper = _Keeper(form)
    return keeper.provider(provider), tuple(keeper.findings)


@dataclass(slots=True)
class _Keeper:
    form: DescriptorForm
    findings: list[Finding] = field(default_factory=list)
    literal: bool = False

    def provider(self, provider: Provider) -> Provider:
        checks = _provider_checks(self.form, facts_of(provider.extensions))
        changes: dict[str, Any] = {"extensions": self.keep(provider.extensions, checks, "")}
        self.literal = str(facts_of(changes["extensions"]).get("resource", "")).startswith("@raw/")
        capabilities = [
            self.capability(capability, f"/capabilities/{at}")
            for at, capability in enumerate(provider.capabilities)
        ]
        changes["capabilities"] = tuple(capabilities)
        return provider.changed(changes)

    def capability(self, capability: Capability, pointer: str) -> Capability:
        if not capability.extensions and capability.output is None and capability.input == _NO_PARAMETERS:
            return capability
        texts = {"id": capability.id, "description": capability.description, "version": capability.version}
        checks = {**_CAPABILITY, **self.reference_check(texts)}
        no_parameters = isinstance(capability.input, ObjectType) and not capability.input.properties
        checks["input"] = lambda value: _is_rest(value) and bool(value)
        checks["empty-input"] = lambda value: value is True and no_parameters
        if capability.output is None:
            del checks["output"]
        extensions = self.keep(capability.extensions, checks, pointer)
        inputs = self.parameters(capability.input, f"{pointer}/input", _INPUT)
        returned = capability.output
        if returned is not None:
            returned = self.parameters(returned, f"{pointer}/output", _OUTPUT)
        if (
            extensions is capability.extensions
            and inputs is capability.input
            and returned is capability.output
        ):
            return capability
        return capability.changed({"extensions": extensions, "input": inputs, "output": returned})

    def parameters(self, type_: Type, pointer: str, checks: Mapping[str, Check]) -> Type:
        if not isinstance(type_, ObjectType):
            raise TypeError(type_.kind)
        extensions = self.keep(type_.extensions, {}, pointer)
        changed = {
            name: copy
            for name, property_ in type_.properties.items()
            if (copy := self.property(name, property_, f"{pointer}/properties/{pointer_token(name)}", checks))
            is not property_
        }
        if not changed and extensions is type_.extensions:
            return type_
        return type_.changed({"properties": {**type_.properties, **changed}, "extensions": extensions})

    def reference_check(self, texts: Mapping[str, str | None]) -> dict[str, Check]:
        """Return the check of `references`: raw resources have none, since nothing compiles them."""
        return {} if self.literal else {"references": _are_references(texts)}

    def property(self, name: str, property_: Property, pointer: str, checks: Mapping[str, Check]) -> Property:
        if not property_.extensions and not property_.type.extensions:
            return property_
        words = _word_checks(property_.type)
        type_extensions = self.keep(property_.type.extensions, words, f"{pointer}/type")
        kept_type = property_.type.changed({"extensions": type_extensions})
        texts = {"name": name, "type": word_of(kept_type), "description": kept_type.description}
        extensions = self.keep(property_.extensions, {**checks, **self.reference_check(texts)}, pointer)
        return property_.changed({"extensions": extensions, "type": kept_type})

    def keep(self, extensions: Extensions, checks: Mapping[str, Check], pointer: str) -> Extensions:
        facts = extensions.get(FORMAT_ID)
        if facts is None:
            return extensions

        def is_unwritable(fact: str) -> bool:
            return fact not in checks or not checks[fact](facts[fact])

        # Reading, which needs the names of facts only, takes longer with what fits.
        from droidgate_mappings.fit import without_facts

        return without_facts(extensions, TABLES, is_unwritable, pointer, self.findings)


def _word_checks(type_: Type) -> dict[str, Check]:
    has_word = "word" in facts_of(type_.extensions)

    def is_word(value: Json, fact: str) -> bool:
        return _is_text(value) and _is_word_of(value, type_.kind) and word_fact(value) == fact

    return {
        "word": lambda value: is_word(value, "word"),
        "word-as-written": lambda value: is_word(value, "word-as-written") and not has_word,
    }


def _is_word_of(word: str, kind: str) -> bool:
    return (
        kind in WORDS.write
        and WORDS.read.get(word.strip().lower(), "string") == kind
        and WORDS.write[kind] != word
    )


def word_of(type_: Type) -> str:
    """Return the type word of a fitted parameter's type."""
    if not isinstance(type_, ScalarType | ArrayType | ObjectType):
        raise TypeError(type_.kind)
    facts = facts_of(type_.extensions)
    word: str = facts.get("word", facts.get("word-as-written", WORDS.write[type_.kind]))
    return word


_NARROWER_WORDS: Final = frozenset({"short"})
"""Known words that name fewer values than the type they are read as."""


def word_fact(word: str) -> str:
    """Return the fact that holds an unusual type word, by whether it means the type of the usual word."""
    plain = word.strip().lower()
    return "word-as-written" if plain in WORDS.read and plain not in _NARROWER_WORDS else "word"
