package dev.droidgate.shim;

import java.util.Collections;
import java.util.List;

/** Who asks: a uid and the packages that share it. */
final class Caller {
    /** Somebody of whom the platform tells nothing. */
    static final Caller NOBODY = new Caller(-1, Collections.<String>emptyList(), "");

    final long uid;
    final List<String> packages;

    /** SHA-256 of the first package's certificate, empty where nothing is known. */
    final String signer;

    Caller(long uid, List<String> packages, String signer) {
        this.uid = uid;
        this.packages = packages;
        this.signer = signer;
    }

    /** Returns the package that it is shown and told by, empty for none. */
    String packageName() {
        return packages.isEmpty() ? "" : packages.get(0);
    }
}
