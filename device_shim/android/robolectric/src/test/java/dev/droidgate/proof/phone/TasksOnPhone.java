package dev.droidgate.proof.phone;

import android.os.IBinder;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;

/** Carries the closing of an activity by the one that started it. */
@Implements(className = "android.app.ActivityClient", minSdk = 31, isInAndroidSdk = false)
public final class TasksOnPhone {
    @Implementation
    protected void finishSubActivity(IBinder token, String resultWho, int requestCode) {
        Phone.current().finishOf(token);
    }
}
