"""A format for droidgate in one file: one tool a line, its name and what it does as a JSON string.

search_notes "Find notes by their text"
"""

import json

from droidgate_mappings.fit import fit_provider
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import Artifact, Format, Reading, SourceFile, Writing
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.tables.capacity import Capacity, NameRuleTable, TypeCapacity
from droidgate_mappings.tables.loading import DialectTable, FormatTables
from droidgate_mappings.text.json_text import decode_utf8, parse_json

# What a line can carry. Every loss of a conversion, and its finding, follows from this.
CAPACITY = Capacity(
    capability_fields=frozenset({"description"}),
    capability_defaults={"description": "{id}"},
    types={"object": TypeCapacity(written_as="object")},
    input_shape="none",
    output_shape="none",
    definitions="none",
    type_descriptions="none",
    id_rule=NameRuleTable(allowed="[A-Za-z0-9_]"),
)
TABLES = FormatTables(
    id="tool-list",
    title="Tool list",
    dialects=(DialectTable(id="1", summary="One tool a line", capacity=CAPACITY),),
)


def detect(source: SourceFile) -> int:
    """Claim files by their name."""
    return 90 if source.path.endswith(".tools") else 0


def read_file(source: SourceFile, _: ReadingContext) -> Reading:
    """Read one file; the error of a line that is no tool names the line."""
    capabilities = []
    for number, line in enumerate(decode_utf8(source.data, path=source.path).splitlines(), start=1):
        name, blank, quoted = line.partition(" ")
        if not blank:
            raise InputError("no tool", place=f"{source.path}:{number}", hint='write: name "what it does"')
        description = parse_json(quoted, path=source.path, line=number)
        place = Place(path=source.path, line=number)
        capabilities.append(Capability(id=name, description=str(description), source=place))
    return Reading((Provider(protocol=TABLES.id, dialect="1", capabilities=tuple(capabilities)),))


def read_application(_: Application, __: ReadingContext) -> Reading:
    """Find nothing: no Android component declares this format."""
    return Reading()


def write(provider: Provider, dialect: DialectTable) -> Writing:
    """Fit the provider into what a line can carry, then write the lines."""
    fitted = fit_provider(provider, CAPACITY, TABLES.id, dialect.id)
    lines = [f"{one.id} {json.dumps(one.description)}\n" for one in fitted.provider.capabilities]
    artifact = Artifact("provider.tools", "".join(lines), "document")
    return Writing((artifact,), fitted.provider, fitted.findings, fitted.names)


FORMAT = Format(
    tables=TABLES,
    detect=detect,
    read_file=read_file,
    read_application=read_application,
    write=write,
    endings=(".tools",),
)
