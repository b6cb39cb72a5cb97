"""Which components an intent reaches, for whom: AOSP's ResolveIntentHelper, AppsFilter and
`IntentFilter.match`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from droidgate_phone.common.uids import FIRST_APP_UID, ROOT_UID, SYSTEM_UID
from droidgate_phone.java.intents import ComponentName, Intent
from droidgate_phone.java.uris import Uri, advanced_glob, simple_glob
from droidgate_phone.system.manifests import (
    CATEGORY_DEFAULT,
    DataRule,
    InstalledComponent,
    InstalledFilter,
    PartKind,
)
from droidgate_phone.system.package_records import InstalledPackage
from droidgate_phone.system.package_service import PackageManager
from droidgate_phone.system.releases import ReleaseProfile

MATCH_ADJUSTMENT_NORMAL: Final = 0x8000
"""`IntentFilter.MATCH_ADJUSTMENT_NORMAL`."""
MATCH_CATEGORY_EMPTY: Final = 0x0100000
_MATCH_CATEGORY_SCHEME: Final = 0x0200000
_MATCH_CATEGORY_HOST: Final = 0x0300000
_MATCH_CATEGORY_PORT: Final = 0x0400000
_MATCH_CATEGORY_PATH: Final = 0x0500000
_MATCH_CATEGORY_SPECIFIC: Final = 0x0580000
_MATCH_CATEGORY_TYPE: Final = 0x0600000
_WILDCARD: Final = "*"
_ANY_PATH: Final = "/*"
_SCHEME_SEARCH: Final = 3


def match_filter(intent: Intent, installed_filter: InstalledFilter, *, wildcards: bool = False) -> int | None:
    """Return Android's number for how an intent matches a filter, None where it does not match.

    Args:
        intent: What is asked for.
        installed_filter: The filter.
        wildcards: `*` as action, scheme or host, and the path `/*`, stand for any, as in `<queries>`.
    """
    is_any = wildcards and intent.action == _WILDCARD and bool(installed_filter.actions)
    if intent.action is not None and not is_any and intent.action not in installed_filter.actions:
        return None
    if any(category not in installed_filter.categories for category in intent.categories):
        return None
    data_match = _match_data(intent, installed_filter.data, wildcards=wildcards)
    return None if data_match is None else data_match | MATCH_ADJUSTMENT_NORMAL


def _match_data(intent: Intent, rule: DataRule, *, wildcards: bool) -> int | None:
    if not rule.types and not rule.schemes:
        return MATCH_CATEGORY_EMPTY if intent.mime_type is None and intent.data is None else None
    matched = _match_place(None if intent.data is None else Uri(intent.data), rule, wildcards=wildcards)
    if matched is None:
        return None
    if not rule.types:
        return matched if intent.mime_type is None else None
    return _MATCH_CATEGORY_TYPE if _type_matches(intent.mime_type, rule.types) else None


def _match_place(uri: Uri | None, rule: DataRule, *, wildcards: bool) -> int | None:
    scheme = (None if uri is None else uri.scheme) or ""
    is_any = wildcards and scheme == _WILDCARD
    if not rule.schemes:
        # A type alone also matches content: and file: URIs, nothing else.
        return MATCH_CATEGORY_EMPTY if is_any or scheme in ("", "content", "file") else None
    if not is_any and scheme not in rule.schemes:
        return None
    if rule.specific_parts and uri is not None:
        part = uri.scheme_specific_part
        if (wildcards and part == _WILDCARD) or _matches_any(part, rule.specific_parts):
            return _MATCH_CATEGORY_SPECIFIC
        if not rule.hosts:
            return None
    if not rule.hosts:
        return _MATCH_CATEGORY_SCHEME
    authority_match = None if uri is None else _match_authority(uri, rule, wildcards=wildcards)
    if authority_match is None or uri is None or not rule.paths:
        return authority_match
    is_taken = (wildcards and uri.path == _ANY_PATH) or _matches_any(uri.path, rule.paths)
    return _MATCH_CATEGORY_PATH if is_taken else None


def _match_authority(uri: Uri, rule: DataRule, *, wildcards: bool) -> int | None:
    for pattern, port in rule.hosts:
        if uri.host is None:
            is_taken = wildcards and pattern == _WILDCARD
        else:
            is_any = wildcards and uri.host == _WILDCARD
            is_taken = is_any or _host_matches(uri.host.lower(), pattern.lower())
        if is_taken and (wildcards or port is None):
            return _MATCH_CATEGORY_HOST
        if is_taken and port == uri.port:
            return _MATCH_CATEGORY_PORT
    return None


def _host_matches(host: str, pattern: str) -> bool:
    return host.endswith(pattern[1:]) if pattern.startswith(_WILDCARD) else host == pattern


def _matches_any(place: str | None, patterns: Sequence[tuple[str, str]]) -> bool:
    return place is not None and any(_pattern_matches(place, kind, value) for kind, value in patterns)


def _pattern_matches(place: str, kind: str, value: str) -> bool:
    if kind == "literal":
        return place == value
    if kind == "prefix":
        return place.startswith(value)
    if kind == "suffix":
        return place.endswith(value)
    return (simple_glob if kind == "glob" else advanced_glob)(value).fullmatch(place) is not None


def _type_matches(asked: str | None, declared: Sequence[str]) -> bool:
    if asked is None:
        return False
    # A filter keeps `text/*` as `text`.
    types = {type_.removesuffix("/*") for type_ in declared}
    if asked in types or asked == "*/*" or _WILDCARD in types:
        return True
    kind, slash, detail = asked.partition("/")
    if not kind or not slash:
        return False
    return kind in types or (detail == _WILDCARD and any(type_.startswith(kind + "/") for type_ in types))


MATCH_DISABLED_COMPONENTS: Final = 0x200
MATCH_DEFAULT_ONLY: Final = 0x10000

FLAG_EXCLUDE_STOPPED_PACKAGES: Final = 0x10
FLAG_INCLUDE_STOPPED_PACKAGES: Final = 0x20

_QUERY_ALL: Final = "android.permission.QUERY_ALL_PACKAGES"


@dataclass(frozen=True, slots=True)
class Match:
    """A component that an intent reaches (`android.content.pm.ResolveInfo`).

    Attributes:
        package: Its app.
        component: The component.
        priority: Of the filter that matches.
        match: Android's number for how it matches, 0 for a component that the intent names.
        is_default: The filter has the category DEFAULT.
        search: Which of Android's searches found the filter, 0 the first.
    """

    package: InstalledPackage
    component: InstalledComponent
    priority: int = 0
    match: int = 0
    is_default: bool = False
    search: int = 0

    @property
    def name(self) -> ComponentName:
        """The component's name."""
        return ComponentName(self.package.name, self.component.name)


class Resolver:
    """Queries of PackageManager for one phone."""

    def __init__(self, release: ReleaseProfile, packages: PackageManager) -> None:
        self._release = release
        self._packages = packages
        self._interacted: set[tuple[int, int]] = set()

    def interacted(self, caller_uid: int, target_uid: int) -> None:
        """Make the caller visible to a package that it used (reference android-runtime 1.4)."""
        if caller_uid >= FIRST_APP_UID:
            self._interacted.add((target_uid, caller_uid))

    def can_see(self, caller_uid: int, target: InstalledPackage) -> bool:
        """Return whether a caller may know of a package (AppsFilter)."""
        if caller_uid < FIRST_APP_UID or caller_uid == target.uid:
            return True
        if (caller_uid, target.uid) in self._interacted:
            return True
        callers = self._packages.of_uid(caller_uid)
        if not all(self._release.has("package-visibility", caller.target_sdk) for caller in callers):
            return True
        if self._packages.permissions.holds(caller_uid, _QUERY_ALL):
            return True
        return any(self._declares(caller, target) for caller in callers)

    def _declares(self, caller: InstalledPackage, target: InstalledPackage) -> bool:
        queries = caller.manifest.queries
        if target.name in queries.packages:
            return True
        for component in target.components():
            if component.kind == "provider" and queries.authorities & set(component.authorities):
                return True
            if component.exported and any(
                match_filter(query, filter_, wildcards=True) is not None
                for query in map(_intent_of, queries.intents)
                for filter_ in component.filters
            ):
                return True
        return False

    def query(
        self, kind: PartKind, intent: Intent, *, caller_uid: int, flags: int = 0, unseen: bool = False
    ) -> list[Match]:
        """Return the components of a kind that match, best first, as `PackageManager.queryIntent...`.

        Args:
            kind: Activity, service, receiver, or provider.
            intent: What is asked for; its component, if any, names exactly one.
            caller_uid: Who asks: other apps see what they may see.
            flags: `MATCH_DISABLED_COMPONENTS`, `MATCH_DEFAULT_ONLY`.
            unseen: Packages that the caller may not see are reached too, as when an activity is started.
        """
        with self._packages.lock:
            seen = [item for item in self._packages.all() if unseen or self.can_see(caller_uid, item)]
            if intent.component is not None:
                return self._explicit(kind, intent, intent.component, caller_uid, flags, seen)
            matches = [
                match
                for package in seen
                if intent.package in (None, package.name)
                for match in self._matches(package, kind, intent, caller_uid, flags)
            ]
        return in_android_order(matches)

    def _explicit(
        self,
        kind: PartKind,
        intent: Intent,
        name: ComponentName,
        caller_uid: int,
        flags: int,
        seen: list[InstalledPackage],
    ) -> list[Match]:
        package = next((item for item in seen if item.name == name.package), None)
        if package is None:
            return []
        component = package.find_component(kind, name.class_name)
        if component is None or not self._is_usable(package, component, flags):
            return []
        if self._filters_bar(package, component, intent, caller_uid):
            return []
        return [Match(package, component)]

    def _filters_bar(
        self, package: InstalledPackage, component: InstalledComponent, intent: Intent, caller_uid: int
    ) -> bool:
        """Return whether an explicit intent matches none of the component's filters (Android 13).

        Root and the system are exempt (`ActivityManager.canAccessUnexportedComponents`), the shell is not.
        """
        if caller_uid in {ROOT_UID, SYSTEM_UID, package.uid}:
            return False
        if not component.filters or not self._release.has("filter-match", package.target_sdk):
            return False
        return all(match_filter(intent, filter_) is None for filter_ in component.filters)

    def _is_usable(self, package: InstalledPackage, component: InstalledComponent, flags: int) -> bool:
        return bool(flags & MATCH_DISABLED_COMPONENTS) or package.is_component_enabled(component)

    def _matches(
        self, package: InstalledPackage, kind: PartKind, intent: Intent, caller_uid: int, flags: int
    ) -> list[Match]:
        if (
            package.stopped
            and intent.flags & FLAG_EXCLUDE_STOPPED_PACKAGES
            and not (intent.flags & FLAG_INCLUDE_STOPPED_PACKAGES)
        ):
            return []
        matches = []
        for component in package.components(kind):
            if not self._is_usable(package, component, flags):
                continue
            if not component.exported and self._needs_export(caller_uid):
                continue
            match = find_match(package, component, intent, flags)
            if match is not None:
                matches.append(match)
        return matches

    def _needs_export(self, caller_uid: int) -> bool:
        """Return whether an implicit intent of an app that targets Android 14 needs an exported component."""
        if caller_uid < FIRST_APP_UID:
            return False
        return any(
            self._release.has("implicit-exported-only", item.target_sdk)
            for item in self._packages.of_uid(caller_uid)
        )


def _intent_of(asked: InstalledFilter) -> Intent:
    """Return the intent that an `<intent>` of `<queries>` describes."""
    data = f"content://{_WILDCARD}{_ANY_PATH}" if asked.data.types else None
    if asked.data.schemes:
        host = f"//{asked.data.hosts[0][0]}" if asked.data.hosts else ""
        data = f"{asked.data.schemes[0]}:{host}{_ANY_PATH}"
    return Intent(
        action=asked.actions[0] if asked.actions else None,
        categories=asked.categories,
        data=data,
        mime_type=asked.data.types[0] if asked.data.types else None,
    )


def in_android_order(matches: Iterable[Match]) -> list[Match]:
    """Return the results of a query as `ComponentResolver` sorts them, the best first."""

    def rank(match: Match) -> tuple[object, ...]:
        package = match.package
        return (
            -match.priority,
            not match.is_default,
            -match.match,
            not package.system,
            package.name,
            match.search,
        )

    return sorted(matches, key=rank)


def find_match(
    package: InstalledPackage, component: InstalledComponent, intent: Intent, flags: int
) -> Match | None:
    """Return how an intent without a component reaches one: by the first of its filters that matches.

    Among all apps Android looks at filters of the very type first, then at those of wider types, then at
    those of the scheme (`IntentResolver.queryIntent`); without action, type and scheme nothing is found.
    """
    matches = []
    for filter_ in component.filters:
        number = match_filter(intent, filter_)
        is_default = CATEGORY_DEFAULT in filter_.categories
        if number is None or (flags & MATCH_DEFAULT_ONLY and not is_default):
            continue
        search = 0 if intent.package is not None else _search(intent, filter_.data)
        if search is not None:
            priority = filter_.priority
            if component.kind == "activity" and not package.system:
                # `ComponentResolver.adjustPriority`: apps come before others only where the system says so.
                priority = min(priority, 0)
            matches.append(Match(package, component, priority, number, is_default, search))
    return min(matches, key=lambda match: match.search, default=None)


def _search(intent: Intent, rule: DataRule) -> int | None:
    """Return which of Android's searches finds a filter, None for none."""
    scheme = None if intent.data is None else Uri(intent.data).scheme
    kind, slash, detail = (intent.mime_type or "").partition("/")
    if intent.mime_type is None and scheme is None:
        return 0 if intent.action is not None and not (rule.types or rule.schemes) else None
    if kind == _WILDCARD and slash and intent.action is not None and rule.types:
        return 0
    if kind not in ("", _WILDCARD) and slash:
        any_detail = f"{kind}/*"
        narrow = {type_ for type_ in rule.types if type_ != any_detail and type_.startswith(kind + "/")}
        if intent.mime_type in narrow or (detail == _WILDCARD and narrow):
            return 0
        for search, type_ in enumerate((any_detail, "*/*"), 1):
            if type_ in rule.types:
                return search
    return _SCHEME_SEARCH if scheme in rule.schemes else None
