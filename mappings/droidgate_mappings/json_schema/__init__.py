"""JSON Schema 2020-12 to the type algebra and back, without loss.

Reading keeps what the algebra models in its fields and every other keyword verbatim in `keywords`. Where a
field's usual writing would differ from the source's, the source's own form is in `keywords` too and wins
when written, or in `extensions` under `NOTATION`. References into the schema itself (`#`, `#/properties/a`,
anchors) become definitions; the root's `extensions` keep where they were under `NAMESPACE`.

What JSON Schema has no word for (a 32-bit width next to another `format`, a class name, facts of other
formats) is written under the annotation keyword `x-droidgate`. A note under it counts only where writing what
was read gives the note back; any other value of that keyword is a keyword like others.
"""

from droidgate_mappings.json_schema.schema_words import (
    ANNOTATION,
    NAMESPACE,
    NOTATION,
    Schema,
    replace_references,
)
from droidgate_mappings.json_schema.type_schemas import (
    add_discriminators,
    place_definitions,
    read_schema,
    read_type,
    with_discriminators,
    write_schema,
)

__all__ = [
    "ANNOTATION",
    "NAMESPACE",
    "NOTATION",
    "Schema",
    "add_discriminators",
    "place_definitions",
    "read_schema",
    "read_type",
    "replace_references",
    "with_discriminators",
    "write_schema",
]
