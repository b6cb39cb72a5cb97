package dev.droidgate.shim.host;

import dev.droidgate.shim.Caller;
import dev.droidgate.shim.Reply;
import dev.droidgate.shim.core.Frontend;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The answer to the host, which waits for it. */
public final class HostReply extends Reply {
    private final CountDownLatch answered = new CountDownLatch(1);
    private String text;
    private String token;

    HostReply(Caller caller) {
        super(caller, true);
    }

    @Override
    public void send(Map<String, String> extras, String failed) {
        text = Frontend.textOf(extras);
        token = failed;
        answered.countDown();
    }

    /** Waits for the answer; false where none came in time. */
    boolean await(long milliseconds) {
        try {
            return answered.await(milliseconds, TimeUnit.MILLISECONDS);
        } catch (InterruptedException stopped) {
            return false;
        }
    }

    /** Returns the response's text, null where the request's form was not known. */
    String text() {
        return text;
    }

    String token() {
        return token;
    }
}
