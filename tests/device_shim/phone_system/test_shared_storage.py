"""What an app sees of shared storage: its release, its target, legacy storage and the permission decide."""

import pytest

from device_shim.phone_system.phone_system_apps import make_apk
from droidgate_phone.files.phone_files import SHELL_UID
from droidgate_phone.phone import boot
from droidgate_phone.system.installation import InstallOptions

APP = "com.example.reader"
DOWNLOAD = "/sdcard/Download/a.txt"


@pytest.mark.parametrize(
    ("sdk", "target", "legacy", "path", "seen"),
    [
        ("26", 36, "false", DOWNLOAD, "text"),
        ("36.1", 28, None, DOWNLOAD, "text"),
        ("36.1", 28, "false", DOWNLOAD, None),
        ("36.1", 29, "true", DOWNLOAD, "text"),
        ("36.1", 29, None, DOWNLOAD, None),
        ("30", 30, "true", DOWNLOAD, None),
        ("30", 29, "true", "/sdcard/Android/data/com.example.other/a.txt", None),
        ("30", 36, None, f"/sdcard/Android/data/{APP}/a.txt", "text"),
    ],
)
def test_an_app_with_the_permission_sees_files_of_others_by_its_target_and_legacy_storage(
    sdk: str, target: int, legacy: str | None, path: str, seen: str | None
) -> None:
    system = boot(sdk)
    permission = '<uses-permission android:name="android.permission.READ_EXTERNAL_STORAGE"/>'
    flag = "" if legacy is None else f'android:requestLegacyExternalStorage="{legacy}"'
    apk = make_apk(APP, before=permission, of_application=flag, target=target)
    system.packages.install(apk, options=InstallOptions(grant=True))
    system.files.make_directory(path.rpartition("/")[0], parents=True, uid=SHELL_UID)
    system.files.write(path, b"text", uid=SHELL_UID)
    read = system.app_context(APP).read_shared_file(path)
    assert (None if read is None else read.decode()) == seen


def test_without_the_permission_an_app_sees_only_its_own_files() -> None:
    system = boot("26")
    permission = '<uses-permission android:name="android.permission.READ_EXTERNAL_STORAGE"/>'
    system.packages.install(make_apk(APP, before=permission))
    system.files.write(DOWNLOAD, b"text", uid=SHELL_UID)
    assert system.app_context(APP).read_shared_file(DOWNLOAD) is None
