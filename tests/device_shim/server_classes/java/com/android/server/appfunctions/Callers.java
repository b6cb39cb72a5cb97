package com.android.server.appfunctions;

import android.content.Context;
import android.content.ContextWrapper;
import android.content.pm.PackageManager;
import android.os.UserHandle;
import android.os.UserManager;
import com.android.internal.infra.AndroidFuture;
import com.android.server.appfunctions.allowlist.AppFunctionAllowlistReader;
import java.lang.reflect.Constructor;
import java.util.concurrent.CompletableFuture;
import org.json.JSONObject;

/** Android's own CallerValidatorImpl, of Android 16 or 17: their constructors and types of results differ. */
public final class Callers {
    private static final String EXECUTE = "android.permission.EXECUTE_APP_FUNCTIONS";

    private Callers() {}

    /** Returns whether a caller may execute a function of another app, or of its own. */
    public static JSONObject verify(JSONObject caller) throws Exception {
        Context context = new ContextWrapper(null) {
            @Override
            public int checkPermission(String permission, int pid, int uid) {
                String kind = permission.equals(EXECUTE) ? "execute" : permission.equals(EXECUTE + "_SYSTEM") ? "system" : "";
                return caller.optBoolean(kind) ? PackageManager.PERMISSION_GRANTED : PackageManager.PERMISSION_DENIED;
            }
        };
        Constructor<?> constructor = CallerValidatorImpl.class.getDeclaredConstructors()[0];
        boolean hasList = constructor.getParameterCount() > 1;
        Object validator = hasList ? constructor.newInstance(context, ShellCommands.bare(UserManager.class), list(caller))
                : constructor.newInstance(context);
        CompletableFuture<?> verdict = (CompletableFuture<?>) CallerValidatorImpl.class
                .getMethod("verifyCallerCanExecuteAppFunction", int.class, int.class, UserHandle.class, String.class, String.class, String.class)
                .invoke(validator, caller.getInt("uid"), 1, UserHandle.of(0), "agent", caller.getBoolean("own") ? "agent" : "target", "f");
        return new JSONObject().put("may", verdict.get().equals(CallerValidator.CAN_EXECUTE_APP_FUNCTIONS_ALLOWED_SAME_PACKAGE)
                || verdict.get().equals(CallerValidator.CAN_EXECUTE_APP_FUNCTIONS_ALLOWED_HAS_PERMISSION));
    }

    private static Object list(JSONObject caller) {
        return ShellCommands.proxy(AppFunctionAllowlistReader.class, (of, method, given) -> method.getName().equals("isAllowlisted")
                ? AndroidFuture.completedFuture(caller.getBoolean("listed")) : ShellCommands.zero(method.getReturnType()));
    }
}
