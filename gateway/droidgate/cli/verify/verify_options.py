"""`droidgate verify`."""

from __future__ import annotations

from enum import StrEnum

from droidgate.cli.command_classes import ReportingCommand, argument, flag, option
from droidgate.cli.shared_options import AS_JSON, AS_SARIF, SERIAL


class SpecificationEdition(StrEnum):
    """What `--edition` takes."""

    S0 = "S0"
    S1 = "S1"


class Verify(ReportingCommand, work="droidgate.cli.verify.run_verify:verify_and_report"):
    """Check a tool app against every rule of its protocol that can be seen from outside.

    Checks the files of a project or an APK; no phone is needed. Calls an app that is installed, or that
    --install installs, as two agents do: with unknown names, missing and wrong arguments, two requests at
    once, one id from both. A correct app refuses or answers these, and does nothing. Calls with effects are
    made only with --call. Agents that are not installed are installed, and removed at the end.
    """

    _headings = {
        "How it is called": ("install", "calls", "edition", "deadline", "serial"),
    }

    source: str = argument("PACKAGE|PROJECT|APK", "The tool app: of Mobile-MCP, mMCP or AppFunctions", ...)
    install: bool = flag(
        "--install",
        "Install the APK on the phone, and remove it at the end if it was not installed before",
    )
    calls: list[str] | None = option(
        "--call CAPABILITY[=JSON]",
        "A call that may be carried out, with its arguments as a JSON object; may be repeated",
    )
    edition: SpecificationEdition = option(
        "--edition",
        "Edition of Mobile-MCP's specification: 14 February 2026 (S0), or 24 February (S1)",
        SpecificationEdition.S0,
    )
    deadline: float = option("--deadline SECONDS", "Seconds that an answer may take", 5.0, min=0.1, max=120.0)
    serial: str | None = SERIAL
    as_json: bool = AS_JSON
    as_sarif: bool = AS_SARIF
    as_junit: bool = flag("--junit", "Print JUnit XML instead of text")
