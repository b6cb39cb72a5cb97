"""The phone prints what the golden outputs say, which the parsers are held to as well."""

import json
import re
import shlex
from typing import Any

import pytest

from device_shim.phone_system.phone_system_apps import make_apk, run
from droidgate_phone.phone import boot
from gateway.devices.golden_outputs import written_cases


def _cases() -> list[Any]:
    return [
        pytest.param(sdk, case, id=f"{file}: {case['name']} [{sdk}]")
        for file, case in written_cases()
        for sdk in case.get("sdk", [])
    ]


def _masked(text: str) -> str:
    """Mask what differs from phone to phone: random folder names, uids, times and sizes."""
    text = re.sub(r"[A-Za-z0-9_-]{22}==", "RANDOM", text)
    text = re.sub(r"uid:\d+", "uid:N", text)
    text = re.sub(r"(TotalTime|WaitTime|ThisTime): \d+", r"\1: N", text)
    return re.sub(r"dataSize=\d+", "dataSize=N", text)


@pytest.mark.parametrize(("sdk", "case"), _cases())
def test_the_phone_prints_the_golden_output(sdk: str, case: dict[str, Any]) -> None:
    with boot(sdk, behaviours={}) as system:
        for app in case.get("apps", []):
            assets = {f"assets/{name}": text for name, text in app.get("assets", {}).items()}
            apk = make_apk(app["package"], app["application"], version=app["version_code"], files=assets)
            system.packages.install(apk)
        ran = run(system, *shlex.split(case["command"]))
    assert ran.status == case["exit_status"]
    assert _masked(ran.stderr).strip() == _masked(case["stderr"]).strip()
    if case.get("compare") == "json":
        assert json.loads(ran.stdout) == json.loads(case["stdout"])
    else:
        assert _masked(ran.stdout).strip() == _masked(case["stdout"]).strip()


def test_some_goldens_hold_for_the_phone() -> None:
    assert len(_cases()) > 50
