package dev.droidgate.proof.agents;

import android.content.ContentProvider;
import android.os.Bundle;
import android.util.Base64;
import dev.droidgate.proof.phone.Phone;
import dev.droidgate.shim.host.HostProvider;
import java.nio.charset.StandardCharsets;
import org.json.JSONException;
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

    /** Asks as the shell; names and values in turn make the argument. */
    public JSONObject ask(String method, Object... argument) {
        try {
            JSONObject given = new JSONObject().put("version", 1);
            for (int index = 0; index < argument.length; index += 2) {
                given.put((String) argument[index], argument[index + 1]);
            }
            String text =
                    Base64.encodeToString(
                            given.toString().getBytes(StandardCharsets.UTF_8),
                            Base64.URL_SAFE | Base64.NO_PADDING | Base64.NO_WRAP);
            Bundle[] answer = new Bundle[1];
            phone.as(Phone.SHELL, () -> answer[0] = provider.call(method, text, null));
            byte[] data = Base64.decode(answer[0].getString("result"), Base64.URL_SAFE);
            JSONObject read = new JSONObject(new String(data, StandardCharsets.UTF_8));
            if (read.has("error")) {
                throw new AssertionError(read);
            }
            return read;
        } catch (JSONException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Grants a capability to a package, or to {@code any-app}. */
    public void grant(String caller, String capability) {
        ask("grant", "caller", caller, "capability", capability);
    }

    /** Switches a capability on or off for all. */
    public void turn(String capability, boolean on) {
        ask("switch", "capability", capability, "on", on);
    }
}
