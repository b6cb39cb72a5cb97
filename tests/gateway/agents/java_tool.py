"""The tool app of `Tool.java` and `Mmcp.java`, run on Android's classes: the other side of `verify`."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from droidgate_phone.apps.app_registry import BEHAVIOURS
from droidgate_phone.apps.jvm_shim import jvm_process
from droidgate_phone.apps.jvm_shim.jvm_parts import check_dex, classes_of_dex, find_parts
from droidgate_phone.apps.jvm_shim.jvm_shim_app import JvmActivity, JvmService, MmcpReceiver
from droidgate_phone.phone import VirtualPhone
from droidgate_phone.system.app_context import AppContext
from droidgate_phone.system.behaviour import Activity, App
from gateway.agents.faulty_tool import TOOL

_SOURCES = [str(Path(__file__).with_name(name)) for name in ("Tool.java", "Mmcp.java")]
_CODE = b"classes of the tool app"


class _JavaTool(JvmService):
    CLASS = f"{TOOL}.Tool"


class _JavaScreen(JvmActivity):
    CLASS = f"{TOOL}.Mmcp$Screen"


class _JavaRadio(MmcpReceiver):
    CLASS = f"{TOOL}.Mmcp$Radio"


class JavaToolApp(App):
    """The app, whose components are in Java."""

    PACKAGE = TOOL
    SERVICES = {f"{TOOL}.Tool": _JavaTool}
    ACTIVITIES = {f"{TOOL}.Main": Activity, f"{TOOL}.Screen": _JavaScreen}
    RECEIVERS = {f"{TOOL}.Radio": _JavaRadio}


@contextmanager
def java_tool(folder: Path) -> Iterator[None]:
    """Compile the app into a folder, and let phones run it in place of a shipped dex."""
    parts = find_parts()
    path = os.pathsep.join(map(str, (parts.framework, *parts.runtime)))
    options = ["-proc:none", "-nowarn", "-Xlint:none", "-d", str(folder), "-cp", path]
    subprocess.run([parts.program("javac"), *options, *_SOURCES], check=True)

    def of_tool(known: Callable[..., Any], own: object) -> Callable[..., Any]:
        return lambda *given: own if _CODE in given else known(*given)

    def read_raw(context: AppContext, name: str) -> bytes | None:
        return _CODE if context.package == TOOL and name == "classes.dex" else read(context, name)

    read = AppContext.read_raw
    with (
        patch.dict(BEHAVIOURS, {TOOL: JavaToolApp}),
        patch.object(AppContext, "read_raw", read_raw),
        patch.object(jvm_process, "check_dex", of_tool(check_dex, None)),
        patch.object(jvm_process, "classes_of_dex", of_tool(classes_of_dex, folder)),
    ):
        yield


def plant(phone: VirtualPhone, fault: str) -> None:
    """Write the file that names the fault of the app's next process."""
    folder = f"/data/data/{TOOL}/files"
    phone.system.files.make_directory(folder, parents=True)
    phone.system.files.write(f"{folder}/fault", fault.encode())
