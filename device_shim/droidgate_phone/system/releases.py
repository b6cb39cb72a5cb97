"""The Android releases that the phone can be: their build facts and which rules are in force.

The facts are data (`releases.toml`), each rule with its source.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from droidgate_mappings.model.errors import UsageError

ReleaseRule = Literal[
    "background-activities",
    "background-foreground-services",
    "background-services",
    "bind-lends-no-activity-start",
    "exported-stated",
    "filter-match",
    "foreground-service-types",
    "function-caller-allowlist",
    "implicit-exported-only",
    "package-visibility",
    "random-code-paths",
    "signature-scheme-2",
    "uncompressed-resources",
]


@dataclass(frozen=True, slots=True)
class RuleSetting:
    """From where on a rule counts.

    Attributes:
        since: First SDK of the device.
        until: Its last SDK, None where it still counts.
        target: Least targetSdkVersion of the app that it binds; 0 where it binds all.
        source: Where this is known from.
    """

    since: int
    source: str
    target: int = 0
    until: int | None = None


@dataclass(frozen=True, slots=True)
class ReleaseProfile:
    """One Android release.

    Attributes:
        id: What users call it: `36.1`.
        sdk: ro.build.version.sdk.
        version: ro.build.version.release.
        build: ro.build.id.
        security_patch: Date.
        sdk_full: ro.build.version.sdk_full, None before 36.
        app_search: Release of the AppFunctions indexer, None where there is none.
        function_shell: Generation of `cmd app_function`, 0 where the service answers no shell command, None
            where the service does not exist.
        rules: All rules of the table, also those of later releases.
    """

    id: str
    sdk: int
    version: str
    build: str
    security_patch: str
    sdk_full: str | None = None
    app_search: str | None = None
    function_shell: int | None = None
    rules: Mapping[str, RuleSetting] | None = None

    def has(self, rule: ReleaseRule, target_sdk: int | None = None) -> bool:
        """Return whether a rule is in force, for an app of that targetSdkVersion where one is given."""
        setting = (self.rules or {})[rule]
        is_release = setting.since <= self.sdk and (setting.until is None or self.sdk <= setting.until)
        return is_release and (target_sdk is None or target_sdk >= setting.target)

    def at_least(self, sdk: int) -> bool:
        """Return whether the phone has that SDK or a later one."""
        return self.sdk >= sdk

    @property
    def fingerprint(self) -> str:
        """ro.build.fingerprint: the phone names no real device."""
        return f"droidgate/virtual/virtual:{self.version}/{self.build}/1:user/release-keys"


@cache
def _load() -> dict[str, ReleaseProfile]:
    text = resources.files(__package__).joinpath("releases.toml").read_text("utf-8")
    tables = tomllib.loads(text)
    rules = {name: RuleSetting(**table) for name, table in tables["rules"].items()}
    return {table["id"]: ReleaseProfile(**table, rules=rules) for table in tables["releases"]}


def known_releases() -> tuple[str, ...]:
    """Return the ids that `load_release` takes, oldest first."""
    return tuple(_load())


def load_release(release: str) -> ReleaseProfile:
    """Return a release: `26`, `30`, `33`, `34`, `36`, `36.1` or `37`.

    Raises:
        UsageError: the release is unknown.
    """
    profile = _load().get(release)
    if profile is None:
        release_names = ", ".join(known_releases())
        raise UsageError(f"unknown Android release {release!r}", hint=f"use one of {release_names}")
    return profile
