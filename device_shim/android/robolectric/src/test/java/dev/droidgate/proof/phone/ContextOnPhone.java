package dev.droidgate.proof.phone;

import android.content.BroadcastReceiver;
import android.content.ComponentName;
import android.content.Intent;
import android.content.ServiceConnection;
import android.os.Binder;
import android.os.Bundle;
import android.os.Handler;
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

    @Override
    @Implementation
    protected int checkCallingPermission(String permission) {
        return checkPermission(permission, Binder.getCallingPid(), Binder.getCallingUid());
    }

    @Override
    @Implementation
    protected int checkPermission(String permission, int pid, int uid) {
        return uid == Phone.SHELL ? 0 : super.checkPermission(permission, pid, uid);
    }
}
