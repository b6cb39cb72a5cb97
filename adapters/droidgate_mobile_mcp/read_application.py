"""Finding Mobile-MCP services in an application (specification 1.1, 2)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from droidgate_mappings.formats.application import Application, Component, MetaData, text_of_value
from droidgate_mappings.formats.component_reading import (
    TextAttribute,
    inherited_access,
    read_access,
    report_unknown_attributes,
    report_unknown_texts,
)
from droidgate_mappings.formats.format import Reading, read_each_component
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.json_values import Json
from droidgate_mobile_mcp.capabilities_document import DescriptorDocument, parse_document
from droidgate_mobile_mcp.format import ACTIONS, FORMAT_ID, FORMS, KEYS, NAMES, ROLES, DescriptorForm, Role
from droidgate_mobile_mcp.read import own_extensions, read_descriptor

_RAW: Final = "@raw/"
_EXPONENT: Final = re.compile(r"[-+]?[0-9.]+[eE][-+]?[0-9]+")
_FOREGROUND: Final = "foregroundServiceType"


@dataclass(frozen=True, slots=True)
class _Given:
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
        fallbacks: dict[Role, TextAttribute] = {"name": "label", "description": "description"}
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

    def find(self, role: Role) -> _Given | None:
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
        return _Given(meta, at_application)

    def open_descriptor(self, given: _Given | None) -> tuple[DescriptorDocument | None, str]:
        """Return the parsed descriptor and the reference to it; no document where there is none."""
        name = self.service.name
        if given is None:
            self.allow(
                "M64", f"the service {name} names no descriptor and is left out", self.place, lost=True
            )
            return None, ""
        reference = descriptor_reference(given.meta)
        file = self.application.resources.read_file(reference) if reference is not None else None
        if reference is None or file is None:
            stated_value = reference or given.meta.value
            message = f"the descriptor of {name} ({stated_value}) is not a file, and the service is left out"
            self.allow("M64", message, given.meta.place, lost=True)
            return None, ""
        if given.meta.resource is None:
            self.allow("M65", f"the descriptor {reference} is given as a value", given.meta.place)
        raw = reference.startswith(_RAW)
        if raw:
            self.allow("M66", f"the descriptor {reference} is not an XML resource", given.meta.place)
        rules = "compiled" if file.compiled else "raw" if raw else "source"
        document = parse_document(
            file.text,
            file.place.path,
            rules=rules,  # type: ignore[arg-type]
            resources=self.application.resources,
            context=self.context,
        )
        return document, reference

    def read_text(self, role: Role, given: _Given | None, dialect: str) -> str | None:
        """Return the tool's name or description as text."""
        if given is None:
            return self.fall_back(role, dialect)
        meta = given.meta
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

    def has_text(self, given: _Given | None) -> bool:
        """Return whether a meta-data entry holds a text, or something that is read as one."""
        if given is None or given.meta.value is not None:
            return given is not None
        resource = given.meta.resource
        return resource is not None and self.application.resources.read_text(resource) is not None

    def fall_back(self, role: Role, dialect: str, meta: MetaData | None = None) -> str | None:
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

    def service_facts(self, given: dict[Role, _Given | None], form: DescriptorForm) -> dict[str, Json]:
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
            role: item.meta.name for role, item in given.items() if item and item.meta.name != form.keys[role]
        }
        if keys:
            facts["keys"] = keys
            message = (
                f"the meta-data {', '.join(keys.values())} are those of another dialect than the descriptor's"
            )
            self.allow("M11", message, self.place)
        at_application = [role for role, item in given.items() if item is not None and item.at_application]
        if at_application:
            facts["at-application"] = at_application
        if _FOREGROUND in service.attributes:
            facts[_FOREGROUND] = service.attributes[_FOREGROUND]
        return facts

    def allow(self, row: str, message: str, place: Place | None, *, lost: bool = False) -> None:
        self.context.allow(row, message, source=place or self.place, lost=lost)
