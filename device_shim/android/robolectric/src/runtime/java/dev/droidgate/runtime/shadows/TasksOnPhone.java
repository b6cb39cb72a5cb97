package dev.droidgate.runtime.shadows;

import android.os.IBinder;
import dev.droidgate.runtime.Screens;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;

/** Carries the closing of an activity by the one that started it. */
@Implements(className = "android.app.ActivityClient", isInAndroidSdk = false)
public final class TasksOnPhone {
    @Implementation
    protected boolean finishActivity(IBinder token, int code, android.content.Intent data, int task) {
        return true;
    }

    @Implementation
    protected void finishSubActivity(IBinder token, String resultWho, int requestCode) {
        Screens.finishSub(token);
    }
}
