"""What a running phone says of an installed app, and how its capabilities could be called from outside.

A format declares what it needs to know (`droidgate_mappings.formats.format.Format`); a source that has a
phone asks for it. So no format knows adb, and no source knows a format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal

from droidgate_mappings.formats.application import ComponentKind
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, field


class ListingError(ValueError):
    """What a command printed is not the listing that a format asks for.

    Attributes:
        reason: What is wrong, or Android's own words where the command failed.
        text: The part of the output that it is about, None where it is all of it.
        is_failure: Android reports an error, mostly with exit status 0.
    """

    def __init__(self, reason: str, text: str | None = None, *, is_failure: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.text = text
        self.is_failure = is_failure


@dataclass(frozen=True, slots=True)
class StateQuery:
    """The command of a service that says whether one function can be called now.

    Attributes:
        command: Its name, as the service's help has it.
        write: Package, id of the function and user -> the whole command.
        read: What the command printed -> whether it can be called; None where it does not say.
    """

    command: str
    write: Callable[[str, str, int], tuple[str, ...]]
    read: Callable[[str], bool | None]


@dataclass(frozen=True, slots=True)
class SystemListing:
    """A listing of the running system that a format asks for: `cmd SERVICE COMMAND --user USER`.

    Attributes:
        service: The name of the system service.
        title: The first line of what `cmd SERVICE help` prints; the help says which commands there are.
        command: The command that lists.
        read: Reads what the command printed on its two streams. Raises `ListingError`.
        state: Asks for what the listing does not say; None where nothing does.
    """

    service: str
    title: str
    command: str
    read: Callable[[str, str], FunctionListing]
    state: StateQuery | None = None


@dataclass(frozen=True, slots=True)
class ComponentQuery:
    """Components that a format asks for: those of one kind with one action in an intent filter.

    Android's shell answers this for activities, services and receivers. Components of another kind, and those
    that are known by something else than an action, are found by reading the app's manifest.

    Attributes:
        kind: Which components.
        action: The action, None where something else identifies them.
        mark: A piece of an attribute's text, without which the manifest has no such component; with it, the
            action only says which apps to look at.
    """

    kind: ComponentKind
    action: str | None = None
    mark: str | None = None

    @property
    def can_be_asked(self) -> bool:
        """Android's shell can list these components (`cmd package query-...`, reference runtime 1.8)."""
        return self.action is not None and self.kind in {"activity", "service", "receiver"}

    def may_match(self, text: str) -> bool:
        """Return whether an attribute of a manifest may belong to such a component."""
        return text == self.action if self.mark is None else self.mark in text


SHIM_PACKAGE: Final = "dev.droidgate.shim"
"""Application id of the shim for several apps, and of the bare one; the package of every shim's classes."""

SHIM_PREFIX: Final = f"{SHIM_PACKAGE}.of."
"""An app's own shim has its package behind this (shim.md 1)."""


INSTALL_SHIM: Final = "droidgate shim install --from adb: --format all"
SYNC_SHIMS: Final = "droidgate shim sync"
"""The command that makes all that a phone's apps declare callable, as hints name it."""


def is_shim(package: str) -> bool:
    """Return whether an application id is that of a shim."""
    return package == SHIM_PACKAGE or package.startswith(SHIM_PREFIX)


OWN_PREFIX: Final = "dev.droidgate."
"""What the application id of each app of droidgate itself begins with."""

OWN_AGENTS: Final = frozenset(
    {"dev.droidgate.sample.agent", "dev.droidgate.agent", "dev.droidgate.agent.second"}
)
"""Application ids of droidgate's agent apps. Its sample tools are apps like any other."""

OwnApp = Literal["shim", "agent"]
"""What an app of droidgate itself is."""


def own_app(package: str) -> OwnApp | None:
    """Return what an application id of droidgate itself is; None for any other app.

    Reports about the apps of a phone leave droidgate's own apps out unless they are asked for: a shim repeats
    what its app declares.
    """
    if is_shim(package):
        return "shim"
    return "agent" if package in OWN_AGENTS else None


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """What a phone is, as far as it decides what can be read and called.

    Attributes:
        sdk_full: Android's API level, with the minor level where there is one: `30`, `36`, `36.1`.
        user: The current user's number.
        shell_commands: Commands of the services that formats ask for listings, with the options of each, by
            their own help; empty where the phone has no such service.
        shims: Application ids of the shims that are installed (shim.md 1).
    """

    sdk_full: str
    user: int = 0
    shell_commands: Mapping[str, frozenset[str]] = field(default_factory=dict)
    shims: frozenset[str] = frozenset()

    def is_behind_a_shim(self, package: str | None) -> bool:
        """Return whether an app has a shim of its own here, or is a shim, which its host provider calls."""
        return package is not None and (package in self.shims or f"{SHIM_PREFIX}{package}" in self.shims)

    @property
    def sdk(self) -> int:
        """The API level without its minor part."""
        return int(self.sdk_full.partition(".")[0])


@dataclass(frozen=True, slots=True)
class ListedFunction:
    """One app function as the running system lists it (reference appfunctions 6.5).

    Attributes:
        id: The id that a call names.
        enabled: Whether it can be called now, None where the listing does not say.
        service: Class name of its service; None where it has none, and where the listing does not say, as
            before Android 17.
        of_application: The listing says that the application registers it while it runs.
        document: The indexed declaration: every value in a list.
    """

    id: str
    enabled: bool | None = None
    service: str | None = None
    of_application: bool = False
    document: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FunctionListing:
    """What a listing has of each app.

    Attributes:
        functions: By package.
        faults: Why something that is listed of a package cannot be read, by package.
    """

    functions: Mapping[str, tuple[ListedFunction, ...]]
    faults: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InstalledState:
    """What the running system says of one installed app.

    Attributes:
        facts: The phone.
        functions: The app's functions in the system's listing; None where this phone has no such listing.
        not_listed_because: Why there is none.
        fault: Why something that is listed of the app cannot be read, None where all of it can.
    """

    facts: DeviceFacts
    functions: tuple[ListedFunction, ...] | None = None
    not_listed_because: str | None = None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class CallRoute:
    """One way in which a provider's capabilities could be called from a computer.

    Attributes:
        id: Stable id, such as `am-broadcast`.
        title: The way, in a few words.
        ready: Nothing is missing on this phone.
        needs: What is missing, a sentence each without a period; empty where it is ready.
    """

    id: str
    title: str
    ready: bool
    needs: tuple[str, ...] = ()
