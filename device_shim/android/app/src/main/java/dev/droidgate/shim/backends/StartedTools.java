package dev.droidgate.shim.backends;

import android.app.PendingIntent;
import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import android.content.IntentFilter;
import android.content.pm.PackageManager;
import android.os.Build;
import dev.droidgate.shim.AppProcess;
import dev.droidgate.shim.CallControl;
import dev.droidgate.shim.core.BackendAnswer.ResponseAnswer;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.platform.Extras;
import dev.droidgate.shim.platform.Failures;
import dev.droidgate.shim.platform.Names;
import java.util.UUID;

/** Tools that are started with a request and call back with the response. */
public final class StartedTools extends BroadcastReceiver {
    private static final String CALL = "call";

    private final AppProcess process;
    private final CallControl control;

    /** Before Android 13 any app can send to a receiver that is made in code: so the action is a secret. */
    private final String action = "dev.droidgate.shim." + UUID.randomUUID().toString();

    private boolean registered;

    StartedTools(AppProcess process, CallControl control) {
        this.process = process;
        this.control = control;
    }

    /** Calls a tool that cannot be bound, if the call may still go out. */
    void start(ToolCall call) {
        if (!call.mayLeave()) {
            return;
        }
        register();
        PendingIntent callback = callback(call.number);
        call.reply.whenAnswered(callback::cancel);
        try {
            Intent intent = new Intent(call.intent).putExtra(Names.CALLBACK, callback);
            Object found =
                    goesToForeground(intent)
                            ? process.context.startForegroundService(intent)
                            : process.context.startService(intent);
            if (found == null) {
                call.fail(FailureTokens.UNAVAILABLE, "the app has no such service");
            }
        } catch (IllegalStateException background) {
            call.fail(
                    FailureTokens.UNAVAILABLE,
                    "the tool cannot be bound, and Android forbids starting it while its app does not run; "
                            + "open the app and retry");
        } catch (RuntimeException refused) {
            call.fail(FailureTokens.UNAVAILABLE, Failures.textOf(refused));
        }
    }

    /**
     * Returns whether a tool calls startForeground. Android ends an app whose service was started for the
     * foreground and does not call it (M31).
     */
    private boolean goesToForeground(Intent intent) {
        if (Build.VERSION.SDK_INT < 29) {
            return false;
        }
        try {
            PackageManager packages = process.context.getPackageManager();
            int types = packages.getServiceInfo(intent.getComponent(), 0).getForegroundServiceType();
            return types != 0;
        } catch (PackageManager.NameNotFoundException gone) {
            return false;
        }
    }

    /** Mutable, so that the response can be filled in; what is in it already cannot be changed so. */
    private PendingIntent callback(long number) {
        Intent intent = new Intent(action).setPackage(process.context.getPackageName());
        intent.putExtra(CALL, number);
        int flags = Build.VERSION.SDK_INT >= 31 ? PendingIntent.FLAG_MUTABLE : 0;
        return PendingIntent.getBroadcast(process.context, (int) number, intent, flags);
    }

    private synchronized void register() {
        if (registered) {
            return;
        }
        registered = true;
        IntentFilter filter = new IntentFilter(action);
        if (Build.VERSION.SDK_INT >= 33) {
            int flags = Context.RECEIVER_NOT_EXPORTED;
            process.context.registerReceiver(this, filter, null, process.main, flags);
        } else {
            process.context.registerReceiver(this, filter, null, process.main);
        }
    }

    @Override
    public void onReceive(Context context, Intent intent) {
        Object number = Extras.any(intent.getExtras(), CALL);
        if (number instanceof Long) {
            control.answered(
                    (Long) number, new ResponseAnswer(Extras.ofResponse(intent.getExtras())), null);
        }
    }
}
