package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import android.content.pm.PackageParser;
import dev.droidgate.robolectric.AndroidRunner;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;
import org.robolectric.shadows.ShadowPackageParser;

/** Android's own parser reads what the builder and the packer make. */
@RunWith(AndroidRunner.class)
@Config(sdk = {29, 34, 37})
public final class ManifestsTest {
    private static void forEach(String kind, Consumer<Path> check) {
        long checked = Inputs.list("limits").stream()
                .filter(item -> item.startsWith(kind))
                .peek(item -> check.accept(Inputs.app(item).apk()))
                .count();
        assertTrue(kind + checked, checked > 5);
    }

    @Test
    public void aTextAsLongAsItMayBeIsTaken() {
        forEach("allowed-", ShadowPackageParser::callParsePackage);
    }

    @Test
    public void aLongerTextIsRefusedFromAndroid15On() {
        if (RuntimeEnvironment.getApiLevel() < 35) {
            forEach("longer-", ShadowPackageParser::callParsePackage);
            return;
        }
        forEach("longer-", apk -> {
            Throwable cause =
                    assertThrows(RuntimeException.class, () -> ShadowPackageParser.callParsePackage(apk));
            StringBuilder text = new StringBuilder(apk.toString());
            for (; cause != null; cause = cause.getCause()) {
                text.append(cause).append('\n');
            }
            assertTrue(text.toString(), text.toString().contains("limit exceeded for"));
        });
    }

    @Test
    public void anAgentReadsAManifestThatIsAsLongAsItMayBe() {
        PackageParser.Package parsed =
                ShadowPackageParser.callParsePackage(Inputs.app("allowed-shim").apk());
        String found =
                parsed.activities.stream()
                        .filter(activity -> activity.className.endsWith(".MmcpActivity"))
                        .map(activity -> activity.metaData.getString("mMCP_manifest"))
                        .findFirst()
                        .get();
        assertEquals(32_768, found.length());
    }
}
