"""The rules of the linter of AppFunctions, and how a finding names the Android releases that it is true of.

A finding of the indexer is an error where today's release or every release drops the thing, else a warning
(`level_of`); the other rules have a level of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final

from droidgate_android.app_search.indexing import REASONS
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import Finding, Level, LintRules, finding_code
from droidgate_mappings.tables.app_functions import Release, load_indexing

PREFIX: Final = "appfunctions-"

_FIXES: Final[Mapping[str, str]] = {
    "malformed-xml": "make it one well-formed XML document",
    "missing-id": "give every document an <id>; Jetpack writes <id>unused</id> into nested ones",
    "unknown-tag": "remove the tag, or declare it in the schema",
    "bad-number": "write digits only",
    "element-in-text": "write text only, with &lt; for <",
    "reserved-property": "remove it; the indexer fills it in",
    "bad-scope": "write <scope>global</scope>, or <scope>activity</scope> in a file of the application",
    "enabled-application-function": "remove <enabledByDefault>; registering the function enables it",
    "missing-file": "name a file below the app's assets/; if the build makes it, lint the APK",
    "not-a-file-property": "name an asset in android:value",
    "too-many-types": "declare fewer document types",
    "bad-property-name": "use letters and digits only",
    "unsupported-type": "use xs:string, xs:long, xs:int, xs:boolean or a type of the file after appfn:",
    "bad-attribute": "use the numbers of AppSearchSchema",
    "no-function-type": "ship the schema file of the library that writes the functions",
    "undefined-type": "ship the schema file of the library that writes the functions",
    "over-limit": "declare fewer functions, or spread them over several services",
    "overwritten": "give each document an id of its own",
    "bad-count": "write exactly what the schema allows",
    "too-large": "shorten it",
    "missing-permission": "add android:permission to the service",
    "another-service": "put all functions into one service, where older releases matter",
    "no-file": "add the properties android.app.appfunctions.v2 and android.app.appfunctions.schema",
    "different-schemas": "name one schema file in all services",
}

INDEXING_CODES: Final[Mapping[str, str]] = {
    reason: finding_code(PREFIX + reason, meaning, __name__) for reason, meaning in REASONS.items()
}
"""Reason of the indexer -> finding code."""


_BOOK: Final = LintRules("AppFunctions", "droidgate_appfunctions.lint", PREFIX)

RULES: Final = _BOOK.by_id
"""Every rule with a level of its own, by id, in order."""


_error = partial(_BOOK.declare, Level.ERROR)
_warning = partial(_BOOK.declare, Level.WARNING)
_note = partial(_BOOK.declare, Level.NOTE)


# fmt: off
META_DATA: Final = _error("meta-data", "1.1", "A <meta-data> holds what Android reads from <property>",
    "write <property>")
UNKNOWN_PROPERTY: Final = _warning("unknown-property", "1.1",
    "A <property> with the prefix of AppFunctions has a name that Android does not read",
    "name the property as the documentation of AppFunctions does")
SERVICE_ACTION: Final = _error("service-action", "1.1",
    "A service that is meant for app functions has no intent filter for them",
    "add an intent filter with the action android.app.appfunctions.AppFunctionService")
SERVICE_DISABLED: Final = _warning("service-disabled", "5.2",
    "A service with function files is disabled, so its functions cannot be called",
    "remove android:enabled, or enable the service before it is called")
NO_SCHEMA: Final = _error("no-schema", "1.2",
    "A file of version 2 comes without a schema file, so no release reads its functions completely",
    "add the property android.app.appfunctions.schema with app_functions_schema.xsd")
APPLICATION_LEVEL: Final = _note("application-level", "1.2",
    "Functions of the application are read from Android 17 on", "older releases see functions of a service")
METADATA_PLACE: Final = _warning("metadata-place", "1.1",
    "The app's guidance for agents is not where Android looks for it",
    "put the property android.app.appfunctions.app_metadata with android:resource into <application>")
METADATA_MISSING: Final = _warning("metadata-missing", "1.1",
    "The resource with the app's guidance for agents does not exist",
    "add the file below res/xml, or name the one that exists")
METADATA_CONTENT: Final = _warning("metadata-content", "2.g",
    "The app's guidance for agents has no description that Android finds",
    "write <AppFunctionAppMetadata> with a description in the namespace of res-auto or androidx.appfunctions")
METADATA_FILE: Final = _error("metadata-file", "2.g",
    "The file with the app's guidance for agents is not one that Android reads",
    "make <AppFunctionAppMetadata> the root element of a well-formed XML document")
METADATA_ATTRIBUTES: Final = _warning("metadata-attributes", "2.g",
    "The application element has attributes of app_metadata, which neither Android nor Jetpack reads",
    "move them into the file that android.app.appfunctions.app_metadata names")
METADATA_GUIDANCE: Final = _note("metadata-guidance", "2.g",
    "The app has a text for its users and no guidance for agents",
    "add a description to <AppFunctionAppMetadata>, if agents need guidance")
ID_DIFFERS: Final = _warning("id-differs", "3.2",
    "A function's <id> and <functionId> differ, so releases call it by different names",
    "write the same text into both")
NO_FUNCTION_ID: Final = _warning("no-function-id", "3.2",
    "A function has no <functionId>, so releases before 17 cannot call it",
    "write <functionId> with the text of <id>")
ENABLED_NOT_STATED: Final = _warning("enabled-not-stated", "3.2",
    "A function does not state whether it is enabled; releases treat that differently",
    "write <enabledByDefault>true</enabledByDefault>")
NO_SIGNATURE: Final = _warning("no-signature", "3.3",
    "A function has neither a response nor a predefined schema, so Jetpack's agents do not see it",
    "describe parameters and response in a file of version 2")
SCHEMA_TRIPLE: Final = _warning("schema-triple", "2.c",
    "A predefined schema has no category, name or version, so it is ignored",
    "write all three, the version above 0, or none")
NO_DESCRIPTION: Final = _note("no-description", "9.6", "A function has no description",
    "describe in a sentence what the function does; agents choose by it")
NO_PARAMETER_DESCRIPTION: Final = _note("no-parameter-description", "9.6", "A parameter has no description",
    "describe in a sentence what the parameter means; agents fill it in by that")
UNKNOWN_TYPE: Final = _warning("unknown-type", "2.c",
    "Jetpack does not know a data type's number, so its agents do not see the function",
    "use one of 0 to 8 and 10 to 14")
EMPTY_OBJECT: Final = _warning("empty-object", "2.c",
    "An object has no properties, so Jetpack's agents do not see the function",
    "give it at least one property")
UNNAMED_ONE_OF: Final = _warning("unnamed-one-of", "2.c",
    "A choice of types has no objectQualifiedName, so Jetpack's agents do not see the function",
    "write <objectQualifiedName>")
BAD_INT_ENUM: Final = _warning("bad-int-enum", "2.c",
    "An enum value of an integer is not a 32-bit integer, so Jetpack's agents do not see the function",
    "write digits only, up to 2147483647")
DANGLING_REFERENCE: Final = _warning("dangling-reference", "2.c",
    "A reference names no data type of the app's components",
    "declare it under <dataTypes> of an <AppFunctionComponentMetadataDocument>")
UNTYPED_ARRAY: Final = _warning("untyped-array", "2.c", "A list has no item type", "write <itemType>")
UNTYPED: Final = _warning("untyped", "2.c", "A parameter, property or response has no data type",
    "write <dataTypeMetadata>, or <valueType> in a response")
UNNAMED_PARAMETER: Final = _warning("unnamed-parameter", "2.c", "A parameter or property has no name",
    "write <name>")
DUPLICATE_PARAMETERS: Final = _warning("duplicate-parameter", "2.c",
    "Two parameters or properties have one name", "rename one")
UNREADABLE_NAME: Final = _warning("unreadable-name", "4",
    "A name has a character of AppSearch's paths, so the app cannot read the value by it",
    "use a name without . and [")
UNKNOWN_REQUIRED: Final = _warning("unknown-required", "2.c",
    "A required property is not one of the object's properties", "remove it from <required>, or declare it")
ACCESS_LEVEL: Final = _warning("access-level", "2.c", "Jetpack does not know the access level",
    "write self, system or androidTrusted")
PATTERN_TYPE: Final = _warning("pattern-type", "2.c",
    "A pattern's type is not a constant of PatternMatcher, so the function is ignored", "use 0 to 4")
UNEVEN_LISTS: Final = _warning("uneven-lists", "2.d",
    "paramNames, paramTypes and paramRequired are of different length and go by position",
    "write one of each for every parameter")
DUPLICATE_PROPERTY: Final = _warning("duplicate-property", "2.f",
    "The schema declares a property of a type twice; the first counts", "remove one")
BASE_PROPERTY: Final = _warning("base-property", "article 4.1",
    "The schema's type of functions lacks a property of the platform, or declares it in another way",
    "declare it as Jetpack's app_functions_schema.xsd does")
BAD_BOOLEAN: Final = _warning("bad-boolean", "2.a",
    "A value that should be true or false is another word, which Android reads as false",
    "write true or false")
ASSUMED: Final = _note("assumed", "1.2",
    "A file alone does not state its schema and its place in the manifest; the usual ones are assumed",
    "lint the app's folder or APK to be sure")
ROOT: Final = _warning("root", "article 4.2", "The root element of a file of functions is <appfunctions>",
    "rename the root element to <appfunctions>")
NOT_FUNCTIONS: Final = _warning("not-functions", "3.2",
    "The file has elements, and none is a function that Android reads",
    "write each function as <appfunction>, or let Jetpack's compiler write the file")
NO_FUNCTIONS: Final = _note("no-functions", "3.2", "The file declares no functions",
    "nothing to do if this is intended")
# fmt: on


def level_of(releases: Iterable[Release], among: Iterable[Release]) -> Level:
    """Return how grave it is that the given releases are concerned, of those that read the thing at all."""
    concerned = {release.id for release in releases}
    every = {item.id for item in among}
    return Level.ERROR if load_indexing().current in concerned or concerned >= every else Level.WARNING


def name_releases(releases: Iterable[Release]) -> str:
    """Return the releases as words, such as `Android 16 QPR1, Android 16 QPR2 and Android 17`."""
    chosen = list(releases)
    if len(chosen) == len(load_indexing().linted()):
        return "every release from Android 16 on"
    titles = [item.title for item in chosen]
    return " and ".join(filter(None, (", ".join(titles[:-1]), titles[-1]))) if titles else "no release"


def ids_of(releases: Iterable[Release]) -> tuple[str, ...]:
    """Return the releases as findings name them."""
    return tuple(release.id for release in releases)


def indexing_finding(
    reason: str, level: Level, message: str, source: Place | None, releases: Iterable[Release]
) -> Finding:
    """Return a finding of one of the indexer's rules, on the releases that it is true of."""
    section = "2.f" if reason in _SCHEMA_REASONS else "1.1" if reason in _MANIFEST_REASONS else "3.2"
    return Finding(
        code=INDEXING_CODES[reason],
        level=level,
        pointer="",
        message=message,
        hint=_FIXES[reason],
        source=source,
        rule=f"{_BOOK.specification} {section}",
        releases=ids_of(releases),
    )


_SCHEMA_REASONS: Final = frozenset({
    "too-many-types", "bad-property-name", "unsupported-type", "bad-attribute", "no-function-type",
    "undefined-type",
})  # fmt: skip
_MANIFEST_REASONS: Final = frozenset({
    "missing-file", "not-a-file-property", "missing-permission", "another-service", "no-file",
    "different-schemas",
})  # fmt: skip
