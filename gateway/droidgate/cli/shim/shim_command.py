"""`droidgate shim build`, `install`, `sync`, `status`, `doctor`, `call` and `uninstall`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from droidgate.cli.added_options import Body, add_options
from droidgate.cli.completing import complete_capabilities, complete_shims
from droidgate.cli.options import AsJson, ConversionThreshold, Serial
from droidgate.cli.output.page_length import with_details_of_report
from droidgate.cli.run_limits import Deadline, Memory, RunBudget, run_within


class AdvertisedProtocol(StrEnum):
    """What `--advertise` takes: protocols by which agents reach the shim in addition to Mobile-MCP."""

    MMCP = "mmcp"
    MMCP_BROADCAST = "mmcp-broadcast"
    APP_FUNCTIONS = "appfunctions"


_APP_HELP = "An APK, a container or folder of APKs, a project's folder, or a phone as adb:[SERIAL[/PACKAGE]]"

From = Annotated[list[str], typer.Option("--from", metavar="SRC", help=f"{_APP_HELP}; may be repeated")]
FromOrNothing = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="SRC",
        help=f"Build the shims of these apps first: {_APP_HELP[0].lower()}{_APP_HELP[1:]}; may be repeated",
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="CAPABILITY", help="Offer this capability only; may be repeated"),
]
Aggregate = Annotated[
    bool, typer.Option("--aggregate", help="One shim for all apps, in place of one for each")
]
Advertise = Annotated[
    list[AdvertisedProtocol] | None,
    typer.Option("--advertise", help="Let agents of this protocol call it too; may be repeated"),
]
Protocols = Annotated[
    list[str] | None,
    typer.Option(
        "--protocol",
        metavar="FORMAT",
        help="Make shims for apps of this protocol: appfunctions, mmcp, mobile-mcp or all; may be repeated. "
        "By default all but mobile-mcp, whose apps agents reach directly; all with --only or --advertise",
    ),
]
DeadlineMs = Annotated[
    int | None,
    typer.Option("--deadline-ms", min=1, max=150_000, metavar="MS", help="How long a call may take"),
]
Signer = Annotated[
    str | None,
    typer.Option(
        "--signer",
        metavar="SHA256",
        help="Certificate that will sign the app of a project, which has none yet",
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key",
        metavar="FILE",
        help="Sign with this key, PEM; else with one that is made at the first run and kept",
    ),
]
OutFolder = Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the APKs")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there and differ")]
FailOn = Annotated[
    ConversionThreshold | None,
    typer.Option(
        "--fail-on", help="Exit with 1 from this level of a finding on; everything is done all the same"
    ),
]
AnyApp = Annotated[
    bool | None,
    typer.Option(
        "--allow-any-app/--no-allow-any-app",
        help="Let every app on the phone use the shims, or take that back; else a terminal asks, and without "
        "one it stays as it is: nobody, until somebody says yes",
    ),
]
ShimName = Annotated[
    str | None,
    typer.Option(
        "--shim",
        metavar="ID",
        help="Only this shim: its application id, or the package of its app",
        autocompletion=complete_shims,
    ),
]

Agent = Annotated[
    str, typer.Option("--agent", metavar="PACKAGE", help="The agent's package, or any-app for every app")
]
CapabilityIds = Annotated[
    list[str] | None,
    typer.Option(
        "--capability",
        metavar="ID",
        help="A capability, or '*' for all; may be repeated",
        autocompletion=complete_capabilities,
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    group.command("build", short_help="Make signed APKs that offer other apps' capabilities")(_build)
    group.command("install", short_help="Install shims on a phone, and set up what adb may")(_install)
    group.command("sync", short_help="Build anew what came, changed or went on a phone")(_sync)
    group.command("status", short_help="Show the shims of a phone, who may call them, and their apps")(
        _status
    )
    group.command("doctor", short_help="Check what keeps agents from the shims, with the fix")(_doctor)
    group.command("call", short_help="Call a capability through a shim")(_call)
    group.command("grant", short_help="Let an agent call capabilities, without a question on the phone")(
        _grant
    )
    group.command("revoke", short_help="Revoke grants of an agent")(_revoke)
    group.command("uninstall", short_help="Remove shims from a phone")(_uninstall)
    app.add_typer(group, name="shim", help="Apps that make other apps callable by Mobile-MCP agents")


def _with_build_options(body: Body) -> Body:
    """Return the body of a command whose `options` are those of `BuildOptions` that a user gave."""
    options: dict[str, tuple[object, Any]] = {
        "protocols": (Protocols, None),
        "only": (Only, None),
        "aggregate": (Aggregate, False),
        "advertise": (Advertise, None),
        "deadline_ms": (DeadlineMs, None),
        "signer": (Signer, None),
        "key": (KeyFile, None),
    }

    def take(**given: Any) -> dict[str, Any]:
        return {name: value for name, value in given.items() if value is not None}

    return add_options(body, options, take, into="options")


@with_details_of_report
@_with_build_options
def _build(
    *,
    sources: From,
    options: Any,
    out: OutFolder = Path("shims"),
    force: Force = False,
    fail_on: FailOn = None,
    memory: Memory = 4096,
    deadline: Deadline = 600.0,
    as_json: AsJson = False,
) -> int:
    """Make a signed APK for each app, without an Android SDK.

    Agents that speak Mobile-MCP find the shim next to the app, under the app's name, and call the app's
    capabilities through it. Apps that agents reach by themselves, those of Mobile-MCP, get a shim only on
    request (--protocol). What they see otherwise than the app declares it is a finding. Each
    permission that a shim asks for is listed with the capabilities that need it.
    """
    from droidgate.cli.shim.shim_builds import build_and_report
    from droidgate.shims.building import build_request

    request = build_request(sources, options)
    return run_within(
        RunBudget(memory, deadline),
        lambda: build_and_report(request, out, force=force, fail_on=fail_on, as_json=as_json),
    )


@with_details_of_report
@_with_build_options
def _install(
    apks: Annotated[
        list[Path] | None, typer.Argument(metavar="APK", help="Shims that `shim build` made, or their folder")
    ] = None,
    *,
    sources: FromOrNothing = None,
    serial: Serial = None,
    allow_any_app: AnyApp = None,
    options: Any,
    fail_on: FailOn = None,
    as_json: AsJson = False,
) -> int:
    """Install shims on a phone, set up what adb may, and say what was done and what is left.

    Without an APK and without --from, the shims that are installed are set up anew, as is needed after a
    restart of the phone where they call app functions. App functions are called for all shims by
    dev.droidgate.shim, which is installed with the first shim that needs it. Nothing is granted to other apps
    unless you say so.
    """
    from droidgate.cli.shim.shim_installation import install_and_report
    from droidgate.shims.building import build_request
    from droidgate.shims.installations import InstallRequest

    request = InstallRequest(build_request(sources or (), options), tuple(apks or ()))
    return install_and_report(request, serial, any_app=allow_any_app, fail_on=fail_on, as_json=as_json)


@with_details_of_report
def _sync(
    *,
    serial: Serial = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done; nothing stays changed")
    ] = False,
    fail_on: FailOn = None,
    as_json: AsJson = False,
) -> int:
    """Make the shims of a phone fit its apps: build and install those of apps that came or changed, and
    remove those of apps that went.

    It looks after the apps that were named at `shim install`, with the options and the key given there, and
    after dev.droidgate.shim, which calls app functions for the shims.
    """
    from droidgate.cli.shim.syncing import sync_and_report

    return sync_and_report(serial, dry_run=dry_run, fail_on=fail_on, as_json=as_json)


@with_details_of_report
def _status(*, serial: Serial = None, as_json: AsJson = False) -> int:
    """Show the shims of a phone: their capabilities, who may call them, and what became of their apps."""
    from droidgate.cli.shim.reporting import report_status

    return report_status(serial, as_json=as_json)


@with_details_of_report
def _doctor(*, serial: Serial = None, as_json: AsJson = False) -> int:
    """Check what keeps agents from the apps behind the shims, and say how each problem is solved.

    The steps are those of docs/guides/prove-on-a-phone.md that adb can do.
    """
    from droidgate.cli.shim.reporting import report_checks

    return report_checks(serial, as_json=as_json)


def _call(
    capability: Annotated[
        str, typer.Argument(metavar="CAPABILITY", help="Its id", autocompletion=complete_capabilities)
    ],
    *,
    arguments: Annotated[
        str,
        typer.Option(
            "--args", metavar="JSON", help="The arguments, as a JSON object; - reads it from standard input"
        ),
    ] = "{}",
    shim: ShimName = None,
    signed_by: Annotated[
        str | None,
        typer.Option(
            "--signed-by",
            metavar="SHA256",
            help="Trust a shim that another key than yours signed: its certificate's digest",
        ),
    ] = None,
    serial: Serial = None,
    deadline_ms: DeadlineMs = None,
    as_json: AsJson = False,
) -> int:
    """Call a capability through the shim that offers it, and print the outputs.

    The call comes from this computer, and needs no grant. Any app may call itself a shim, so one that your
    key did not sign gets no arguments.
    """
    from droidgate.cli.shim.shim_calls import call_and_report

    return call_and_report(
        capability, arguments, shim, serial, signed_by=signed_by, deadline_ms=deadline_ms, as_json=as_json
    )


def _grant(
    *,
    agent: Agent,
    capability: CapabilityIds = None,
    shim: ShimName = None,
    serial: Serial = None,
    as_json: AsJson = False,
) -> int:
    """Let an agent call capabilities, without a question on the phone.

    The grant holds for the app with the certificate that it has now. `shim status` lists all grants.
    """
    from droidgate.cli.shim.agent_grants import grant_and_report

    return grant_and_report(agent, tuple(capability or ()), shim, serial, as_json=as_json)


def _revoke(
    *,
    agent: Agent,
    capability: CapabilityIds = None,
    shim: ShimName = None,
    serial: Serial = None,
    as_json: AsJson = False,
) -> int:
    """Revoke grants of an agent: those for the named capabilities, or all."""
    from droidgate.cli.shim.agent_grants import revoke_and_report

    return revoke_and_report(agent, tuple(capability or ()), shim, serial, as_json=as_json)


def _uninstall(
    shims: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SHIM", help="Application ids, or packages of their apps", autocompletion=complete_shims
        ),
    ] = None,
    *,
    every_shim: Annotated[bool, typer.Option("--all", help="Remove every shim of the phone")] = False,
    serial: Serial = None,
    as_json: AsJson = False,
) -> int:
    """Remove shims from a phone, with everything that was granted to them and by them.

    With the last shim that calls app functions goes dev.droidgate.shim, which calls them for the shims.
    """
    from droidgate.cli.shim.shim_installation import uninstall_and_report

    return uninstall_and_report(tuple(shims or ()), serial, every_shim=every_shim, as_json=as_json)
