"""The dex of the shim and of the agent: size, who reads it, what it refers to, that the sources make it."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from device_shim.shim_android.class_jar import ClassJar
from droidgate_shim.builder.dex import shim_dex
from droidgate_shim.builder.sample_apps import agent_dex
from requirements_of_tests import CHECKOUT, require

MOST_BYTES = 180_000
COMPONENTS = (
    "frontends/ToolService", "backends/TrampolineActivity", "consent/ConsentActivity",
    "consent/ManageActivity", "host/HostProvider", "backends/ShellIdentityInstrumentation",
    "backends/ShellIdentityService", "frontends/MmcpActivity", "frontends/MmcpReceiver",
    "frontends/FunctionService",
)  # fmt: skip
# The first API level of each class that is loaded from that level on only; the sources ask for it before.
LATER_CLASSES = {
    "windows/NotificationChannels": 26,
    "platform/SigningCertificates": 28,
    "platform/Documents": 31,
    "backends/ResultCallers": 35,
    "backends/AppFunctionCaller": 36,
    "backends/AppFunctionCaller$Enabled": 36,
    "frontends/FunctionService": 36,
    "frontends/FunctionService$FunctionArguments": 36,
}
# Members that Android 7.0 has not got, with the API level that developer.android.com/reference gives them.
# Each is in the sources behind a comparison with SDK_INT, or in a class of LATER_CLASSES.
LATER_MEMBERS = {
    "android/app/Activity.getCurrentCaller": 35,
    "android/app/ComponentCaller.getUid": 35,
    "android/app/Notification$Builder.<init>": 26,
    "android/app/NotificationChannel.<init>": 26,
    "android/app/NotificationManager.createNotificationChannel": 26,
    "android/app/PendingIntent.isImmutable": 31,
    "android/app/UiAutomation.adoptShellPermissionIdentity": 29,
    "android/app/UiAutomation.dropShellPermissionIdentity": 29,
    "android/content/Context.registerReceiver": 26,
    "android/content/Context.startForegroundService": 26,
    "android/content/Intent.setIdentifier": 29,
    "android/content/pm/PackageInfo.getLongVersionCode": 28,
    "android/content/pm/PackageInfo.signingInfo": 28,
    "android/content/pm/PackageManager.hasSigningCertificate": 28,
    "android/content/pm/ServiceInfo.getForegroundServiceType": 29,
    "android/content/pm/SigningInfo.getApkContentsSigners": 28,
    "android/content/pm/SigningInfo.getSigningCertificateHistory": 28,
    "android/view/View.setAccessibilityDataSensitive": 34,
    "android/view/Window.setHideOverlayWindows": 31,
    "android/widget/TextView.setAccessibilityHeading": 28,
}
LATER_PACKAGES = ("android/app/appfunctions/", "android/app/appsearch/")
# R8 puts calls of newer API into classes of these names, so that no other class names what may be missing.
# Those that it makes of lambdas have such names, too, and implement something.
NUMBERED = re.compile(r".*\$\d+")
SHIM = "dev/droidgate/shim/"
AGENT = "dev/droidgate/sample/agent/"
MOST_BYTES_OF_THE_AGENT = 27_000


@pytest.fixture(scope="module")
def data() -> bytes:
    dex = shim_dex()
    assert dex is not None
    return dex


@pytest.fixture(scope="module")
def dex(data: bytes) -> Any:
    """The dex as androguard reads it, which has no types."""
    require("androguard")
    importlib.import_module("loguru").logger.disable("androguard")
    return importlib.import_module("androguard.core.dex").DEX(data)


def classes_in(descriptors: str) -> set[str]:
    """Return the classes that descriptors name, such as those of `(ILjava/lang/String;)V`."""
    return set(re.findall(r"L([^;]+);", descriptors))


def own_classes(dex: Any) -> dict[str, Any]:
    return {class_.get_name()[1:-1]: class_ for class_ in dex.get_classes()}


@pytest.fixture(scope="module")
def android_7() -> ClassJar:
    return ClassJar(require("android-7-jar"))


@pytest.fixture(scope="module")
def build_script() -> ModuleType:
    path = CHECKOUT / "scripts" / "build_shim_dex.py"
    specification = importlib.util.spec_from_file_location("build_shim_dex", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    # Dataclasses look their module up while it is being run.
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


def test_the_dex_is_as_small_as_the_page_says(data: bytes) -> None:
    assert len(data) <= MOST_BYTES
    assert len(agent_dex()) <= MOST_BYTES_OF_THE_AGENT


@pytest.mark.parametrize(
    ("app", "components"),
    [
        ("SHIM", {SHIM + name for name in COMPONENTS}),
        ("AGENT", {AGENT + name for name in ("MainActivity", "CallActivity", "ComputerProvider")}),
    ],
)
def test_androids_own_reader_reads_the_dex_and_finds_the_components(
    build_script: ModuleType, app: str, components: set[str]
) -> None:
    dexdump = require("dexdump")
    file = getattr(build_script, app).target
    # It checks checksum and structure first; `-d` has it read each instruction.
    read = subprocess.run([dexdump, "-f", "-d", file], capture_output=True, text=True, check=False)
    assert (read.returncode, read.stderr) == (0, "")
    assert f"file_size           : {file.stat().st_size}\n" in read.stdout
    assert components <= set(re.findall(r"Class descriptor  : 'L(.*);'", read.stdout))


def test_everything_that_is_not_the_shims_is_a_stub_of_newer_api(dex: Any) -> None:
    assert {name for name in own_classes(dex) if not name.startswith(SHIM)} == {
        "android/app/appfunctions/AppFunctionService",
        "android/os/OutcomeReceiver",
    }


def test_no_pending_intent_is_sent_with_options_that_lend_the_start_of_activities(dex: Any) -> None:
    sends = [
        "".join(method.get_proto()[0].split())
        for method in dex.get_methods_id_item().gets()
        if (method.get_class_name(), method.get_name()) == ("Landroid/app/PendingIntent;", "send")
    ]
    assert sends == ["(Landroid/content/Context;ILandroid/content/Intent;)"]


def test_what_is_loaded_on_android_7_names_only_classes_of_android_7(dex: Any, android_7: ClassJar) -> None:
    own, missing = own_classes(dex), set()
    for name, class_ in own.items():
        above = [class_.get_superclassname() or "", *class_.get_interfaces()]
        if name.removeprefix(SHIM) in LATER_CLASSES:
            continue
        if NUMBERED.fullmatch(name) and above == ["Ljava/lang/Object;"]:
            continue
        members = [member.get_descriptor() for member in (*class_.get_fields(), *class_.get_methods())]
        missing |= {
            (name, each)
            for each in classes_in(" ".join([*above, *members]))
            if not each.startswith("java/") and each not in own and each not in android_7
        }
    assert missing == set()


def test_what_android_7_has_not_got_is_what_the_list_has(dex: Any, android_7: ClassJar) -> None:
    fields, methods = dex.get_fields_id_item().gets(), dex.get_methods_id_item().gets()
    members = [(item.get_class_name(), item.get_name(), item.get_type()) for item in fields]
    members += [(item.get_class_name(), item.get_name(), item.get_descriptor()) for item in methods]
    own = own_classes(dex)
    missing = set()
    for descriptor, name, form in members:
        for holder in classes_in(descriptor):
            is_known = holder in own or holder.startswith(("java/", *LATER_PACKAGES))
            if not is_known and not android_7.has_member(holder, name, form.replace(" ", "")):
                missing.add(f"{holder}.{name}")
    assert missing == LATER_MEMBERS.keys()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("app", ["SHIM", "AGENT"])
def test_the_sources_make_the_committed_dex(build_script: ModuleType, app: str) -> None:
    require("jdk-25")
    require("framework-jar")
    require("r8")
    built = getattr(build_script, app)
    assert build_script.build(built) == built.target.read_bytes()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_class_that_uses_what_android_hides_makes_no_dex(build_script: ModuleType, tmp_path: Path) -> None:
    jdk = require("jdk-25").parent.parent
    require("r8")
    source = tmp_path / "Hidden.java"
    source.write_text(
        "final class Hidden { static Object window(android.app.Activity activity) "
        "{ return activity.getActivityToken(); } }"
    )
    classes, out, rules = tmp_path / "classes", tmp_path / "dex", tmp_path / "rules.pro"
    out.mkdir()
    rules.write_text("-dontobfuscate\n-keep class Hidden { *; }\n")
    javac: list[str | Path] = [jdk / "bin/javac", "--release", "8", "-nowarn"]
    javac += ["-cp", require("framework-jar"), "-d", classes, source]
    subprocess.run(javac, check=True, capture_output=True)
    with pytest.raises(build_script.BuildError, match="getActivityToken"):
        build_script.make_dex(classes, jdk, out, rules)
