package dev.droidgate.proof;

import android.content.ContentProvider;
import android.util.Base64;
import dev.droidgate.shim.host.HostProvider;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.json.JSONException;
import org.json.JSONObject;
import org.robolectric.Robolectric;

/** The computer at the other end of adb, by shim.md 7. */
final class Host {
    private static final int FORM = Base64.URL_SAFE | Base64.NO_PADDING | Base64.NO_WRAP;
    private static final int SHELL = 2_000;

    private final Phone phone;
    private final ContentProvider provider =
            Robolectric.buildContentProvider(HostProvider.class).create("dev.droidgate.shim.host").get();

    Host(Phone phone) {
        this.phone = phone;
        phone.allow(SHELL, "android.permission.DUMP");
    }

    /** Grants everything to a package or to {@code any-app}. */
    void grant(String caller) {
        ask(phone, provider, "grant",
                new JSONObject(Map.of("version", 1, "caller", caller, "capability", "*")));
    }

    /** Calls a method of a provider that talks to a computer, as the shell, and returns its answer. */
    static JSONObject ask(Phone phone, ContentProvider provider, String method, JSONObject values) {
        byte[] argument = values.toString().getBytes(StandardCharsets.UTF_8);
        String[] answer = new String[1];
        phone.as(
                SHELL,
                () -> {
                    String result = provider.call(method, Base64.encodeToString(argument, FORM), null)
                            .getString("result");
                    answer[0] = new String(Base64.decode(result, FORM), StandardCharsets.UTF_8);
                });
        try {
            JSONObject read = new JSONObject(answer[0]);
            if (read.has("error")) {
                throw new AssertionError(answer[0]);
            }
            return read;
        } catch (JSONException malformed) {
            throw new AssertionError(malformed);
        }
    }
}
