"""Reading capability descriptors (specification 1.2), and the services of an application that have them
(1.1, 2).
"""

from __future__ import annotations

import re
from typing import Final

from droidgate_mappings.formats.application import Application, Component, MetaData, text_of_value
from droidgate_mappings.formats.component_reading import (
    TextAttribute,
    inherited_access,
    read_access,
    report_unknown_attributes,
    report_unknown_texts,
)
from droidgate_mappings.formats.format import Reading, SourceFile, read_each_component
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import ArrayType, Extensions, ObjectType, Property, ScalarType, Type
from droidgate_mappings.records import dataclass, field, replace
from droidgate_mobile_mcp.capabilities_document import (
    DescriptorDocument,
    Element,
    child_elements,
    element_tree,
    misplaced_parts,
    parse_document,
    shown_tag,
    unknown_parts,
    xpath_of,
)
from droidgate_mobile_mcp.extension_facts import word_fact
from droidgate_mobile_mcp.format import (
    ACTIONS,
    FORMAT_ID,
    FORMS,
    KEYS,
    NAMES,
    ROLES,
    SAME_MAJOR,
    WORDS,
    DescriptorForm,
    MetaRole,
)

_ROOT_ATTRIBUTES: Final = frozenset({"version"})
_NO_NAMES: Final[frozenset[str]] = frozenset()
_CAPABILITY_ATTRIBUTES: Final = frozenset({"id", "description", "version"})
_INPUT_ATTRIBUTES: Final = frozenset({"name", "type", "required", "description"})
_OUTPUT_ATTRIBUTES: Final = frozenset({"name", "type", "description"})
_IN_ROOT: Final = frozenset({"capability"})
_IN_CAPABILITY: Final = frozenset({"input", "output"})
_IN_PARAMETERS: Final = frozenset({"param"})
_DEFAULT_CAPABILITY_VERSION: Final = "1"


@dataclass(frozen=True, slots=True)
class DescriptorContent:
    """What a descriptor says: the dialect it is written in, its capabilities, and facts for the provider's
    extensions.
    """

    dialect: str
    capabilities: tuple[Capability, ...]
    facts: dict[str, Json] = field(default_factory=dict)


def read_file(source: SourceFile, context: ReadingContext) -> Reading:
    """Read one descriptor file: one provider without package, component, name and description.

    Raises:
        InputError: it is not a Mobile-MCP descriptor, or one of another major version.
    """
    document = parse_document(source.data, source.path, context=context)
    content = read_descriptor(document, context)
    provider = Provider(
        protocol=FORMAT_ID,
        dialect=content.dialect,
        source=document.place(document.root),
        capabilities=content.capabilities,
        extensions=own_extensions(content.facts),
    )
    return Reading((provider,), tuple(context.findings))


def own_extensions(facts: dict[str, Json]) -> Extensions:
    """Return facts of this format as extensions."""
    return {FORMAT_ID: facts} if facts else {}


def read_descriptor(document: DescriptorDocument, context: ReadingContext) -> DescriptorContent:
    """Read a parsed descriptor.

    Raises:
        InputError: another root element, another major version, or a capability or parameter without a name.
    """
    return _DescriptorReader(document, context).read()


@dataclass(slots=True)
class _DescriptorReader:
    document: DescriptorDocument
    context: ReadingContext

    def read(self) -> DescriptorContent:
        root = self.document.root
        if root.tag == "capability":
            self.allow("M63", root, "a lone <capability> is read as a descriptor that holds it")
            return DescriptorContent("1.0", (self.read_capability(root),))
        dialect, facts = self.read_root()
        capabilities: dict[str, Capability] = {}
        duplicates: list[Json] = []
        elements = [
            child_element for child_element in child_elements(root) if child_element.tag == "capability"
        ]
        pairs = self.context.read_each(
            elements,
            lambda each: (each, self.read_capability(each)),
            lambda each: str(self.document.place(each)),
        )
        for element, capability in pairs:
            if capability.id in capabilities:
                message = f"a second capability {capability.id!r} is kept, but cannot be called"
                self.allow("M61", element, message, lost=True)
                duplicates.append(element_tree(self.document, element))
            else:
                capabilities[capability.id] = capability
        attribute_names = _ROOT_ATTRIBUTES if dialect != "pre-spec" else _NO_NAMES
        facts.update(self.read_rest(root, attribute_names, _IN_ROOT))
        if duplicates:
            facts["elements"] = [*facts.get("elements", ()), *duplicates]
        return DescriptorContent(dialect, tuple(capabilities.values()), facts)

    def read_root(self) -> tuple[str, dict[str, Json]]:
        """Return the dialect of the root, and the version where it is an unusual one."""
        document, root = self.document, self.document.root
        if root.tag == FORMS["pre-spec"].root:
            return "pre-spec", {}
        if root.tag != FORMS["1.0"].root:
            raise InputError(
                f"no Mobile-MCP descriptor: its root element is <{shown_tag(root)}>",
                place=str(document.place(root)),
                hint=f"the root element is <{FORMS['1.0'].root}>, in no namespace",
            )
        version = document.text(root, "version")
        if version is None:
            return "prototype", {}
        self.report_typed(root, "version", version)
        if version == FORMS["1.0"].version:
            return "1.0", {}
        if not SAME_MAJOR.fullmatch(version):
            raise InputError(
                f"the descriptor is of version {version[:100]!r}, and 1.0 is what is known",
                place=str(document.place(root)),
                hint="convert a descriptor of version 1.0",
            )
        self.allow("M08", root, f"version {version!r} is read as 1.0")
        return "1.0", {"version": version}

    def read_capability(self, element: Element) -> Capability:
        facts = self.read_rest(element, _CAPABILITY_ATTRIBUTES, _IN_CAPABILITY)
        name = self.read_name(element, "id", facts)
        description = self.read_text(element, "description", facts)
        version = self.read_text(element, "version", facts, required=False)
        if version is None:
            self.allow("M10", element, f"the capability {name!r} has no version; it is read as version 1")
            version = _DEFAULT_CAPABILITY_VERSION
        inputs = [child for child in element if child.tag == "input"] if len(element) else []
        outputs = [child for child in element if child.tag == "output"] if len(element) else []
        input_type = self.read_parameters(inputs, "input", facts) if inputs else ObjectType()
        output_type = self.read_parameters(outputs, "output", facts) if outputs else None
        return Capability(
            id=name,
            description=description,
            version=version,
            input=input_type,
            output=output_type,
            source=self.document.place(element),
            extensions=own_extensions(facts),
        )

    def read_parameters(self, elements: list[Element], role: str, facts: dict[str, Json]) -> ObjectType:
        """Read the `<input>` or `<output>` elements of a capability; what else they hold goes to
        `facts`.
        """
        for second in elements[1:]:
            self.allow("M61", second, f"a second <{role}> is read as part of the first")
        properties: dict[str, Property] = {}
        rest: dict[str, Json] = {}
        duplicates: list[Json] = []
        for element in elements:
            _merge(rest, self.read_rest(element, _NO_NAMES, _IN_PARAMETERS))
            for child in element:
                if child.tag != "param":
                    continue
                name, property_ = self.read_parameter(child, role)
                if name in properties:
                    message = f"a second parameter {name!r} is kept, but cannot be given"
                    self.allow("M61", child, message, lost=True)
                    duplicates.append(element_tree(self.document, child))
                else:
                    properties[name] = property_
        if duplicates:
            rest["elements"] = [*rest.get("elements", ()), *duplicates]
        if rest:
            facts[role] = rest
        if role == "input" and not properties:
            facts["empty-input"] = True
        return ObjectType(properties=properties)

    def read_parameter(self, element: Element, role: str) -> tuple[str, Property]:
        is_input = role == "input"
        facts = self.read_rest(element, _INPUT_ATTRIBUTES if is_input else _OUTPUT_ATTRIBUTES, _NO_NAMES)
        name = self.read_name(element, "name", facts)
        word = self.read_text(element, "type", facts)
        description = self.read_text(element, "description", facts)
        word = WORDS.write["string"] if word is None else word
        type_ = self.read_type(element, name, word, description)
        required = self.read_required(element, name) if is_input else True
        return name, Property(type=type_, required=required, extensions=own_extensions(facts))

    def read_type(self, element: Element, name: str, word: str, description: str | None) -> Type:
        kind = WORDS.read.get(word.strip().lower())
        if kind is None:
            self.allow("M05", element, f"the type {word!r} of {name!r} is read as string")
            kind = "string"
        extensions = {} if WORDS.write[kind] == word else own_extensions({word_fact(word): word})
        if kind == "array":
            return ArrayType(description=description, extensions=extensions)
        if kind == "object":
            return ObjectType(description=description, extensions=extensions)
        return ScalarType(kind=kind, description=description, extensions=extensions)  # type: ignore[arg-type]

    def read_required(self, element: Element, name: str) -> bool:
        raw = element.get("required")
        if raw == "true" or raw == "false":  # noqa: PLR1714 - the common case, without building a set
            return raw == "true"
        text = None if raw is None else self.document.text(element, "required")
        required = text is not None and text.strip().lower() in {"true", "1"}
        stated = "does not state whether it is required" if raw is None else f"has required={raw!r}"
        self.allow(
            "M07",
            element,
            f"the parameter {name!r} {stated}; it is read as {'required' if required else 'optional'}",
            hint='write required="true" or required="false"',
        )
        return required

    def read_name(self, element: Element, attribute: str, facts: dict[str, Json]) -> str:
        name = self.read_text(element, attribute, facts, required=False)
        if name:
            return name
        tag = shown_tag(element)
        raise InputError(
            f"a <{tag}> has no {attribute}",
            place=str(self.document.place(element)),
            hint=f"give it one: <{tag} {attribute}=...>, without a namespace prefix",
        )

    def read_text(
        self, element: Element, attribute: str, facts: dict[str, Json], *, required: bool = True
    ) -> str | None:
        """Return an attribute's text, references resolved; one that does not resolve is kept, and noted in
        `facts`.
        """
        text = self.document.text(element, attribute)
        if text is None:
            if required:
                self.allow("M62", element, f"a <{shown_tag(element)}> without {attribute} is read")
            return None
        self.report_typed(element, attribute, text)
        if "@" not in text:
            return text
        reference = self.document.reference(element, attribute)
        if reference is None:
            return text
        resolved = self.document.resolve(reference)
        if resolved is not None:
            self.allow("M12", element, f"the reference {reference} in {attribute} is replaced by its text")
            return resolved
        self.allow(
            "M12", element, f"the reference {reference} in {attribute} does not resolve; it is kept as text"
        )
        facts["references"] = [*facts.get("references", ()), attribute]
        return text

    def report_typed(self, element: Element, attribute: str, text: str) -> None:
        """Report a text that is a number, boolean, colour or dimension for aapt2 and comes back changed."""
        raw = element.get(attribute)
        if raw == text or raw is None or self.document.rules != "source" or "\\" in raw or "@" in raw:
            return
        message = f"{attribute}={raw[:100]!r} is not a text for a device; it is read as {text[:100]!r}"
        self.allow("M68", element, message, hint=r"escape the first character as \uXXXX")

    def read_rest(
        self, element: Element, attributes: frozenset[str], elements: frozenset[str]
    ) -> dict[str, Json]:
        """Return what an element holds in addition to the attributes and elements that are read."""
        for misplaced in misplaced_parts(element, elements) if len(element) else ():
            tag, parent = shown_tag(misplaced), misplaced.getparent()
            inside = "" if parent is None else f" inside <{shown_tag(parent)}>"
            self.allow("M67", misplaced, f"a <{tag}>{inside} is kept, but agents do not see it")
        return unknown_parts(self.document, element, attributes=attributes, elements=elements)

    def allow(
        self, row: str, element: Element, message: str, *, hint: str | None = None, lost: bool = False
    ) -> None:
        place = self.document.place(element)
        self.context.allow(row, message, pointer=xpath_of(element), source=place, hint=hint, lost=lost)


def _merge(rest: dict[str, Json], more: dict[str, Json]) -> None:
    for key, value in more.items():
        if key not in rest:
            rest[key] = value
        elif key == "attributes":
            rest[key] = {**value, **rest[key]}
        elif key == "elements":
            rest[key] = [*rest[key], *value]
        else:
            rest[key] = f"{rest[key]} {value}"


_RAW: Final = "@raw/"
_EXPONENT: Final = re.compile(r"[-+]?[0-9.]+[eE][-+]?[0-9]+")
_FOREGROUND: Final = "foregroundServiceType"


@dataclass(frozen=True, slots=True)
class _RoleEntry:
    """A meta-data entry that plays a role, and whether it is at the application instead of the
    service.
    """

    meta: MetaData
    at_application: bool


def read_application(application: Application, context: ReadingContext) -> Reading:
    """Read every Mobile-MCP service of an application, one provider each, in manifest order.

    A service without a descriptor is left out, as by every agent; one whose descriptor cannot be read is a
    problem of the reading. References to texts lead to the default locale.

    Raises:
        InputError: no service's descriptor can be read.
    """
    services = mobile_mcp_services(application)
    reading = read_each_component(
        services, lambda service: _ServiceReader(application, service, context).read(), context
    )
    if len(reading.providers) > 1:
        message = f"{len(reading.providers)} services are read; an app should have one"
        context.allow("M13", message, source=services[1].place)
    return replace(reading, findings=tuple(context.findings))


def mobile_mcp_services(application: Application) -> list[Component]:
    """Return the services with a Mobile-MCP action, the specified one or the older one."""
    return [
        component for component in application.of_kind("service") if any(map(component.has_action, ACTIONS))
    ]


def descriptor_reference(meta: MetaData) -> str | None:
    """Return the reference to the descriptor that a meta-data gives, as resource or (M65) as value."""
    if meta.resource is not None:
        return meta.resource
    for value in (meta.raw_value, meta.value):
        if isinstance(value, str) and value.startswith(("@xml/", _RAW)):
            return value
    return None


@dataclass(slots=True)
class _ServiceReader:
    application: Application
    service: Component
    context: ReadingContext

    @property
    def place(self) -> Place:
        return self.service.place or self.application.place

    def read(self) -> Provider | None:
        meta_data = {role: self.find(role) for role in ROLES}
        document, reference = self.open_descriptor(meta_data["capabilities"])
        if document is None:
            return None
        content = read_descriptor(document, self.context)
        facts = {**content.facts, **self.service_facts(meta_data, FORMS[content.dialect])}
        inherited = inherited_access(self.application, self.service)
        if inherited:
            facts["application-access"] = inherited
        report_unknown_attributes(self.application, self.service, self.context)
        fallbacks: dict[MetaRole, TextAttribute] = {"name": "label", "description": "description"}
        needed = [attribute for role, attribute in fallbacks.items() if not self.has_text(meta_data[role])]
        report_unknown_texts(self.application, self.service, self.context, needed=needed)
        if reference != NAMES["descriptor_resource"]:
            facts["resource"] = reference
        return Provider(
            protocol=FORMAT_ID,
            dialect=content.dialect,
            package=self.application.package,
            component=self.service.name or None,
            name=self.read_text("name", meta_data["name"], content.dialect),
            description=self.read_text("description", meta_data["description"], content.dialect),
            access=read_access(self.application, self.service),
            source=document.place(document.root),
            capabilities=content.capabilities,
            extensions=own_extensions(facts),
        )

    def find(self, role: MetaRole) -> _RoleEntry | None:
        meta = self.service.find_meta_data(*KEYS[role])
        at_application = False
        if meta is None:
            older = KEYS[role][1]
            elements = self.application.of_kind("application")
            meta = next(
                (entry for element in elements if (entry := element.find_meta_data(older)) is not None), None
            )
            at_application = True
        if meta is None:
            return None
        if at_application:
            self.allow("M11", f"the meta-data {meta.name} at the application is read", meta.place)
        return _RoleEntry(meta, at_application)

    def open_descriptor(self, entry: _RoleEntry | None) -> tuple[DescriptorDocument | None, str]:
        """Return the parsed descriptor and the reference to it; no document where there is none."""
        name = self.service.name
        if entry is None:
            self.allow(
                "M64", f"the service {name} names no descriptor and is left out", self.place, lost=True
            )
            return None, ""
        reference = descriptor_reference(entry.meta)
        file = self.application.resources.read_file(reference) if reference is not None else None
        if reference is None or file is None:
            stated_value = reference or entry.meta.value
            message = f"the descriptor of {name} ({stated_value}) is not a file, and the service is left out"
            self.allow("M64", message, entry.meta.place, lost=True)
            return None, ""
        if entry.meta.resource is None:
            self.allow("M65", f"the descriptor {reference} is given as a value", entry.meta.place)
        raw = reference.startswith(_RAW)
        if raw:
            self.allow("M66", f"the descriptor {reference} is not an XML resource", entry.meta.place)
        rules = "compiled" if file.compiled else "raw" if raw else "source"
        document = parse_document(
            file.text,
            file.place.path,
            rules=rules,  # type: ignore[arg-type]
            resources=self.application.resources,
            context=self.context,
        )
        return document, reference

    def read_text(self, role: MetaRole, entry: _RoleEntry | None, dialect: str) -> str | None:
        """Return the tool's name or description as text."""
        if entry is None:
            return self.fall_back(role, dialect)
        meta = entry.meta
        if meta.value is None:
            text = self.application.resources.read_text(meta.resource) if meta.resource else None
            if text is None:
                return self.fall_back(role, dialect, meta)
            self.allow("M12", f"the tool's {role} is given as a resource, not as a text", meta.place)
            return text
        if isinstance(meta.value, str):
            return meta.value
        # Nobody who writes `1e2` means the text `100.0`, which is what Android makes of it.
        has_exponent = meta.raw_value is not None and _EXPONENT.fullmatch(meta.raw_value) is not None
        text = str(meta.raw_value) if has_exponent else text_of_value(meta.value)
        given_as = "" if meta.raw_value in {None, text} else f" ({meta.raw_value} in the manifest)"
        message = f"the tool's {role} is not a text for a device{given_as}; it is read as {text!r}"
        self.allow("M12", message, meta.place)
        return text

    def has_text(self, entry: _RoleEntry | None) -> bool:
        """Return whether a meta-data entry holds a text, or something that is read as one."""
        if entry is None or entry.meta.value is not None:
            return entry is not None
        resource = entry.meta.resource
        return resource is not None and self.application.resources.read_text(resource) is not None

    def fall_back(self, role: MetaRole, dialect: str, meta: MetaData | None = None) -> str | None:
        """Return the substitute for a text that the service lacks, or whose reference does not resolve."""
        application, service = self.application, self.service
        if role == "name":
            text = service.label or application.label or application.package
        else:
            text = service.description or application.description
        # The first forms before the specification had no description.
        if text is not None or role == "name" or dialect != "pre-spec":
            substitute = f"; {text!r} is used" if text is not None else ""
            reference = None if meta is None else meta.resource or meta.raw_value
            reason = (
                f"has no {role}" if reference is None else f"has the {role} {reference}, which is not there"
            )
            self.allow(
                "M12",
                f"the service {service.name} {reason}{substitute}",
                self.place,
                lost=reference is not None,
            )
        return text

    def service_facts(
        self, entries: dict[MetaRole, _RoleEntry | None], form: DescriptorForm
    ) -> dict[str, Json]:
        """Return the other facts of the service, where a writer would not write the same."""
        service = self.service
        facts: dict[str, Json] = {}
        filters = [
            {"actions": list(filter_.actions), "categories": list(filter_.categories)}
            for filter_ in service.filters
        ]
        if filters != [{"actions": [form.action], "categories": []}]:
            facts["filters"] = filters
        if not service.has_action(form.action):
            message = (
                f"the service {service.name} is found by the action of another dialect than its descriptor's"
            )
            self.allow("M11", message, self.place)
        keys = {
            role: item.meta.name
            for role, item in entries.items()
            if item and item.meta.name != form.keys[role]
        }
        if keys:
            facts["keys"] = keys
            message = (
                f"the meta-data {', '.join(keys.values())} are those of another dialect than the descriptor's"
            )
            self.allow("M11", message, self.place)
        at_application = [role for role, item in entries.items() if item is not None and item.at_application]
        if at_application:
            facts["at-application"] = at_application
        if _FOREGROUND in service.attributes:
            facts[_FOREGROUND] = service.attributes[_FOREGROUND]
        return facts

    def allow(self, row: str, message: str, place: Place | None, *, lost: bool = False) -> None:
        self.context.allow(row, message, source=place or self.place, lost=lost)
