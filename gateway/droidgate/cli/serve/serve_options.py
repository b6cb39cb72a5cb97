"""`droidgate serve` and `droidgate serve-mobile-agent`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from droidgate.cli.command_classes import Command, PagedCommand, flag, option
from droidgate.cli.shared_options import AS_JSON, SERIALS
from droidgate_shim.deadlines import LONGEST_SECONDS, SHORTEST_SECONDS


class Serve(
    PagedCommand,
    work="droidgate.cli.serve.run_serve:serve",
):
    """Serve app capabilities to MCP clients.

    The client usually starts this command and talks to it over standard input and output. A call needs the
    user's approval, unless the policy or --allow gives it. The client asks for it where it can. Over
    HTTP, clients send the token in the file that is named at the start.
    """

    _shows_steps = False
    _headings = {
        "How clients connect": ("http", "no_token"),
        "What clients get": ("select", "search", "screens", "files", "allow", "deadline", "app_instructions"),
    }

    serials: list[str] | None = SERIALS
    http: str | None = option(
        "--http [HOST:]PORT",
        "Serve over Streamable HTTP on this address of loopback, not on standard input and output",
    )
    no_token: bool = flag("--no-token", "Over HTTP, let in every program of this computer")
    select: list[str] | None = option(
        "--select APP", "Serve this app only: its package, or a pattern; may be repeated"
    )
    search: bool | None = option(
        "--search/--all",
        "Serve three tools that find, describe and call the others, or serve every tool by itself. "
        "The default is the three where there are more than 40",
    )
    screens: bool = flag(
        "--screens", "Serve MobileAgent's commands too: they work on the screens of every app"
    )
    allow: list[str] | None = option(
        "--allow CAPABILITY",
        "Ask for no approval of it: a name as `call` takes it, or a pattern, PACKAGE/*; may be repeated",
    )
    deadline: float | None = option(
        "--deadline SECONDS",
        "Seconds that a call may take. The default is 30, or 150 for a client that takes tasks",
        min=SHORTEST_SECONDS,
        max=LONGEST_SECONDS,
    )
    files: list[Path] | None = option(
        "--files FOLDER", "Let clients send the files in this folder to apps; may be repeated"
    )
    app_instructions: bool = flag(
        "--app-instructions",
        "Put the apps' own texts for models into the server's instructions, marked as theirs",
    )
    plan: bool = flag("--plan", "Print what the tools of each app cost a model, and serve nothing")
    as_json: bool = AS_JSON


class ServerChoice(StrEnum):
    """What `--server` takes."""

    DATA = "data"
    ACTION = "action"
    BOTH = "both"


class ExtensionChoice(StrEnum):
    """What `--extend` takes."""

    COMPACT = "compact"
    FIND = "find"
    IMAGES = "images"
    GESTURES = "gestures"
    ANNOTATIONS = "annotations"
    ALL = "all"


class ServeMobileAgent(
    Command,
    work="droidgate.cli.serve.run_serve_mobile_agent:serve_mobile_agent_and_report",
):
    """Serve a phone to UFO's MobileAgent, in place of UFO's own two servers.

    The data collection server sees the screen, the action server works on it. Where UFO_MCP_API_KEY is set,
    both ask for its value, as UFO's own do. Without it they ask for a token, on loopback only with --token.
    Ctrl-C ends both.
    """

    _shows_steps = False

    server: ServerChoice = option("--server", "Which of the two servers to run", ServerChoice.BOTH)
    host: str = option(
        "--host ADDRESS", "Address to listen on. Clients need a token if it is not loopback", "localhost"
    )
    data_port: int = option("--data-port", "Port of the data collection server", 8020, min=0, max=65_535)
    action_port: int = option("--action-port", "Port of the action server", 8021, min=0, max=65_535)
    serials: list[str] | None = SERIALS
    extend: list[ExtensionChoice] | None = option(
        "--extend",
        "Serve tools that UFO does not have, or annotate all tools; may be repeated",
        show_default=False,
    )
    deadline: float = option("--deadline SECONDS", "Seconds that a call may take", 30.0, min=1, max=600)
    token: bool = flag("--token", "Let in only clients that send the token, on loopback too")
