package dev.droidgate.shim.platform;

import android.content.Context;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.os.Build;

/** What Android says of installed apps. */
public final class Packages {
    private Packages() {}

    /** Returns an app, null where it is not installed. */
    public static PackageInfo find(Context context, String name) {
        try {
            return context.getPackageManager().getPackageInfo(name, 0);
        } catch (PackageManager.NameNotFoundException gone) {
            return null;
        }
    }

    /** Returns the version code of a package, -1 where it is not installed. */
    public static long version(Context context, String name) {
        PackageInfo info = find(context, name);
        return info == null ? -1 : version(info);
    }

    /** Returns what is another text after each installation of a package, empty where it is not installed. */
    public static String edition(Context context, String name) {
        PackageInfo info = find(context, name);
        return info == null ? "" : edition(info);
    }

    /** Returns what is another text after each installation of an app. */
    public static String edition(PackageInfo info) {
        return info.lastUpdateTime + " " + version(info);
    }

    @SuppressWarnings("deprecation")
    private static long version(PackageInfo info) {
        return Build.VERSION.SDK_INT >= 28 ? info.getLongVersionCode() : info.versionCode;
    }

    /** Returns whether an app may call app functions now. */
    public static boolean mayCallFunctions(Context context) {
        return context.checkSelfPermission(Names.EXECUTE_APP_FUNCTIONS) == PackageManager.PERMISSION_GRANTED;
    }
}
