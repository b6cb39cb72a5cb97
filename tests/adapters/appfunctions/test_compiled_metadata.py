from pathlib import Path

import pytest

from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.reader import open_apk
from droidgate_android.apk.signing_keys import make_key
from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.formats.leniency import ReadingContext

MANIFEST = """<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="dev.example.told">
  <application>
    <property android:name="android.app.appfunctions.app_metadata" android:resource="@xml/told" />
  </application>
</manifest>
"""
NAMESPACE = "http://schemas.android.com/apk/androidx.appfunctions"


@pytest.mark.parametrize(
    ("written", "compiled"),
    [
        (r"C:\\\\temp\\\\new", r"C:\\temp\\new"),
        (r"C:\\temp\\new", r"C:\temp\new"),
        (r"first\nsecond", "first\nsecond"),
    ],
)
def test_what_a_compiled_resource_says_is_not_unescaped_a_second_time(
    tmp_path: Path, written: str, compiled: str
) -> None:
    (tmp_path / "res/xml").mkdir(parents=True)
    (tmp_path / "AndroidManifest.xml").write_text(MANIFEST)
    (tmp_path / "res/xml/told.xml").write_text(
        f'<AppFunctionAppMetadata xmlns:appfn="{NAMESPACE}" appfn:description="{written}" />'
    )
    apk = pack_project(tmp_path, key=make_key())
    with open_apk(apk) as opened:
        (provider,) = FORMAT.read_application(read_application(opened), ReadingContext()).providers
    assert provider.instructions == compiled
