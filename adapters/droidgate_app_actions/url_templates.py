"""Links from URL templates, by the part of RFC 6570 that files of apps use (reference app-actions 6).

A value is percent-encoded whole, so it adds no parameter, no path segment and no other host.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

OPERATORS: Final = {"": ("", ",", False), "?": ("?", "&", True), "&": ("&", "&", True)}
"""Operator -> what precedes the first value, what separates two, and whether each has its name in front."""
_EXPRESSION: Final = re.compile(r"\{([?&]?)(\w[\w.]*(?:,\w[\w.]*)*)\}", re.ASCII)
_LITERAL: Final = re.compile(r"(?:[^{}%]|%[0-9A-Fa-f]{2})*")
_KEPT: Final = ":/?#[]@!$&'()*+,;=%"
"""What RFC 6570 keeps of a literal, next to letters, digits and `-._~`; the rest is encoded."""
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_REFUSED_SCHEMES: Final = frozenset({"android-app", "content", "data", "file", "intent", "javascript"})
"""Schemes that name code, data or another app, and no screen of the app that has the link."""


TemplateExpression = tuple[str, tuple[str, ...]]
"""The operator and the names of an expression."""
Template = tuple[str | TemplateExpression, ...]


class LinkError(ValueError):
    """A template cannot be filled, or what it gives is not opened; the text says why."""


def parse_template(template: str | None, fixed: str | None = None) -> Template:
    """Return the parts of a link in order: what is fixed, percent-encoded, and expressions.

    Args:
        template: A URL template; None for a fixed link.
        fixed: That link; None for none, which has no parts.

    Raises:
        LinkError: the template has a form other than `{a,b}`, `{?a,b}` and `{&a,b}`, or gives links that are
            not opened.
    """
    if template is None:
        return () if fixed is None else (fixed_link(fixed),)
    parts: list[str | TemplateExpression] = []
    end = 0
    for match in _EXPRESSION.finditer(template):
        parts += [_literal(template[end : match.start()]), (match[1], tuple(match[2].split(",")))]
        end = match.end()
    parts.append(_literal(template[end:]))
    # A scheme that a value completes would be the caller's.
    _check_scheme(template.partition("{")[0])
    return tuple(filter(None, parts))


def fill_template(template: str, values: Mapping[str, str]) -> tuple[str, frozenset[str]]:
    """Return the link of a template, and the names of the values in it; a variable without one is left out.

    Raises:
        LinkError: as `parse_template`; or a value is not text, or moves the link's path.
    """
    parts = parse_template(template)
    link = "".join(part if isinstance(part, str) else _expand(*part, values) for part in parts)
    _check_path(link)
    used = {name for part in parts if not isinstance(part, str) for name in part[1]}
    return link, frozenset(used.intersection(values))


def fixed_link(text: str) -> str:
    """Return a link without variables, what no link has percent-encoded.

    Raises:
        LinkError: it may not be opened.
    """
    _check_scheme(text)
    _check_path(text)
    return _encoded(text, _KEPT)


def _check_scheme(start: str) -> None:
    scheme = _SCHEME.match(start)
    if scheme is None:
        raise LinkError("the link does not begin with a scheme of its own")
    if scheme[1].lower() in _REFUSED_SCHEMES:
        raise LinkError(f"links with the scheme {scheme[1].lower()!r} are not opened")


def _check_path(link: str) -> None:
    path = re.split(r"[?#]", link, maxsplit=1)[0]
    if any(segment.lower().replace("%2e", ".") in {".", ".."} for segment in path.split("/")):
        raise LinkError("the link's path has a segment '.' or '..'")


def _literal(text: str) -> str:
    if _LITERAL.fullmatch(text) is None:
        raise LinkError("the URL template has a form of RFC 6570 that is not filled, or is not one")
    return _encoded(text, _KEPT)


def _expand(operator: str, names: tuple[str, ...], values: Mapping[str, str]) -> str:
    first, separator, is_named = OPERATORS[operator]
    pairs = [
        f"{name}={_encoded(values[name])}" if is_named else _encoded(values[name])
        for name in names
        if name in values
    ]
    return first + separator.join(pairs) if pairs else ""


def _encoded(text: str, unescaped: str = "") -> str:
    try:
        return quote(text, safe=unescaped)
    except UnicodeEncodeError:
        raise LinkError("the text has half of a surrogate pair") from None
