"""What a decision about a call depends on: the capability on its phone, what a call may do, who calls."""

from __future__ import annotations

import glob
import hashlib
import re
from collections.abc import Iterable
from enum import StrEnum
from fnmatch import translate
from functools import lru_cache
from typing import Final, Protocol, TypeVar

from droidgate_mappings.model.capability import Capability, Provider, reachable_definitions
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.model.names import BOUNDARIES, NameRule, is_end, is_named, qualified_class
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.nearest_names import closest_name

CLI: Final = "cli"
"""The client's name of calls by the command line and by Python code."""

CLIENT_PREFIX: Final = "mcp:"
"""How the id of each MCP client begins."""

EVERY_CLIENT: Final = f"{CLIENT_PREFIX}*"
"""Matches the id of any client; `Client.id` has one."""


def client_id(name: str, *, wildcards: str = "") -> str:
    """Return the id of the MCP client that gives itself a name, which may keep `wildcards`."""
    kept = re.sub(rf"[^a-z0-9._{wildcards}-]+", "-", name.lower())
    return f"{CLIENT_PREFIX}{kept.strip('-') or 'unnamed'}"


def check_client(pattern: str) -> None:
    """Raise a UsageError for a pattern that the id of no caller matches."""
    fixed = re.split(r"[*?]", pattern, maxsplit=1)[0]
    if fixed == pattern:
        is_possible = pattern == client_id(pattern.removeprefix(CLIENT_PREFIX))
    else:
        is_in_ids = re.fullmatch(r"[a-z0-9._:*?-]*[^:]", pattern) is not None
        is_possible = is_in_ids and (fixed.startswith(CLIENT_PREFIX) or CLIENT_PREFIX.startswith(fixed))
    if not is_possible and not glob_matches(pattern, CLI):
        name = pattern.strip().rpartition(":")[2]
        meant = CLI if name.casefold() == CLI else client_id(name, wildcards="*?")
        question = f"did you mean {meant!r}? " if name else ""
        hint = f"{question}known: {CLI}, and {CLIENT_PREFIX}NAME for each MCP client"
        raise UsageError(f"no client is called {pattern!r}", hint=hint)


class CallEffect(StrEnum):
    """What a call of a capability may do, as far as the user trusts what is said of it."""

    READS = "reads"
    WRITES = "writes"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CapabilityKey:
    """Which capability of a phone is meant: user, package, component, protocol and id.

    Attributes:
        user: Android user number.
        package: Application id.
        component: Class name of the component with its package; empty where the app as a whole declares it.
        protocol: Id of the format.
        capability: The id that a call names.
    """

    user: int
    package: str
    component: str
    protocol: str
    capability: str


@dataclass(frozen=True, slots=True)
class CallSubject:
    """What a policy decides on.

    Attributes:
        serial: The phone, as adb calls it.
        user: Android user number.
        package: Application id.
        component: As in `CapabilityKey`.
        protocol: Id of the format.
        capability: The id that a call names.
        effect: What a call may do, by `Policy.effect_of`.
        client: Who calls: `cli`, or the name that `droidgate serve` knows an MCP client by.
    """

    serial: str
    user: int
    package: str
    component: str
    protocol: str
    capability: str
    effect: CallEffect
    client: str

    @property
    def key(self) -> CapabilityKey:
        """Which capability is called."""
        return CapabilityKey(self.user, self.package, self.component, self.protocol, self.capability)


@dataclass(frozen=True, slots=True)
class Pin:
    """A capability as it is declared at one moment: what an approval holds for.

    Attributes:
        key: Which capability.
        signer: Who signed the app, by `signer_of`.
        digest: Of both and of the declaration: `Provider.pin`.
    """

    key: CapabilityKey
    signer: str
    digest: str


def key_of(provider: Provider, capability_id: str, *, user: int) -> CapabilityKey:
    """Return which capability of a phone a provider's capability is."""
    return CapabilityKey(
        user, provider.package or "", component_name(provider), provider.protocol, capability_id
    )


def signer_of(digests: Iterable[str]) -> str:
    """Return who signed an app as a pin has it: the digests of its certificates, joined by `+`."""
    return "+".join(sorted(digest.lower() for digest in digests))


def pin_of(provider: Provider, capability_id: str, *, user: int, signer: str) -> Pin:
    """Return a capability's pin.

    Raises:
        KeyError: the provider has no capability of this id.
    """
    declared = provider.changed({"component": component_name(provider)})
    digest = declared.pin(user=user, signer=signer, capability_id=capability_id)
    return Pin(key_of(provider, capability_id, user=user), signer.lower(), digest)


def component_name(provider: Provider) -> str:
    """Return the class of a provider's component with its package: `.Tools` is `com.example.Tools`."""
    return qualified_class(provider.component, provider.package) if provider.component else ""


def declaration_for(provider: Provider, capability_id: str) -> Provider:
    """Return a provider with this capability alone, as it is kept with an approval: without source and state.

    Raises:
        KeyError: the provider has no capability of this id.
    """
    capability = find_capability(provider, capability_id)
    reached = reachable_definitions(capability, provider.definitions)
    return provider.changed(
        {
            "component": component_name(provider) or None,
            "source": None,
            "capabilities": (capability.changed({"source": None, "state": None}),),
            "definitions": {name: type_ for name, type_ in provider.definitions.items() if name in reached},
        }
    )


def find_capability(provider: Provider, capability_id: str) -> Capability:
    """Return the capability of an id.

    Raises:
        KeyError: the provider has none of this id, or more than one.
    """
    capabilities = [capability for capability in provider.capabilities if capability.id == capability_id]
    if len(capabilities) != 1:
        raise KeyError(capability_id)
    return capabilities[0]


EVERY_CAPABILITY: Final = ("*",)
"""What a user allows by `approved=True` or `--yes`, without naming capabilities."""


def glob_matches(pattern: str, value: str) -> bool:
    """Return whether a pattern matches the whole of a value, in exactly its case.

    `*` is any number of any characters, `?` is one character; `[*]`, `[?]` and `[[]` are these characters
    themselves, and so is every other character.
    """
    return _compile_glob(pattern).match(value) is not None


@lru_cache(maxsize=1024)
def _compile_glob(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(_BRACKET.sub(lambda match: match[0] if match[1] else "[[]", pattern)))


TOOL_NAMES: Final = NameRule(allowed="[A-Za-z0-9_-]", first="[A-Za-z]", max_length=64)
"""What every client takes: OpenAI's models refuse dots, Gemini 65 characters and a digit at the start."""

_TOOL_SUFFIX: Final = re.compile(r"_[0-9a-f]{8,48}\Z")


def last_part(identifier: str) -> str:
    """Return what is behind the last `.`, `#` or `/` of an id, the whole id where nothing is."""
    at = max(identifier.rfind(boundary) for boundary in BOUNDARIES)
    return identifier[at + 1 :] or identifier


def tool_name(package: str, identifier: str, *, prefix: str = "") -> str:
    """Return the name of a capability's tool if no other has it: `notes_createNote`."""
    return TOOL_NAMES.shape("_".join(filter(None, (prefix, last_part(package), last_part(identifier)))))


def tool_key(key: CapabilityKey, *, serial: str) -> str:
    """Return what the suffix of a tool's name is made from."""
    return f"{serial}/{key.user}/{key.protocol}/{key.package}/{key.component}/{key.capability}"


def names_capability(text: str, key: CapabilityKey, *, serial: str = "") -> bool:
    """Return whether a text is a name of a capability: each command takes these.

    They are its id, `PACKAGE/ID`, `PACKAGE/COMPONENT/ID`, the end of its id, the ends of its package and its
    id (`notes.createNote`), and the name of its tool (`notes_createNote`). The component may be without its
    package, as `.Notes`. An end begins behind a `.`, `#` or `/`; between two ends is a `.` or a `/`.

    Args:
        text: The name.
        key: The capability.
        serial: Its phone, which is in names of tools where several phones are served.
    """
    is_long = text in [f"{key.package}/{name}" for name in _names_in_app(key)]
    return is_long or is_named(text, key.package, key.capability) or _names_tool(text, key, serial)


def _names_in_app(key: CapabilityKey) -> tuple[str, ...]:
    """Return the names of a capability behind its package and a slash, the short component's last."""
    is_own = key.component.startswith(f"{key.package}.")
    components = (key.component, key.component[len(key.package) if is_own else 0 :])
    return (key.capability, *(f"{component}/{key.capability}" for component in components))


def matches_capability(pattern: str, key: CapabilityKey, *, serial: str = "") -> bool:
    """Return whether a pattern of what is allowed, approved or looked up is meant for a capability.

    It is matched with the id or, split at its first slash, with package and id or `COMPONENT/ID`. Without
    wildcards it may also be a name as in `names_capability`. A package with a dot has to be the whole one, so
    that no other app is allowed with it.
    """
    if _matches_whole(pattern, key):
        return True
    if _has_wildcard(pattern):
        return False
    package, slash, name = pattern.partition("/")
    if not slash:
        return names_capability(pattern, key, serial=serial)
    is_of_app = package == key.package or ("." not in package and is_end(package, key.package))
    return is_of_app and (is_end(name, key.capability) or name in _names_in_app(key))


def _matches_whole(pattern: str, key: CapabilityKey) -> bool:
    package, slash, name = pattern.partition("/")
    if not slash:
        return glob_matches(pattern, key.capability)
    is_in_app = glob_matches(package, key.package)
    return is_in_app and any(glob_matches(name, each) for each in _names_in_app(key))


def _has_wildcard(pattern: str) -> bool:
    return not _WILDCARDS.isdisjoint(pattern)


class _Keyed(Protocol):
    @property
    def key(self) -> CapabilityKey: ...


_Item = TypeVar("_Item", bound=_Keyed)


def named_items(patterns: Iterable[str], items: Iterable[_Item], *, serial: str = "") -> tuple[_Item, ...]:
    """Return what patterns name, in its order; a whole `PACKAGE/ID` names nothing that only ends so."""
    every = tuple(items)
    named: set[CapabilityKey] = set()
    for pattern in patterns:
        is_whole = "/" in pattern or _has_wildcard(pattern)
        whole = {item.key for item in every if is_whole and _matches_whole(pattern, item.key)}
        named |= whole or {item.key for item in every if matches_capability(pattern, item.key, serial=serial)}
    return tuple(item for item in every if item.key in named)


MAX_LISTED: Final = 10
"""Most names that a hint has."""


def distinct_names(keys: Iterable[CapabilityKey], every: Iterable[CapabilityKey]) -> list[str]:
    """Return names of the first capabilities, each the shortest that means no other.

    Args:
        keys: The capabilities.
        every: Those that may be meant.
    """
    others = tuple(every)
    return [_short_name(key, others) for key in list(keys)[:MAX_LISTED]]


def _short_name(key: CapabilityKey, every: Iterable[CapabilityKey]) -> str:
    ids, packages = _ends_of(key.capability), _ends_of(key.package)
    names = (*ids, *(f"{package}/{identifier}" for package in packages for identifier in ids))
    others = [other for other in every if other != key and other.capability.endswith(ids[-1])]
    distinct = (name for name in names if not any(names_capability(name, other) for other in others))
    return min(distinct, key=len, default=f"{key.package}/{key.component}/{key.capability}")


def _ends_of(name: str) -> list[str]:
    """Return a name and its ends, the longest first."""
    starts = [at + 1 for at, character in enumerate(name[:-1]) if character in BOUNDARIES]
    return [name[start:] for start in (0, *starts)]


def suggest_capability(text: str, every: Iterable[CapabilityKey]) -> str | None:
    """Return the question whether capabilities with a similar name are meant; None where none is close.

    The end of an app's name means the capabilities of the app, as does a pattern that begins with it.
    """
    keys = tuple(every)
    is_pattern = _has_wildcard(text)
    meant = [
        key
        for key in keys
        if (may_name_capability(text, key, serial="") if is_pattern else is_end(text, key.package))
    ]
    if meant:
        names = distinct_names(meant, keys)
        packages = list(dict.fromkeys(key.package for key in meant))
        if is_pattern and meant == [key for key in keys if key.package in packages]:
            names = [f"{package}/*" for package in packages[:MAX_LISTED]]
    else:
        named: dict[str, list[CapabilityKey]] = {}
        for key in keys:
            identifier = last_part(key.capability)
            names = [key.capability, identifier, tool_name(key.package, key.capability)]
            if "/" in text:
                names += [f"{key.package}/{key.capability}", f"{last_part(key.package)}/{identifier}"]
            for name in dict.fromkeys(names):
                named.setdefault(name, []).append(key)
        closest = closest_name(text, named)
        if closest is None:
            return None
        names = distinct_names(named[closest], keys)
    return f"did you mean {' or '.join(map(repr, names))}?"


def _names_tool(text: str, key: CapabilityKey, serial: str) -> bool:
    names = {tool_name(key.package, key.capability, prefix=prefix) for prefix in ("", serial)}
    if text in names:
        return True
    suffix = _TOOL_SUFFIX.search(text)
    if suffix is None or not any(text[: suffix.start()] == name[: suffix.start()] for name in names):
        return False
    digest = hashlib.sha256(tool_key(key, serial=serial).encode("utf-8", "surrogatepass")).hexdigest()
    return digest.startswith(suffix[0][1:])


def may_name_capability(pattern: str, key: CapabilityKey, *, serial: str) -> bool:
    """Return whether a pattern could be meant for a capability: as one of its names, or of its tool's.

    The case of letters makes no difference. Tools whose names differ only in the suffix count as one.

    Args:
        pattern: The pattern.
        key: The capability.
        serial: Its phone, with which names of tools begin where several phones are served.
    """
    unsuffixed = _TOOL_SUFFIX.sub("", pattern.casefold())
    for prefix in ("", serial):
        name = tool_name(key.package, key.capability, prefix=prefix).casefold()
        room = TOOL_NAMES.max_length - (len(pattern) - len(unsuffixed))
        if glob_matches(pattern.casefold(), name) or glob_matches(unsuffixed, name[:room]):
            return True
    folded = CapabilityKey(
        key.user, *(text.casefold() for text in (key.package, key.component, key.protocol, key.capability))
    )
    pattern = pattern.casefold()
    whole = f"{folded.package}/{folded.component}/{folded.capability}"
    return glob_matches(pattern, whole) or is_named(pattern, folded.package, folded.capability, _matches_end)


def _matches_end(pattern: str, name: str) -> bool:
    return glob_matches(pattern, name) or any(
        glob_matches(f"*{boundary}{pattern}", name) for boundary in BOUNDARIES
    )


_WILDCARDS: Final = frozenset("*?[")
_BRACKET: Final = re.compile(r"\[([*?\[])\]|\[")


def literal_pattern(key: CapabilityKey) -> str:
    """Return the pattern that names a capability and no other of its app, whatever characters its id has."""
    return f"{key.package}/{glob.escape(key.capability)}"
