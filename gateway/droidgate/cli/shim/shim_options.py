"""The commands of `droidgate shim`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from droidgate.cli.command_classes import Command, Options, ReportingCommand, argument, flag, option
from droidgate.cli.completing import complete_capabilities, complete_shims
from droidgate.cli.run_limits import BoundedCommand, Deadline, Memory
from droidgate.cli.shared_options import (
    ARGUMENTS,
    AS_JSON,
    FORCE,
    SERIAL,
    SIGNED_BY,
    VALUES,
    ConversionThreshold,
)
from droidgate_shim.deadlines import LONGEST_SECONDS, SHORTEST_MS

if TYPE_CHECKING:
    from droidgate_shim.builder.shim_choices import ShimOptions


class AdvertisedProtocol(StrEnum):
    """What `--advertise` takes: protocols by which agents reach the shim in addition to Mobile-MCP."""

    MMCP = "mmcp"
    MMCP_BROADCAST = "mmcp-broadcast"
    APP_FUNCTIONS = "appfunctions"


_APP_HELP = "An APK, a container or folder of APKs, a project's folder, or a phone as adb:[SERIAL[/PACKAGE]]"

_MAKING: Final = "How shims are made"

READING_DEADLINE: Final = option(
    "--deadline SECONDS", "Seconds that reading apps and building shims may take", 600.0, min=0.1, max=1e6
)
FAIL_ON: Final = option(
    "--fail-on", "Exit with 1 if a finding has this level or a higher one; the command still runs to the end"
)
SHIM_NAME: Final = option(
    "--shim ID",
    "Only this shim: its application id, or the package of its app",
    autocompletion=complete_shims,
)
AGENT: Final = option("--agent PACKAGE", "The agent's package, or any-app for every app", ...)
CAPABILITY_IDS: Final = option(
    "--capability ID", "A capability, or '*' for all; may be repeated", autocompletion=complete_capabilities
)


class ShimBuildOptions(Options):
    """How shims are made; the names are those of the builder's `ShimOptions`, but for the deadline of a call.

    An option is one of these if it changes the APK, and is then one of `shim build` too. What changes the
    phone (`--allow-any-app`) is an option of `ShimInstall`: how shims are set up.
    """

    _heading = _MAKING

    protocols: list[str] | None = option(
        "--format FORMAT",
        "Make shims for apps of this format: app-actions, appfunctions, mmcp, mobile-mcp or all; may be "
        "repeated. The default is all but mobile-mcp, whose apps agents reach directly. With --capability or "
        "--advertise it is all",
    )
    only: list[str] | None = option("--capability ID", "Offer this capability only; may be repeated")
    aggregate: bool = flag("--aggregate", "One shim for all apps, in place of one for each")
    advertise: list[AdvertisedProtocol] | None = option(
        "--advertise",
        "Let agents of this protocol call it too; may be repeated. Only an assistant of the phone's maker or "
        "adb, on Android 16 and later, can call appfunctions",
    )
    call_deadline: float | None = option(
        "--call-deadline SECONDS", "Seconds that a call may take", min=SHORTEST_MS / 1000, max=LONGEST_SECONDS
    )
    signer: str | None = option(
        "--signer SHA256", "Certificate that will sign the app of a project, which has none yet"
    )
    key: Path | None = option(
        "--key FILE", "Sign with this PEM key. By default a key is made at the first run, and kept"
    )

    def chosen(self) -> ShimOptions:
        """Return them as the builder takes them."""
        from droidgate_shim.builder.shim_choices import ShimOptions

        chosen = {name: value for name, value in vars(self).items() if value is not None}
        seconds = chosen.pop("call_deadline", None)
        return ShimOptions(**chosen, deadline_ms=None if seconds is None else round(seconds * 1000))


class ShimBuildCommand(
    BoundedCommand,
    ReportingCommand,
    short="Make signed APKs that offer other apps' capabilities",
    work="droidgate.cli.shim.run_shim_build:build_and_report",
):
    """Make a signed APK for each app, without an Android SDK.

    Agents that speak Mobile-MCP find the shim next to the app, under the app's name, and call the app's
    capabilities through it. Apps that agents reach by themselves, those of Mobile-MCP, get a shim only on
    request (--format). What agents see may differ from what the app declares. Each difference is a finding.
    Each permission that a shim asks for is listed with the capabilities that need it.
    """

    _headings = {_MAKING: ("sources", "out", "force")}

    sources: list[str] = option("--from SRC", f"{_APP_HELP}; may be repeated", ...)
    options: ShimBuildOptions
    out: Path = option("--output -o DIR", "Folder for the APKs", Path("shims"))
    force: bool = FORCE
    fail_on: ConversionThreshold | None = FAIL_ON
    memory: Memory = 4096
    deadline: Deadline = 600.0
    as_json: bool = AS_JSON


class ShimInstall(
    ReportingCommand,
    short="Install shims on a phone, and set up what adb may",
    work="droidgate.cli.shim.run_shim_install:install_and_report",
):
    """Install shims on a phone, set up what adb may, and say what was done and what is left.

    Without an APK and without --from, the installed shims are set up anew. Those that call app functions need
    this after a restart of the phone. App functions are called for all shims by
    dev.droidgate.shim, which is installed with the first shim that needs it. Nothing is granted to other apps
    unless you say so.
    """

    _headings = {_MAKING: ("sources",)}

    apks: list[Path] | None = argument("APK", "Shims that `shim build` made, or their folder")
    sources: list[str] | None = option(
        "--from SRC",
        f"Build the shims of these apps first: {_APP_HELP[0].lower()}{_APP_HELP[1:]}; may be repeated",
    )
    serial: str | None = SERIAL
    any_app: bool | None = option(
        "--allow-any-app/--no-allow-any-app",
        "Let every app on the phone use the shims, or take that back. By default a terminal asks. Without "
        "a terminal nothing changes; at first no app may use them",
    )
    yes: bool = flag("--yes -y", "Ask nothing; without --allow-any-app nothing is granted")
    options: ShimBuildOptions
    deadline: float = READING_DEADLINE
    fail_on: ConversionThreshold | None = FAIL_ON
    as_json: bool = AS_JSON


class ShimSync(
    ReportingCommand,
    short="Update shims after app changes",
    work="droidgate.cli.shim.run_shim_install:sync_and_report",
):
    """Make the shims of a phone fit its apps: build and install those of apps that were added or changed, and
    remove those of apps that were removed.

    It looks after the apps that were named at `shim install`, with the options and the key given there, and
    after dev.droidgate.shim, which calls app functions for the shims.
    """

    serial: str | None = SERIAL
    dry_run: bool = flag("--dry-run", "Only say what would be done; nothing stays changed")
    deadline: float = READING_DEADLINE
    fail_on: ConversionThreshold | None = FAIL_ON
    as_json: bool = AS_JSON


class ShimStatus(
    BoundedCommand,
    ReportingCommand,
    short="Show the shims of a phone, who may call them, and their apps",
    work="droidgate.cli.shim.run_shim_status:report_status",
):
    """Show the shims of a phone: their capabilities, who may call them, and what became of their apps."""

    serial: str | None = SERIAL
    deadline: Deadline = 600.0
    as_json: bool = AS_JSON


class ShimDoctor(
    BoundedCommand,
    ReportingCommand,
    short="Check what keeps agents from the shims, with the fix",
    work="droidgate.cli.shim.run_shim_status:report_checks",
):
    """Check what keeps agents from the apps behind the shims, and say how each problem is solved.

    Each STEP of --details is a step number in docs/guides/prove-on-a-phone.md.
    """

    serial: str | None = SERIAL
    deadline: Deadline = 600.0
    as_json: bool = AS_JSON


class ShimCall(
    Command, short="Call a capability through a shim", work="droidgate.cli.shim.run_shim_call:call_and_report"
):
    """Call a capability through the shim that offers it, and print the outputs.

    The call comes from this computer, and needs no grant. Any app may call itself a shim, so one that your
    key did not sign gets no arguments.
    """

    capability: str = argument(
        "CAPABILITY", "Its id, the end of its id, or APP.ID", ..., autocompletion=complete_capabilities
    )
    values: list[str] | None = VALUES
    arguments: str = ARGUMENTS
    shim: str | None = SHIM_NAME
    signed_by: str | None = SIGNED_BY
    serial: str | None = SERIAL
    deadline: float | None = option(
        "--deadline SECONDS", "Seconds that the call may take", min=SHORTEST_MS / 1000, max=LONGEST_SECONDS
    )
    as_json: bool = AS_JSON


class ShimGrant(
    Command,
    short="Let an agent call capabilities, without a question on the phone",
    work="droidgate.cli.shim.run_shim_call:grant_and_report",
):
    """Let an agent call capabilities, without a question on the phone.

    The grant holds for the app with the certificate that it has now. `shim status` lists all grants.
    """

    agent: str = AGENT
    capability: list[str] | None = CAPABILITY_IDS
    shim: str | None = SHIM_NAME
    serial: str | None = SERIAL
    as_json: bool = AS_JSON


class ShimRevoke(
    Command, short="Revoke grants of an agent", work="droidgate.cli.shim.run_shim_call:revoke_and_report"
):
    """Revoke grants of an agent: those for the named capabilities, or all."""

    agent: str = AGENT
    capability: list[str] | None = CAPABILITY_IDS
    shim: str | None = SHIM_NAME
    serial: str | None = SERIAL
    as_json: bool = AS_JSON


class ShimUninstall(
    Command,
    short="Remove shims from a phone",
    work="droidgate.cli.shim.run_shim_install:uninstall_and_report",
):
    """Remove shims from a phone, with everything that was granted to them and by them.

    The last shim that calls app functions is removed together with dev.droidgate.shim, which calls them for
    the shims.
    """

    shims: list[str] | None = argument(
        "SHIM", "Application ids, or packages of their apps", autocompletion=complete_shims
    )
    every_shim: bool = flag("--all", "Remove every shim of the phone")
    serial: str | None = SERIAL
    as_json: bool = AS_JSON
