"""The commands of `droidgate agent`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from droidgate.cli.command_classes import Command, argument, flag, option
from droidgate.cli.shared_options import ARGUMENTS, AS_JSON, SERIAL, VALUES


class CallTransport(StrEnum):
    """What `--transport` takes."""

    BIND = "bind"
    START = "start"
    START_FOREGROUND = "start-foreground"
    ACTIVITY = "activity"
    BROADCAST = "broadcast"
    APP_FUNCTION = "app-function"


class CallDialect(StrEnum):
    """What `--dialect` takes: editions of Mobile-MCP, and the prototype started and bound."""

    S0 = "S0"
    S1 = "S1"
    MM_5 = "MM-5"
    MM_6 = "MM-6"


_SECOND = flag("--second", "Act as dev.droidgate.agent.second, another app to Android")


class AgentInstall(
    Command,
    short="Install the agent, under two application ids",
    work="droidgate.cli.agent.run_agent:install_and_report",
):
    """Install an agent app that calls tools as any app does, for you to drive.

    It comes under two application ids, which are two callers to Android. It has no permission that other apps
    do not have. Only adb can drive it.
    """

    key: Path | None = option(
        "--key FILE", "Sign with this PEM key. By default a key is made at the first run, and kept"
    )
    serial: str | None = SERIAL
    as_json: bool = AS_JSON


class AgentList(
    Command,
    short="List the tools that the agent sees",
    work="droidgate.cli.agent.run_agent:list_and_report",
):
    """List the components that offer tools, as Android reports them to the agent, and their tools.

    A receiver is asked for its tools by a broadcast; an app that was never opened does not get it.
    """

    second: bool = _SECOND
    serial: str | None = SERIAL
    as_json: bool = AS_JSON


class AgentCall(
    Command,
    short="Call a tool as an app on the phone does",
    work="droidgate.cli.agent.run_agent:call_and_report",
):
    """Call a tool as an app on the phone does, and print what it answers.

    Android's rules and the app's own bind the call: a shim asks the phone's user, or refuses, as it would
    any other agent (`shim grant --agent dev.droidgate.agent`). Text arguments stay text.

    App functions (`--transport app-function`) are called with the shell's right, which Android gives to no
    ordinary app; where adb cannot lend it, the answer is Android's refusal.
    """

    component: str = argument("TOOL_APP", "PACKAGE, or PACKAGE/CLASS where it has several components", ...)
    tool: str = argument("TOOL", "Id of a capability, or name of a tool", ...)
    values: list[str] | None = VALUES
    arguments: str = ARGUMENTS
    transport: CallTransport | None = option(
        "--transport",
        "How the tool is reached; by default the first way of its protocol. For app-function, TOOL_APP is "
        "the package and TOOL the function's id",
    )
    dialect: CallDialect = option(
        "--dialect",
        "How a request of Mobile-MCP is written: by the specification's edition of 14 or 24 February 2026 "
        "(S0, S1), or as the prototype does",
        CallDialect.S0,
    )
    deadline: float = option(
        "--deadline SECONDS", "Seconds that an answer may take", 30.0, min=0.1, max=600.0
    )
    second: bool = _SECOND
    serial: str | None = SERIAL
    as_json: bool = AS_JSON


class AgentLog(
    Command,
    short="Print everything that came back to the agent, raw",
    work="droidgate.cli.agent.run_agent:log_and_report",
):
    """Print what the agent sent and what came back, as Android handed it over.

    The log is the process's: it begins anew when Android ends the agent. Texts of more than 65,536
    characters are cut, with their length.
    """

    after: int = option("--after N", "Only events after this number", 0, min=0)
    second: bool = _SECOND
    serial: str | None = SERIAL
    as_json: bool = AS_JSON


class AgentUninstall(
    Command, short="Remove the agent", work="droidgate.cli.agent.run_agent:uninstall_and_report"
):
    """Remove the agent, under both application ids."""

    serial: str | None = SERIAL
    as_json: bool = AS_JSON
