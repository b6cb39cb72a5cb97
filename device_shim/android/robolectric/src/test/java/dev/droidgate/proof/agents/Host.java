package dev.droidgate.proof.agents;

import android.content.ContentProvider;
import android.util.Base64;
import dev.droidgate.proof.phone.Phone;
import dev.droidgate.shim.host.HostProvider;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.json.JSONObject;
import org.robolectric.Robolectric;

/** The computer at the other end of adb, by shim.md 7. */
public final class Host {
    private final Phone phone;
    private final ContentProvider provider =
            Robolectric.buildContentProvider(HostProvider.class).create("dev.droidgate.shim.host").get();

    public Host(Phone phone) {
        this.phone = phone;
    }

    /** Grants a capability, or {@code *}, to a package or to {@code any-app}. */
    public void grant(String caller, String capability) {
        ask("grant", caller, capability);
    }

    /** Takes all grants of a caller back. */
    public void revoke(String caller) {
        ask("revoke", caller, "*");
    }

    private void ask(String method, String caller, String capability) {
        String given = new JSONObject(Map.of("version", 1, "caller", caller, "capability", capability))
                .toString();
        int form = Base64.URL_SAFE | Base64.NO_PADDING | Base64.NO_WRAP;
        String argument = Base64.encodeToString(given.getBytes(StandardCharsets.UTF_8), form);
        phone.as(
                Phone.SHELL,
                () -> {
                    String result = provider.call(method, argument, null).getString("result");
                    String answer = new String(Base64.decode(result, form), StandardCharsets.UTF_8);
                    if (answer.contains("\"error\"")) {
                        throw new AssertionError(answer);
                    }
                });
    }
}
