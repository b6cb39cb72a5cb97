"""What the machine takes of the first minutes: from the wheel to an agent that calls an app of mMCP.

Run it with `make bench`. The wheel is built and installed into a new virtual environment, with its
dependencies from pip's package index, and the commands run there with an empty home folder; with `--quick`
they run in this environment. The rest of the first minutes is reading, and on a real phone the taps of the
README's steps.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from _results import Results, Table, parser

from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_phone.apps.agent import Agent, request_text
from droidgate_phone.intents import ComponentName
from droidgate_phone.phone import VirtualPhone, start_phone

_CHECKOUT = Path(__file__).resolve().parent.parent
_AGENT = "dev.droidgate.sample.agent"
_SHIM = ComponentName(
    f"{SHIM_PACKAGE}.of.dev.droidgate.sample.weather", f"{SHIM_PACKAGE}.frontends.ToolService"
)
_COMMANDS = (
    "droidgate discover",
    "droidgate shim install --from adb:",
    """droidgate shim call currentWeather --args '{"location": "Berlin"}'""",
    f"droidgate shim grant --agent {_AGENT} --capability currentWeather",
)


def install(table: Table, folder: Path) -> Path:
    """Build the wheel, install it into a new environment, and return the environment's programs."""
    wheels, environment = folder / "wheels", folder / "environment"
    pip = [sys.executable, "-m", "pip", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", wheels, _CHECKOUT], check=True)
    venv.create(environment, with_pip=True)
    (wheel,) = wheels.iterdir()
    start = time.perf_counter()
    subprocess.run([environment / "bin/pip", "--quiet", "install", wheel], check=True)
    table.add("`pip install` of the wheel, with its dependencies", time.perf_counter() - start, 0)
    return environment / "bin"


def type_command(table: Table, command: str, variables: dict[str, str]) -> None:
    """Run a command as a terminal of 100 columns would show it, and add its time and its lines."""
    words = shlex.split(command)
    start = time.perf_counter()
    done = subprocess.run(words, env=variables, capture_output=True, text=True, check=False)
    spent = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr}")
    table.add(f"`{command}`", spent, len((done.stdout + done.stderr).splitlines()))


def call_as_agent(table: Table, phone: VirtualPhone) -> None:
    """Let the phone's agent bind the shim and call it, and add its time."""
    start = time.perf_counter()
    agent = Agent(phone.system.app_context(_AGENT))
    request = request_text("currentWeather", {"location": "Berlin"}, dialect="S0")
    answer = str(agent.call_bound(_SHIM, request))
    spent = time.perf_counter() - start
    if "Berlin: " not in answer:
        raise RuntimeError(f"the shim answers {answer}")
    table.add("the agent binds the shim and calls", spent, 0)


def main() -> None:
    """Measure."""
    options = parser(__doc__).parse_args()
    results = Results(options)
    table = results.table("steps", {"step": "", "seconds": ".1f", "lines": ","})
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        programs = Path(sys.executable).parent if options.quick else install(table, folder)
        (folder / "home").mkdir()
        with start_phone(server_port=0) as phone:
            variables = {
                "HOME": str(folder / "home"),
                "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
                "ANDROID_ADB_SERVER_PORT": str(phone.server_port),
                "COLUMNS": "100",
                "FORCE_COLOR": "1",
            }
            for command in _COMMANDS:
                type_command(table, command, variables)
            call_as_agent(table, phone)
    results.write()


if __name__ == "__main__":
    main()
