"""Who gets at what: kinds of agents, ways of being called, and what a shim carries between them.

`agents.toml` is droidgate's own; `frontends_and_backends.toml` says what the shim does (shim.md 9), and
the tests of the virtual phone run each of its cells. A dialect says by `interface` in which way its
capabilities are called (`droidgate_mappings.tables.loading.DialectTable`).
"""

from functools import cache
from typing import Literal

from droidgate_mappings.model.types import Frozen
from droidgate_mappings.tables.loading import load_format_tables, load_table


class End(Frozen):
    """A frontend or a backend of the shim."""

    id: str
    title: str


class Cell(Frozen):
    """What one frontend needs, next to a grant, to reach one backend: `limits`, empty where it is nothing."""

    frontend: str
    backend: str
    limits: str


class ShimTable(Frozen):
    """How each frontend of the shim reaches each kind of app behind it.

    Attributes:
        frontends: What agents talk to.
        backends: What is behind.
        conditions: What the letters in `limits` mean.
        cells: A pair that has none is not carried.
    """

    frontends: tuple[End, ...]
    backends: tuple[End, ...]
    conditions: dict[str, str]
    cells: tuple[Cell, ...]

    def limits(self, frontend: str, backend: str) -> str | None:
        """Return what a pair needs, None where the shim does not carry it."""
        for cell in self.cells:
            if (cell.frontend, cell.backend) == (frontend, backend):
                return cell.limits
        return None

    def frontend(self, frontend_id: str) -> End:
        """Return a frontend; raises `KeyError`."""
        return {frontend.id: frontend for frontend in self.frontends}[frontend_id]


class AccessMeaning(Frozen):
    """What an access rule of a capability means for other apps.

    Attributes:
        field: The field of `droidgate_mappings.model.capability.CapabilityAccess`.
        values: Its values that restrict callers.
        closed_because: Why other apps cannot call it, without a period; None where they can.
        needs: What has to happen before it can be called, without a period.
    """

    field: Literal["enabled_by_default", "restrict_callers", "scope", "access_level"]
    values: tuple[bool | str, ...]
    closed_because: str | None = None
    needs: str | None = None


Owner = Literal["app developer", "agent developer", "user", "device maker"]
"""Who can open a gate."""


class GateKind(Frozen):
    """A gate between agents and capabilities.

    Attributes:
        id: Stable id.
        title: What has to hold.
        owner: Who can usually open it.
        fix: How.
        codes: Codes of findings that shut it.
    """

    id: str
    title: str
    owner: Owner
    fix: str
    codes: tuple[str, ...] = ()


class _GateTable(Frozen):
    gates: tuple[GateKind, ...]


@cache
def load_gates() -> dict[str, GateKind]:
    """Return the gates by id, in the order in which a call meets them.

    Raises:
        ValueError: the TOML does not fit the schema.
    """
    return {gate.id: gate for gate in load_table("reach/gates.toml", _GateTable).gates}


class AllowList(Frozen):
    """Android's list of the agents that may call.

    Attributes:
        since: The first API level that asks it.
        exempt: The permission whose holders need neither an entry nor another permission.
        service: The system service whose shell command lists the agents.
        command: The command.
    """

    since: int
    exempt: str
    service: str
    command: str


class Interface(Frozen):
    """A way in which capabilities are called.

    Attributes:
        id: Stable id; dialects name it.
        title: What users see it called.
        backend: The shim's backend that calls it, None where it has none.
        by_shell: The frontends through which the gateway calls it by Android's shell, so without a shim.
        format: The format whose constants the next three are.
        action: The action that a component has to declare to be called, by its name among the constants.
        looked_for: The action by which agents find a component, where it is another one than `action`.
        permission: The permission that the protocol itself puts on components, likewise.
        bound_by: `caller`: the agent starts or binds the component, which has to be open to it; `system`:
            Android does, and only where the component asks for the protocol's permission; `network`: it is no
            component.
        components: The kinds of components that are called; empty where any is.
        limits: What its own agents need, in the letters of the shim's table; None where it is nothing.
        caller_permission: The permission that Android itself requires of agents, None where it requires none.
        allow_list: Android's list of the agents that may call, None where there is none.
        since: The first API level that has it; 0 where every level does.
        access: What the access rules of single capabilities mean.
    """

    id: str
    title: str
    backend: str | None = None
    by_shell: tuple[str, ...] = ()
    format: str
    action: str | None = None
    looked_for: str | None = None
    permission: str | None = None
    bound_by: Literal["caller", "system", "network"]
    components: tuple[str, ...] = ()
    limits: str | None = None
    caller_permission: str | None = None
    allow_list: AllowList | None = None
    since: int = 0
    access: tuple[AccessMeaning, ...] = ()

    @property
    def caller_permissions(self) -> frozenset[str]:
        """The permissions that Android itself lets agents call by."""
        exempt = None if self.allow_list is None else self.allow_list.exempt
        return frozenset(filter(None, (self.caller_permission, exempt)))

    @property
    def action_text(self) -> str | None:
        """The action as manifests have it."""
        return None if self.action is None else load_format_tables(self.format).names[self.action]

    @property
    def agent_marks(self) -> frozenset[str]:
        """What manifests of agents name: actions in `<queries>`, and the permission that they request."""
        names = load_format_tables(self.format).names
        actions = (names[action] for action in (self.action, self.looked_for) if action is not None)
        return frozenset(actions) | self.caller_permissions

    @property
    def permission_text(self) -> str | None:
        """The permission as manifests have it."""
        return None if self.permission is None else load_format_tables(self.format).names[self.permission]


class AgentKind(Frozen):
    """A kind of agent.

    Attributes:
        id: Stable id.
        title: Name to show users.
        speaks: The interfaces that it calls by itself.
        frontends: The shim's frontends that it can use.
        target: `FORMAT+DIALECT` in which the gateway lists capabilities to it, None for none.
        uses_screens: It works on screens.
    """

    id: str
    title: str
    speaks: tuple[str, ...] = ()
    frontends: tuple[str, ...] = ()
    target: str | None = None
    uses_screens: bool = False


class ReachTable(Frozen):
    """The kinds of agents and the ways of being called."""

    interfaces: tuple[Interface, ...]
    agents: tuple[AgentKind, ...]

    def interface(self, interface_id: str | None) -> Interface | None:
        """Return an interface, None for None; raises `KeyError` for an unknown one."""
        return (
            None
            if interface_id is None
            else {interface.id: interface for interface in self.interfaces}[interface_id]
        )


@cache
def load_shim_table() -> ShimTable:
    """Return the shim's table.

    Raises:
        ValueError: the TOML does not fit the schema.
    """
    return load_table("reach/frontends_and_backends.toml", ShimTable)


@cache
def load_reach() -> ReachTable:
    """Return the agents and interfaces.

    Raises:
        ValueError: the TOML does not fit the schema.
    """
    return load_table("reach/agents.toml", ReachTable)


class _PermissionLevels(Frozen):
    protection: dict[str, str]


@cache
def load_permission_levels() -> dict[str, str]:
    """Return the protection levels of Android's own permissions that components may require, by name.

    Raises:
        ValueError: the TOML does not fit the schema.
    """
    return load_table("reach/permissions.toml", _PermissionLevels).protection
