package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import android.content.pm.PackageParser;
import dev.droidgate.proof.phone.Inputs;
import dev.droidgate.robolectric.AndroidRunner;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.annotation.Config;
import org.robolectric.shadows.ShadowPackageParser;

/** Android's own parser reads what the builder and the packer make. */
@RunWith(AndroidRunner.class)
public final class ManifestsTest {
    private static List<Path> apks(String kind) {
        List<Path> found =
                Inputs.list("limits").stream()
                        .filter(item -> item.startsWith(kind))
                        .map(element -> Inputs.app(element).apk())
                        .collect(Collectors.toList());
        assertTrue(found.toString(), found.size() > 5);
        return found;
    }

    @Test
    @Config(sdk = {29, 34, 36})
    public void aTextAsLongAsItMayBeIsTaken() {
        apks("allowed-").forEach(ShadowPackageParser::callParsePackage);
    }

    @Test
    @Config(sdk = {29, 34})
    public void olderReleasesTakeALongerText() {
        apks("longer-").forEach(ShadowPackageParser::callParsePackage);
    }

    @Test
    @Config(sdk = 36)
    public void newerReleasesRefuseAnAppWithALongerText() {
        for (Path apk : apks("longer-")) {
            Throwable refused =
                    assertThrows(
                            apk.toString(),
                            RuntimeException.class,
                            () -> ShadowPackageParser.callParsePackage(apk));
            StringBuilder text = new StringBuilder(apk.toString());
            for (Throwable cause = refused; cause != null; cause = cause.getCause()) {
                text.append(cause).append('\n');
            }
            assertTrue(text.toString(), text.toString().contains("limit exceeded for"));
        }
    }

    @Test
    @Config(sdk = {29, 34, 36})
    public void anAgentReadsAManifestThatIsAsLongAsItMayBe() {
        PackageParser.Package parsed =
                ShadowPackageParser.callParsePackage(Inputs.app("allowed-shim").apk());
        String found = null;
        for (PackageParser.Activity activity : parsed.activities) {
            if (activity.className.endsWith(".MmcpActivity")) {
                found = activity.metaData.getString("mMCP_manifest");
            }
        }
        assertEquals(32_768, found.length());
    }
}
