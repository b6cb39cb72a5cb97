"""What `pack` reports of texts for which newer releases refuse an app.

The same APKs are given to Android's own parser by ManifestLimitsTest.java.
"""

from shim_android.manifest_limits import limit_apks


def test_pack_tells_exactly_of_the_apps_that_android_refuses() -> None:
    told = {
        name: [one for one in held.packing.findings if one.code == "manifest-text-too-long"]
        for name, held in limit_apks().items()
    }
    assert {name: len(findings) for name, findings in told.items()} == {
        name: int(held.refused) for name, held in limit_apks().items()
    }
    assert len(told) > 15
    for finding in (one for findings in told.values() for one in findings):
        assert "Android 15 and later refuse an app" in finding.message
        assert finding.hint is not None
