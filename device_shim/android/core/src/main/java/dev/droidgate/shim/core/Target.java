package dev.droidgate.shim.core;

import java.util.Map;

/** An app behind the shim, as it was approved or as it is installed. */
public final class Target {
    public final String packageName;

    /** SHA-256 of the signing certificate, lower-case hexadecimal. */
    public final String signer;

    /** Digest of the descriptor, {@code recipe:sha256}. */
    public final String digest;

    /**
     * Makes a target: its package, the digest of its signing certificate, and that of its
     * descriptor.
     */
    public Target(String packageName, String signer, String digest) {
        this.packageName = packageName;
        this.signer = signer;
        this.digest = digest;
    }

    static Target of(Map<String, Object> json) throws MalformedJsonException {
        Json.checkKeys(json, "package", "signer", "version_code", "digest");
        Json.check(json.get("version_code") instanceof Long, "version_code");
        return new Target(
                Json.nameAt(json, "package"),
                Json.textAt(json, "signer"),
                Json.textAt(json, "digest"));
    }

    /**
     * Compares what is installed with what was approved; another version of the app passes if it has the same
     * descriptor.
     *
     * @param installed null where nothing is
     * @throws CallFailure {@code unavailable} or {@code needs_approval}
     */
    void check(Target installed) throws CallFailure {
        if (installed == null) {
            throw new CallFailure(FailureTokens.UNAVAILABLE, packageName + " is not installed");
        }
        boolean isOther = !signer.equals(installed.signer);
        if (isOther || !digest.equals(installed.digest)) {
            throw new CallFailure(
                    isOther ? FailureTokens.UNAVAILABLE : FailureTokens.NEEDS_APPROVAL,
                    packageName
                            + (isOther ? " is signed by another" : " declares something else")
                            + " than its shim was built for;"
                            + " the phone's owner has to run droidgate shim sync");
        }
    }
}
