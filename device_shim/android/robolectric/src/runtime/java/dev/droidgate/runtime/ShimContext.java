package dev.droidgate.runtime;

import android.app.KeyguardManager;
import android.app.NotificationManager;
import android.content.BroadcastReceiver;
import android.content.ComponentName;
import android.content.Context;
import android.content.ContextWrapper;
import android.content.Intent;
import android.content.IntentFilter;
import android.content.ServiceConnection;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import android.content.res.AssetManager;
import android.content.res.Resources;
import android.os.Binder;
import android.os.Build;
import android.os.Bundle;
import android.os.Handler;
import android.os.PowerManager;
import dev.droidgate.runtime.shadows.PackagesOnPhone;
import java.io.File;
import java.util.HashMap;
import java.util.Map;
import org.robolectric.shadow.api.Shadow;

/** What a process of a shim sees of Android: its own resources and files, and the phone for all else. */
public final class ShimContext extends ContextWrapper {
    private final ProcessLink process;
    private final String apk;
    private final Resources resources;
    private final PackageManager packages;
    private final Map<String, Object> managers = new HashMap<>();
    private Resources.Theme theme;

    ShimContext(ProcessLink process, Context base, String apk) {
        super(base);
        this.process = process;
        ProcessLink.own(this, process);
        this.apk = apk;
        resources = PackagesOnPhone.resourcesOf(apk);
        packages = owned((PackageManager) Shadow.newInstanceOf("android.app.ApplicationPackageManager"));
    }

    private <M> M owned(M manager) {
        ProcessLink.own(manager, process);
        return manager;
    }

    @Override
    public Context getApplicationContext() {
        return process.application;
    }

    @Override
    public String getPackageName() {
        return process.packageName;
    }

    @Override
    public String getOpPackageName() {
        return process.packageName;
    }

    @Override
    public ClassLoader getClassLoader() {
        return process.code();
    }

    @Override
    public AssetManager getAssets() {
        return resources.getAssets();
    }

    @Override
    public Resources getResources() {
        return resources;
    }

    @Override
    public Resources.Theme getTheme() {
        if (theme == null) {
            theme = resources.newTheme();
            theme.applyStyle(android.R.style.Theme_DeviceDefault_Light, true);
        }
        return theme;
    }

    @Override
    public ApplicationInfo getApplicationInfo() {
        ApplicationInfo info = new ApplicationInfo();
        info.packageName = process.packageName;
        info.uid = process.uid;
        info.sourceDir = apk;
        info.publicSourceDir = apk;
        info.targetSdkVersion = 36;
        info.dataDir = process.folder.getPath();
        return info;
    }

    @Override
    public File getFilesDir() {
        return folder("files");
    }

    @Override
    public File getCacheDir() {
        return folder("cache");
    }

    private File folder(String name) {
        File folder = new File(process.folder, name);
        folder.mkdirs();
        return folder;
    }

    @Override
    public PackageManager getPackageManager() {
        return packages;
    }

    @Override
    public Object getSystemService(String name) {
        synchronized (managers) {
            Object known = managers.get(name);
            if (known == null) {
                known = manager(name);
                if (known != null) {
                    managers.put(name, known);
                }
            }
            return known == null ? super.getSystemService(name) : known;
        }
    }

    private Object manager(String name) {
        switch (name) {
            case Context.NOTIFICATION_SERVICE:
                return owned(Shadow.newInstanceOf(NotificationManager.class));
            case Context.KEYGUARD_SERVICE:
                return owned(Shadow.newInstanceOf(KeyguardManager.class));
            case Context.POWER_SERVICE:
                return owned(Shadow.newInstanceOf(PowerManager.class));
            case Context.APP_FUNCTION_SERVICE:
                return owned(FunctionsOnPhone.manager(process, this));
            default:
                return null;
        }
    }

    @Override
    public ComponentName startService(Intent intent) {
        return started(intent, false);
    }

    @Override
    public ComponentName startForegroundService(Intent intent) {
        return started(intent, true);
    }

    private ComponentName started(Intent intent, boolean foreground) {
        Object name =
                process.ask(
                        "start_service", "intent", Values.toJson(process, intent), "foreground", foreground);
        return name == null ? null : ComponentName.unflattenFromString((String) name);
    }

    @Override
    public boolean bindService(Intent intent, ServiceConnection connection, int flags) {
        return process.bind(intent, flags, connection);
    }

    @Override
    public void unbindService(ServiceConnection connection) {
        process.ask("unbind", "connection", process.numberOf(connection));
    }

    @Override
    public void startActivity(Intent intent) {
        startActivity(intent, null);
    }

    @Override
    public void startActivity(Intent intent, Bundle options) {
        process.ask("start_activity", "intent", Values.toJson(process, intent));
    }

    @Override
    public void sendOrderedBroadcast(
            Intent intent,
            String permission,
            BroadcastReceiver receiver,
            Handler scheduler,
            int code,
            String data,
            Bundle extras) {
        process.ask(
                "ordered_broadcast", "intent", Values.toJson(process, intent), "receiver",
                process.numberOf(receiver));
    }

    @Override
    public Intent registerReceiver(
            BroadcastReceiver receiver, IntentFilter filter, String permission, Handler handler) {
        return registerReceiver(receiver, filter, permission, handler, 0);
    }

    @Override
    public Intent registerReceiver(
            BroadcastReceiver receiver, IntentFilter filter, String permission, Handler handler, int flags) {
        if (Build.VERSION.SDK_INT >= 34 && (flags & (RECEIVER_EXPORTED | RECEIVER_NOT_EXPORTED)) == 0) {
            throw new SecurityException("a receiver needs RECEIVER_EXPORTED or RECEIVER_NOT_EXPORTED");
        }
        process.register(receiver, filter);
        return null;
    }

    @Override
    public void unregisterReceiver(BroadcastReceiver receiver) {
        process.unregister(receiver);
    }

    @Override
    public int checkPermission(String permission, int pid, int uid) {
        boolean holds = Boolean.TRUE.equals(process.ask("holds", "permission", permission, "uid", uid));
        return holds ? PackageManager.PERMISSION_GRANTED : PackageManager.PERMISSION_DENIED;
    }

    @Override
    public int checkSelfPermission(String permission) {
        return checkPermission(permission, 0, process.uid);
    }

    @Override
    public int checkCallingPermission(String permission) {
        return checkPermission(permission, 0, Binder.getCallingUid());
    }
}
