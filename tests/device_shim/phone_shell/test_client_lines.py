"""The command lines that clients of a phone send: each one runs, or is refused by name."""

import io
import tomllib
from pathlib import Path
from typing import Any

import pytest

from device_shim.phone_shell.shell_bench import Sink
from droidgate_phone.phone import start_phone
from droidgate_phone.shell import NOT_MODELLED_STATUS, run_shell
from droidgate_phone.shell.run import Streams

PACKAGE = "dev.droidgate.sample.notes"
CLIENTS = tomllib.loads((Path(__file__).parent / "client_lines.toml").read_text("utf-8"))["clients"]
SCRIPT = b'screenrecord "$1" &\nPID=$!\nread ANY\nkill -INT $PID\nwait\n'
"""What adbutils starts with `sh` to record the screen."""


@pytest.mark.parametrize("client", CLIENTS, ids=[client["name"] for client in CLIENTS])
def test_each_line_of_a_client_runs_or_is_refused_as_the_table_says(client: dict[str, Any]) -> None:
    with start_phone(sdk="37") as phone:
        phone.system.files.write("/sdcard/adbutils-screenrecord.sh", SCRIPT, uid=2000)

        def run(line: str) -> tuple[int, str]:
            error = Sink()
            streams = Streams(io.BytesIO(), Sink(), error)
            return run_shell(phone.system, line.replace("PACKAGE", PACKAGE), streams), error.data.decode()

        ran = [[run(line)[0], line] for _, line in client["runs"]]
        refused = [[what, line, *run(line)] for what, line in client["refused"]]
    assert ran == client["runs"]
    for what, line, status, error in refused:
        assert status == NOT_MODELLED_STATUS, line
        named = what.replace("PACKAGE", PACKAGE)
        accepted = {
            f"droidgate phone: {named} is not modelled\n",
            f"droidgate phone: not modelled: {named}\n",
        }
        assert error in accepted, line
