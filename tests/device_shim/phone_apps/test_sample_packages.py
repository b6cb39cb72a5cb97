"""The sample apps as APKs, the apps that fill a phone, and the sources of all of them."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from adapters.handlers.jvm import compile_java, resource_classes
from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.reader import open_apk
from droidgate_phone.apps import sample_packages as module
from droidgate_phone.apps.app_registry import BEHAVIOURS
from droidgate_phone.apps.sample_packages import (
    SamplePackage,
    filler_package,
    sample_package,
    sample_packages,
)
from droidgate_shim.builder.sample_apps import sample_apps_directory
from requirements_of_tests import require, short_run

MODULES = sorted(path.parents[2] for path in sample_apps_directory().glob("*/*/src/main/AndroidManifest.xml"))


def test_each_sample_has_a_behaviour_for_each_component_of_its_apk() -> None:
    assert {package.package for package in sample_packages()} == set(BEHAVIOURS)
    for package in sample_packages():
        app = BEHAVIOURS[package.package]
        with open_apk(package.apk) as apk:
            application = read_application(apk)
        assert application.package == package.package
        modelled = {
            *app.SERVICES, *app.ACTIVITIES, *app.RECEIVERS, *app.PROVIDERS, *app.APP_FUNCTION_SERVICES,
        }  # fmt: skip
        declared = {
            application.qualified_name(part) for part in application.components if part.kind != "application"
        }
        assert declared - modelled <= {"dev.droidgate.sample.agent.AnswerReceiver"}
        assert modelled <= declared


@pytest.mark.slow
@pytest.mark.parametrize("package", sample_packages(), ids=lambda package: package.name)
def test_androids_own_tools_take_the_samples(package: SamplePackage, tmp_path: Path) -> None:
    apksigner, aapt2 = short_run("apksigner"), require("aapt2")
    path = tmp_path / "app.apk"
    path.write_bytes(package.apk)
    verified = subprocess.run(
        [*apksigner, "verify", "--print-certs", path], capture_output=True, text=True, check=True
    )
    assert module.signing_key().digest in verified.stdout
    badging = subprocess.run([aapt2, "dump", "packagename", path], capture_output=True, text=True, check=True)
    assert badging.stdout.strip() == package.package


def test_the_same_packages_are_made_each_time() -> None:
    for package in sample_packages():
        assert sample_package.__wrapped__(package.name) == package
    assert module.signing_key.__wrapped__().certificate_der == module.signing_key().certificate_der
    assert filler_package(7) == filler_package(7)


def test_fillers_differ_and_some_speak_each_protocol() -> None:
    apks = [filler_package(number) for number in range(40)]
    assert len(set(map(len, apks))) > 30
    actions: Counter[str] = Counter()
    names = set()
    for data in apks:
        with open_apk(data) as apk:
            application = read_application(apk)
        names.add(application.package)
        filters = (each for component in application.components for each in component.filters)
        actions.update(action for each in filters for action in each.actions)
    assert len(names) == 40
    del actions["android.intent.action.MAIN"]
    assert actions == {
        "android.app.appfunctions.AppFunctionService": 4,
        "com.androidmcp.tool.EXECUTE": 1,
        "com.androidmcp.tool.LIST_TOOLS": 1,
        "com.example.ACTION_MMCP_DISCOVERY": 1,
        "com.example.ACTION_MMCP_INVOKE": 1,
        "com.example.mMCP.ACTION_TOOL_ADVERTISE": 4,
        "com.example.mMCP.ACTION_TOOL_CALL": 4,
        "io.rosenpin.mmcp.action.MCP_SERVICE": 1,
        "mobile.mcp.SERVICE": 4,
        "zwdroid.mcp.sdk.McpServerService": 1,
    }


@pytest.mark.slow
def test_the_sources_of_the_samples_compile_against_android(tmp_path: Path) -> None:
    """In one run of the compiler, since starting it takes longer than compiling; each app is a package.

    The Mobile-MCP apps have a folder of classes in common.
    """
    sources = [*(sample_apps_directory() / "mobile-mcp").rglob("*.java")]
    for folder in MODULES:
        own = [*(folder / "src/main/java").rglob("*.java")]
        (package,) = {path.parent.name for path in own}
        imported = re.findall(
            r"^import (dev\.droidgate\.[\w.]+)", "".join(map(Path.read_text, own)), re.MULTILINE
        )
        assert [name for name in imported if not {package, "mobilemcp"} & {*name.split(".")}] == []
        sources += own + resource_classes(folder / "src/main", tmp_path / "-".join(folder.parts[-2:]))
    compile_java(sources, tmp_path / "classes", warnings=False)
