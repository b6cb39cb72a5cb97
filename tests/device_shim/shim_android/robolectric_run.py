"""The Maven module that runs the shim's Android classes on Robolectric: its inputs, its runs, its reports."""

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from device_shim.phone_system.phone_system_apps import key
from device_shim.shim_android.manifest_limits import limit_apks
from device_shim.shim_android.tool_apps import UIDS, hand_made_shim, tool_apps
from droidgate_phone.apps.jvm_shim.jvm_parts import NAMED_BY_SHADOWS, classes_of_dex, find_parts
from droidgate_shim.builder.dex import shim_dex
from droidgate_shim.builder.sample_apps import agent_dex
from requirements_of_tests import CHECKOUT, SHORT_JVM, require

MODULE = CHECKOUT / "device_shim/android/robolectric"
TESTS = MODULE / "src/test/java/dev/droidgate/proof"
PICTURES = CHECKOUT / "docs/images/screens"
PATIENCE = 900

_TEST_METHOD = re.compile(r"@Test\s+(?:@[^\n]*\s+)*public void (\w+)\(")


@dataclass(frozen=True)
class JavaTest:
    """A test that ran: its class and name, without the release it ran on, and what went wrong if anything."""

    name: str
    failure: str | None
    skipped: bool


def write_inputs(folder: Path, *, refresh: bool = False) -> None:
    """Write what the tests in Java read: APKs, Robolectric's configuration, and a list of it all.

    Args:
        folder: Where.
        refresh: Whether the tests write the pictures of screens, in place of comparing them.
    """
    with zipfile.ZipFile(find_parts().framework) as framework:
        framework.extractall(folder, NAMED_BY_SHADOWS)
    lines = []
    for name, apk in tool_apps().items():
        lines += _app_lines(folder, name, apk, key(name).certificate_der, UIDS[name])
    for name, limit in limit_apks().items():
        lines += _app_lines(folder, name, limit.packing.apk)
    lines.append(f"limits={','.join(limit_apks())}")
    lines += [f"pictures={PICTURES}", f"refresh={str(refresh).lower()}"]
    (folder / "inputs.properties").write_text("\n".join(lines) + "\n", encoding="latin-1")
    shim_apk = folder / "shim.apk"
    shim_apk.write_bytes(hand_made_shim())
    configuration = folder / "com/android/tools/test_config.properties"
    configuration.parent.mkdir(parents=True)
    configuration.write_text(
        f"android_custom_package=dev.droidgate.shim\nandroid_resource_apk={shim_apk}\n"
        f"android_merged_manifest={folder}/none.xml\n",
        encoding="latin-1",
    )


def _app_lines(folder: Path, name: str, apk: bytes, certificate: bytes = b"", uid: int = 0) -> list[str]:
    path = folder / f"{name}.apk"
    path.write_bytes(apk)
    facts = {"apk": path, "certificate": certificate.hex(), "uid": uid}
    return [f"{name}.{key}={value}" for key, value in facts.items()]


def run_tests(folder: Path, *, refresh: bool = False) -> list[JavaTest]:
    """Run all tests in Java against the shim's classes that ship, and return the outcome of them.

    Raises:
        AssertionError: Maven did not get as far as running them.
    """
    inputs = folder / "inputs"
    inputs.mkdir()
    write_inputs(inputs, refresh=refresh)
    parts = find_parts()
    shutil.copy(classes_of_dex(parts, agent_dex()), inputs / "agent.jar")
    shipped = classes_of_dex(parts, shim_dex() or b"")
    properties = {"build.folder": folder, "inputs": inputs, "shipped.classes": shipped}
    command: list[str | Path] = [require("maven"), "--offline", "--batch-mode", "--quiet"]
    command += ["--file", MODULE / "pom.xml", *(f"-D{name}={value}" for name, value in properties.items())]
    command += ["-Dcompiled.skip=true"]
    environment = {**os.environ, "JAVA_HOME": str(parts.jdk)}
    environment["MAVEN_OPTS"] = " ".join(SHORT_JVM)
    run = subprocess.run(
        [*command, "test"], capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment
    )
    assert run.returncode == 0, (run.stdout + run.stderr)[-8000:]
    return list(_read_reports(folder / "reports/shipped"))


def _read_reports(folder: Path) -> Iterable[JavaTest]:
    for path in sorted(folder.glob("TEST-*.xml")):
        for case in etree.parse(path).getroot().iter("testcase"):
            suite = str(case.get("classname")).rpartition(".")[2]
            name = str(case.get("name"))
            troubles = [
                str(element.text or element.get("message"))
                for kind in ("failure", "error")
                for element in case.iter(kind)
            ]
            yield JavaTest(
                name=f"{suite}.{name.partition('[')[0]}",
                failure=f"{suite}.{name}: {troubles[0][:2000]}" if troubles else None,
                skipped=case.find("skipped") is not None,
            )


def declared_tests() -> set[str]:
    """Return the tests in the module's sources, as `Class.name`."""
    return {
        f"{path.stem}.{name}"
        for path in TESTS.glob("*Test.java")
        for name in _TEST_METHOD.findall(path.read_text(encoding="utf-8"))
    }
