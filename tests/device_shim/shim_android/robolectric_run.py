"""The Maven module that runs the shim's Android classes on Robolectric: its inputs, its runs, its reports."""

import os
import re
import subprocess
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from lxml import etree

from device_shim.shim_android.manifest_limits import limit_apks
from device_shim.shim_android.tool_apps import hand_made_shim, tool_apps
from droidgate_shim.builder.dex import DEX_NAME
from droidgate_shim.builder.sample_apps import agent_dex
from requirements_of_tests import CHECKOUT, DEX2JAR_FROM_MAVEN, SHORT_JVM, maven_jars, require

MODULE = CHECKOUT / "device_shim/android/robolectric"
TESTS = MODULE / "src/test/java/dev/droidgate/proof"
PICTURES = CHECKOUT / "docs/images/screens"
PATIENCE = 900

_TEST_METHOD = re.compile(r"@Test\s+(?:@[^\n]*\s+)*public void (\w+)\(")
_DEX2JAR_PARTS = ("dex-translator", "dex-ir", "dex-reader", "dex-reader-api", "d2j-base-cmd", "d2j-external")
_ASM_FROM_MAVEN = "9.7.1"
_ASM_PARTS = ("asm-tree", "asm-util", "asm-commons", "asm-analysis")
_NAMED_BY_SHADOWS = ("android/app/AppOpsManager$OnOpNotedCallback.class", "android/app/AsyncNotedAppOp.class")
"""Classes of Android 11 that a shadow of Robolectric 4.17 names, without which it has no Android 10."""


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
    with zipfile.ZipFile(require("framework-jar")) as framework:
        framework.extractall(folder, _NAMED_BY_SHADOWS)
    lines = []
    for app in tool_apps().values():
        lines += _app_lines(folder, app.name, app.package, app.apk(), app.key.certificate_der, app.uid)
    for name, limit in limit_apks().items():
        lines += _app_lines(folder, name, "limits", limit.packing.apk)
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


def _app_lines(
    folder: Path, name: str, package: str, apk: bytes, certificate: bytes = b"", uid: int = 0
) -> list[str]:
    path = folder / f"{name}.apk"
    path.write_bytes(apk)
    facts: dict[str, object] = {"package": package, "apk": path, "certificate": certificate.hex(), "uid": uid}
    return [f"{name}.{key}={value}" for key, value in facts.items()]


def shipped_classes(folder: Path) -> Path:
    """Return a jar with the class files that dex2jar makes of the dex in a shim's APK."""
    with zipfile.ZipFile(BytesIO(hand_made_shim())) as apk:
        return _classes_of_dex(apk.read(DEX_NAME), folder / "shipped.jar")


def _classes_of_dex(content: bytes, jar: Path) -> Path:
    dex = jar.with_suffix(".dex")
    dex.write_bytes(content)
    require("dex2jar")
    version = DEX2JAR_FROM_MAVEN
    jars = maven_jars(*(f"de.femtopedia.dex2jar:{name}:{version}" for name in _DEX2JAR_PARTS))
    jars += maven_jars(*(f"org.ow2.asm:{name}:{_ASM_FROM_MAVEN}" for name in _ASM_PARTS))
    assert len(jars) == len(_DEX2JAR_PARTS) + len(_ASM_PARTS)
    # The frames of the class files are computed with Android's class hierarchy.
    class_path = os.pathsep.join(map(str, [*jars, require("framework-jar")]))
    java = require("newer-jdk").with_name("java")
    source = MODULE / "src/runtime/java/dev/droidgate/runtime/DexToClasses.java"
    command: list[str | Path] = [java, *SHORT_JVM, "-cp", class_path, source, dex, jar]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-4000:]
    return jar


def run_tests(folder: Path, *, refresh: bool = False) -> list[JavaTest]:
    """Run all tests in Java against the shim's classes that ship, and return the outcome of them.

    Raises:
        AssertionError: Maven did not get as far as running them.
    """
    inputs = folder / "inputs"
    inputs.mkdir()
    write_inputs(inputs, refresh=refresh)
    _classes_of_dex(agent_dex(), inputs / "agent.jar")
    properties = {"build.folder": folder, "inputs": inputs, "shipped.classes": shipped_classes(folder)}
    command: list[str | Path] = [require("maven"), "--offline", "--batch-mode", "--quiet"]
    command += ["--file", MODULE / "pom.xml", *(f"-D{name}={value}" for name, value in properties.items())]
    command += ["-Dcompiled.skip=true"]
    environment = {**os.environ, "JAVA_HOME": str(require("newer-jdk").parent.parent)}
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
