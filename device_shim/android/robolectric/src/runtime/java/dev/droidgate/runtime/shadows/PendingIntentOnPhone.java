package dev.droidgate.runtime.shadows;

import android.app.PendingIntent;
import android.content.Context;
import android.content.Intent;
import android.os.Build;
import dev.droidgate.runtime.ProcessLink;
import org.json.JSONObject;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.annotation.RealObject;
import org.robolectric.shadow.api.Shadow;
import org.robolectric.shadows.ShadowPendingIntent;

/** A PendingIntent that the phone holds under a token. */
@Implements(PendingIntent.class)
public final class PendingIntentOnPhone extends ShadowPendingIntent {
    @RealObject private PendingIntent pending;
    private ProcessLink process;
    private String token;
    private boolean withdrawn;

    /** Returns the one of a token. */
    public static PendingIntent of(ProcessLink process, String token) {
        PendingIntent made = Shadow.newInstanceOf(PendingIntent.class);
        PendingIntentOnPhone shadow = Shadow.extract(made);
        shadow.process = process;
        shadow.token = token;
        return made;
    }

    /** Returns the token of one. */
    public static String tokenOf(PendingIntent pending) {
        return Shadow.<PendingIntentOnPhone>extract(pending).token;
    }

    @Implementation
    protected static PendingIntent getBroadcast(Context context, int request, Intent intent, int flags) {
        return made("broadcast", context, intent, flags);
    }

    @Implementation
    protected static PendingIntent getActivity(Context context, int request, Intent intent, int flags) {
        return made("activity", context, intent, flags);
    }

    private static PendingIntent made(String kind, Context context, Intent intent, int flags) {
        boolean mutable = (flags & PendingIntent.FLAG_IMMUTABLE) == 0;
        if (Build.VERSION.SDK_INT >= 31 && mutable && (flags & PendingIntent.FLAG_MUTABLE) == 0) {
            throw new IllegalArgumentException("neither FLAG_IMMUTABLE nor FLAG_MUTABLE");
        }
        return ProcessLink.ownerOf(context).createPendingIntent(kind, intent, mutable);
    }

    private JSONObject facts() {
        return process.facts("look_at_pending", "token", token);
    }

    @Override
    @Implementation
    protected void send(Context context, int code, Intent added) throws PendingIntent.CanceledException {
        if (withdrawn) {
            throw new PendingIntent.CanceledException();
        }
        process.sendPendingIntent(token, added);
    }

    @Override
    @Implementation
    protected void cancel() {
        withdrawn = true;
    }

    @Override
    @Implementation
    protected int getCreatorUid() {
        JSONObject facts = facts();
        return facts == null ? -1 : facts.optInt("uid");
    }

    @Override
    @Implementation
    protected String getCreatorPackage() {
        JSONObject facts = facts();
        return facts == null ? null : facts.optString("package");
    }

    @Override
    @Implementation
    public boolean isActivity() {
        JSONObject facts = facts();
        return facts != null && facts.optBoolean("is_activity");
    }

    @Override
    @Implementation
    public boolean isImmutable() {
        JSONObject facts = facts();
        return facts != null && facts.optBoolean("is_immutable");
    }

    @Override
    @Implementation
    public boolean equals(Object other) {
        return other instanceof PendingIntent && tokenOf((PendingIntent) other).equals(token);
    }

    @Override
    @Implementation
    public int hashCode() {
        return token == null ? 0 : token.hashCode();
    }
}
