package dev.droidgate.shim.frontends;

import dev.droidgate.shim.Caller;
import dev.droidgate.shim.Reply;
import dev.droidgate.shim.Shim;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Frontend;
import java.util.Map;

/** The answer to an mMCP agent: one text, which begins with {@code Error:} on failure (shim.md 2). */
public abstract class TextReply extends Reply {
    private final Shim shim;
    private final String tool;

    TextReply(Shim shim, Caller caller, boolean bound, String tool) {
        super(caller, bound);
        this.shim = shim;
        this.tool = tool == null ? "" : tool;
    }

    /** Hands the request to the engine; null for no parameters. */
    final void ask(String id, String parameters) {
        shim.receive(this, Frontend.request(tool, id, parameters), false);
    }

    /** Takes the one text. */
    abstract void reply(String text, boolean succeeded);

    @Override
    public final void send(Map<String, String> extras, String token) {
        if (extras == null) {
            reply(failure(token, null), false);
            return;
        }
        try {
            reply(Frontend.asText(Frontend.outputs(extras)), true);
        } catch (CallFailure failure) {
            reply(failure(failure.token, failure.getMessage()), false);
        }
    }

    /** Returns the text of a failure; null for the usual words of its token. */
    static String failure(String token, String text) {
        return "Error: " + FailureTokens.message(token == null ? FailureTokens.BACKEND_FAILURE : token, text);
    }
}
