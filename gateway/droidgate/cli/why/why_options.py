"""`droidgate why`."""

from __future__ import annotations

from droidgate.cli.command_classes import PagedCommand, argument, option
from droidgate.cli.completing import complete_agents, complete_declared, complete_formats
from droidgate.cli.run_limits import BoundedCommand, Deadline
from droidgate.cli.shared_options import AS_JSON, SERIAL, AndroidRelease


class Why(
    BoundedCommand,
    PagedCommand,
    work="droidgate.cli.why.run_why:report_why",
):
    """Show why an agent can or cannot call a capability: the gates in between, and who can open each.

    A CAPABILITY with --agent is answered with every gate: what was read, where, and how it is opened. All
    else is a table of the gates that decide: of every kind of agents without --agent, of everything that the
    phone, the source or --app declares without CAPABILITY.

    A phone decides most: what it lists, which apps are enabled, what an agent's app holds, what a shim
    grants, whether the screen is locked. Other sources (--source) have what their declarations allow.

    The exit code is 1 where the agent of --agent cannot call something that is asked about.
    """

    _headings = {"Where it is looked up": ("source", "serial", "sdk", "deadline")}

    capability: str | None = argument(
        "CAPABILITY",
        "Its id, the end of its id, APP.ID, PACKAGE/ID, PACKAGE/COMPONENT/ID, or PACKAGE for all of an app",
        autocompletion=complete_declared,
    )
    agent: str | None = option(
        "--agent AGENT",
        "A kind of agents, such as mobile-mcp, an MCP client, such as mcp:claude-code, or the package of an "
        "agent's app on the phone",
        autocompletion=complete_agents,
    )
    source: str | None = option(
        "--source SRC", "In place of a phone: an APK, a project folder, or any other source of `inspect`"
    )
    serial: str | None = SERIAL
    package: str | None = option("--app PACKAGE", "Only capabilities of this app")
    protocol: str | None = option(
        "--format FORMAT", "Only capabilities of this format", autocompletion=complete_formats
    )
    sdk: AndroidRelease | None = option("--sdk", "With --source, the release of Android to ask about")
    deadline: Deadline = 600.0
    as_json: bool = AS_JSON
