"""A format for droidgate in one file: one tool a line, with its parameters, its results and what it does.

search_notes(text, limit) -> notes "Find notes by their text"
"""

import json
import re

from droidgate_mappings.fit import Loss, fit_provider
from droidgate_mappings.formats.format import Artifact, Format, Reading, SourceFile, Writing
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding, Level, LintRules, finding_code
from droidgate_mappings.model.types import TYPE_KINDS, ObjectType, Property, ScalarType, Type
from droidgate_mappings.tables.capacity import Capacity, NameRuleTable, TypeCapacity
from droidgate_mappings.tables.loading import DialectTable, FormatTables
from droidgate_mappings.text.json_text import decode_utf8, parse_json

NAME_RULE = NameRuleTable(allowed="[A-Za-z0-9_]")

# What a line can carry. The losses of a conversion, and their findings, follow from this.
CAPACITY = Capacity(
    capability_fields=frozenset({"description"}),
    capability_defaults={"description": "{id}"},
    types=dict.fromkeys(TYPE_KINDS, TypeCapacity(written_as="string")),
    nested=False,
    nullable=False,
    keywords=False,
    implicit=False,
    input_shape="object",
    input_required=False,
    output_shape="object",
    output_required=False,
    definitions="none",
    type_descriptions="none",
    id_rule=NAME_RULE,
    property_rule=NAME_RULE,
)
TABLES = FormatTables(
    id="tool-list",
    title="Tool list",
    dialects=(DialectTable(id="1", summary="One tool a line", capacity=CAPACITY),),
)

# A loss that no flag of the capacity stands for: its code, level and words.
LINE_BREAK = Loss(
    finding_code("tool-list-line-break", "A description in a tool list is one line", __name__),
    Level.RENAMED,
    "line breaks of the description are written as blanks",
)

# A rule of the specification, for `droidgate lint`.
UNIQUE_NAME = LintRules("tool list", __name__).declare(
    Level.ERROR, "tool-list-unique-name", "1", "A tool's name is unique", "rename one of them"
)

LINE = re.compile(r'(\w+)\(([\w, ]*)\)(?: -> ([\w, ]*))? (".*")', re.ASCII)


def detect(source: SourceFile) -> int:
    """Claim files by their name."""
    return 90 if source.path.endswith(".tools") else 0


def read_file(source: SourceFile, _: ReadingContext) -> Reading:
    """Read one file; the error of a line that is not a tool names the line."""
    capabilities = []
    for number, line in enumerate(decode_utf8(source.data, path=source.path).splitlines(), start=1):
        found = LINE.fullmatch(line)
        if found is None:
            hint = 'write: name(parameter, ...) -> result "what it does"'
            raise InputError("not a tool", place=f"{source.path}:{number}", hint=hint)
        name, parameters, results, quoted = found.groups()
        capability = Capability(
            id=name,
            description=str(parse_json(quoted, path=source.path, line=number)),
            input=read_names(parameters),
            output=None if results is None else read_names(results),
            source=Place(path=source.path, line=number),
        )
        capabilities.append(capability)
    return Reading((Provider(protocol=TABLES.id, dialect="1", capabilities=tuple(capabilities)),))


def read_names(names: str) -> ObjectType:
    """Return an object with these properties, all of them required texts."""
    text = Property(type=ScalarType(kind="string"), required=True)
    return ObjectType(properties={name: text for name in names.split(", ") if name})


def write(provider: Provider, dialect: DialectTable) -> Writing:
    """Fit the provider into what a line can carry, then write the lines."""
    fitted = fit_provider(provider, CAPACITY, TABLES.id, dialect.id)
    reported = {finding.pointer for finding in fitted.findings}
    findings = [*fitted.findings]
    capabilities = []
    for position, capability in enumerate(fitted.provider.capabilities):
        text = (capability.description or "").replace("\n", " ")
        pointer = f"/capabilities/{position}/description"
        if text != capability.description and pointer not in reported:
            findings.append(LINE_BREAK.finding(pointer, source=capability.source))
        capabilities.append(capability.changed({"description": text}))
    lines = [
        f"{each.id}({write_names(each.input)})"
        + ("" if each.output is None else f" -> {write_names(each.output)}")
        + f" {json.dumps(each.description)}\n"
        for each in capabilities
    ]
    written = fitted.provider.changed({"capabilities": tuple(capabilities)})
    artifact = Artifact("provider.tools", "".join(lines), "document")
    return Writing((artifact,), written, tuple(findings), fitted.names)


def write_names(type_: Type) -> str:
    """Return the names of an object's properties; `fit_provider` has left nothing else."""
    return ", ".join(type_.properties) if isinstance(type_, ObjectType) else ""


def lint_file(source: SourceFile) -> tuple[Finding, ...]:
    """Return a finding for each tool that has the name of another one above it."""
    (provider,) = read_file(source, ReadingContext()).providers
    names = [each.id for each in provider.capabilities]
    return tuple(
        UNIQUE_NAME.broken(f"duplicate name {name!r}", source=provider.capabilities[position].source)
        for position, name in enumerate(names)
        if name in names[:position]
    )


FORMAT = Format(
    tables=TABLES,
    detect=detect,
    read_file=read_file,
    write=write,
    lint_file=lint_file,
    endings=(".tools",),
)
