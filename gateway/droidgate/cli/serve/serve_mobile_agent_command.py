"""`droidgate serve-mobile-agent`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from droidgate.cli.completing import complete_serials


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


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("serve-mobile-agent", short_help="Serve a phone to UFO's MobileAgent")(_serve)


def _serve(
    *,
    server: Annotated[ServerChoice, typer.Option("--server", help="Which of the two servers to run")] = (
        ServerChoice.BOTH
    ),
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; elsewhere than on loopback with tokens")
    ] = "localhost",
    data_port: Annotated[
        int, typer.Option("--data-port", min=0, max=65_535, help="Port of the data collection server")
    ] = 8020,
    action_port: Annotated[
        int, typer.Option("--action-port", min=0, max=65_535, help="Port of the action server")
    ] = 8021,
    serial: Annotated[
        list[str] | None,
        typer.Option(
            "--serial",
            help="A phone; may be repeated. The only one by default",
            show_default=False,
            autocompletion=complete_serials,
        ),
    ] = None,
    extend: Annotated[
        list[ExtensionChoice] | None,
        typer.Option(
            "--extend",
            help="Serve tools that UFO does not have, or annotate all tools; may be repeated",
            show_default=False,
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="Longest time of one call, 1 to 600")
    ] = 30.0,
    token: Annotated[
        bool, typer.Option("--token", help="Let in only clients that send the token, on loopback too")
    ] = False,
) -> int:
    """Serve a phone to UFO's MobileAgent, in place of UFO's own two servers.

    The data collection server sees the screen, the action server works on it. Where UFO_MCP_API_KEY is set,
    both ask for its value as UFO's own do; else on loopback they ask for a token only with --token. Ctrl-C
    ends both.
    """
    from droidgate.cli.serve.serving_mobile_agent import serve_mobile_agent_and_report

    return serve_mobile_agent_and_report(
        serial or (),
        server=server.value,
        host=host,
        data_port=data_port,
        action_port=action_port,
        seconds=timeout,
        needs_token=token,
        extensions=[choice.value for choice in extend or ()],
    )
