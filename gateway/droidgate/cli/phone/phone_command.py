"""`droidgate phone start`, `stop`, `status`, `apps`, `install` and `push`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from droidgate.cli.options import AndroidRelease, AsJson

Port = Annotated[
    int, typer.Option("--port", min=0, max=65535, help="Port that adb connects to, 0 for a free one")
]
ServerPort = Annotated[
    int,
    typer.Option(
        "--server-port",
        min=0,
        max=65535,
        help="Port where it acts as an adb server, so that no adb is needed; 0 for a free one",
    ),
]
Sdk = Annotated[
    AndroidRelease,
    typer.Option("--sdk", metavar="RELEASE", help=f"Android release: {', '.join(AndroidRelease)}"),
]
Packages = Annotated[
    int, typer.Option("--packages", min=0, max=2000, metavar="N", help="Install so many packages more")
]
NoApps = Annotated[bool, typer.Option("--no-apps", help="Leave out the sample apps")]
FaultOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        metavar="FAULT",
        help="Show a fault, such as drop-after=BYTES or unauthorized; may be repeated; `list` names them",
    ),
]
LogFile = Annotated[
    Path | None,
    typer.Option(
        "--log", metavar="FILE", help="Write every adb service, Intent and result as a line of JSON"
    ),
]
ShimRuntimeName = Annotated[
    str,
    typer.Option(
        "--shim-runtime",
        metavar="RUNTIME",
        help="What shims run on: python, or jvm for their own Java classes (needs a JDK and Robolectric)",
    ),
]
Foreground = Annotated[bool, typer.Option("--foreground", help="Stay until Ctrl-C")]
Handover = Annotated[bool, typer.Option("--handover", hidden=True)]
RunningPort = Annotated[
    int | None, typer.Option("--port", min=1, max=65535, help="Port of the phone; not needed where one runs")
]

ApkFiles = Annotated[
    list[Path], typer.Argument(metavar="APK...", help="APKs, and containers with the splits of one app")
]
LocalFile = Annotated[Path, typer.Argument(metavar="FILE", help="The file to copy")]
RemotePath = Annotated[
    str,
    typer.Argument(metavar="[TARGET]", help="File or folder on the phone", show_default="/sdcard/Download/"),
]


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    group.command("start", short_help="Start a virtual phone that adb connects to")(_start)
    group.command("stop", short_help="Stop a virtual phone")(_stop)
    group.command("status", short_help="Show which virtual phones are running")(_status)
    group.command("install", short_help="Install APKs on a virtual phone")(_install)
    group.command("push", short_help="Copy a file to a virtual phone")(_push)
    group.command("apps", short_help="List the apps of a virtual phone, by protocol")(_apps)
    app.add_typer(group, name="phone", help="A virtual phone, to try everything without a real one")


def _start(  # noqa: PLR0913
    *,
    port: Port = 0,
    server_port: ServerPort = 0,
    sdk: Sdk = AndroidRelease.R36_1,
    packages: Packages = 0,
    no_apps: NoApps = False,
    fault: FaultOptions = None,
    log: LogFile = None,
    shim_runtime: ShimRuntimeName = "python",
    foreground: Foreground = False,
    handover: Handover = False,
    as_json: AsJson = False,
) -> int:
    """Start a virtual phone in the background, and say how to reach it.

    The real adb connects to it as to any phone; the sample apps are installed. It listens on this machine
    only, and keeps nothing when it stops.
    """
    from droidgate.cli.phone.starting_phones import StartRequest, start_virtual_phone

    request = StartRequest(
        port=port,
        server_port=server_port,
        sdk=sdk.value,
        packages=packages,
        apps=not no_apps,
        faults=tuple(fault or ()),
        log=log,
        shim_runtime=shim_runtime,
    )
    return start_virtual_phone(request, foreground=foreground, handover=handover, as_json=as_json)


def _stop(*, port: RunningPort = None, as_json: AsJson = False) -> int:
    """Stop a virtual phone that was started in the background."""
    from droidgate.cli.phone.stopping_phones import stop_virtual_phone

    return stop_virtual_phone(port, as_json=as_json)


def _apps(*, port: RunningPort = None, as_json: AsJson = False) -> int:
    """List the apps that a running virtual phone has, by the agent protocols that they speak."""
    from droidgate.cli.phone.listing_phone_apps import list_phone_apps

    return list_phone_apps(port, as_json=as_json)


def _status(*, as_json: AsJson = False) -> int:
    """Show which virtual phones are running, and how to reach them."""
    from droidgate.cli.phone.using_phones import print_phone_status

    return print_phone_status(as_json=as_json)


def _install(apk: ApkFiles, *, port: RunningPort = None, as_json: AsJson = False) -> int:
    """Install apps on a virtual phone, with the permissions that they request.

    An app that is there is replaced.
    """
    from droidgate.cli.phone.using_phones import install_on_phone

    return install_on_phone(apk, port, as_json=as_json)


def _push(
    local: LocalFile,
    remote: RemotePath = "/sdcard/Download/",
    *,
    port: RunningPort = None,
    as_json: AsJson = False,
) -> int:
    """Copy a file to a virtual phone."""
    from droidgate.cli.phone.using_phones import push_to_phone

    return push_to_phone(local, remote, port, as_json=as_json)
