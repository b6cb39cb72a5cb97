"""The linter of Mobile-MCP: its rules, for descriptors (specification 1.2) and an application's service
(1.1).

An error is a MUST or a requirement of the specification. A warning is what does not work with the authors'
prototype agent or on an Android release (reference mobile-mcp-and-mmcp 2.3, 2.7); a note is the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from droidgate_mappings.formats.application import Application, Component, MetaData, find_elsewhere
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level, LintRule, LintRules
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.aapt_text import fits_a_resource, reference_in
from droidgate_mappings.text.configured_flags import disabled_in
from droidgate_mappings.text.xml_text import TOOLS
from droidgate_mobile_mcp.capabilities_document import (
    DescriptorDocument,
    Element,
    child_elements,
    misplaced_parts,
    own_texts,
    parse_document,
    shown_tag,
    xpath_of,
)
from droidgate_mobile_mcp.format import ACTIONS, FORMS, KEYS, NAMES, WORDS, MetaRole
from droidgate_mobile_mcp.read import descriptor_reference, mobile_mcp_services


def sorted_by_place(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in the order of their places."""
    return tuple(
        sorted(
            findings,
            key=lambda finding: (
                (finding.source.path, finding.source.line or 0) if finding.source else ("", 0)
            ),
        )
    )


_BOOK: Final = LintRules("Mobile-MCP", __name__)
_error = partial(_BOOK.declare, Level.ERROR)
_warning = partial(_BOOK.declare, Level.WARNING)
_note = partial(_BOOK.declare, Level.NOTE)

RULES: Final = _BOOK.by_id
"""Every rule by id, in the order of the specification."""

# fmt: off
ONE_SERVICE: Final = _error("mobile-mcp-one-service", "1.1", "A tool has exactly one service for Mobile-MCP",
    "keep one service, and move the capabilities of the others into its descriptor")
ACTION: Final = _error("mobile-mcp-action", "1.1.1", "The service's intent filter names mobile.mcp.SERVICE")
IN_SERVICE: Final = _error("mobile-mcp-meta-data-in-service", "1.1",
    "The meta-data is inside the service element",
    "move it into the <service> with the intent filter for Mobile-MCP")
NAME: Final = _error("mobile-mcp-tool-name", "1.1.2", "The service has meta-data mobile.mcp.tool.name",
    "write the tool's name")
NAME_TEXT: Final = _error("mobile-mcp-tool-name-text", "1.1.2", "The tool's name is a string for a device")
DESCRIPTION: Final = _error("mobile-mcp-tool-description", "1.1.3",
    "The service has meta-data mobile.mcp.tool.description",
    "describe in a sentence what the tool is for; agents choose by it")
DESCRIPTION_TEXT: Final = _error("mobile-mcp-tool-description-text", "1.1.3",
    "The tool's description is a string for a device")
DESCRIPTOR: Final = _error("mobile-mcp-tool-capabilities", "1.1.4",
    "The service has meta-data mobile.mcp.tool.capabilities")
DESCRIPTOR_REFERENCE: Final = _error("mobile-mcp-xml-resource", "1.1.4, 1.2",
    "The descriptor is given as a resource, and is an XML resource")
DESCRIPTOR_FILE: Final = _error("mobile-mcp-descriptor-file", "1.1.4",
    "The descriptor that the meta-data points to is there and can be read",
    "add the file below res/xml, or name the one that exists")
WELL_FORMED: Final = _error("mobile-mcp-well-formed", "1.2", "The descriptor is well-formed XML",
    "correct the XML")
ROOT: Final = _error("mobile-mcp-root", "1.2.1", "The root element is mobile-mcp-capabilities")
VERSION: Final = _error("mobile-mcp-version", "1.2.1", 'The root has version="1.0"')
ID: Final = _error("mobile-mcp-capability-id", "1.2.2", "A capability has an id",
    "give it an id; calls go by it")
UNIQUE_ID: Final = _error("mobile-mcp-capability-id-unique", "1.2.2", "A capability's id is unique in a tool",
    "rename one of them; calls go by it")
CAPABILITY_DESCRIPTION: Final = _error("mobile-mcp-capability-description", "1.2.2",
    "A capability has a description",
    "describe in a sentence what it does; agents choose by it")
CAPABILITY_VERSION: Final = _error("mobile-mcp-capability-version", "1.2.2", "A capability has a version",
    'write version="1"')
ONE_ELEMENT: Final = _error("mobile-mcp-one-input-output", "1.2.2",
    "A capability has at most one input and one output")
IN_PLACE: Final = _error("mobile-mcp-part-in-place", "1.2.2",
    "Capabilities are inside the root, parameters inside input or output, in no namespace",
    "move it to its place")
PARAM_NAME: Final = _error("mobile-mcp-param-name", "1.2.2", "A parameter or output has a name",
    "give it a name; arguments go by it")
PARAM_TYPE: Final = _error("mobile-mcp-param-type", "1.2.2", "A parameter or output has a type",
    "write one of string, boolean, integer, number, array, object")
PARAM_REQUIRED: Final = _error("mobile-mcp-param-required", "1.2.2",
    'A parameter has required="true" or required="false"')
PARAM_DESCRIPTION: Final = _error("mobile-mcp-param-description", "1.2.2",
    "A parameter or output has a description",
    "describe in a sentence what the value means")
UNIQUE_NAME: Final = _warning("mobile-mcp-param-name-unique", "3.1",
    "A parameter's name is unique: arguments are a map by name",
    "rename one of them; arguments are a map by name")
KNOWN_TYPE: Final = _note("mobile-mcp-param-type-known", "reference row 5",
    "A type is one of the six words that agents are known to use")
UNKNOWN_PART: Final = _note("mobile-mcp-unknown-part", "1.2",
    "A descriptor holds only the elements and attributes of the specification",
    "remove it; agents do not read it")
NOT_EMPTY: Final = _note("mobile-mcp-no-capability", "1.2", "A descriptor declares at least one capability",
    "declare a <capability>")
NO_REFERENCE: Final = _warning("mobile-mcp-text-reference", "reference 2.7",
    "A text of the descriptor is literal: an agent sees the number of a reference, not its text")
SAME_TEXT: Final = _warning("mobile-mcp-text-changes", "reference 2.7",
    "A text of the descriptor is written so that a device gives the same text")
TEXT_LENGTH: Final = _warning("mobile-mcp-text-too-long", "aapt2",
    "A text of the descriptor has at most 32,767 bytes; longer ones are lost",
    "shorten it to at most 32,767 bytes")
EXPORTED: Final = _warning("mobile-mcp-exported", "2; 3.1",
    "The service is exported, or no other app can bind or start it")
ENABLED: Final = _warning("mobile-mcp-enabled", "2", "The service is enabled, or no query finds it",
    "remove android:enabled, or enable the service before agents look for it")
NO_PERMISSION: Final = _warning("mobile-mcp-permission", "reference 2.2",
    "The service asks for no permission that the prototype agent lacks",
    "remove android:permission, or let the agents that may call hold it")
# fmt: on


_FORM = FORMS["1.0"]
_OWN_KEYS = tuple(_FORM.keys.values())
_ALL_KEYS = tuple(key for keys in KEYS.values() for key in keys)


def lint_application(application: Application) -> tuple[Finding, ...]:
    """Check an application: its services, their meta-data and the descriptors these point to."""
    return tuple(_lint(application))


def _lint(application: Application) -> Iterator[Finding]:
    services = mobile_mcp_services(application)
    with_meta_data = [
        component
        for component in application.of_kind("service")
        if component not in services and _points_to_descriptor(component)
    ]
    for second in [*services, *with_meta_data][1:]:
        message = f"{second.name} is a second service for Mobile-MCP"
        yield ONE_SERVICE.broken(message, source=_place(application, second))
    for outside in application.of_kind("application", "activity", "receiver", "provider"):
        yield from _lint_outside(application, outside)
    for service in (*services, *with_meta_data):
        yield from _lint_service(application, service)


def _lint_outside(application: Application, component: Component) -> Iterator[Finding]:
    """Yield the finding of a component that has what only a service can have."""
    meta = component.find_meta_data(*_OWN_KEYS)
    if meta is None and (component.kind == "application" or _points_to_descriptor(component)):
        meta = component.find_meta_data(*_ALL_KEYS)
    if meta is not None:
        message = f"{meta.name} is in <{component.kind}>, where no agent looks for it"
        hint = "move it into the <service> with the intent filter for Mobile-MCP"
        yield IN_SERVICE.broken(message, source=meta.place or application.place, hint=hint)
    elif component.has_action(ACTIONS[0]):
        message = f"{component.name} is in <{component.kind}> and has a filter for {ACTIONS[0]}"
        hint = "move the intent filter into a <service>; agents look for services"
        yield ACTION.broken(message, source=_place(application, component), hint=hint)


def _points_to_descriptor(service: Component) -> bool:
    """Return whether a service's meta-data names a descriptor: by the specified key, or by a file.

    Other protocols have a text under the older key.
    """
    specified, *older = KEYS["capabilities"]
    if service.find_meta_data(specified) is not None:
        return True
    meta = service.find_meta_data(*older)
    return meta is not None and descriptor_reference(meta) is not None


def _lint_service(application: Application, service: Component) -> Iterator[Finding]:
    place = _place(application, service)
    if not service.has_action(ACTIONS[0]):
        hint = f'add an intent-filter with <action android:name="{ACTIONS[0]}" />'
        yield ACTION.broken(f"{service.name} has no filter for {ACTIONS[0]}", source=place, hint=hint)
    yield from _lint_text(service, "name", NAME, NAME_TEXT, place)
    yield from _lint_text(service, "description", DESCRIPTION, DESCRIPTION_TEXT, place)
    yield from _lint_descriptor(application, service, place)
    if service.exported is False or not (service.exported or service.filters):
        hint = 'write android:exported="true"'
        yield EXPORTED.broken(f"{service.name} is not exported", source=place, hint=hint)
    enabled = application.enabled_rule_of(service)
    if enabled is not True:
        where = "" if enabled is False else f" in some configurations ({disabled_in(enabled)})"
        yield ENABLED.broken(f"{service.name} is disabled{where}", source=place)
    permission = application.permission_of(service)
    if permission is not None:
        message = f"{service.name} requires {permission} of its callers"
        yield NO_PERMISSION.broken(message, source=place)


def _lint_text(
    service: Component, role: MetaRole, needed: LintRule, needed_text: LintRule, place: Place
) -> Iterator[Finding]:
    key = _FORM.keys[role]
    meta = service.find_meta_data(key)
    if meta is None:
        hint = f'add <meta-data android:name="{key}" android:value="..." />'
        yield needed.broken(f"{service.name} has no meta-data {key}", source=place, hint=hint)
        return
    if isinstance(meta.value, str):
        if not meta.value.strip():
            yield needed.broken(f"{key} is empty", source=meta.place or place)
        return
    source = meta.place or place
    if meta.value is None and meta.resource is None:
        message = f"{key} is {meta.raw_value}, which is not among the resources"
        yield needed_text.broken(message, source=source, hint="declare the string, or write the text itself")
        return
    value_kind = {type(None): "a resource", bool: "a boolean"}.get(type(meta.value), "a number")
    hint = "write a text in android:value; name a string resource there for a number or a boolean"
    yield needed_text.broken(f"{key} is {value_kind} on a device, not a text", source=source, hint=hint)


def _lint_descriptor(application: Application, service: Component, place: Place) -> Iterator[Finding]:
    key = _FORM.keys["capabilities"]
    meta = service.find_meta_data(key)
    if meta is None:
        hint = f'add <meta-data android:name="{key}" android:resource="@xml/mcp_capabilities" />'
        yield DESCRIPTOR.broken(f"{service.name} has no meta-data {key}", source=place, hint=hint)
        meta = service.find_meta_data(KEYS["capabilities"][1])
    if meta is not None:
        yield from _lint_descriptor_file(application, meta, meta.place or place)


def _lint_descriptor_file(application: Application, meta: MetaData, place: Place) -> Iterator[Finding]:
    reference = descriptor_reference(meta)
    raw = reference is not None and not reference.startswith("@xml/")
    if meta.resource is None or raw:
        stated_value = meta.resource or meta.raw_value or meta.value
        hint = 'write android:resource="@xml/..." and keep the file in res/xml'
        by = "" if meta.resource is not None else " in android:value"
        message = f"{meta.name} is {stated_value}{by}, which is not a reference to an XML resource"
        yield DESCRIPTOR_REFERENCE.broken(message, source=place, hint=hint)
    if reference is None:
        return
    file = application.resources.read_file(reference)
    if file is None:
        elsewhere = find_elsewhere(application.resources, reference)
        also = "" if elsewhere is None else f", but the app has {elsewhere}"
        yield DESCRIPTOR_FILE.broken(f"{reference} does not exist{also}", source=place)
        return
    path = file.place.path
    kind = "compiled" if file.compiled else "raw" if raw else "source"
    context = ReadingContext(rows_off=frozenset())
    try:
        document = parse_document(
            file.text,
            path,
            rules=kind,  # type: ignore[arg-type]
            resources=application.resources,
            context=context,
        )
    except InputError as error:
        yield not_well_formed(error, path)
        return
    yield from lint_document(document)


def _place(application: Application, service: Component) -> Place:
    return service.place or application.place


_ATTRIBUTES: Final = {
    "capability": ("id", "description", "version"),
    "input": (),
    "output": (),
    "param": ("name", "type", "required", "description"),
}
_CHILDREN: Final = {"capability": ("input", "output"), "input": ("param",), "output": ("param",), "param": ()}
_KNOWN_ROOTS: Final = frozenset({FORMS["1.0"].root, FORMS["pre-spec"].root, "capability"})


def lint_file(source: SourceFile) -> tuple[Finding, ...]:
    """Check one descriptor file; one that is not well-formed, or has another root, gets that one finding.

    Raises:
        BudgetError: the file is larger or deeper than the parser's budget.
    """
    context = ReadingContext(rows_off=frozenset())
    try:
        document = parse_document(source.data, source.path, context=context)
    except InputError as error:
        return (not_well_formed(error, source.path),)
    return sorted_by_place(lint_document(document))


def not_well_formed(error: InputError, path: str) -> Finding:
    """Return the finding about a document that cannot be parsed."""
    place = Place(path=path)
    parts = (error.place or "").removeprefix(path).split(":")
    if len(parts) > 1 and parts[1].isdecimal():
        place = Place(path=path, line=int(parts[1]))
    return WELL_FORMED.broken(error.message, source=place, hint=error.hint)


def lint_document(document: DescriptorDocument) -> Iterator[Finding]:
    """Yield what a parsed descriptor breaks."""
    return _DescriptorLinter(document).lint()


@dataclass(slots=True)
class _DescriptorLinter:
    document: DescriptorDocument
    ids: set[str] = field(default_factory=set)

    def lint(self) -> Iterator[Finding]:
        document, root = self.document, self.document.root
        if document.repaired:
            message = "the file is XML only when its curly quotes are straightened"
            yield self.broken(WELL_FORMED, root, message, hint="put attribute values in straight quotes")
        if root.tag != NAMES["root"]:
            message = f"the root element is <{shown_tag(root)}>"
            hint = f'it is <{NAMES["root"]} version="1.0">, in no namespace'
            yield self.broken(ROOT, root, message, hint=hint)
            if root.tag not in _KNOWN_ROOTS:
                return
        if root.tag == "capability":
            yield from self.capability(root)
            return
        yield from self.version(root)
        yield from self.unspecified(root, ("version",), ("capability",))
        capabilities = [child for child in child_elements(root) if child.tag == "capability"]
        if not capabilities:
            yield self.broken(NOT_EMPTY, root, "no capability is declared")
        for capability in capabilities:
            yield from self.capability(capability)

    def version(self, root: Element) -> Iterator[Finding]:
        version = self.document.text(root, "version")
        if version == NAMES["version"]:
            return
        message = "the root has no version" if version is None else f"the root has version {version[:100]!r}"
        yield self.broken(VERSION, root, message, hint=f'write version="{NAMES["version"]}"')

    def capability(self, element: Element) -> Iterator[Finding]:
        yield from self.needs(element, "id", ID)
        yield from self.needs(element, "description", CAPABILITY_DESCRIPTION)
        yield from self.needs(element, "version", CAPABILITY_VERSION)
        capability_id = self.document.text(element, "id")
        if capability_id:
            if capability_id in self.ids:
                yield self.broken(UNIQUE_ID, element, f"duplicate id {capability_id!r}")
            self.ids.add(capability_id)
        yield from self.unspecified(element, _ATTRIBUTES["capability"], _CHILDREN["capability"])
        for role in ("input", "output"):
            groups = [child for child in element if child.tag == role]
            for second in groups[1:]:
                yield self.broken(
                    ONE_ELEMENT, second, f"there is a second <{role}>", hint="put all parameters into one"
                )
            names: set[str] = set()
            for group in groups:
                yield from self.unspecified(group, (), _CHILDREN[role])
                for child in group:
                    if child.tag == "param":
                        yield from self.parameter(child, role, names)

    def parameter(self, element: Element, role: str, names: set[str]) -> Iterator[Finding]:
        yield from self.needs(element, "name", PARAM_NAME)
        yield from self.needs(element, "type", PARAM_TYPE)
        yield from self.needs(element, "description", PARAM_DESCRIPTION)
        name = self.document.text(element, "name")
        if name:
            if name in names:
                yield self.broken(UNIQUE_NAME, element, f"duplicate name {name!r}")
            names.add(name)
        word = self.document.text(element, "type")
        if word and word not in WORDS.write.values():
            kind = WORDS.read.get(word.strip().lower())
            hint = f"write {WORDS.write[kind]}" if kind else f"write one of {', '.join(WORDS.write.values())}"
            yield self.broken(KNOWN_TYPE, element, f"agents do not know the type {word!r}", hint=hint)
        attributes = _ATTRIBUTES["param"]
        if role == "input":
            required = element.get("required")
            if required not in {"true", "false"}:
                stated = "no required" if required is None else f"required={required[:100]!r}"
                message = f"a <param> has {stated}"
                yield self.broken(PARAM_REQUIRED, element, message, hint='write "true" or "false"')
        else:
            attributes = tuple(attribute for attribute in attributes if attribute != "required")
        yield from self.unspecified(element, attributes, ())

    def needs(self, element: Element, attribute: str, rule: LintRule) -> Iterator[Finding]:
        """Yield what is wrong with an attribute that must be there and be a text."""
        raw = element.get(attribute)
        if raw is None or not raw.strip():
            missing = "no" if raw is None else "an empty"
            yield self.broken(rule, element, f"a <{shown_tag(element)}> has {missing} {attribute}")
            return
        if self.document.rules == "raw":
            return
        if self.document.rules == "source" and reference_in(raw) is None:
            text = self.document.text(element, attribute) or ""
            if text != raw and "\\" not in raw:
                message = f"a device gives {text[:100]!r} for {attribute}={raw[:100]!r}"
                yield self.broken(SAME_TEXT, element, message, hint=r"escape the first character as \uXXXX")
            elif text != raw and not _is_deliberate(raw):
                message = (
                    f"the backslashes of {attribute} are escapes for a device, which gives {text[:100]!r}"
                )
                yield self.broken(SAME_TEXT, element, message, hint="double each backslash")
        elif reference_in(raw) is not None:
            message = f"{attribute} is the reference {raw[:100]}"
            yield self.broken(NO_REFERENCE, element, message, hint="write the text itself")
        if not fits_a_resource(raw):
            yield self.broken(TEXT_LENGTH, element, f"{attribute} has {len(raw)} characters")

    def unspecified(
        self, element: Element, attributes: tuple[str, ...], children: tuple[str, ...]
    ) -> Iterator[Finding]:
        """Yield what an element holds that no specification names, and parts in the wrong place."""
        for name in element.attrib:
            if name not in attributes and not str(name).startswith(TOOLS):
                message = f"<{shown_tag(element)}> has the unknown attribute {name}"
                yield self.broken(UNKNOWN_PART, element, message)
        misplaced = list(misplaced_parts(element, frozenset(children)))
        for part in misplaced:
            parent = part.getparent()
            inside = element if parent is None else parent
            message = f"a <{shown_tag(part)}> is inside <{shown_tag(inside)}>"
            own = {"capability": f"<{NAMES['root']}>", "param": "<input> or <output>"}
            place = own.get(shown_tag(part).rpartition("}")[2], "a <capability>")
            yield self.broken(IN_PLACE, part, message, hint=f"move it into {place}, without a namespace")
        for child in child_elements(element):
            if child.tag not in children and child not in misplaced:
                yield self.broken(UNKNOWN_PART, child, f"the element <{shown_tag(child)}> is unknown")
        if any(text.strip() for text in own_texts(element)):
            yield self.broken(UNKNOWN_PART, element, f"<{shown_tag(element)}> has text between its elements")

    def broken(self, rule: LintRule, element: Element, message: str, *, hint: str | None = None) -> Finding:
        place = self.document.place(element)
        return rule.broken(message, pointer=xpath_of(element), source=place, hint=hint)


def _is_deliberate(raw: str) -> bool:
    r"""Return whether every backslash begins an escape that aapt2 knows: `\n`, `\t`, `\\`, `\'`, `\"`, `\@`,
    `\?`, `\uXXXX`.
    """
    position = raw.find("\\")
    while position >= 0:
        following = raw[position + 1 : position + 2]
        if not following or following not in "nt\\'\"@?u":
            return False
        position = raw.find("\\", position + 2)
    return True
