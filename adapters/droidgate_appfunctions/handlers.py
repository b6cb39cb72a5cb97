"""Code that runs app functions: Java on the platform's service with our XML, Kotlin on Jetpack's annotations.

Rules: reference appfunctions 1.1, 4 and 5; android-runtime 2.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from droidgate_android.handlers.java import (
    java_string,
    read_template,
    write_capabilities_class,
    write_shared_classes,
)
from droidgate_android.handlers.places import MARK, ClassPlace, place_classes
from droidgate_appfunctions.constants import APP_LEVEL, NAMES, PLATFORM, V1
from droidgate_appfunctions.file_names import asset_name
from droidgate_appfunctions.handlers_kotlin import write_service
from droidgate_mappings.formats.format import HandlerCode
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.types import AnyType
from droidgate_mappings.tables.failure_tokens import load_failure_tokens
from droidgate_mappings.tables.loading import DialectTable

_FALLBACK: Final = ".AppFunctionService"
_WITHOUT_SERVICE: Final = (
    "These functions have no service, so no code is made for them: register each of them at run time with "
    "AppFunctionManager.registerAppFunction (Android 17)."
)
_JAVA_NOTES: Final = (
    "The service compiles against Android 16 (compileSdk 36) and is called on Android 16 and later only.",
)
_KOTLIN_NOTES: Final = (
    (
        "Add the Gradle plugin com.google.devtools.ksp, and of androidx.appfunctions (1.0.0-rc01 or later, "
        "from Google's Maven repository) appfunctions as implementation and appfunctions-compiler as ksp."
    ),
    (
        "Jetpack's compiler makes the functions file and its schema, and names the functions after the class "
        "and its methods: their ids are not those of the source."
    ),
    "With 1.0.0-alpha10 to alpha12 the annotation AppFunctionDeclaration is called AppFunction.",
)


def write_handlers(provider: Provider, dialect: DialectTable, language: str, namespace: str) -> HandlerCode:
    """Return the service and what belongs to it.

    Args:
        provider: The provider as written.
        dialect: Its dialect. Kotlin is written only for the forms that Jetpack's compiler writes.
        language: `java` or `kotlin`.
        namespace: Package of the app's classes.

    Raises:
        WriteError: the component's name cannot be a class of Java.
    """
    if dialect.id == APP_LEVEL:
        return HandlerCode((), notes=(_WITHOUT_SERVICE,))
    place = place_classes(provider.component, _FALLBACK, namespace)
    if language == "kotlin" and dialect.id not in {PLATFORM, V1}:
        asset = asset_name(provider, dialect.id)
        return HandlerCode(
            artifacts=(write_service(provider, place, asset.removesuffix(".xml")),),
            left_out=frozenset({f"assets/{asset}", f"assets/{NAMES['schema_asset']}"}),
            component=place.component_name,
            notes=_KOTLIN_NOTES,
        )
    if dialect.id == V1:
        provider = _with_unknown_inputs(provider)
    artifacts = (
        *write_shared_classes(provider, place),
        place.java("Documents", _write_documents(place)),
        place.file(f"{place.component}.java", _write_service(place)),
        write_capabilities_class(provider, place),
    )
    return HandlerCode(artifacts, component=place.component_name, notes=_JAVA_NOTES)


def _with_unknown_inputs(provider: Provider) -> Provider:
    """Return a provider whose calls take anything: the descriptor names a predefined schema only."""
    capabilities = tuple(
        capability.model_copy(update={"input": AnyType()}) for capability in provider.capabilities
    )
    return provider.model_copy(update={"capabilities": capabilities})


def _write_documents(place: ClassPlace) -> str:
    return read_template("droidgate_appfunctions", "Documents.java").substitute(
        package=place.package,
        prefix=place.prefix,
        mark=MARK,
        return_key=java_string(NAMES["return_value"]),
    )


def _write_service(place: ClassPlace) -> str:
    return read_template("droidgate_appfunctions", "Service.java").substitute(
        package=place.package,
        prefix=place.prefix,
        component=place.component,
        mark=MARK,
        codes="\n".join(_codes()),
    )


def _codes() -> Iterator[str]:
    for token in load_failure_tokens().values():
        yield f"            case {java_string(token.token)}:"
        yield f"                return {token.app_functions.write};"
