"""The linter of vendors' tool lists: the schemas of arguments and results.

What a list has beyond them differs between vendors and versions of their interfaces, and the reader reports
what it accepts.
"""

from __future__ import annotations

from droidgate_function_calling.read import stated_schemas
from droidgate_function_calling.vendor_shapes import find_tools
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.text.json_text import parse_json
from droidgate_mappings.values.schema_checks import check_schema


def lint_file(source: SourceFile) -> tuple[Finding, ...]:
    """Return what is wrong with the schemas of a tool list.

    Raises:
        InputError: the file is not JSON.
    """
    tools = find_tools(parse_json(source.data, path=source.path))
    return tuple(
        finding
        for entry in (tools.entries if tools is not None else ())
        if entry.dialect is not None
        for schemas in stated_schemas(entry)
        for name, schema in list(schemas.items())[:1]
        for finding in check_schema(
            schema,
            pointer=f"{entry.pointer}/{name}",
            source=Place(path=source.path, line=1, inner=f"{entry.pointer}/{name}"),
        )
    )
