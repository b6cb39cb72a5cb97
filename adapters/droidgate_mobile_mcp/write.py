"""Writing a provider: the capability descriptor, the manifest that names it, and the texts of the
manifest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from droidgate_android.projects.manifest_limits import MAX_META_DATA
from droidgate_mappings.fit import Fitted, Loss, fit_provider
from droidgate_mappings.formats.component_reading import enabled_attribute, enabled_resources
from droidgate_mappings.formats.format import Artifact, Writing
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json, pointer_token
from droidgate_mappings.model.types import ObjectType, Property, Type
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.loading import DialectTable
from droidgate_mappings.text.aapt_text import (
    MAX_STRING_RESOURCE_BYTES,
    escape_attribute_value,
    escape_string_resource,
    escape_xml_attribute,
    fits_a_resource,
)
from droidgate_mappings.text.utf16 import utf16_length
from droidgate_mappings.text.xml_text import escape_text, quoted_attribute
from droidgate_mobile_mcp.extension_facts import facts_of, keep_writable_facts, word_of
from droidgate_mobile_mcp.format import FORMAT_ID, FORMS, NAMES, DescriptorForm

_CUT_TEXT: Final = Loss(
    finding_code(
        "text-truncated",
        "A text longer than an Android string resource or manifest can hold is cut at its end",
        __name__,
    ),
    Level.DROPPED,
    "{earlier}the text is longer than {limit} and is cut",
)

_DECLARATION: Final = '<?xml version="1.0" encoding="utf-8"?>\n'
_ANDROID_URI: Final = "http://schemas.android.com/apk/res/android"
_SHORT: Final = 100
_ELLIPSIS: Final = "\u2026"
_FOREGROUND: Final = "foregroundServiceType"
_STRINGS_PATH: Final = "res/values/mobile_mcp_strings.xml"


def write(provider: Provider, dialect: DialectTable) -> Writing:
    """Write a provider in a dialect: `AndroidManifest.xml`, the descriptor, and the strings that the manifest
    names.

    Raises:
        WriteError: the dialect is not written.
    """
    fitted = _fit(provider, dialect)
    artifacts = tuple(_artifacts(fitted.provider, FORMS[dialect.id]))
    return Writing(artifacts, fitted.provider, fitted.findings, fitted.names)


def find_losses(provider: Provider, dialect: DialectTable) -> tuple[Finding, ...]:
    """Return the findings of writing a provider of another format that holds no facts of this one.

    Raises:
        WriteError: the dialect is not written.
    """
    return _fit(provider, dialect).findings


def _fit(provider: Provider, dialect: DialectTable) -> Fitted:
    if dialect.capacity is None:
        raise WriteError(f"{FORMAT_ID}+{dialect.id} is only read", hint=dialect.not_written_because)
    fitted = fit_provider(provider, dialect.capacity, FORMAT_ID, dialect.id)
    written, unwritable = keep_writable_facts(fitted.provider, FORMS[dialect.id])
    written, findings = _cut_long_texts(written, (*fitted.findings, *unwritable))
    return Fitted(written, findings, fitted.names)


def _fits_a_manifest(text: str) -> bool:
    return utf16_length(text) <= MAX_META_DATA


def _cut(text: str, fits: Callable[[str], bool]) -> str:
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(text[:middle] + _ELLIPSIS):
            low = middle
        else:
            high = middle - 1
    return text[:low] + _ELLIPSIS


def _cut_long_texts(provider: Provider, findings: Iterable[Finding]) -> tuple[Provider, tuple[Finding, ...]]:
    """Return a fitted provider whose descriptor aapt2 can store and whose manifest Android takes
    (`manifest_limits`), and the findings, those about cut texts among them.

    A leaf that has a finding already keeps the one, of the graver level.
    """
    reported = tuple(findings)
    cutter = _Cutter({finding.pointer: finding for finding in reported})
    capabilities = [
        cutter.capability(capability, f"/capabilities/{at}")
        for at, capability in enumerate(provider.capabilities)
    ]
    texts = {
        field: cutter.text(getattr(provider, field), f"/{field}", of_manifest=True)
        for field in ("name", "description")
    }
    if not cutter.any_cut:
        return provider, reported
    update = {**texts, "capabilities": tuple(capabilities)}
    return provider.changed(update), tuple(cutter.findings.values())


@dataclass(slots=True)
class _Cutter:
    findings: dict[str, Finding]
    any_cut: bool = False

    def text(self, text: str | None, pointer: str, *, of_manifest: bool = False) -> str | None:
        fits = _fits_a_manifest if of_manifest else fits_a_resource
        if text is None or fits(text):
            return text
        self.any_cut = True
        limit = f"{MAX_META_DATA} characters" if of_manifest else f"{MAX_STRING_RESOURCE_BYTES} bytes"
        finding = self.findings.get(pointer)
        earlier, source = ("", None) if finding is None else (f"{finding.message}; ", finding.source)
        self.findings[pointer] = _CUT_TEXT.finding(pointer, source=source, earlier=earlier, limit=limit)
        return _cut(text, fits)

    def capability(self, capability: Capability, pointer: str) -> Capability:
        update = {
            "description": self.text(capability.description, f"{pointer}/description"),
            "version": self.text(capability.version, f"{pointer}/version"),
            "input": self.parameters(capability.input, f"{pointer}/input"),
            "output": self.parameters(capability.output, f"{pointer}/output"),
        }
        return capability.changed(update) if self.any_cut else capability

    def parameters(self, type_: Type | None, pointer: str) -> Type | None:
        if not isinstance(type_, ObjectType):
            return type_
        cut: dict[str, Property] = {}
        for name, property_ in type_.properties.items():
            text = property_.type.description
            shorter = self.text(text, f"{pointer}/properties/{pointer_token(name)}/type/description")
            if shorter is not text:
                changed = property_.type.changed({"description": shorter})
                cut[name] = property_.changed({"type": changed})
        return type_.changed({"properties": {**type_.properties, **cut}}) if cut else type_


def _artifacts(provider: Provider, form: DescriptorForm) -> Iterator[Artifact]:
    facts = facts_of(provider.extensions)
    reference: str = facts.get("resource", NAMES["descriptor_resource"])
    yield Artifact("AndroidManifest.xml", _write_manifest(provider, form, reference), "manifest")
    literal = reference.startswith("@raw/")
    text = _DescriptorWriter(literal=literal).write(provider, form)
    yield Artifact(f"res/{reference[1:]}.xml", text, "descriptor")
    strings = _write_strings(provider)
    if strings is not None:
        yield Artifact(_STRINGS_PATH, strings, "resource")
    yield from enabled_resources(provider)


_compiled = lru_cache(maxsize=4096)(escape_xml_attribute)


@dataclass(slots=True)
class _DescriptorWriter:
    """Writes one descriptor.

    Attributes:
        literal: The texts are not compiled, so they need no escapes of the compiler.
        prefixes: Namespace -> prefix, filled as names are written.
    """

    literal: bool = False
    prefixes: dict[str, str] = field(default_factory=dict)

    def write(self, provider: Provider, form: DescriptorForm) -> str:
        """Return the text of a provider's descriptor."""
        facts = facts_of(provider.extensions)
        lines: list[str] = []
        for capability in provider.capabilities:
            lines.extend(self.capability_lines(capability))
        lines.extend(self.rest_lines(facts, "    "))
        version = facts.get("version", form.version)
        attributes = "" if version is None else f" version={quoted_attribute(version)}"
        attributes += self.other_attributes(facts, " ")
        declared = "".join(
            f" xmlns:{prefix}={quoted_attribute(uri)}" for uri, prefix in self.prefixes.items()
        )
        opening = f"<{form.root}{declared}{attributes}"
        if not lines:
            return f"{_DECLARATION}{opening} />\n"
        return f"{_DECLARATION}{opening}>\n" + "\n".join(lines) + f"\n</{form.root}>\n"

    def capability_lines(self, capability: Capability) -> Iterator[str]:
        """Yield the lines of one `<capability>`."""
        facts = facts_of(capability.extensions)
        texts = {"id": capability.id, "description": capability.description, "version": capability.version}
        opening = "    <capability" + self.attributes(texts, facts, "\n        ")
        inner = [
            *self.parameter_lines("input", capability.input, facts),
            *self.parameter_lines("output", capability.output, facts),
            *self.rest_lines(facts, "        "),
        ]
        if not inner:
            yield f"{opening} />"
            return
        yield f"{opening}>"
        yield from inner
        yield "    </capability>"

    def parameter_lines(self, role: str, value: object, facts: Mapping[str, Json]) -> Iterator[str]:
        """Yield the lines of an `<input>` or `<output>`; an empty input only where its source has it."""
        if not isinstance(value, ObjectType):
            return
        if role == "input" and not value.properties and not {role, "empty-input"} & facts.keys():
            return
        rest = facts.get(role, {})
        opening = f"        <{role}{self.other_attributes(rest, ' ')}"
        inner = [
            line
            for name, property_ in value.properties.items()
            for line in self.parameter(name, property_, role)
        ]
        inner.extend(self.rest_lines(rest, "            "))
        if not inner:
            yield f"{opening} />"
            return
        yield f"{opening}>"
        yield from inner
        yield f"        </{role}>"

    def parameter(self, name: str, property_: Property, role: str) -> Iterator[str]:
        """Yield the lines of one `<param>`."""
        facts = facts_of(property_.extensions)
        texts: dict[str, str | None] = {"name": name, "type": word_of(property_.type)}
        if role == "input":
            texts["required"] = "true" if property_.required else "false"
        texts["description"] = property_.type.description
        opening = "            <param" + self.attributes(texts, facts, "\n                ")
        inner = list(self.rest_lines(facts, "                "))
        if not inner:
            yield f"{opening} />"
            return
        yield f"{opening}>"
        yield from inner
        yield "            </param>"

    def attributes(self, named: Mapping[str, str | None], facts: Mapping[str, Json], separator: str) -> str:
        """Return the known attributes of an element and then its others, each after `separator`."""
        references = facts.get("references", ())
        written = [
            f"{separator}{name}={quoted_attribute(text if name in references else self.compiled(text))}"
            for name, text in named.items()
            if text is not None
        ]
        return "".join(written) + self.other_attributes(facts, separator)

    def compiled(self, text: str) -> str:
        """Return what has to be in the source so that a device reads the text."""
        if self.literal:
            return text
        return _compiled(text) if len(text) <= _SHORT else escape_xml_attribute(text)

    def other_attributes(self, rest: Mapping[str, Json], separator: str) -> str:
        """Return the attributes that are not part of the protocol, as their source has them."""
        attributes: dict[str, str] = rest.get("attributes", {})
        return "".join(
            f"{separator}{self.name(name)}={quoted_attribute(raw)}" for name, raw in attributes.items()
        )

    def rest_lines(self, rest: Mapping[str, Json], indent: str) -> Iterator[str]:
        """Yield the elements and the text that are not part of the protocol."""
        for tree in rest.get("elements", ()):
            yield indent + self.element(tree)
        if "text" in rest:
            yield indent + escape_text(rest["text"])

    def element(self, tree: Mapping[str, Json]) -> str:
        """Return an element that is not part of the protocol, on one line."""
        tag = self.name(tree["tag"])
        opening = tag + self.other_attributes(tree, " ")
        content = tree.get("content", ())
        if not content:
            return f"<{opening} />"
        inner = "".join(
            escape_text(item) if isinstance(item, str) else self.element(item) for item in content
        )
        return f"<{opening}>{inner}</{tag}>"

    def name(self, name: str) -> str:
        """Return a name in its prefixed form."""
        if not name.startswith("{"):
            return name
        uri, _, local = name[1:].partition("}")
        if uri == "http://www.w3.org/XML/1998/namespace":
            return f"xml:{local}"
        usual = "android" if uri == _ANDROID_URI else f"n{len(self.prefixes)}"
        return f"{self.prefixes.setdefault(uri, usual)}:{local}"


def _write_manifest(provider: Provider, form: DescriptorForm, reference: str) -> str:
    facts = facts_of(provider.extensions)
    package = "" if provider.package is None else f"\n    package={quoted_attribute(provider.package)}"
    lines = [f'<manifest xmlns:android="{_ANDROID_URI}"{package}>', ""]
    application = [
        f'        android:{attribute}="@string/{NAMES[string]}"'
        for attribute, string, text in (
            ("label", "name_string", provider.name),
            ("description", "description_string", provider.description),
        )
        if text is not None and fits_a_resource(text)
    ]
    lines.append("\n".join(["    <application", *application]) + ">")
    at_application = facts.get("at-application", ())
    entries = dict(_meta_data(provider, form, reference, facts.get("keys", {})))
    for role, entry in entries.items():
        if role in at_application:
            lines.extend(_meta_data_lines(*entry, "        "))
    lines.append(
        "        <service"
        + "".join(
            f"\n            {service_attribute}" for service_attribute in _service_attributes(provider, facts)
        )
        + ">"
    )
    for fact in facts.get("filters", ({"actions": [form.action], "categories": []},)):
        lines.extend(_filter_lines(fact))
    for role, entry in entries.items():
        if role not in at_application:
            lines.extend(_meta_data_lines(*entry, "            "))
    lines.extend(["        </service>", "    </application>", "</manifest>"])
    return _DECLARATION + "\n".join(lines) + "\n"


def _service_attributes(provider: Provider, facts: Mapping[str, Json]) -> Iterator[str]:
    yield f"android:name={quoted_attribute(escape_attribute_value(provider.component or ''))}"
    access, enabled = provider.access, enabled_attribute(provider)
    if access.exported is not None:
        yield f'android:exported="{"true" if access.exported else "false"}"'
    if enabled is not None:
        yield f"android:enabled={quoted_attribute(enabled)}"
    if access.permission is not None:
        yield f"android:permission={quoted_attribute(escape_attribute_value(access.permission))}"
    if _FOREGROUND in facts:
        yield f"android:{_FOREGROUND}={quoted_attribute(facts[_FOREGROUND])}"


def _meta_data(
    provider: Provider, form: DescriptorForm, reference: str, keys: Mapping[str, str]
) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Yield role -> name, attribute and value of each meta-data."""
    for role, string, text in (
        ("name", "name_string", provider.name),
        ("description", "description_string", provider.description),
    ):
        if text is not None:
            # A string resource's limit is in bytes, and lower than a manifest's.
            value = f"@string/{NAMES[string]}" if fits_a_resource(text) else escape_attribute_value(text)
            yield role, (keys.get(role, form.keys[role]), "value", value)  # type: ignore[index]
    yield "capabilities", (keys.get("capabilities", form.keys["capabilities"]), "resource", reference)


def _meta_data_lines(name: str, attribute: str, value: str, indent: str) -> Iterator[str]:
    yield f"{indent}<meta-data"
    yield f"{indent}    android:name={quoted_attribute(name)}"
    yield f"{indent}    android:{attribute}={quoted_attribute(value)} />"


def _filter_lines(names: Mapping[str, list[str]]) -> Iterator[str]:
    yield "            <intent-filter>"
    for tag, kind in (("action", "actions"), ("category", "categories")):
        for name in names[kind]:
            yield f"                <{tag} android:name={quoted_attribute(name)} />"
    yield "            </intent-filter>"


def _write_strings(provider: Provider) -> str | None:
    lines = []
    for string, text in (("name_string", provider.name), ("description_string", provider.description)):
        if text is not None and fits_a_resource(text):
            formatted = ' formatted="false"' if "%" in text else ""
            content = escape_text(escape_string_resource(text))
            lines.append(f'    <string name="{NAMES[string]}"{formatted}>{content}</string>')
    if not lines:
        return None
    return f"{_DECLARATION}<resources>\n" + "\n".join(lines) + "\n</resources>\n"
