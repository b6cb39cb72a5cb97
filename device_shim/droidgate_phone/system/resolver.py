"""Which components an intent reaches, for whom: AOSP's ResolveIntentHelper, AppsFilter and
`IntentFilter.match`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from droidgate_phone.common.uids import FIRST_APP_UID, ROOT_UID, SYSTEM_UID
from droidgate_phone.java.intents import ComponentName, Intent, split_uri
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


MATCH_DISABLED_COMPONENTS: Final = 0x200
MATCH_DEFAULT_ONLY: Final = 0x10000

FLAG_EXCLUDE_STOPPED_PACKAGES: Final = 0x10
FLAG_INCLUDE_STOPPED_PACKAGES: Final = 0x20

_QUERY_ALL: Final = "android.permission.QUERY_ALL_PACKAGES"


@dataclass(frozen=True, slots=True)
class Match:
    """A component that an intent reaches (`android.content.pm.ResolveInfo`)."""

    package: InstalledPackage
    component: InstalledComponent
    priority: int = 0
    match: int = MATCH_ADJUSTMENT_NORMAL
    is_default: bool = False

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
                match_filter(asked, filter_) is not None
                for asked in map(_intent_of, queries.intents)
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
            found = [
                match
                for package in seen
                if intent.package in (None, package.name)
                for match in self._matches(package, kind, intent, caller_uid, flags)
            ]
        return sorted(found, key=lambda item: (-item.priority, not item.is_default))

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
        found = []
        for component in package.components(kind):
            if not self._is_usable(package, component, flags):
                continue
            if not component.exported and self._needs_export(caller_uid):
                continue
            match = _best_filter(package, component, intent, flags)
            if match is not None:
                found.append(match)
        return found

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
    data = None
    if asked.data.schemes:
        data = f"{asked.data.schemes[0]}://{asked.data.hosts[0] if asked.data.hosts else ''}"
    return Intent(
        action=asked.actions[0] if asked.actions else None,
        categories=asked.categories,
        data=data,
        mime_type=asked.data.types[0] if asked.data.types else None,
    )


def _best_filter(
    package: InstalledPackage, component: InstalledComponent, intent: Intent, flags: int
) -> Match | None:
    best: Match | None = None
    for filter_ in component.filters:
        found = match_filter(intent, filter_)
        is_default = CATEGORY_DEFAULT in filter_.categories
        if found is None or (flags & MATCH_DEFAULT_ONLY and not is_default):
            continue
        candidate = Match(package, component, filter_.priority, found, is_default)
        if best is None or candidate.priority > best.priority:
            best = candidate
    return best
