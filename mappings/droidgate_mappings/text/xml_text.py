"""Text XML reading with a budget: no DTD, no entities but XML's own five, no file or network access.

lxml does the parsing; what this module adds is the refusals, the budgets, the encodings that are read, and
errors that name a line.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

from lxml import etree

from droidgate_mappings.model.errors import BudgetError, InputError

_ENCODING_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,31}")
_ENCODING: Final = re.compile(
    r"ascii|utf-(?:8|8-sig|(?:16|32)(?:-[lb]e)?)"
    r"|(?:iso8859|iso2022|cp|koi8|mac|gb|big5|shift_jis|euc)[0-9a-z_-]*"
)
"""What `codecs` calls the encodings that are read; `punycode` would take quadratic time."""


def find_encoding(name: str) -> str | None:
    """Return Python's name of the encoding that a file declares; None for one that is not read."""
    if _ENCODING_NAME.fullmatch(name) is None:
        return None
    try:
        codec = codecs.lookup(name).name
    except LookupError:
        return None
    return codec if _ENCODING.fullmatch(codec) is not None else None


MAX_BYTES: Final = 8 * 1024 * 1024
MAX_ELEMENTS: Final = 200_000
MAX_DEPTH: Final = 256
"""libxml2 keeps this one itself while `huge_tree` is off."""
MAX_ATTRIBUTES: Final = 256
"""Of one element; lxml takes quadratic time to list their values. Real files have at most 16."""

ANDROID: Final = "{http://schemas.android.com/apk/res/android}"
"""Prefix of Android's attribute names in lxml's notation."""
TOOLS: Final = "{http://schemas.android.com/tools}"
"""Prefix of attributes that only build tools read; the compiler removes them."""

NOT_XML: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""A character that XML 1.0 cannot hold; the set of the others takes ten times as long to compile."""

_NEWLINE: Final = b"\n"
_PROLOG = re.compile(rb"(?>\s+|<\?.*?\?>|<!--.*?-->)*+", re.DOTALL)
_MARKUP = re.compile(
    rb"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)"
    rb"|(?P<start><[^\s/>!?\"'][^<\"'>]*+(?:\"[^<\"]*+\"[^<\"'>]*+|'[^<']*+'[^<\"'>]*+)*+>)",
    re.DOTALL,
)
_MAX_LINE: Final = 65_535
"""libxml2 keeps an element's line in 16 bits."""

_BOMS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))

Element = etree._Element  # noqa: SLF001 - lxml's public element type has no public name at run time


_MAY_SPAN_LINES: Final = re.compile(rb"""<[^<>!?/][^<>]*\n|=\s*"[^"<]*>|=\s*'[^'<]*>""")
"""A start tag with a line break, or with a `>` in a value, behind which there may be one."""


def parse_xml(text: str | bytes, *, path: str = "<text>") -> Element:
    """Parse one XML document and return its root element.

    `sourceline` of each element is the 1-based line of `text` on which its start tag begins (libxml2 alone
    says where it ends); beyond line 65535 it is of no use. The encoding that a `str` declares is ignored.

    Raises:
        InputError: not well-formed, or it has a DOCTYPE.
        BudgetError: more bytes, elements or levels than the budget allows.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) > MAX_BYTES:
        message = f"the XML has more than {MAX_BYTES} bytes"
        raise BudgetError(message, place=path)
    data = data.removeprefix(b"\xef\xbb\xbf") if isinstance(text, str) else _without_encoding(data, path)
    if isinstance(text, str) and b"\0" in data:
        raise _binary(path)
    prolog = _PROLOG.match(data)
    if prolog is not None and data.startswith(b"<!", prolog.end()):
        raise _doctype(f"{path}:{data.count(_NEWLINE, 0, prolog.end()) + 1}")
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_pis=True,
        encoding="utf-8",
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise _located(error, path) from None
    except ValueError as error:
        raise InputError(f"not XML: {error}", place=path) from None
    if root is None:
        message = "not XML: no root element"
        raise InputError(message, place=path)
    if root.getroottree().docinfo.doctype:
        raise _doctype(path)
    _check_count(root, path)
    if _MAY_SPAN_LINES.search(data):
        _set_first_lines(root, data)
    return root


def _without_encoding(data: bytes, path: str) -> bytes:
    # Re-encoded to UTF-8 before the DOCTYPE search, so that no encoding can hide one.
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _recode(data, encoding, path)
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    declared = re.match(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']", data)
    if declared is not None and declared[1].lower() not in {b"utf-8", b"utf8", b"us-ascii", b"ascii"}:
        name = declared[1].decode("ascii")
        if find_encoding(name) is None:
            raise _wrong_encoding(name, path)
        return _recode(data, name, path)
    if b"\0" in data:
        raise _binary(path)
    return data


def _binary(path: str) -> InputError:
    hint = "compiled (binary) XML is read from its APK"
    return InputError("not XML text: it holds zero bytes", place=path, hint=hint)


def decode_xml(data: bytes, *, path: str) -> str:
    """Return the text of an XML document in whatever encoding it declares, without a byte order mark.

    Raises:
        InputError: it is not in that encoding, or holds zero bytes.
    """
    try:
        return _without_encoding(data, path).decode()
    except UnicodeDecodeError as error:
        message = f"byte {error.start} is not UTF-8"
        raise InputError(message, place=path, hint="save the file as UTF-8") from None


def _set_first_lines(root: Element, data: bytes) -> None:
    """Set each element's line to where its start tag begins."""
    line, position = 1, 0
    elements = root.iter(etree.Element)
    for match in _MARKUP.finditer(data):
        start = match.start("start")
        if start < 0:
            continue
        line += data.count(b"\n", position, start)
        position = start
        if line > _MAX_LINE:
            return
        element = next(elements, None)
        if element is None:
            return
        element.sourceline = line  # type: ignore[misc] # the stubs do not know the setter


def _recode(data: bytes, encoding: str, path: str) -> bytes:
    try:
        return data.decode(encoding).lstrip("\ufeff").encode("utf-8", "surrogatepass")
    except (UnicodeError, LookupError):
        raise _wrong_encoding(encoding, path) from None


def _wrong_encoding(encoding: str, path: str) -> InputError:
    message = f"the XML is not in the encoding it declares ({encoding})"
    return InputError(message, place=path, hint="save the file as UTF-8")


def _doctype(place: str) -> InputError:
    return InputError(
        "a DOCTYPE is not allowed", place=place, hint="remove the DOCTYPE; Android's XML has none"
    )


_CAUSES: Final = (
    (
        r"Opening and ending tag mismatch: (\S+) line (\d+) and (\S+)",
        r"<\1> of line \2 is not closed before </\3>",
        None,
    ),
    (r"Premature end of data in tag (\S+) line (\d+)", r"<\1> of line \2 is not closed", None),
    (r"Couldn't find end of Start Tag (\S+) line (\d+)", r"the start tag <\1 of line \2 has no end", None),
    (r"Couldn't find end of Start Tag (\S+)", r"the start tag <\1 does not end", None),
    (r"EndTag: '</' not found", "an element is not closed at the end of the file", None),
    (r"Extra content at the end of the document", "there is more after the root element", None),
    (
        r"attributes construct error",
        "a value ends too early, or no blank follows it",
        "in a value, write &apos; for an apostrophe and &quot; for a quotation mark",
    ),
    (r"xmlParseEntityRef: no name|EntityRef: expecting ';'", "a bare &", "write &amp; for the character &"),
    (
        r"Entity '(\S+)' not defined",
        r"XML does not have &\1;",
        "write the character itself, or its number as in &#160;",
    ),
    (
        r"Unescaped '<' not allowed in attributes values",
        "a bare < in a value",
        "write &lt;, or close the quotes of the value",
    ),
    (r"StartTag: invalid element name", "no element's name follows <", "write &lt; for the character <"),
    (r"Attribute (\S+) redefined", r"the attribute \1 is there twice", "remove one of them"),
    (r"Double hyphen within comment.*", "a comment holds --", "write one hyphen there"),
    (
        r"XML declaration allowed only at the start of the document",
        "something is in front of <?xml",
        "remove it, blanks too",
    ),
    (r"Start tag expected, '<' not found|Document is empty", "there is no element", None),
    (r"PCDATA invalid Char value (\d+)", r"the control character \1, which XML cannot hold", "remove it"),
    (
        r"AttValue: .*|Specification mandates value.*",
        "a value is not in quotes, or its quotes do not end",
        "attribute values are in straight quotes",
    ),
)
"""Messages of libxml2, the same in words that name the cause, and the fix."""


def _located(error: etree.XMLSyntaxError, path: str) -> InputError:
    line, column = error.position or (0, 0)
    reason = error.msg or "not well-formed"
    reason = " ".join(re.sub(r"(?s), line \d+, column \d+.*", "", reason).split())
    if "excessive depth" in reason.lower() or "xml_parse_huge" in reason.lower():
        return BudgetError(f"the XML is nested more than {MAX_DEPTH} levels deep", place=f"{path}:{line}")
    hint = None
    for pattern, words, fix in _CAUSES:
        match = re.search(pattern, reason)
        if match is not None:
            reason, hint = match.expand(words), fix
            break
    return InputError(f"not well-formed XML: {reason}", place=f"{path}:{line}:{column}", hint=hint)


def _check_count(root: Element, path: str) -> None:
    if root.xpath(f"count(//*) > {MAX_ELEMENTS}"):
        raise BudgetError(f"the XML has more than {MAX_ELEMENTS} elements", place=path)
    crowded = root.xpath(f"(//*[@*[{MAX_ATTRIBUTES + 1}]])[1]")
    if isinstance(crowded, list) and crowded:
        message = f"an element has more than {MAX_ATTRIBUTES} attributes"
        raise BudgetError(message, place=f"{path}:{crowded[0].sourceline}")


def child_elements(parent: Element) -> list[Element]:
    """Return the element children of an element, without comments and entities."""
    return [child for child in parent if isinstance(child.tag, str)]


def xpath_of(element: Element) -> str:
    """Return the absolute XPath of an element, positions included."""
    path: str = element.getroottree().getpath(element)
    return path


def escape_text(text: str) -> str:
    """Return element text: `&`, `<` and `>` as entities, a carriage return as a reference: XML would read a
    line feed.
    """
    if text.isalnum():  # most are one word
        return text
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")


def quoted_attribute(text: str) -> str:
    """Return an attribute value in double quotes."""
    escaped = escape_text(text).replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;")
    return f'"{escaped}"'
