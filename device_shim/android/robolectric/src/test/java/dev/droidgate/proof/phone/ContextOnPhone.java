package dev.droidgate.proof.phone;

import android.content.BroadcastReceiver;
import android.content.ComponentName;
import android.content.Intent;
import android.content.ServiceConnection;
import android.os.Binder;
import android.os.Bundle;
import android.os.Handler;
import android.os.UserHandle;
import java.util.concurrent.Executor;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.shadows.ShadowContextImpl;

/** What leaves a context goes to the test's phone: starts, bindings, broadcasts and questions of permission. */
@Implements(className = "android.app.ContextImpl", isInAndroidSdk = false)
public final class ContextOnPhone extends ShadowContextImpl {
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
        return Phone.current().bound(intent, connection, flags);
    }

    @Override
    @Implementation(minSdk = 29)
    protected boolean bindService(Intent intent, int flags, Executor executor, ServiceConnection connection) {
        return Phone.current().bound(intent, connection, flags);
    }

    @Override
    @Implementation
    protected void unbindService(ServiceConnection connection) {
        Phone.current().unbound(connection);
    }

    @Override
    @Implementation
    protected void sendBroadcast(Intent intent) {
        noted(intent, null);
        super.sendBroadcast(intent);
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
        noted(intent, initialExtras);
        super.sendOrderedBroadcast(
                intent, receiverPermission, resultReceiver, scheduler, initialCode, initialData, initialExtras);
    }

    @Override
    @Implementation
    protected void sendOrderedBroadcastAsUser(
            Intent intent,
            UserHandle user,
            String receiverPermission,
            int appOp,
            Bundle options,
            BroadcastReceiver resultReceiver,
            Handler scheduler,
            int initialCode,
            String initialData,
            Bundle initialExtras) {
        noted(intent, initialExtras);
        super.sendOrderedBroadcastAsUser(
                intent,
                user,
                receiverPermission,
                appOp,
                options,
                resultReceiver,
                scheduler,
                initialCode,
                initialData,
                initialExtras);
    }

    private static void noted(Intent intent, Bundle options) {
        Phone.current().asked.add(new Phone.Asked("broadcast", intent, 0, options));
    }

    @Override
    @Implementation
    protected int checkCallingPermission(String permission) {
        return checkPermission(permission, Binder.getCallingPid(), Binder.getCallingUid());
    }

    @Override
    @Implementation
    protected int checkCallingOrSelfPermission(String permission) {
        return checkCallingPermission(permission);
    }

    @Override
    @Implementation
    protected int checkPermission(String permission, int pid, int uid) {
        Phone phone = Phone.current();
        return phone != null && phone.permits(permission, uid) ? 0 : super.checkPermission(permission, pid, uid);
    }
}
