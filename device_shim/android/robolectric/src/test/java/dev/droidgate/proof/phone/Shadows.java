package dev.droidgate.proof.phone;

import android.content.BroadcastReceiver;
import android.content.ComponentName;
import android.content.Intent;
import android.content.ServiceConnection;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.content.pm.Signature;
import android.content.res.AssetManager;
import android.content.res.Resources;
import android.os.Binder;
import android.os.Bundle;
import android.os.Handler;
import android.os.Process;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.shadows.ShadowApplicationPackageManager;
import org.robolectric.shadows.ShadowBinder;
import org.robolectric.shadows.ShadowContextImpl;
import org.robolectric.util.ReflectionHelpers;

/** What stands for parts of Android that are not in the one process. */
public final class Shadows {
    private Shadows() {}

    /** Each thread calls as an app of its own, as Binder threads do. */
    @Implements(Binder.class)
    public static final class CallersOfThreads extends ShadowBinder {
        /** The uid that this thread calls as; null for the test's own. */
        public static final ThreadLocal<Integer> UID = new ThreadLocal<>();

        @Implementation
        protected static int getCallingUid() {
            Integer uid = UID.get();
            return uid == null ? Process.myUid() : uid;
        }
    }

    /** Who set the result that an activity receives, as Android reports it from release 15 on. */
    @Implements(className = "android.app.ComponentCaller", minSdk = 35, isInAndroidSdk = false)
    public static final class CallersOnPhone {
        static int uid = -1;

        @Implementation
        protected int getUid() {
            return uid;
        }
    }

    /** What leaves a context goes to the test's phone: starts, bindings and broadcasts. */
    @Implements(className = "android.app.ContextImpl", isInAndroidSdk = false)
    public static final class ContextOnPhone extends ShadowContextImpl {
        @Override
        @Implementation
        protected ComponentName startService(Intent intent) {
            return Phone.current().started(intent);
        }

        @Override
        @Implementation
        protected ComponentName startForegroundService(Intent intent) {
            return Phone.current().started(intent);
        }

        @Override
        @Implementation
        protected boolean bindService(Intent intent, ServiceConnection connection, int flags) {
            return Phone.current().bound(intent, connection);
        }

        @Override
        @Implementation
        protected void unbindService(ServiceConnection connection) {
            Phone.current().unbound(connection);
        }

        @Override
        @Implementation
        protected void sendOrderedBroadcast(
                Intent intent,
                String receiverPermission,
                BroadcastReceiver resultReceiver,
                Handler scheduler,
                int initialCode,
                String initialData,
                Bundle initialExtras) {
            Phone.current().isAsked = true;
            super.sendOrderedBroadcast(
                    intent, receiverPermission, resultReceiver, scheduler, initialCode, initialData, initialExtras);
        }
    }

    /** What Robolectric does not answer itself: whose certificate a package has, and what other apps' resources hold. */
    @Implements(className = "android.app.ApplicationPackageManager", isInAndroidSdk = false)
    public static final class PackagesOnPhone extends ShadowApplicationPackageManager {
        @Override
        @Implementation
        protected Resources getResourcesForApplication(ApplicationInfo info) throws PackageManager.NameNotFoundException {
            return getResourcesForApplication(info.packageName);
        }

        @Override
        @Implementation
        protected Resources getResourcesForApplication(String packageName) throws PackageManager.NameNotFoundException {
            PackageInfo info = getInternalMutablePackageInfo(packageName);
            if (info == null || !info.applicationInfo.sourceDir.endsWith(".apk")) {
                return super.getResourcesForApplication(packageName);
            }
            AssetManager assets = ReflectionHelpers.callConstructor(AssetManager.class);
            assets.addAssetPath(info.applicationInfo.sourceDir);
            Resources known = Resources.getSystem();
            return new Resources(assets, known.getDisplayMetrics(), known.getConfiguration());
        }

        @Implementation(minSdk = 28)
        protected boolean hasSigningCertificate(String packageName, byte[] certificate, int type)
                throws NoSuchAlgorithmException {
            PackageInfo info = getInternalMutablePackageInfo(packageName);
            if (info == null || info.signatures == null) {
                return false;
            }
            for (Signature signature : info.signatures) {
                byte[] bytes = signature.toByteArray();
                if (type == PackageManager.CERT_INPUT_SHA256) {
                    bytes = MessageDigest.getInstance("SHA-256").digest(bytes);
                }
                if (Arrays.equals(bytes, certificate)) {
                    return true;
                }
            }
            return false;
        }
    }
}
