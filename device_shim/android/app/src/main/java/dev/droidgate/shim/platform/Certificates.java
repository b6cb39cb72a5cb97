package dev.droidgate.shim.platform;

import android.content.Context;
import android.content.pm.PackageManager;
import android.content.pm.Signature;
import android.os.Build;

/** Who signed a package: SHA-256 of the certificate. An app with several signers is nobody's. */
public final class Certificates {
    private final PackageManager packages;

    public Certificates(PackageManager packages) {
        this.packages = packages;
    }

    /** Returns the digest of the certificate, empty where the package is gone or has not one. */
    public String signerOf(String name) {
        try {
            Signature signer = Build.VERSION.SDK_INT >= 28
                    ? SigningCertificates.current(packages, name)
                    : only(name);
            return signer == null ? "" : Digests.of(signer.toByteArray());
        } catch (PackageManager.NameNotFoundException gone) {
            return "";
        }
    }

    /** Returns whether a package is signed as this app is. */
    public boolean isOwn(Context context, String name) {
        String signer = signerOf(name);
        return !signer.isEmpty() && signer.equals(signerOf(context.getPackageName()));
    }

    // Among several signatures one may pass for another (reference android-runtime 1.1), so there has to be
    // one.
    @SuppressWarnings("deprecation")
    private Signature only(String name) throws PackageManager.NameNotFoundException {
        Signature[] all = packages.getPackageInfo(name, PackageManager.GET_SIGNATURES).signatures;
        return all != null && all.length == 1 ? all[0] : null;
    }

    /**
     * Returns whether a package is by that signer; from Android 9 on, a rotated key is its successor's too.
     */
    public boolean isBy(String name, String signer) {
        if (signer.isEmpty()) {
            return false;
        }
        if (signer.equals(signerOf(name))) {
            return true;
        }
        byte[] digest = Digests.read(signer);
        return Build.VERSION.SDK_INT >= 28
                && digest != null
                && packages.hasSigningCertificate(name, digest, PackageManager.CERT_INPUT_SHA256);
    }
}
