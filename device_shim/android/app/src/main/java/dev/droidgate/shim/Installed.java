package dev.droidgate.shim;

import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.os.Build;
import dev.droidgate.shim.core.Route;
import dev.droidgate.shim.core.Target;
import java.util.LinkedHashMap;
import java.util.Map;

/** What is installed of the apps behind the shim, to be compared with what was approved (docs/shim.md 5). */
final class Installed {
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

    Installed(Shim shim) {
        this.shim = shim;
        packages = shim.context.getPackageManager();
        digests = new TargetDigests(shim);
    }

    /** Returns the app of a route, null where it is gone. */
    Target of(Route route) {
        String name = route.target.packageName;
        PackageInfo info = find(name);
        if (info == null) {
            return null;
        }
        boolean same = shim.certificates.isBy(name, route.target.signer);
        String signer = same ? route.target.signer : shim.certificates.signerOf(name);
        return new Target(name, signer, digest(route, info));
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
        String key = info.packageName + ' ' + info.lastUpdateTime + ' ' + version(info) + ' '
                + route.component + ' ' + recipe;
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
    long version(String name) {
        PackageInfo info = find(name);
        return info == null ? -1 : version(info);
    }

    @SuppressWarnings("deprecation")
    private static long version(PackageInfo info) {
        return Build.VERSION.SDK_INT >= 28 ? info.getLongVersionCode() : info.versionCode;
    }
}
