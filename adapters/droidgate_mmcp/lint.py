"""The linter of mMCP: its rules, from the specification and from what clients make of a manifest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Final

from droidgate_android.projects.manifest_limits import REFUSED_BY, excess_of
from droidgate_mappings.formats.application import Application, Component
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level, LintRule, LintRules
from droidgate_mappings.model.json_values import Json, pointer_token
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.aapt_text import is_string_reference
from droidgate_mappings.text.configured_flags import disabled_in
from droidgate_mappings.text.json_text import decode_utf8
from droidgate_mappings.text.utf16 import utf16_length
from droidgate_mappings.values.schema_checks import check_schema
from droidgate_mmcp.format import NAMES
from droidgate_mmcp.read import ManifestText, find_manifest_text, hint_about_json
from droidgate_mmcp.tool_manifest import MANIFEST_KEYS, TOOL_KEYS, form_of, parse_manifest, write_json

_BOOK: Final = LintRules("mMCP spec", __name__)
_error = partial(_BOOK.declare, Level.ERROR)
_warning = partial(_BOOK.declare, Level.WARNING)
_note = partial(_BOOK.declare, Level.NOTE)

RULES: Final = _BOOK.by_id
"""Every rule by id, in order."""

# fmt: off
TOOL_NAME: Final = _error("mmcp-tool-name", "1", "A tool has a string `name`", "add `name`; calls use it")
TOOL_NAME_UNIQUE: Final = _error("mmcp-tool-name-unique", "1", "A tool's name is unique",
    "rename one of them")
TOOL_DESCRIPTION: Final = _error("mmcp-tool-description", "1", "A tool has a string `description`",
    "describe in a sentence what the tool does; agents choose by it")
PARAMETERS: Final = _error("mmcp-parameters", "1", "A tool has parameters",
    'write {"type": "object", "properties": {}} for a tool without arguments')
PARAMETERS_SCHEMA: Final = _error("mmcp-parameters-schema", "1",
    "A tool's parameters are a valid JSON Schema",
    'write a JSON Schema, such as {"type": "object", "properties": {}}')
FLAT_PARAMETERS: Final = _warning("mmcp-flat-parameters", "1 (row M37)",
    "The parameters are a map from a name to a type word or a schema, which is not a useful JSON Schema",
    'write {"type": "object", "properties": {"name": {"type": "string"}}}')
OBJECT_PARAMETERS: Final = _warning("mmcp-object-parameters", "1 (row M37)",
    "The parameters do not state that they are an object", 'start with "type": "object"')
NAME_LENGTH: Final = _warning("mmcp-name-length", "1 (row M47)",
    "With the client's prefix, the name is longer than language models allow",
    "keep names within 56 characters")
NAME_CHARACTERS: Final = _warning("mmcp-name-characters", "1 (row M47)",
    "The name has characters that language models do not allow in a function's name",
    "use A-Z a-z 0-9 _ and -")
ADVERTISE_ACTION: Final = _error("mmcp-advertise-action", "2", "A component with a manifest advertises it",
    "add com.example.mMCP.ACTION_TOOL_ADVERTISE to its intent filter")
META_DATA: Final = _error("mmcp-meta-data", "2",
    "An advertising component has its manifest as meta-data text",
    "add meta-data mMCP_manifest with the JSON in android:value")
MANIFEST_LENGTH: Final = _error("mmcp-manifest-length", "2 (API 35)",
    f"The manifest is not longer than the meta-data that {REFUSED_BY} take",
    "shorten descriptions, or let each of several activities advertise some of the tools")
JSON: Final = _error("mmcp-json", "2", "The manifest is JSON", "correct the JSON")
CONTROL_CHARACTERS: Final = _warning("mmcp-control-characters", "2 (row M36)",
    "A string of the manifest JSON holds raw control characters", "write them as JSON escapes")
INSTRUCTIONS: Final = _error("mmcp-instructions", "2", "The manifest has a string `instructions`",
    "add `instructions`; the first client drops apps without it")
TOOLS: Final = _error("mmcp-tools", "2", "The manifest has an array of tool objects", "add the array `tools`")
DEFAULT_CATEGORY: Final = _error("mmcp-default-category", "2",
    "The filters have the category DEFAULT, without which no implicit Intent resolves to an activity",
    "add android.intent.category.DEFAULT")
DRAFT_KEY: Final = _warning("mmcp-draft-key", "2", "A key of the first draft that 1.0 does not have",
    "convert the manifest to 1.0")
UNKNOWN_KEY: Final = _note("mmcp-unknown-key", "2", "A key that the specification does not have",
    "check its spelling")
CALL_ACTION: Final = _warning("mmcp-call-action", "3",
    "A component that advertises is also the one that is called",
    "add com.example.mMCP.ACTION_TOOL_CALL to its intent filter")
EXPORTED: Final = _error("mmcp-exported", "3", "Other apps can start the component",
    'add android:exported="true"')
ACTIVITY: Final = _error("mmcp-activity", "3", "Tools are called by starting an activity for its result",
    "advertise by an activity")
ENABLED: Final = _warning("mmcp-enabled", "4", "The component is enabled, or no query finds it",
    "remove android:enabled, or enable the component before agents look for it")
VERSION: Final = _warning("mmcp-version", "Protocol Version", "The manifest states version 1.0",
    'add "protocolVersion": "1.0"')
# fmt: on


_SAY_WHAT: Final = "state in a sentence what the app's tools are for"
MAX_FUNCTION_NAME: Final = 64
CLIENT_PREFIX_LENGTH: Final = len("mcp_aB3_")
"""What goose-mobile puts before a tool's name (reference mobile-mcp-and-mmcp 3.3)."""

_KEYS_OF_OTHERS: Final = ("inputSchema", "input_schema", "parametersJsonSchema")
"""What MCP, Anthropic's and Google's tool lists call `parameters`."""

_FUNCTION_NAME = re.compile(r"[A-Za-z0-9_-]*")


def lint_file(source: SourceFile) -> tuple[Finding, ...]:
    """Return what the JSON of a manifest does against the specification.

    Raises:
        InputError: the file is not JSON.
    """
    place = Place(path=source.path, line=1)
    linter = _Linter(place)
    context = ReadingContext(rows_off=frozenset())
    value = parse_manifest(decode_utf8(source.data, path=source.path), place, context)
    linter.lint_manifest(value, context)
    return tuple(linter.findings)


def lint_application(application: Application) -> tuple[Finding, ...]:
    """Return what an application's advertising components and their manifests do against the specification.

    Activities and services with the ADVERTISE action, and whatever has an `mMCP_manifest`, are looked at.
    """
    findings: list[Finding] = []
    for component in application.of_kind("activity", "service"):
        advertises = component.has_action(NAMES["advertise_action"])
        if advertises or component.find_meta_data(NAMES["manifest_meta_data"]) is not None:
            linter = _Linter(component.place or application.place)
            linter.lint_component(application, component, advertises=advertises)
            linter.lint_meta_data(application, component)
            findings.extend(linter.findings)
    for component in application.of_kind("application", "receiver", "provider"):
        misplaced = component.find_meta_data(NAMES["manifest_meta_data"])
        if misplaced is not None:
            article = "an" if component.kind == "application" else "a"
            message = f"{misplaced.name} is in {article} <{component.kind}>, where no client looks for it"
            hint = "move it into the activity with the ADVERTISE action"
            place = misplaced.place or application.place
            findings.append(META_DATA.broken(message, source=place, hint=hint))
    return tuple(findings)


@dataclass(slots=True)
class _Linter:
    place: Place
    findings: list[Finding] = field(default_factory=list)

    def report(
        self,
        rule: LintRule,
        message: str,
        pointer: str = "",
        *,
        hint: str | None = None,
        level: Level | None = None,
    ) -> None:
        source = self.place.changed({"inner": pointer}) if pointer else self.place
        self.findings.append(rule.broken(message, pointer=pointer, source=source, hint=hint, level=level))

    def lint_component(self, application: Application, component: Component, *, advertises: bool) -> None:
        name = component.name
        if not advertises:
            self.report(ADVERTISE_ACTION, f"{name} has a manifest, but no filter with the ADVERTISE action")
        if not component.has_action(NAMES["call_action"]):
            self.report(
                CALL_ACTION,
                f"{name} has no filter with the CALL action, so an implicit call does not find it",
            )
        for action in (NAMES["advertise_action"], NAMES["call_action"]):
            filters = [filter_ for filter_ in component.filters if action in filter_.actions]
            if filters and not any(NAMES["default_category"] in filter_.categories for filter_ in filters):
                self.report(DEFAULT_CATEGORY, f"{name}'s filter for {action} has no DEFAULT category")
        if component.exported is False or not (component.exported or component.filters):
            self.report(EXPORTED, f"{name} is not exported, so no other app can call it")
        enabled = application.enabled_rule_of(component)
        if enabled is not True:
            where = "" if enabled is False else f" in some configurations ({disabled_in(enabled)})"
            self.report(ENABLED, f"{name} is disabled{where}, so no agent finds it")
        if component.kind == "service":
            self.report(ACTIVITY, f"{name} is a service; clients start an activity")

    def lint_meta_data(self, application: Application, component: Component) -> None:
        try:
            manifest = find_manifest_text(application, component)
        except InputError as error:
            self.report(META_DATA, error.message, hint=error.hint)
            return
        if manifest is None:
            self.report(META_DATA, f"{component.name} has no meta-data {NAMES['manifest_meta_data']}")
            return
        if not manifest.in_value:
            reference = manifest.reference or ""
            message = f"android:resource gives clients the number of {reference}, and they look for a text"
            is_string = is_string_reference(reference)
            hint = f'write android:value="{reference}"' if is_string else "put the JSON into android:value"
            self.report(META_DATA, message, hint=hint)
        self.place = manifest.place
        self.lint_length(manifest)
        context = ReadingContext(rows_off=frozenset())
        try:
            value = parse_manifest(manifest.text, manifest.place, context)
        except InputError as error:
            self.report(JSON, error.message, hint=hint_about_json(manifest) or error.hint)
            return
        self.lint_manifest(value, context)

    def lint_length(self, manifest: ManifestText) -> None:
        if manifest.in_value:
            excess = excess_of(
                "value", utf16_length(manifest.text), f"<meta-data> {NAMES['manifest_meta_data']}"
            )
            if excess is not None:
                self.report(MANIFEST_LENGTH, excess)

    def lint_manifest(self, value: Json, context: ReadingContext) -> None:
        for finding in context.findings:
            self.report(CONTROL_CHARACTERS, finding.message, hint=finding.hint)
        if not isinstance(value, Mapping):
            hint = "write an object with `instructions` and `tools`"
            self.report(TOOLS, "the manifest is not a JSON object", hint=hint)
            return
        self.lint_text(value)
        self.lint_version(value)
        self.lint_keys(value, MANIFEST_KEYS, "the manifest", "")
        tools = value.get("tools")
        if not isinstance(tools, list):
            self.report(TOOLS, "the manifest has no array `tools`", "/tools")
            return
        seen: set[str] = set()
        for position, tool in enumerate(tools):
            self.lint_tool(tool, f"/tools/{position}", seen)

    def lint_keys(self, part: Mapping[str, Json], keys: frozenset[str], called: str, pointer: str) -> None:
        for key in part:
            if key not in keys:
                message = f"the key {key!r} of {called} is not in the specification"
                self.report(UNKNOWN_KEY, message, f"{pointer}/{pointer_token(key)}")

    def lint_text(self, manifest: Mapping[str, Json]) -> None:
        if "appDescription" in manifest:
            self.report(
                DRAFT_KEY, "`appDescription` is the draft's name for `instructions`", "/appDescription"
            )
        text = manifest.get("instructions", manifest.get("appDescription"))
        if not isinstance(text, str):
            self.report(INSTRUCTIONS, "the manifest has no string `instructions`", "/instructions")
        elif not text.strip():
            message = "`instructions` is empty"
            self.report(INSTRUCTIONS, message, "/instructions", hint=_SAY_WHAT, level=Level.WARNING)

    def lint_version(self, manifest: Mapping[str, Json]) -> None:
        if "protocolVersion" not in manifest:
            message = "the manifest has no protocol version; 1.0 is assumed"
            self.report(VERSION, message, level=Level.NOTE)
            return
        version = manifest["protocolVersion"]
        if version != NAMES["protocol_version"]:
            message = f'the protocol version is {write_json(version)[:100]}, not "1.0"'
            self.report(VERSION, message, "/protocolVersion", hint='write "1.0"')

    def lint_tool(self, tool: Json, pointer: str, seen: set[str]) -> None:
        if not isinstance(tool, Mapping):
            hint = "write an object with `name`, `description` and `parameters`"
            self.report(TOOLS, "a tool is not a JSON object", pointer, hint=hint)
            return
        name = tool.get("name")
        if not isinstance(name, str) or not name:
            self.report(TOOL_NAME, "a tool has no string `name`", f"{pointer}/name")
        else:
            self.lint_name(name, f"{pointer}/name", seen)
        called = repr(name) if isinstance(name, str) else "without a name"
        description = tool.get("description")
        here = f"{pointer}/description"
        if not isinstance(description, str):
            self.report(TOOL_DESCRIPTION, f"the tool {called} has no string `description`", here)
        elif not description.strip():
            message = f"the tool {called} has an empty `description`"
            self.report(TOOL_DESCRIPTION, message, here, level=Level.WARNING)
        if "return" in tool:
            self.report(DRAFT_KEY, f"the tool {called} has the draft's `return`", f"{pointer}/return")
        self.lint_keys(tool, TOOL_KEYS, f"the tool {called}", pointer)
        other = next((key for key in _KEYS_OF_OTHERS if key in tool), None)
        renaming = other and f"rename `{other}`, the name in other protocols, to `parameters`"
        self.lint_parameters(tool.get("parameters"), called, f"{pointer}/parameters", renaming)

    def lint_name(self, name: str, pointer: str, seen: set[str]) -> None:
        if name in seen:
            self.report(TOOL_NAME_UNIQUE, f"duplicate tool name {name!r}", pointer)
        seen.add(name)
        longest = MAX_FUNCTION_NAME - CLIENT_PREFIX_LENGTH
        if len(name) > longest:
            self.report(NAME_LENGTH, f"the name {name!r} is longer than {longest} characters", pointer)
        if _FUNCTION_NAME.fullmatch(name) is None:
            self.report(
                NAME_CHARACTERS,
                f"the name {name!r} has characters that language models refuse in a function's name",
                pointer,
            )

    def lint_parameters(self, value: Json, called: str, pointer: str, hint_if_missing: str | None) -> None:
        form = form_of(value)
        if form == "missing":
            self.report(PARAMETERS, f"the tool {called} has no `parameters`", pointer, hint=hint_if_missing)
        elif form is None:
            self.report(
                PARAMETERS_SCHEMA, f"the parameters of the tool {called} are not a JSON object", pointer
            )
        elif form == "flat":
            message = f"the parameters of the tool {called} are a map of type words, not a JSON Schema"
            self.report(FLAT_PARAMETERS, message, pointer)
        elif form == "properties":
            message = f"the parameters of the tool {called} are a map of schemas"
            hint = 'write {"type": "object", "properties": ...} around it'
            self.report(FLAT_PARAMETERS, message, pointer, hint=hint)
            for name, schema in value.items():
                here = f"{pointer}/{pointer_token(name)}"
                self.findings.extend(check_schema(schema, pointer=here, source=self.place))
        elif form == "empty":
            message = (
                f"the parameters of the tool {called} are empty; a client may miss `type` and `properties`"
            )
            self.report(OBJECT_PARAMETERS, message, pointer)
        else:
            self.lint_schema(value, called, pointer)

    def lint_schema(self, schema: Json, called: str, pointer: str) -> None:
        self.findings.extend(check_schema(schema, pointer=pointer, source=self.place))
        if isinstance(schema, bool) or schema.get("type") != "object":
            message = f"the parameters of the tool {called} are not of the type object"
            self.report(OBJECT_PARAMETERS, message, pointer)
