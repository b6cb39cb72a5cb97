package dev.droidgate.shim.platform;

import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.content.pm.Signature;
import android.content.pm.SigningInfo;
import java.util.LinkedHashSet;
import java.util.Set;

/** Signing certificates as Android 9 reports them (API 28): loaded only there. */
public final class SigningCertificates {
    private SigningCertificates() {}

    /** Returns the certificate that a package is signed with now, null where there is not one. */
    static Signature current(PackageManager packages, String name)
            throws PackageManager.NameNotFoundException {
        PackageInfo info = packages.getPackageInfo(name, PackageManager.GET_SIGNING_CERTIFICATES);
        return info.signingInfo == null ? null : current(info.signingInfo);
    }

    private static Signature current(SigningInfo signing) {
        Signature[] signers = signing.getApkContentsSigners();
        return signers != null && signers.length == 1 ? signers[0] : null;
    }

    /** Returns the digests of the current certificate and of those before it; none where there is not one. */
    public static Set<String> digests(SigningInfo signing) {
        Set<String> digests = new LinkedHashSet<>();
        Signature current = current(signing);
        if (current != null) {
            digests.add(Digests.of(current.toByteArray()));
            Signature[] history = signing.getSigningCertificateHistory();
            for (Signature signature : history == null ? new Signature[0] : history) {
                digests.add(Digests.of(signature.toByteArray()));
            }
        }
        return digests;
    }
}
