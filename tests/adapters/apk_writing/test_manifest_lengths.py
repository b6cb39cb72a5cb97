"""What `pack` reports of texts for which newer releases refuse an app.

The same APKs are given to Android's own parser by ManifestsTest.java.
"""

from device_shim.shim_android.manifest_limits import limit_apks


def test_pack_says_exactly_of_the_apps_that_android_refuses() -> None:
    reported = {
        name: [item for item in kept.packing.findings if item.code == "manifest-text-too-long"]
        for name, kept in limit_apks().items()
    }
    assert {name: len(findings) for name, findings in reported.items()} == {
        name: int(kept.refused) for name, kept in limit_apks().items()
    }
    assert len(reported) > 15
    for finding in (item for findings in reported.values() for item in findings):
        assert "Android 15 and later refuse an app" in finding.message
        assert finding.hint is not None
