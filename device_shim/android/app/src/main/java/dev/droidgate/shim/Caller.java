package dev.droidgate.shim;

import java.util.Collections;
import java.util.List;
import java.util.Set;

/** Who asks: a uid, the packages that share it, and by whom they are signed. */
public final class Caller {
    /** A caller that the platform does not name. */
    public static final Caller NOBODY =
            new Caller(-1, Collections.<String>emptyList(), Collections.<String>emptyList());

    private static final long FIRST_UNSEEN = -2;

    // Those of an app zygote too (android.os.Process).
    private static final long USER_UIDS = 100_000;
    private static final long FIRST_ISOLATED_UID = 90_000;
    private static final long LAST_ISOLATED_UID = 99_999;

    public final long uid;
    public final List<String> packages;

    /** SHA-256 of each package's certificate, empty where it is not known. */
    public final List<String> signers;

    /**
     * Of a package that this app may not see: its certificates, earlier ones too, as the platform hands them
     * over.
     */
    public final Set<String> vouched;

    public Caller(long uid, List<String> packages, List<String> signers) {
        this(uid, packages, signers, Collections.<String>emptySet());
    }

    private Caller(long uid, List<String> packages, List<String> signers, Set<String> vouched) {
        this.uid = uid;
        this.packages = packages;
        this.signers = signers;
        this.vouched = vouched;
    }

    /**
     * Returns a package that the platform vouches for, whether this app sees it or not.
     *
     * @param vouched the digests of its certificates, the one it is signed with now first
     */
    public static Caller unseen(String name, Set<String> vouched) {
        if (vouched.isEmpty()) {
            return NOBODY;
        }
        // Below all uids. Two may have the same number, and with it one rate, one set of request ids and one
        // turn to be asked about; grants go by package and certificate, and what is kept for a caller by its
        // key.
        long number = FIRST_UNSEEN - (name.hashCode() & 0xffffffffL);
        List<String> signers = Collections.singletonList(vouched.iterator().next());
        return new Caller(number, Collections.singletonList(name), signers, vouched);
    }

    /**
     * Returns whether a uid is that of an isolated process, which belongs to no app and can be had anew at
     * will.
     */
    public static boolean isIsolated(long uid) {
        long inUser = uid % USER_UIDS;
        return inUser >= FIRST_ISOLATED_UID && inUser <= LAST_ISOLATED_UID;
    }

    /**
     * Returns a caller of whom only the uid is known yet; all isolated processes are one, of which nothing is
     * known.
     */
    public static Caller unresolved(long uid) {
        return uid < 0 || isIsolated(uid)
                ? NOBODY
                : new Caller(uid, Collections.<String>emptyList(), Collections.<String>emptyList());
    }

    /** Returns a caller of one package, without its certificate. */
    public static Caller named(long uid, String name) {
        return new Caller(uid, Collections.singletonList(name), Collections.singletonList(""));
    }

    /**
     * Returns what no other caller has, for what is kept for this one: the uid, of an unseen package its name
     * and certificate, empty for nobody.
     */
    public String key() {
        if (uid >= 0) {
            return Long.toString(uid);
        }
        return packages.isEmpty() ? "" : packageName() + " " + signer();
    }

    /** Returns the package that it is shown and reported by, empty where it has no package. */
    public String packageName() {
        return packages.isEmpty() ? "" : packages.get(0);
    }

    /** Returns the digest of that package's certificate, empty where it is not known. */
    public String signer() {
        return signers.isEmpty() ? "" : signers.get(0);
    }
}
