"""Whether an intent matches a filter (AOSP's `android.content.IntentFilter.match`)."""

from __future__ import annotations

import re
from typing import Final

from droidgate_phone.intents import Intent, split_uri
from droidgate_phone.system.manifests import DataRule, InstalledFilter

MATCH_ADJUSTMENT_NORMAL: Final = 0x8000
"""`IntentFilter.MATCH_ADJUSTMENT_NORMAL`."""
MATCH_CATEGORY_EMPTY: Final = 0x0100000
_MATCH_CATEGORY_SCHEME: Final = 0x0200000
_MATCH_CATEGORY_HOST: Final = 0x0300000
_MATCH_CATEGORY_PATH: Final = 0x0500000
_MATCH_CATEGORY_TYPE: Final = 0x0600000


def match_filter(intent: Intent, installed_filter: InstalledFilter) -> int | None:
    """Return Android's number for how an intent matches a filter, None where it does not match."""
    if intent.action is not None and intent.action not in installed_filter.actions:
        return None
    if intent.action is None and not installed_filter.actions:
        return None
    if any(category not in installed_filter.categories for category in intent.categories):
        return None
    found = _match_data(intent, installed_filter.data)
    return None if found is None else found | MATCH_ADJUSTMENT_NORMAL


def _match_data(intent: Intent, rule: DataRule) -> int | None:
    scheme = split_uri(intent.data).scheme if intent.data is not None else None
    if not rule.types and not rule.schemes:
        return MATCH_CATEGORY_EMPTY if intent.mime_type is None and intent.data is None else None
    matched = _match_place(intent.data, scheme, rule)
    if matched is None:
        return None
    if not rule.types:
        return matched if intent.mime_type is None else None
    if intent.mime_type is None or not any(_type_matches(intent.mime_type, type_) for type_ in rule.types):
        return None
    return max(matched, _MATCH_CATEGORY_TYPE)


def _match_place(data: str | None, scheme: str | None, rule: DataRule) -> int | None:
    if not rule.schemes:
        # A type alone also matches content: and file: URIs, nothing else.
        return MATCH_CATEGORY_EMPTY if scheme in (None, "", "content", "file") else None
    if scheme not in rule.schemes or data is None:
        return None
    if not rule.hosts:
        return _MATCH_CATEGORY_SCHEME
    parts = split_uri(data)
    if not any(_host_matches(parts.host.partition(":")[0].lower(), host) for host in rule.hosts):
        return None
    if not rule.paths:
        return _MATCH_CATEGORY_HOST
    if any(_path_matches(parts.path, kind, value) for kind, value in rule.paths):
        return _MATCH_CATEGORY_PATH
    return None


def _host_matches(host: str, pattern: str) -> bool:
    return host.endswith(pattern[1:]) if pattern.startswith("*") else host == pattern.lower()


def _path_matches(path: str, kind: str, value: str) -> bool:
    if kind == "path":
        return path == value
    if kind == "pathPrefix":
        return path.startswith(value)
    if kind == "pathSuffix":
        return path.endswith(value)
    return re.fullmatch(_simple_glob(value), path) is not None


def _simple_glob(pattern: str) -> str:
    """Return PatternMatcher's simple glob as a regular expression: `*` repeats what is before it."""
    written = []
    escaped = False
    for character in pattern:
        if escaped:
            written.append(re.escape(character))
            escaped = False
        elif character == "\\":
            escaped = True
        else:
            written.append(character if character in ".*" else re.escape(character))
    return "".join(written)


def _type_matches(asked: str, declared: str) -> bool:
    if declared == "*/*" or asked == "*/*":
        return True
    kind, _, detail = declared.partition("/")
    asked_kind, _, asked_detail = asked.partition("/")
    return kind == asked_kind and (detail == asked_detail or "*" in (detail, asked_detail))
