package dev.droidgate.shim.targets;

import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.os.Build;
import dev.droidgate.shim.Shim;
import dev.droidgate.shim.core.Route;
import dev.droidgate.shim.core.Target;
import java.util.LinkedHashMap;
import java.util.Map;

/** What is installed of the apps behind the shim, to be compared with what was approved (docs/shim.md 5). */
public final class Installed {
    private static final int MOST_DIGESTS = 1_024;

    private final Shim shim;
    private final PackageManager packages;
    private final TargetDigests digests;

    /** Of a package as it was installed last, what its descriptors say. */
    private final Map<String, String> known =
            new LinkedHashMap<String, String>() {
                private static final long serialVersionUID = 1L;

                @Override
                protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
                    return size() > MOST_DIGESTS;
                }
            };

    public Installed(Shim shim) {
        this.shim = shim;
        packages = shim.context.getPackageManager();
        digests = new TargetDigests(shim);
    }

    /** Returns the app of a route, null where it is gone; waits where its receiver has to be asked. */
    public Target of(Route route) {
        return target(route, true);
    }

    /**
     * Returns the app of a route without waiting: what a receiver has not reported yet counts as what was approved,
     * and is compared before the call goes out ({@link Broadcasts#call}).
     */
    public Target now(Route route) {
        return target(route, !Discoveries.RECIPE.equals(TargetDigests.recipeOf(route.target.digest)));
    }

    private Target target(Route route, boolean reads) {
        String name = route.target.packageName;
        PackageInfo info = find(name);
        if (info == null) {
            return null;
        }
        if (!shim.certificates.isBy(name, route.target.signer)) {
            // Nothing of an app by somebody else is opened.
            return new Target(name, shim.certificates.signerOf(name), route.target.digest);
        }
        return new Target(name, route.target.signer, reads ? digest(route, info) : route.target.digest);
    }

    private PackageInfo find(String name) {
        try {
            return packages.getPackageInfo(name, 0);
        } catch (PackageManager.NameNotFoundException gone) {
            return null;
        }
    }

    private String digest(Route route, PackageInfo info) {
        String recipe = TargetDigests.recipeOf(route.target.digest);
        String key = info.packageName + ' ' + edition(info) + ' ' + route.component + ' ' + recipe;
        synchronized (known) {
            if (known.containsKey(key)) {
                return known.get(key);
            }
        }
        String digest = digests.digest(recipe, route);
        if (digest == null) {
            return "";
        }
        synchronized (known) {
            known.put(key, digest);
        }
        return digest;
    }

    /** Returns the version code of a package, -1 where it is not installed. */
    public long version(String name) {
        PackageInfo info = find(name);
        return info == null ? -1 : version(info);
    }

    /** Returns what is another text after each installation of a package, empty where it is not installed. */
    public String edition(String name) {
        PackageInfo info = find(name);
        return info == null ? "" : edition(info);
    }

    private static String edition(PackageInfo info) {
        return info.lastUpdateTime + " " + version(info);
    }

    @SuppressWarnings("deprecation")
    private static long version(PackageInfo info) {
        return Build.VERSION.SDK_INT >= 28 ? info.getLongVersionCode() : info.versionCode;
    }
}
