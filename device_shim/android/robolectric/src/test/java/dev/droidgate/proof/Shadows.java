package dev.droidgate.proof;

import android.content.Context;
import android.content.Intent;
import android.content.ServiceConnection;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.content.res.Resources;
import dev.droidgate.robolectric.InstalledApks;
import java.security.NoSuchAlgorithmException;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.annotation.RealObject;
import org.robolectric.shadow.api.Shadow;
import org.robolectric.shadows.ShadowApplicationPackageManager;
import org.robolectric.shadows.ShadowContextImpl;
import org.robolectric.util.ReflectionHelpers.ClassParameter;

/** In place of parts of Android that are not in the one process. */
public final class Shadows {
    /** Android's manager of app functions, where a test has one. */
    static Object appFunctions;

    private Shadows() {}

    /** What leaves a context goes to the test's phone: bindings. */
    @Implements(className = "android.app.ContextImpl", isInAndroidSdk = false)
    public static final class ContextOnPhone extends ShadowContextImpl {
        @RealObject private Context context;

        /** Robolectric has Android's flags off, this one too. */
        @Implementation
        protected String getSystemServiceName(Class<?> service) {
            return service.getSimpleName().equals("AppFunctionManager")
                    ? "app_function"
                    : Shadow.directlyOn(
                            context, "android.app.ContextImpl", "getSystemServiceName",
                            ClassParameter.from(Class.class, service));
        }

        @Override
        @Implementation
        protected Object getSystemService(String name) {
            return name.equals("app_function") ? appFunctions : super.getSystemService(name);
        }

        @Override
        @Implementation
        protected boolean bindService(Intent intent, ServiceConnection connection, int flags) {
            return Phone.current().bound(intent, connection);
        }
    }

    /**
     * What Robolectric does not answer itself: whose certificate a package has, and what other apps'
     * resources hold.
     */
    @Implements(className = "android.app.ApplicationPackageManager", isInAndroidSdk = false)
    public static final class PackagesOnPhone extends ShadowApplicationPackageManager {
        @Override
        @Implementation
        protected Resources getResourcesForApplication(ApplicationInfo info)
                throws PackageManager.NameNotFoundException {
            return getResourcesForApplication(info.packageName);
        }

        @Override
        @Implementation
        protected Resources getResourcesForApplication(String packageName)
                throws PackageManager.NameNotFoundException {
            PackageInfo info = getInternalMutablePackageInfo(packageName);
            if (info == null || !info.applicationInfo.sourceDir.endsWith(".apk")) {
                return super.getResourcesForApplication(packageName);
            }
            return InstalledApks.resourcesOf(info.applicationInfo.sourceDir);
        }

        @Implementation(minSdk = 28)
        protected boolean hasSigningCertificate(String packageName, byte[] certificate, int type)
                throws NoSuchAlgorithmException {
            PackageInfo info = getInternalMutablePackageInfo(packageName);
            return info != null && InstalledApks.hasCertificate(info.signatures, certificate, type);
        }
    }
}
