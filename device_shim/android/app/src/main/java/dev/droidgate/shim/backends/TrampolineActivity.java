package dev.droidgate.shim.backends;

import android.app.Activity;
import android.content.Intent;
import android.content.pm.PackageManager;
import android.os.Build;
import android.os.Bundle;
import dev.droidgate.shim.Shim;
import dev.droidgate.shim.core.Backend.AppActionBackend;
import dev.droidgate.shim.frontends.CallbackReply;
import dev.droidgate.shim.platform.Extras;
import dev.droidgate.shim.windows.WindowOpener;

/**
 * The window that calls an mMCP activity and waits for its result, as results come to activities only; also
 * the one that opens the screen of an App Action.
 */
public final class TrampolineActivity extends Activity {
    private static final String PROCESS = "process";
    private static final String ENTRY = "entry";
    private static final int REQUEST = 1;

    private Shim shim;
    private ScreenCalls.ScreenCall call;

    @Override
    protected void onCreate(Bundle saved) {
        super.onCreate(saved);
        shim = Shim.of(this);
        String key = Extras.text(getIntent().getExtras(), WindowOpener.KEY);
        if (saved != null && !shim.process.equals(saved.getString(PROCESS))) {
            // The process that began this call died; its result, if one comes, is nobody's.
            CallbackReply.interrupt(shim, saved, saved.getString(ENTRY));
        } else {
            Runnable closing = this::close;
            call = saved == null ? shim.screen.opened(key, closing) : shim.screen.attach(key, closing);
        }
        if (call == null) {
            finish();
        } else if (saved == null) {
            start();
        }
    }

    private void start() {
        if (!shim.screen.mayLeave(call)) {
            return;
        }
        try {
            if (call.permission.route.backend instanceof AppActionBackend) {
                startActivity(call.intent);
                shim.screen.result(call, RESULT_OK, null);
            } else {
                startActivityForResult(call.intent, REQUEST);
            }
        } catch (RuntimeException refused) {
            shim.screen.refused(call, refused);
        }
    }

    @Override
    protected void onSaveInstanceState(Bundle out) {
        super.onSaveInstanceState(out);
        if (call != null) {
            out.putString(PROCESS, shim.process);
            out.putString(ENTRY, call.reply.entry);
            call.reply.save(out);
        }
    }

    @Override
    protected void onActivityResult(int request, int result, Intent data) {
        super.onActivityResult(request, result, data);
        if (request != REQUEST || call == null) {
            return;
        }
        ScreenCalls.ScreenCall answered = call;
        call = null;
        if (Build.VERSION.SDK_INT >= 35 && isForged(answered)) {
            shim.screen.forged(answered);
        } else {
            shim.screen.result(answered, result, data);
        }
        finish();
    }

    /** Android reports who set a result where it may; where it may not, any result is taken as the tool's. */
    private boolean isForged(ScreenCalls.ScreenCall answered) {
        int uid = ResultCallers.uidOf(this);
        if (uid < 0) {
            return false;
        }
        try {
            String target = answered.permission.route.target.packageName;
            return uid != getPackageManager().getPackageUid(target, 0);
        } catch (PackageManager.NameNotFoundException gone) {
            return true;
        }
    }

    /** Ends the wait; the tool's activity is closed with it. */
    private void close() {
        call = null;
        finishActivity(REQUEST);
        finish();
    }

    @Override
    protected void onDestroy() {
        super.onDestroy();
        if (call != null && isFinishing()) {
            shim.screen.removed(call);
        }
    }
}
