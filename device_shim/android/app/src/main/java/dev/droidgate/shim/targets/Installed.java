package dev.droidgate.shim.targets;

import android.content.pm.PackageInfo;
import dev.droidgate.shim.AppProcess;
import dev.droidgate.shim.core.Route;
import dev.droidgate.shim.core.Target;
import dev.droidgate.shim.platform.Certificates;
import dev.droidgate.shim.platform.Packages;
import java.util.HashMap;
import java.util.Map;

/** What is installed of the apps behind the shim, to be compared with what was approved (shim.md 5). */
public final class Installed {
    private static final int MOST_DIGESTS = 1_024;

    private final AppProcess process;
    private final Certificates certificates;
    private final TargetDigests digests;

    /** Of a package as it was installed last, what its descriptors say. */
    private final Map<String, String> known = new HashMap<>();

    public Installed(AppProcess process, Certificates certificates, Discoveries discoveries) {
        this.process = process;
        this.certificates = certificates;
        digests = new TargetDigests(process.context.getPackageManager(), discoveries);
    }

    /** Returns the app of a route, null where it is gone; waits where its receiver has to be asked. */
    public Target of(Route route) {
        return target(route, true);
    }

    /**
     * Returns the app of a route without waiting: what a receiver has not reported yet counts as what was
     * approved, and is compared before the call goes out ({@link Broadcasts#call}).
     */
    public Target now(Route route) {
        return target(route, !Discoveries.RECIPE.equals(TargetDigests.recipeOf(route.target.digest)));
    }

    private Target target(Route route, boolean reads) {
        String name = route.target.packageName;
        PackageInfo info = Packages.find(process.context, name);
        if (info == null) {
            return null;
        }
        if (!certificates.isBy(name, route.target.signer)) {
            // Nothing of an app by somebody else is opened.
            return new Target(name, certificates.signerOf(name), route.target.digest);
        }
        return new Target(name, route.target.signer, reads ? digest(route, info) : route.target.digest);
    }

    private String digest(Route route, PackageInfo info) {
        String recipe = TargetDigests.recipeOf(route.target.digest);
        String edition = Packages.edition(info);
        String key = info.packageName + ' ' + edition + ' ' + route.destination + ' ' + recipe;
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
            if (known.size() >= MOST_DIGESTS) {
                known.clear();
            }
            known.put(key, digest);
        }
        return digest;
    }
}
