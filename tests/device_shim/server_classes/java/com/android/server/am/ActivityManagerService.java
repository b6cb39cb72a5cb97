package com.android.server.am;

import android.app.IApplicationThread;
import android.app.ProfilerInfo;
import android.app.WaitResult;
import android.content.ContentResolver;
import android.content.Context;
import android.content.ContextWrapper;
import android.content.Intent;
import android.os.Bundle;
import android.os.IBinder;

/** In place of Android's, whose starts cannot be overridden: the action says how a start ends. */
public class ActivityManagerService {
    final Context mContext = new ContextWrapper(null) {
        @Override
        public ContentResolver getContentResolver() {
            return null;
        }
    };

    final UserController mUserController = new UserController();

    final int startActivityAsUserWithFeature(IApplicationThread caller, String app, String feature, Intent intent,
            String type, IBinder to, String who, int code, int flags, ProfilerInfo profile, Bundle options,
            int user) {
        String action = String.valueOf(intent.getAction());
        boolean isKnown = action.matches("result\\.(2|3|-91)")
                || action.equals("result.-92") && intent.getComponent() != null;
        return isKnown ? Integer.parseInt(action.substring("result.".length())) : 0;
    }

    final WaitResult startActivityAndWait(IApplicationThread caller, String app, String feature, Intent intent,
            String type, IBinder to, String who, int code, int flags, ProfilerInfo profile, Bundle options,
            int user) {
        WaitResult made = new WaitResult();
        made.result = startActivityAsUserWithFeature(caller, app, feature, intent, type, to, who, code, flags,
                profile, options, user);
        made.launchState = made.result == 0 ? WaitResult.LAUNCH_STATE_COLD : WaitResult.LAUNCH_STATE_UNKNOWN;
        made.who = intent.getComponent();
        return made;
    }
}
