package dev.droidgate.shim.frontends;

import android.app.Activity;
import android.content.Intent;
import android.os.Bundle;
import dev.droidgate.shim.Caller;
import dev.droidgate.shim.Shim;
import dev.droidgate.shim.platform.Extras;
import dev.droidgate.shim.platform.Names;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/** The shim as an mMCP tool app for agents that start activities (shim.md 2). */
public final class MmcpActivity extends Activity {
    private static final String CALL = "call";

    /** The calls of this process that wait, so that a window that Android makes anew finds its own. */
    private static final Map<String, Pending> WAITING = new HashMap<>();

    private String id;

    /** A call, and the window that waits for it now. */
    private static final class Pending extends TextReply {
        private final Shim shim;
        private final String id;
        private MmcpActivity window;

        Pending(Shim shim, String id, String tool) {
            super(shim, Caller.NOBODY, false, tool);
            this.shim = shim;
            this.id = id;
        }

        @Override
        void reply(String text, boolean succeeded) {
            shim.main.post(
                    () -> {
                        WAITING.remove(id);
                        if (window != null) {
                            window.finish(text, succeeded);
                        }
                    });
        }
    }

    @Override
    protected void onCreate(Bundle saved) {
        super.onCreate(saved);
        if (saved != null) {
            id = saved.getString(CALL);
            Pending waiting = WAITING.get(id);
            if (waiting == null) {
                finish(TextReply.failure("interrupted", "the shim was stopped during the call"), false);
            } else {
                waiting.window = this;
            }
            return;
        }
        Intent intent = getIntent();
        if (!Names.MMCP_CALL.equals(intent.getAction())) {
            // The action by which it is found calls nothing.
            finish();
            return;
        }
        begin(intent.getExtras());
    }

    private void begin(Bundle extras) {
        id = UUID.randomUUID().toString();
        Shim shim = Shim.of(this);
        Pending waiting = new Pending(shim, id, Extras.text(extras, Names.TOOL_NAME));
        waiting.window = this;
        WAITING.put(id, waiting);
        waiting.ask(id, Extras.text(extras, Names.PARAMETERS));
    }

    private void finish(String text, boolean succeeded) {
        Intent data = new Intent().putExtra(Names.RESULT, text);
        if (!succeeded) {
            data.putExtra(Names.ERROR, text);
        }
        setResult(succeeded ? RESULT_OK : RESULT_CANCELED, data);
        finish();
    }

    @Override
    protected void onSaveInstanceState(Bundle out) {
        super.onSaveInstanceState(out);
        out.putString(CALL, id);
    }

    @Override
    protected void onDestroy() {
        super.onDestroy();
        Pending waiting = WAITING.get(id);
        if (waiting != null && waiting.window == this) {
            waiting.window = null;
            if (isFinishing()) {
                Shim.of(this).cancel(waiting);
            }
        }
    }
}
