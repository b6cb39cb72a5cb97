package dev.droidgate.shim;

import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.content.pm.Signature;
import android.content.pm.SigningInfo;

/** Signing certificates as Android 9 tells them (API 28): loaded only there. */
final class SigningCertificates {
    private SigningCertificates() {}

    /** Returns the certificate that a package is signed with now, null where there is not one. */
    static Signature current(PackageManager packages, String name)
            throws PackageManager.NameNotFoundException {
        PackageInfo info = packages.getPackageInfo(name, PackageManager.GET_SIGNING_CERTIFICATES);
        SigningInfo signing = info.signingInfo;
        if (signing == null) {
            return null;
        }
        Signature[] signers = signing.getApkContentsSigners();
        return signers != null && signers.length == 1 ? signers[0] : null;
    }
}
