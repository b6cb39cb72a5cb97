"""Callers and their grants (shim.md 3), and how the phone recognises a shim: by its provider's class and
the builder's two assets.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_phone.java.app_values import PackageFacts
from droidgate_phone.system.behaviour import Platform, PrivateFiles
from droidgate_phone.system.package_records import InstalledPackage
from droidgate_shim.engine.authority import ANY_APP, EVERYTHING, Policy
from droidgate_shim.engine.strict_json import BUILT, parse_strict, write_strict

Kind = TypeVar("Kind")

HOST_PROVIDER: Final = "dev.droidgate.shim.host.HostProvider"
ROUTES: Final = "assets/routes.json"
POLICY: Final = "assets/policy.json"
MALFORMED: Final = " is missing, unknown or of a wrong kind"


def is_shim(package: InstalledPackage) -> bool:
    """Return whether an installed package is a shim."""
    if package.apk is None or package.find_component("provider", HOST_PROVIDER) is None:
        return False
    return all(package.apk.part_with(item) is not None for item in (ROUTES, POLICY))


_FILE: Final = "grants.json"
_SWITCHES: Final = "switches.json"
NOBODY: Final = -1
"""The uid of a caller that Android does not name."""
_FIRST_UNSEEN: Final = -2


_USER_UIDS: Final = 100_000
_ISOLATED_UIDS: Final = range(90_000, 100_000)


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request.

    Attributes:
        uid: The uid that the system vouches for, or `NOBODY`. For a start: that of the callback's creator.
        packages: The packages of that uid; empty for nobody, and for those that the shim does not see.
        name: The package that the history shows, None for an unknown one.
        is_sender: Whether they sent the request. Those of a start only receive the answer.
    """

    uid: int = NOBODY
    packages: tuple[PackageFacts, ...] = ()
    name: str | None = None
    is_sender: bool = True

    def extras(self) -> dict[str, str]:
        """Return the origin pair that goes out with a call; informative, empty for an unknown sender."""
        first = self.packages[0] if self.packages and self.is_sender else None
        return {
            "gateway_origin_package": "" if first is None else first.name,
            "gateway_origin_certificate": first.signers[0] if first is not None and first.signers else "",
        }


def caller_of_uid(platform: Platform, uid: int) -> Caller:
    """Return the caller behind the uid of an app; all isolated processes are one, which is nobody."""
    if is_isolated(uid):
        return Caller()
    names = platform.packages_of_uid(uid)
    packages = tuple(facts for facts in map(platform.find_package, names) if facts is not None)
    return Caller(uid, packages, packages[0].name if packages else None)


def is_isolated(uid: int) -> bool:
    """Return whether a uid is that of an isolated process (android.os.Process); any app can have many."""
    return uid % _USER_UIDS in _ISOLATED_UIDS


def caller_of_start(platform: Platform, creator_uid: int) -> Caller:
    """Return the caller of a start: unknown, with those that receive the answer."""
    return replace(caller_of_uid(platform, creator_uid), name=None, is_sender=False)


def caller_of_package(platform: Platform, name: str, signers: tuple[str, ...]) -> Caller:
    """Return the caller behind a package that the system vouches for with its certificates.

    The shim may not see it; then it has a number of its own below those of uids.
    """
    package = platform.find_package(name)
    if package is not None:
        return caller_of_uid(platform, package.uid)
    if not signers:
        return Caller()
    number = _FIRST_UNSEEN - zlib.crc32(name.encode())
    return Caller(number, (PackageFacts(name, number, name, 0, signers, ""),), name)


@dataclass(frozen=True, slots=True)
class StoredGrant:
    """One grant: to a package with a certificate, or to any app (both empty)."""

    package: str
    signer: str
    capability: str
    since: int

    def as_json(self) -> dict[str, Json]:
        """Return it as `files/grants.json` and the host see it."""
        caller: Json = {"package": self.package, "signer": self.signer} if self.package else ANY_APP
        return {"caller": caller, "capability": self.capability, "since": self.since}


class Grants:
    """What the user granted and switched off, in files that outlive the process.

    Attributes:
        switched_off: Ids of capabilities.
        is_asking: The user is asked about calls that have no grant.
    """

    def __init__(self, files: PrivateFiles, built_off: frozenset[str]) -> None:
        self._files = files
        self._grants: list[StoredGrant] = []
        self.switched_off = set(built_off)
        self.is_asking = True
        try:
            self._read()
        except InputError:
            # What cannot be read grants nothing.
            self._grants = []

    def _read(self) -> None:
        saved = read_file(self._files, _SWITCHES)
        switches: Mapping[str, Json] = saved if isinstance(saved, dict) else {}
        off, asking = switches.get("switched_off"), switches.get("asking")
        if off is not None:
            self.switched_off = {str(item) for item in _checked(off, list, "switched_off")}
        if asking is not None:
            self.is_asking = _checked(asking, bool, "asking")
        listed = read_file(self._files, _FILE)
        self._grants = [_grant_of(item) for item in listed] if isinstance(listed, list) else []

    def all(self) -> Sequence[StoredGrant]:
        """Return the grants, oldest first."""
        return tuple(self._grants)

    def add(self, grant: StoredGrant) -> StoredGrant:
        """Grant, and return the grant: the first one where the same caller has the capability already."""
        for other in self._grants:
            if _key(other) == _key(grant):
                return other
        self._grants.append(grant)
        self._save()
        return grant

    def remove(self, package: str | None, capability: str | None) -> int:
        """Revoke what a caller (a package, empty for any app, None for everybody) has of a capability.

        Returns:
            How many grants are gone.
        """
        remaining_grants = [
            grant
            for grant in self._grants
            if package not in (None, grant.package) or capability not in (None, grant.capability)
        ]
        removed = len(self._grants) - len(remaining_grants)
        self._grants = remaining_grants
        self._save()
        return removed

    def policy_for(self, caller: Caller) -> Policy:
        """Return the policy of one request: every package of the uid needs a grant of its own."""
        grants: dict[int | str, frozenset[str]] = {
            ANY_APP: frozenset(grant.capability for grant in self._grants if not grant.package)
        }
        if caller.packages:
            grants[caller.uid] = self._of_all(caller.packages)
        return Policy(grants, frozenset(self.switched_off))

    def _of_all(self, packages: Sequence[PackageFacts]) -> frozenset[str]:
        granted = [
            {
                grant.capability
                for grant in self._grants
                if grant.package == each.name and grant.signer in each.signers
            }
            for each in packages
        ]
        capabilities = set().union(*granted)
        return frozenset(
            item for item in capabilities if all(item in each or EVERYTHING in each for each in granted)
        )

    def ask(self, *, on: bool) -> None:
        """Have the user asked, or not."""
        self.is_asking = on
        self._save_switches()

    def turn(self, capability: str, *, on: bool) -> None:
        """Switch a capability on or off."""
        (self.switched_off.discard if on else self.switched_off.add)(capability)
        self._save_switches()

    def _save_switches(self) -> None:
        switches: dict[str, Json] = {"switched_off": sorted(self.switched_off), "asking": self.is_asking}
        self._files.write(_SWITCHES, write_strict(switches).encode())

    def _save(self) -> None:
        self._files.write(_FILE, write_strict([grant.as_json() for grant in self._grants]).encode())


def _key(grant: StoredGrant) -> tuple[str, str, str]:
    return grant.package, grant.signer, grant.capability


def read_file(files: PrivateFiles, name: str) -> Json:
    """Return the JSON of one of the shim's own files, None where it is not there or cannot be read."""
    content = files.read(name)
    try:
        return None if content is None else parse_strict(content.decode(), path=name, limits=BUILT)
    except (InputError, UnicodeDecodeError):
        return None


def _grant_of(item: Json) -> StoredGrant:
    """Return a stored grant.

    Raises:
        InputError: it is not a grant.
    """
    fields = _checked(item, dict, "grant")
    caller, since, package, signer = fields.get("caller"), fields.get("since"), "", ""
    if caller != ANY_APP:
        caller_fields = _checked(caller, dict, "caller")
        package, signer = (_checked(caller_fields.get(name), str, name) for name in ("package", "signer"))
    capability = _checked(fields.get("capability"), str, "capability")
    return StoredGrant(package, signer, capability, since if isinstance(since, int) else 0)


def _checked(value: Json, kind: type[Kind], name: str) -> Kind:
    """Return a value of the kind that a file has under a name.

    Raises:
        InputError: it is of another kind.
    """
    if not isinstance(value, kind):
        raise InputError(name + MALFORMED)
    return value
