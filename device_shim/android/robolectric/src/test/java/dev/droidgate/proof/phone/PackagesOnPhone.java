package dev.droidgate.proof.phone;

import android.content.pm.ApplicationInfo;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.content.pm.Signature;
import android.content.res.AssetManager;
import android.content.res.Resources;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.shadows.ShadowApplicationPackageManager;
import org.robolectric.util.ReflectionHelpers;

/** What Robolectric does not answer itself: whose certificate a package has, and what other apps' resources hold. */
@Implements(className = "android.app.ApplicationPackageManager", isInAndroidSdk = false)
public final class PackagesOnPhone extends ShadowApplicationPackageManager {
    @Override
    @Implementation
    protected Resources getResourcesForApplication(ApplicationInfo info) throws PackageManager.NameNotFoundException {
        if (info.sourceDir == null || !info.sourceDir.endsWith(".apk")) {
            return super.getResourcesForApplication(info);
        }
        AssetManager assets = ReflectionHelpers.callConstructor(AssetManager.class);
        assets.addAssetPath(info.sourceDir);
        Resources known = Resources.getSystem();
        return new Resources(assets, known.getDisplayMetrics(), known.getConfiguration());
    }

    @Override
    @Implementation
    protected Resources getResourcesForApplication(String packageName) throws PackageManager.NameNotFoundException {
        PackageInfo info = getInternalMutablePackageInfo(packageName);
        if (info == null) {
            throw new PackageManager.NameNotFoundException(packageName);
        }
        return getResourcesForApplication(info.applicationInfo);
    }

    @Implementation(minSdk = 28)
    protected boolean hasSigningCertificate(String packageName, byte[] certificate, int type)
            throws NoSuchAlgorithmException {
        PackageInfo info = getInternalMutablePackageInfo(packageName);
        if (info == null || info.signatures == null) {
            return false;
        }
        for (Signature signature : info.signatures) {
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
