package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import android.content.pm.PackageParser;
import android.content.res.AssetManager;
import android.content.res.Configuration;
import android.content.res.Resources;
import android.content.res.XmlResourceParser;
import android.os.Bundle;
import android.util.DisplayMetrics;
import dev.droidgate.proof.phone.Inputs;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.annotation.Config;
import org.robolectric.shadows.ShadowPackageParser;
import org.robolectric.util.ReflectionHelpers;
import org.xmlpull.v1.XmlPullParser;

/** Android's own parser reads what the builder and the packer make. */
@RunWith(RobolectricTestRunner.class)
public final class ManifestsTest {
    @Test
    @Config(sdk = {29, 34, 36})
    public void eachShimIsAToolWithCapabilities() throws Exception {
        for (String shim : Inputs.list("shims")) {
            Path apk = Inputs.app(shim).apk();
            AssetManager assets = ReflectionHelpers.callConstructor(AssetManager.class);
            assets.addAssetPath(apk.toString());
            Resources resources = new Resources(assets, new DisplayMetrics(), new Configuration());
            Bundle offered = null;
            for (PackageParser.Service service : ShadowPackageParser.callParsePackage(apk).services) {
                offered = service.className.endsWith(".ToolService") ? service.metaData : offered;
            }
            if (shim.equals("bare")) {
                assertNull(offered);
                continue;
            }
            assertFalse(shim, offered.getString("mobile.mcp.tool.name").isEmpty());
            assertFalse(shim, offered.getString("mobile.mcp.tool.description").isEmpty());
            int count = 0;
            try (XmlResourceParser xml = resources.getXml(offered.getInt("mobile.mcp.tool.capabilities"))) {
                for (int event = xml.next(); event != XmlPullParser.END_DOCUMENT; event = xml.next()) {
                    count += event == XmlPullParser.START_TAG && xml.getName().equals("capability") ? 1 : 0;
                }
            }
            assertTrue(shim, count > 0);
        }
    }

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
