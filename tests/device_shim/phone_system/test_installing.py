"""Installing, updating and removing apps: what Android refuses, each with the installation that works."""

import re
import zipfile
from collections.abc import Callable
from io import BytesIO

import pytest

from device_shim.phone_system.phone_system_apps import (
    TOOL,
    Ran,
    component,
    key,
    make_apk,
    make_phone,
    make_tool,
    package_of,
    run,
    wait,
)
from droidgate_android.apk.signing import _sign_archive, _v1_files
from droidgate_android.apk.zip_writer import ZipParts
from droidgate_phone.system import AndroidSystem
from droidgate_phone.system.installation import InstallError, InstallOptions
from titled_rows import titled

FILTERED = (
    '<service android:name=".Echo"><intent-filter><action android:name="a.B"/></intent-filter></service>'
)


def install(system: AndroidSystem, apk: bytes, *options: str) -> Ran:
    return run(system, "pm", "install", *options, "-S", str(len(apk)), stdin=apk)


def packed_again(apk: bytes, *, is_signed_so: bool = False) -> bytes:
    """Return the app without the block of schemes 2 and 3, its signature of scheme 1 made for that or not."""
    written = BytesIO()
    with zipfile.ZipFile(BytesIO(apk)) as source:
        files = {name: source.read(name) for name in source.namelist()}
    if is_signed_so:
        content = {name: data for name, data in files.items() if not name.startswith("META-INF/")}
        files = {**content, **_v1_files(content, key(), newer="")}
    with zipfile.ZipFile(written, "w") as target:
        for name, data in files.items():
            target.writestr(name, data)
    return written.getvalue()


def packed_with(apk: bytes, method: int, manifest: Callable[[bytes], bytes] = bytes) -> bytes:
    """Return the app with every entry packed so, and with another manifest, signed again."""
    written = BytesIO()
    with zipfile.ZipFile(BytesIO(apk)) as source, zipfile.ZipFile(written, "w", method) as target:
        for info in source.infolist():
            content = source.read(info.filename)
            is_manifest = info.filename == "AndroidManifest.xml"
            target.writestr(info.filename, manifest(content) if is_manifest else content)
    archive = written.getvalue()
    end = archive.rindex(b"PK\x05\x06")
    start = int.from_bytes(archive[end + 16 : end + 20], "little")
    return _sign_archive(ZipParts(archive[:start], archive[start:end], archive[end:]), key())


def renamed(before: str, after: str, *, attributes: str = "") -> bytes:
    """Return an app that the packer would not pack: with another text of the same length in its manifest."""
    assert len(before) == len(after)

    def rename(manifest: bytes) -> bytes:
        for encoding in ("utf-8", "utf-16-le"):
            manifest = manifest.replace(before.encode(encoding), after.encode(encoding))
        return manifest

    return packed_with(make_apk("org.example.tool", attributes=attributes), zipfile.ZIP_STORED, rename)


@pytest.mark.parametrize("sdk", ["26", "30", "33", "34", "36", "36.1", "37"], ids="API {}".format)
def test_an_app_is_installed_updated_and_removed(sdk: str) -> None:
    with make_phone(sdk) as system:
        apk = make_tool(component("service", "Echo"))
        assert install(system, apk) == Ran(0, "Success\n", "")
        path = run(system, "pm", "path", TOOL).stdout.removeprefix("package:").strip()
        assert system.files.read(path, uid=2000) == apk
        before = package_of(system, TOOL)
        wait(system, 5)
        assert install(system, make_tool(component("service", "Echo"), version=2)).stdout == "Success\n"
        after = package_of(system, TOOL)
        assert (after.version_code, after.uid) == (2, before.uid)
        assert (after.first_installed, after.last_updated) == (
            before.first_installed,
            before.last_updated + 5,
        )
        assert after.code_folder != before.code_folder
        assert not system.files.exists(path)
        assert run(system, "pm", "uninstall", TOOL) == Ran(0, "Success\n", "")
        assert system.files.list("/data/app") == []
        assert run(system, "pm", "uninstall", TOOL).stdout == "Failure [DELETE_FAILED_INTERNAL_ERROR]\n"
        assert run(system, "pm", "uninstall", "--user", "0", TOOL).stdout == "Failure [not installed for 0]\n"


def resources(target: int, *, compressed: bool) -> bytes:
    """Return an app with a resource table."""
    files = {"res/values/strings.xml": '<resources><string name="a">b</string></resources>'}
    stored = make_tool("", files=files, target=target)
    return packed_with(stored, zipfile.ZIP_DEFLATED) if compressed else stored


def signed_twice(target: int = 29) -> bytes:
    """Return an app whose signature has version 1, too."""
    return make_tool("", minimum=21, target=target)


def changed(apk: bytes) -> bytes:
    """Return the app with another time of its first entry."""
    return apk[:11] + bytes([apk[11] ^ 1]) + apk[12:]


def owner(name: str, signer: str = "first") -> bytes:
    """Return an app that declares a permission."""
    return make_apk(f"com.example.{name}", before='<permission android:name="com.example.P"/>', signer=signer)


def store(name: str) -> bytes:
    provider = component("provider", "Store", inside=" ", authorities="com.example.store")
    return make_apk(f"com.example.{name}", provider)


def only_for_tests() -> bytes:
    return make_tool("", of_application='android:testOnly="true"')


SUCCESS = "Success\n"
UNSIGNED = "Failure [INSTALL_PARSE_FAILED_NO_CERTIFICATES: Failed to collect certificates from /data/app/vmdl"
PARSING = "Failed parse during installPackageLI: "
NO_EXPORTED = (f"Failure [INSTALL_PARSE_FAILED_MANIFEST_MALFORMED: {PARSING}",
    f"{TOOL}.Echo: Targeting S+ (version 31 and above) requires that an explicit value")  # fmt: skip
INSTALLATIONS: dict[str, tuple[str, Callable[[], tuple[bytes | str, ...]], tuple[str, ...]]] = {
    "an update of the same signer": ("36.1", lambda: (make_tool(""), make_tool("", version=2)), (SUCCESS,)),
    "an update of another signer": (
        "36.1", lambda: (make_tool(""), make_tool("", signer="second", version=2)),
        ("Failure [INSTALL_FAILED_UPDATE_INCOMPATIBLE: Existing package ", TOOL,
         " signatures do not match newer version; ignoring!]\n")),
    "an update of another signer, on Android 8": (
        "26", lambda: (make_tool(""), make_tool("", signer="second", version=2)),
        ("do not match previously installed version; ignoring!",)),
    "an app without a signature": (
        "36.1", lambda: (packed_again(make_tool("")),),
        (UNSIGNED, "No signature found in package of version 2 or newer")),
    "an app without a signature, on Android 8": (
        "26", lambda: (packed_again(make_tool("")),),
        ("has no certificates at entry AndroidManifest.xml",)),
    "a lower version": (
        "36.1", lambda: (make_tool("", version=7), make_tool("", version=6)),
        ("Failure [INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected: ",
         ": Update version code 6 is older than current 7]\n")),
    "a lower version with its option": (
        "36.1", lambda: (make_tool("", version=7), make_tool("", version=6), "-d"), (SUCCESS,)),
    "an app for a newer release": (
        "30", lambda: (make_tool("", minimum=31),),
        (f"Failure [INSTALL_FAILED_OLDER_SDK: {PARSING[:-1]}",
         "Requires newer sdk version #31 (current version is #30)]")),
    "an app for an older release": ("33", lambda: (make_tool("", minimum=31),), (SUCCESS,)),
    "a filter without exported, for Android 12": (
        "33", lambda: (make_tool(FILTERED, target=31),), NO_EXPORTED),
    "a filter without exported, on Android 11": ("30", lambda: (make_tool(FILTERED, target=31),), (SUCCESS,)),
    "a filter without exported, for Android 11": (
        "33", lambda: (make_tool(FILTERED, target=30),), (SUCCESS,)),
    "a stored resource table": ("30", lambda: (resources(30, compressed=False),), (SUCCESS,)),
    "a compressed resource table, for Android 11": (
        "30", lambda: (resources(30, compressed=True),), (f"Failure [-124: {PARSING}Targeting R+",)),
    "a compressed resource table, on Android 8": (
        "26", lambda: (resources(30, compressed=True),), (SUCCESS,)),
    "a compressed resource table, for Android 10": (
        "30", lambda: (resources(29, compressed=True),), (SUCCESS,)),
    "a test app": (
        "36.1", lambda: (only_for_tests(),),
        ("Failure [INSTALL_FAILED_TEST_ONLY: ",
         ": Failed to install test-only apk. Did you forget to add -t?]\n")),
    "a test app with its option": ("36.1", lambda: (only_for_tests(), "-t"), (SUCCESS,)),
    "a signature of version 1, too, for Android 11": ("36.1", lambda: (signed_twice(30),), (SUCCESS,)),
    "a signature of version 1 alone, for Android 11": (
        "36.1", lambda: (packed_again(signed_twice(30), is_signed_so=True),), (UNSIGNED[:46],)),
    "a signature of version 1 alone, for Android 10": (
        "36.1", lambda: (packed_again(signed_twice(), is_signed_so=True),), (SUCCESS,)),
    "a changed app": (
        "36.1", lambda: (changed(signed_twice()),),
        (UNSIGNED[:-17], "using APK Signature Scheme v3: the content is not what was signed")),
    "an app without its newer signature": (
        "36.1", lambda: (packed_again(signed_twice()),), (UNSIGNED[:46],)),
    "a permission of another app": (
        "36.1", lambda: (owner("first"), owner("second", signer="second")),
        ("Failure [INSTALL_FAILED_DUPLICATE_PERMISSION: Package com.example.second attempting",
         " to redeclare permission com.example.P already owned by com.example.first]\n")),
    "a permission of another app of the same signer": (
        "36.1", lambda: (owner("first"), owner("second")), (SUCCESS,)),
    "an authority of another app": (
        "36.1", lambda: (store("first"), store("second")),
        ("Failure [INSTALL_FAILED_CONFLICTING_PROVIDER: Scanning Failed.: Can't install because provider",
         " name com.example.store (in package com.example.second) is already used by com.example.first]\n")),
    "a file that is not an APK": (
        "36.1", lambda: (b"no archive",),
        ("Failure [INSTALL_PARSE_FAILED_NOT_APK: Failed to parse /data/app/vmdl",)),
}  # fmt: skip
"""Release, the apps that are installed in a row with options of the last one, and what is printed."""


@titled(("sdk", "parts", "texts"), INSTALLATIONS)
def test_the_last_of_several_apps_is_installed_or_refused(
    sdk: str, parts: Callable[[], tuple[bytes | str, ...]], texts: tuple[str, ...]
) -> None:
    apks = [part for part in parts() if isinstance(part, bytes)]
    options = [part for part in parts() if isinstance(part, str)]
    with make_phone(sdk) as system:
        for apk in apks[:-1]:
            assert install(system, apk).stdout == SUCCESS
        ran = install(system, apks[-1], *options)
    assert [text for text in texts if text not in ran.stdout] == []
    assert ran.status == (0 if ran.stdout == SUCCESS else 1)


@pytest.mark.parametrize(("split", "problem"), [
    pytest.param(lambda: make_apk("org.example.other", attributes='split="de"'),
        f"package org.example.other inconsistent with {TOOL}", id="another package"),
    pytest.param(lambda: make_tool("", attributes='split="de"', version=2),
        "version code 2 inconsistent with 1", id="another version"),
    pytest.param(lambda: make_tool("", attributes='split="de"', signer="second"),
        "signatures are inconsistent", id="another signer"),
])  # fmt: skip
def test_splits_have_to_belong_to_their_base(split: Callable[[], bytes], problem: str) -> None:
    with make_phone("36.1") as system:
        with pytest.raises(InstallError) as refused:
            system.packages.install(make_tool(""), split())
        assert refused.value.code == "INSTALL_FAILED_INVALID_APK"
        assert re.fullmatch(rf"/data/app/vmdl\d+\.tmp/1\.apk {re.escape(problem)}", refused.value.message)
        system.packages.install(make_tool(""))
        with pytest.raises(InstallError) as refused:
            system.packages.install(split(), options=InstallOptions(inherit=TOOL))
        assert refused.value.message.startswith("Existing ")
        assert list(package_of(system, TOOL).apks) == ["base.apk"]


def test_a_split_is_added_replaced_and_never_named_twice() -> None:
    base, split = make_tool(""), make_tool("", attributes='split="de"')
    with make_phone("36.1") as system:
        with pytest.raises(InstallError, match="Split de was defined multiple times"):
            system.packages.install(base, split, split)
        system.packages.install(base)
        for _ in range(2):
            system.packages.install(split, options=InstallOptions(inherit=TOOL))
            assert list(package_of(system, TOOL).apks) == ["base.apk", "split_de.apk"]


def test_names_that_are_no_package_names_are_refused() -> None:
    is_split = 'split="aaaaaaaaaaaaaaaaaaaa"'
    cases = {
        "package: must have at least one '.' separator": renamed("org.example.tool", "org_example_tool"),
        "package: bad character '/'": renamed("org.example.tool", "org.example/tool"),
        "package: bad character '1'": renamed("org.example.tool", "org.1xample.tool"),
        "package: the length of the name is greater than 223": make_apk("a." + "b" * 222),
        "split: bad character '/'": renamed("a" * 20, "../../../../sdcard/x", attributes=is_split),
    }
    with make_phone("36.1") as system:
        system.packages.install(renamed("org.example.tool", "org.example_tool"))
        for problem, apk in cases.items():
            with pytest.raises(InstallError) as refused:
                system.packages.install(apk)
            assert str(refused.value) == f"INSTALL_PARSE_FAILED_BAD_PACKAGE_NAME: Invalid manifest {problem}"


def test_what_does_not_fit_the_phone_is_not_written() -> None:
    problem = "java.io.IOException: Requested internal only, but not enough space"
    with make_phone("36.1") as system:
        room = system.files.capacity - system.files.used
        ran = run(system, "pm", "install", "-S", str(room + 1), stdin=b"x")
        assert ran.status == 255
        assert problem in ran.stderr
        session = str(system.packages.create_session(InstallOptions()).id)
        for name, size, fits in (("a", 2, True), ("b", room, False)):
            ran = run(system, "pm", "install-write", "-S", str(size), session, name, "-", stdin=b"ab")
            assert (ran.status == 0, problem in ran.stderr) == (fits, not fits)
        run(system, "pm", "install-abandon", session)
        system.files.capacity = system.files.used + len(make_tool("")) - 1
        with pytest.raises(InstallError, match="INSTALL_FAILED_INSUFFICIENT_STORAGE"):
            system.packages.install(make_tool(""))
        system.files.capacity += 1
        assert system.packages.install(make_tool("")).name == TOOL


def test_a_session_without_a_base_is_refused_and_one_can_be_given_up() -> None:
    split = make_tool("", attributes='split="config.de"')
    with make_phone("36.1") as system:
        with pytest.raises(InstallError) as refused:
            system.packages.install(split)
        assert str(refused.value) == "INSTALL_FAILED_INVALID_APK: Full install must include a base package"
        session = system.packages.create_session(InstallOptions())
        assert run(system, "pm", "install-abandon", str(session.id)).stdout == "Success\n"
        assert system.packages.sessions == {}


def test_an_app_is_installed_from_a_file_of_the_phone() -> None:
    with make_phone("36.1") as system:
        system.files.write("/data/local/tmp/a.apk", make_tool(""))
        assert run(system, "pm", "install", "-r", "-t", "/data/local/tmp/a.apk").stdout == "Success\n"


def test_what_the_installer_does_not_model_is_refused_loudly() -> None:
    with make_phone("36.1") as system:
        assert run(system, "pm", "install", "--apex", "-S", "1", stdin=b"x").status == 69
        assert run(system, "pm", "dump", TOOL) == Ran(69, "", "droidgate phone: not modelled: pm dump\n")


def test_permissions_are_granted_as_they_are_protected() -> None:
    names = ("INTERNET", "CAMERA", "DUMP", "EXECUTE_APP_FUNCTIONS")
    before = "".join(f'<uses-permission android:name="android.permission.{name}"/>' for name in names)
    with make_phone("36.1", make_tool("", before=before)) as system:
        package = package_of(system, TOOL)
        assert package.granted == {"android.permission.INTERNET"}
        assert run(system, "pm", "grant", TOOL, "android.permission.CAMERA") == Ran(0, "", "")
        assert run(system, "pm", "grant", TOOL, "android.permission.DUMP") == Ran(0, "", "")
        ran = run(system, "pm", "grant", TOOL, "android.permission.EXECUTE_APP_FUNCTIONS")
        assert ran.stderr.endswith(
            "java.lang.SecurityException: Permission android.permission.EXECUTE_APP_FUNCTIONS requested "
            f"by {TOOL} is not a changeable permission type\n"
        )
        ran = run(system, "pm", "grant", TOOL, "android.permission.RECORD_AUDIO")
        assert f"Package {TOOL} has not requested permission android.permission.RECORD_AUDIO" in ran.stderr
        assert run(system, "pm", "revoke", TOOL, "android.permission.CAMERA") == Ran(0, "", "")
        assert package.granted == {"android.permission.INTERNET", "android.permission.DUMP"}
    with make_phone("36.1") as system:
        install(system, make_tool("", before=before), "-g")
        assert "android.permission.CAMERA" in package_of(system, TOOL).granted


def test_a_signature_permission_goes_to_apps_of_the_same_key() -> None:
    declared = '<permission android:name="c.P" android:protectionLevel="signature"/>'
    other = make_apk("com.example.owner", before=declared)
    wants = '<uses-permission android:name="c.P"/>'
    for signer, expected in (("first", {"c.P"}), ("second", set())):
        with make_phone("36.1", other, make_tool("", before=wants, signer=signer)) as system:
            assert package_of(system, TOOL).granted == expected


def test_packages_are_listed_by_their_state() -> None:
    with make_phone("36.1", make_tool(""), make_apk("com.example.other")) as system:
        run(system, "pm", "disable-user", TOOL)
        assert run(system, "pm", "list", "packages", "-d").stdout == f"package:{TOOL}\n"
        assert run(system, "pm", "list", "packages", "-e").stdout == "package:com.example.other\n"


def test_the_shell_changes_whole_packages_only() -> None:
    with make_phone("36.1", make_tool(component("service", "Echo"))) as system:
        ran = run(system, "pm", "disable", f"{TOOL}/.Echo")
        assert ran.status == 255
        assert f"Shell cannot change component state for {TOOL}/{TOOL}.Echo to 2" in ran.stderr
        ran = run(system, "pm", "disable", f"{TOOL}/.Echo", uid=0)
        assert ran.stdout == f"Component {{{TOOL}/{TOOL}.Echo}} new state: disabled\n"
        query = ("cmd", "package", "query-services", "--components", "-a", "com.example.CALL")
        assert run(system, *query).stdout == "No services found\n"
        assert run(system, *query, "--query-flags", "512").stdout == f"{TOOL}/.Echo\n"
