"""Parsing what Android's pull parser reads to the end and a strict parser does not (reference 2.a)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.text.xml_text import Element, child_elements, parse_xml

WRAPPER: Final = "droidgate-document"
"""Parent of the elements that are next to each other in a file."""

_SEVERAL: Final = "there is more after the root element"
_DECLARATION: Final = re.compile(r"\ufeff?<\?xml\b.*?\?>", re.DOTALL)


def parse_roots(text: str, *, path: str = "<text>", prefixes: Iterable[str] = ()) -> list[Element]:
    """Return the elements at the top of a file: one as a rule, all of them where it has several.

    Several have one parent, of the tag `WRAPPER`; their lines are those of the file.

    Args:
        text: The file.
        path: How errors name it.
        prefixes: Namespace prefixes that need no declaration, as where Android's parser is not informed about
            namespaces.

    Raises:
        InputError: not even Android's parser comes to the end of the file.
        BudgetError: more than is read of one file.
    """
    try:
        return [parse_xml(text, path=path)]
    except BudgetError:
        raise
    except InputError as error:
        declaration = _DECLARATION.match(text)
        body = text[declaration.end() :] if declaration else text
        lines_before = "\n" * (text.count("\n", 0, declaration.end()) if declaration else 0)
        declared = "".join(f' xmlns:{prefix}="urn:droidgate:{prefix}"' for prefix in prefixes)
        try:
            wrapper = parse_xml(f"<{WRAPPER}{declared}>{lines_before}{body}</{WRAPPER}>", path=path)
        except InputError as inner:
            if _SEVERAL not in error.message:
                raise error from None
            # Several elements are allowed, so the error is inside of one of them.
            message = inner.message.replace(f" before </{WRAPPER}>", "")
            raise InputError(message, place=inner.place, hint=inner.hint) from None
        roots = child_elements(wrapper)
        if wrapper.tag != WRAPPER or not roots or _has_loose_text(wrapper):
            raise error from None
        return roots


def _has_loose_text(wrapper: Element) -> bool:
    return bool((wrapper.text or "").strip() or any((child.tail or "").strip() for child in wrapper))
