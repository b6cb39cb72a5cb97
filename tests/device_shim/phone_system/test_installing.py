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

FILTERED = (
    '<service android:name=".Echo"><intent-filter><action android:name="a.B"/></intent-filter></service>'
)
PERMISSION = '<permission android:name="com.example.P"/>'


def install(system: AndroidSystem, apk: bytes, *options: str) -> Ran:
    return run(system, "pm", "install", *options, "-S", str(len(apk)), stdin=apk)


def apks_of(system: AndroidSystem) -> dict[str, bytes]:
    package = package_of(system, TOOL)
    return package.apks


def failure(sdk: str, *apks: bytes, options: tuple[str, ...] = ()) -> str:
    """Return what the last installation prints; the ones before have to work."""
    with make_phone(sdk) as system:
        for apk in apks[:-1]:
            assert install(system, apk).stdout == "Success\n"
        ran = install(system, apks[-1], *options)
        assert ran.status == (0 if ran.stdout == "Success\n" else 1)
        return ran.stdout


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
        assert (after.version_code, after.uid, after.first_installed) == (
            2,
            before.uid,
            before.first_installed,
        )
        assert after.last_updated == before.last_updated + 5
        assert after.code_folder != before.code_folder
        assert not system.files.exists(path)
        assert run(system, "pm", "uninstall", TOOL) == Ran(0, "Success\n", "")
        assert system.files.list("/data/app") == []
        assert run(system, "pm", "uninstall", TOOL).stdout == "Failure [DELETE_FAILED_INTERNAL_ERROR]\n"
        assert run(system, "pm", "uninstall", "--user", "0", TOOL).stdout == "Failure [not installed for 0]\n"


def test_an_update_has_to_be_signed_by_the_same_key() -> None:
    apk, other = make_tool(""), make_tool("", signer="second", version=2)
    assert failure("36.1", apk, other) == (
        f"Failure [INSTALL_FAILED_UPDATE_INCOMPATIBLE: Existing package {TOOL} signatures do not match "
        "newer version; "
        "ignoring!]\n"
    )
    assert "do not match previously installed version; ignoring!" in failure("26", apk, other)
    assert failure("36.1", apk, make_tool("", version=2)) == "Success\n"


def test_an_app_without_a_signature_is_refused() -> None:
    apk = packed_again(make_tool(""))
    assert failure("36.1", apk).startswith(
        "Failure [INSTALL_PARSE_FAILED_NO_CERTIFICATES: Failed to collect certificates from /data/app/vmdl"
    )
    assert "No signature found in package of version 2 or newer" in failure("36.1", apk)
    assert "has no certificates at entry AndroidManifest.xml" in failure("26", apk)


def test_a_lower_version_does_not_replace_a_higher_one() -> None:
    higher, lower = make_tool("", version=7), make_tool("", version=6)
    assert failure("36.1", higher, lower) == (
        "Failure [INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected: Update version code 6 is older "
        "than current 7]\n"
    )
    assert failure("36.1", higher, lower, options=("-d",)) == "Success\n"


def test_an_app_for_a_newer_release_is_refused() -> None:
    apk = make_tool("", minimum=31)
    assert "Requires newer sdk version #31 (current version is #30)]" in failure("30", apk)
    assert failure("30", apk).startswith(
        "Failure [INSTALL_FAILED_OLDER_SDK: Failed parse during installPackageLI:"
    )
    assert failure("33", apk) == "Success\n"


def test_a_filter_without_exported_is_refused_for_apps_of_android_12() -> None:
    output = failure("33", make_tool(FILTERED, target=31))
    assert output.startswith(
        "Failure [INSTALL_PARSE_FAILED_MANIFEST_MALFORMED: Failed parse during installPackageLI:"
    )
    assert f"{TOOL}.Echo: Targeting S+ (version 31 and above) requires that an explicit value" in output
    assert failure("30", make_tool(FILTERED, target=31)) == "Success\n"
    assert failure("33", make_tool(FILTERED, target=30)) == "Success\n"


def test_a_compressed_resource_table_is_refused_for_apps_of_android_11() -> None:
    files = {"res/values/strings.xml": '<resources><string name="a">b</string></resources>'}
    stored = make_tool("", files=files, target=30)
    assert failure("30", stored) == "Success\n"
    output = failure("30", packed_with(stored, zipfile.ZIP_DEFLATED))
    assert output.startswith("Failure [-124: Failed parse during installPackageLI: Targeting R+")
    assert failure("26", packed_with(stored, zipfile.ZIP_DEFLATED)) == "Success\n"
    assert (
        failure("30", packed_with(make_tool("", files=files, target=29), zipfile.ZIP_DEFLATED)) == "Success\n"
    )


def test_a_test_app_needs_the_option() -> None:
    apk = make_tool("", of_application='android:testOnly="true"')
    assert failure("36.1", apk) == (
        "Failure [INSTALL_FAILED_TEST_ONLY: Failed to install test-only apk. Did you forget to add -t?]\n"
    )
    assert failure("36.1", apk, options=("-t",)) == "Success\n"


def test_an_app_with_version_1_of_the_signature_alone_is_refused_for_apps_of_android_11() -> None:
    for target, expected in ((30, "Failure [INSTALL_PARSE_FAILED_NO_CERTIFICATES"), (29, "Success")):
        signed_twice = make_tool("", minimum=21, target=target)
        assert failure("36.1", signed_twice) == "Success\n"
        signed_once = packed_again(signed_twice, is_signed_so=True)
        assert failure("36.1", signed_once).startswith(expected)


def test_an_app_whose_signature_is_not_right_is_refused() -> None:
    apk = make_tool("", minimum=21, target=29)
    changed = apk[:11] + bytes([apk[11] ^ 1]) + apk[12:]  # the time of its first entry
    assert failure("36.1", changed).startswith(
        "Failure [INSTALL_PARSE_FAILED_NO_CERTIFICATES: Failed to collect certificates from "
    )
    assert "using APK Signature Scheme v3: the content is not what was signed" in failure("36.1", changed)
    stripped = failure("36.1", packed_again(apk))
    assert stripped.startswith("Failure [INSTALL_PARSE_FAILED_NO_CERTIFICATES")


def test_a_permission_has_one_owner() -> None:
    first = make_apk("com.example.first", before=PERMISSION)
    second = make_apk("com.example.second", before=PERMISSION, signer="second")
    assert failure("36.1", first, second) == (
        "Failure [INSTALL_FAILED_DUPLICATE_PERMISSION: Package com.example.second attempting to "
        "redeclare permission "
        "com.example.P already owned by com.example.first]\n"
    )
    assert failure("36.1", first, make_apk("com.example.second", before=PERMISSION)) == "Success\n"


def test_an_authority_has_one_owner() -> None:
    provider = component("provider", "Store", inside=" ", authorities="com.example.store")
    assert failure(
        "36.1", make_apk("com.example.first", provider), make_apk("com.example.second", provider)
    ) == (
        "Failure [INSTALL_FAILED_CONFLICTING_PROVIDER: Scanning Failed.: Can't install because provider name "
        "com.example.store (in package com.example.second) is already used by com.example.first]\n"
    )


def test_a_file_that_is_not_an_apk_is_refused() -> None:
    output = failure("36.1", b"no archive")
    assert output.startswith("Failure [INSTALL_PARSE_FAILED_NOT_APK: Failed to parse /data/app/vmdl")


def test_a_session_takes_base_and_splits() -> None:
    base = make_tool("")
    split = make_tool("", attributes='split="config.de"')
    with make_phone("36.1") as system:
        created = run(system, "pm", "install-create", "-r", "-S", str(len(base) + len(split))).stdout
        session = created.partition("[")[2].partition("]")[0]
        assert created == f"Success: created install session [{session}]\n"
        for name, apk in (("base", base), ("split", split)):
            ran = run(system, "pm", "install-write", "-S", str(len(apk)), session, name, "-", stdin=apk)
            assert ran == Ran(0, f"Success: streamed {len(apk)} bytes\n", "")
        assert run(system, "pm", "install-commit", session) == Ran(0, "Success\n", "")
        paths = run(system, "pm", "path", TOOL).stdout.split("\n")
        assert [path.rpartition("/")[2] for path in paths] == ["base.apk", "split_config.de.apk", ""]
        ran = run(system, "pm", "install-commit", session)
        assert ran.status == 255
        assert f"java.lang.SecurityException: Caller has no access to session {session}" in ran.stderr


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
        assert list(apks_of(system)) == ["base.apk"]


def test_a_split_is_added_replaced_and_never_named_twice() -> None:
    base, split = make_tool(""), make_tool("", attributes='split="de"')
    with make_phone("36.1") as system:
        with pytest.raises(InstallError, match="Split de was defined multiple times"):
            system.packages.install(base, split, split)
        system.packages.install(base)
        for _ in range(2):
            system.packages.install(split, options=InstallOptions(inherit=TOOL))
            assert list(apks_of(system)) == ["base.apk", "split_de.apk"]


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
            f"by {TOOL} is "
            "not a changeable permission type\n"
        )
        ran = run(system, "pm", "grant", TOOL, "android.permission.RECORD_AUDIO")
        assert f"Package {TOOL} has not requested permission android.permission.RECORD_AUDIO" in ran.stderr
        assert run(system, "pm", "revoke", TOOL, "android.permission.CAMERA") == Ran(0, "", "")
        assert package.granted == {"android.permission.INTERNET", "android.permission.DUMP"}
    with make_phone("36.1") as system:
        install(system, make_tool("", before=before), "-g")
        package = package_of(system, TOOL)
        assert "android.permission.CAMERA" in package.granted


def test_a_signature_permission_goes_to_apps_of_the_same_key() -> None:
    owner = make_apk(
        "com.example.owner", before='<permission android:name="c.P" android:protectionLevel="signature"/>'
    )
    wants = '<uses-permission android:name="c.P"/>'
    for signer, expected in (("first", {"c.P"}), ("second", set())):
        with make_phone("36.1", owner, make_tool("", before=wants, signer=signer)) as system:
            package = package_of(system, TOOL)
            assert package.granted == expected


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
