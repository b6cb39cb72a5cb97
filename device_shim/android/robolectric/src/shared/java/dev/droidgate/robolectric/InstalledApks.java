package dev.droidgate.robolectric;

import android.content.pm.PackageManager;
import android.content.pm.Signature;
import android.content.res.AssetManager;
import android.content.res.Resources;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import org.robolectric.util.ReflectionHelpers;

/** What Android knows of an installed APK and Robolectric does not. */
public final class InstalledApks {
    private InstalledApks() {}

    /** Returns the resources in an APK, by Android's own reader. */
    public static Resources resourcesOf(String apk) {
        AssetManager assets = ReflectionHelpers.callConstructor(AssetManager.class);
        assets.addAssetPath(apk);
        Resources known = Resources.getSystem();
        return new Resources(assets, known.getDisplayMetrics(), known.getConfiguration());
    }

    /**
     * Returns whether a certificate, or its digest, is one of those of an app, as {@code
     * hasSigningCertificate} does.
     */
    public static boolean hasCertificate(Signature[] signatures, byte[] certificate, int type)
            throws NoSuchAlgorithmException {
        for (Signature signature : signatures) {
            byte[] bytes = signature.toByteArray();
            if (type == PackageManager.CERT_INPUT_SHA256) {
                bytes = MessageDigest.getInstance("SHA-256").digest(bytes);
            }
            if (Arrays.equals(bytes, certificate)) {
                return true;
            }
        }
        return false;
    }
}
