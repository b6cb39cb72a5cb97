"""What in a manifest, or in an app's guidance for agents, Android does not read (reference 1.1, 1.2, 2.g)."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from droidgate_android.app_search.indexing import (
    application_component,
    function_services,
    is_function_service,
)
from droidgate_appfunctions.fields import local_name
from droidgate_appfunctions.format import NAMES
from droidgate_appfunctions.lint_rules import (
    APPLICATION_LEVEL,
    META_DATA,
    METADATA_ATTRIBUTES,
    METADATA_CONTENT,
    METADATA_FILE,
    METADATA_GUIDANCE,
    METADATA_MISSING,
    METADATA_PLACE,
    NO_SCHEMA,
    SERVICE_ACTION,
    SERVICE_DISABLED,
    UNKNOWN_PROPERTY,
    ids_of,
)
from droidgate_appfunctions.metadata import metadata_attributes
from droidgate_appfunctions.unread_declarations import (
    is_meant_for_functions,
    may_name_functions,
    usually_names_functions,
)
from droidgate_mappings.formats.application import Application, Component, MetaData, find_elsewhere
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.tables.app_functions import load_indexing
from droidgate_mappings.text.xml_text import Element, parse_xml

_NAMESPACES: Final = (NAMES["metadata_namespace_old"], NAMES["metadata_namespace"])


def _file_properties() -> tuple[str, str]:
    names = load_indexing().names
    return names.v1, names.v2


def findings_of_manifest(application: Application) -> Iterator[Finding]:
    """Yield the findings of the manifest and of the guidance that it points to."""
    for component in application.components:
        yield from _check_meta_data(component)
        yield from _check_properties(component)
        yield from _check_metadata_property(component, application)
        if component.kind == "service":
            yield from _check_service(component)
    yield from _check_application(application)


def _check_meta_data(component: Component) -> Iterator[Finding]:
    names = load_indexing().names
    for meta_data in component.meta_data:
        is_ours = usually_names_functions(meta_data) or meta_data.name.startswith(f"{names.v1}.")
        if is_ours or may_name_functions(meta_data):
            message = f"<meta-data> {meta_data.name} is read by no release"
            yield META_DATA.broken(message, source=meta_data.place)


def _check_properties(component: Component) -> Iterator[Finding]:
    names = load_indexing().names
    property_names = (names.v1, names.v2, names.schema_, names.app_metadata)
    for property_ in component.properties:
        if property_.name.startswith(f"{names.v1}.") and property_.name not in property_names:
            nearest = next(iter(get_close_matches(property_.name, property_names, n=1, cutoff=0)), names.v2)
            message = f"Android does not read the property {property_.name}"
            yield UNKNOWN_PROPERTY.broken(message, source=property_.place, hint=f"write {nearest}")


def _check_metadata_property(component: Component, application: Application) -> Iterator[Finding]:
    property_ = component.find_property(load_indexing().names.app_metadata)
    if property_ is None:
        return
    rule = METADATA_PLACE
    if component.kind != "application":
        yield rule.broken(f"{property_.name} is in a {component.kind}", source=property_.place)
    elif property_.resource is None:
        yield rule.broken(f"{property_.name} has no android:resource", source=property_.place)
    else:
        yield from _check_metadata_file(property_, application)


def _check_metadata_file(property_: MetaData, application: Application) -> Iterator[Finding]:
    name = property_.resource or ""
    try:
        file = application.resources.read_file(name)
    except InputError as error:
        yield _unreadable(error, property_.place)
        return
    if file is None:
        elsewhere = find_elsewhere(application.resources, name)
        also = "" if elsewhere is None else f", but it has {elsewhere}"
        yield METADATA_MISSING.broken(f"the app has no {name}{also}", source=property_.place)
        return
    yield from findings_of_metadata(file.text, file.place.path)


def findings_of_metadata(text: str, path: str) -> Iterator[Finding]:
    """Yield the findings of a guidance file."""
    try:
        root = parse_xml(text, path=path)
    except InputError as error:
        yield _unreadable(error, Place(path=path))
        return
    place = Place(path=path, line=root.sourceline)
    expected = load_indexing().names.metadata_root
    if root.tag != expected:
        message = f"the root element is <{local_name(root)}>, not <{expected}>"
        yield METADATA_FILE.broken(message, source=place)
        return
    texts = ("description", "instructions")
    if _has_text(root, *texts):
        return
    if _has_text(root, "displayDescription"):
        yield METADATA_GUIDANCE.broken(f"{expected} has a displayDescription only", source=place)
    else:
        yield METADATA_CONTENT.broken(f"{expected} has no description", source=place)


def _unreadable(error: InputError, place: Place | None) -> Finding:
    """Return the finding of a guidance file that cannot be read, at its own place where that is known."""
    path, _, position = (error.place or "").partition(":")
    line = position.partition(":")[0]
    if path and line.isdecimal():
        place = Place(path=path, line=int(line))
    return METADATA_FILE.broken(error.message, source=place)


def _has_text(root: Element, *names: str) -> bool:
    return any(root.get(f"{{{item}}}{name}") for item in _NAMESPACES for name in names)


def _check_service(service: Component) -> Iterator[Finding]:
    names = load_indexing().names
    files = [property_ for property_ in service.properties if property_.name in _file_properties()]
    is_ours = is_function_service(service)
    if not is_ours and (files or is_meant_for_functions(service)):
        has = f"has {files[0].name} and no" if files else "is meant for app functions and lacks the"
        message = f"the service {service.name} {has} action {names.service_action}"
        yield SERVICE_ACTION.broken(message, source=service.place)
    elif files and not service.enabled:
        message = f"the service {service.name} is disabled"
        yield SERVICE_DISABLED.broken(message, source=service.place)


def _check_application(application: Application) -> Iterator[Finding]:
    names = load_indexing().names
    element = application_component(application)
    # Next to the property that names a file, the attributes are left out, which the reader reports.
    is_stated = element is None or element.find_property(names.app_metadata) is not None
    if element is not None and not is_stated and (stated := metadata_attributes(element.foreign_attributes)):
        words = ", ".join(sorted(name.rpartition("}")[2] for name in stated))
        message = f"<application> has attributes of app_metadata: {words}"
        yield METADATA_ATTRIBUTES.broken(message, source=element.place)
    of_application = None if element is None else element.find_property(names.schema_)
    for service in function_services(application):
        v2 = service.find_property(names.v2)
        if v2 is not None and service.find_property(names.schema_) is None and of_application is None:
            message = (
                f"the service {service.name} has {names.v2} and no {names.schema_}: Android 16 does not "
                "read the file, and Android 17 reads it without description, parameters and response"
            )
            releases = ids_of(load_indexing().linted())
            yield NO_SCHEMA.broken(message, source=v2.place, releases=releases)
    if element is None:
        return
    for name in _file_properties():
        property_ = element.find_property(name)
        if property_ is not None:
            message = f"{name} of the application is not read before Android 17"
            older = [item for item in load_indexing().linted() if not item.application_level]
            yield APPLICATION_LEVEL.broken(message, source=property_.place, releases=ids_of(older))
    v2 = element.find_property(names.v2)
    services = function_services(application)
    if v2 is not None and not any(holder.find_property(names.schema_) for holder in (element, *services)):
        message = (
            f"the application has {names.v2} and no {names.schema_}: Android 17 reads the file without "
            "description, parameters and response"
        )
        reading = [item for item in load_indexing().linted() if item.application_level]
        yield NO_SCHEMA.broken(message, source=v2.place, releases=ids_of(reading))
