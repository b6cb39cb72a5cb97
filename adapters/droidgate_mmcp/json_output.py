"""JSON text in the order of its values, exact, and only of characters that XML can hold."""

from __future__ import annotations

from droidgate_mappings.model.json_values import Json, one_line_json, readable_json
from droidgate_mappings.text.xml_text import NOT_XML


def write_json(value: Json, *, lines: bool = False) -> str:
    r"""Return a JSON value's text.

    Characters that XML 1.0 cannot hold, halves of surrogate pairs among them, are written as `\uXXXX`, so the
    text can be in an XML attribute and in UTF-8, and means the same.

    Args:
        value: A JSON value; numbers are written digit for digit.
        lines: One member a line, indented by two; else one line without blanks.

    Raises:
        ValueError: the value holds NaN or an infinity.
    """
    text = readable_json(value) if lines else one_line_json(value)
    return NOT_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
