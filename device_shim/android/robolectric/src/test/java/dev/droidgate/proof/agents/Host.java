package dev.droidgate.proof.agents;

import android.content.ContentProvider;
import android.net.Uri;
import android.os.Bundle;
import android.os.ParcelFileDescriptor;
import android.util.Base64;
import dev.droidgate.proof.phone.Phone;
import dev.droidgate.shim.host.HostProvider;
import java.io.FileNotFoundException;
import java.nio.charset.StandardCharsets;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;
import org.robolectric.Robolectric;

/** The computer at the other end of adb, by docs/shim.md 7. */
public final class Host {
    public static final int ROOT = 0;
    public static final int SHELL = 2_000;
    public static final String AUTHORITY = "dev.droidgate.shim.host";
    private static final String DUMP = "android.permission.DUMP";

    private final Phone phone;
    final ContentProvider provider =
            Robolectric.buildContentProvider(HostProvider.class).create(AUTHORITY).get();

    public Host(Phone phone) {
        this.phone = phone;
        phone.permit(SHELL, DUMP);
        phone.permit(ROOT, DUMP);
    }

    /** Returns a base64url text as the provider takes it. */
    public static String encoded(String text) {
        return Base64.encodeToString(
                text.getBytes(StandardCharsets.UTF_8), Base64.URL_SAFE | Base64.NO_PADDING | Base64.NO_WRAP);
    }

    /** Asks as the shell; names and values in turn make the argument. */
    public JSONObject ask(String method, Object... argument) {
        try {
            return read(call(SHELL, method, encoded(Agent.of(argument).put("version", 1).toString())));
        } catch (JSONException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Returns what a uid gets, as it is. */
    public Bundle call(int uid, String method, String argument) {
        Bundle[] bundles = new Bundle[1];
        phone.as(uid, () -> bundles[0] = provider.call(method, argument, null));
        return bundles[0];
    }

    /** Reads an answer. */
    public static JSONObject read(Bundle bundle) {
        if (!bundle.keySet().equals(java.util.Set.of("result"))) {
            throw new AssertionError(bundle.keySet());
        }
        try {
            byte[] data = Base64.decode(bundle.getString("result"), Base64.URL_SAFE);
            JSONObject answer = new JSONObject(new String(data, StandardCharsets.UTF_8));
            if (answer.getInt("version") != 1) {
                throw new AssertionError(answer);
            }
            return answer;
        } catch (JSONException malformed) {
            throw new AssertionError(malformed);
        }
    }

    /** Returns a member of an answer as text. */
    public static String text(Bundle bundle, String key) {
        return String.valueOf(read(bundle).opt(key));
    }

    /** Returns a member of a method's answer as text. */
    public String text(String method, String key) {
        return String.valueOf(ask(method).opt(key));
    }

    /** Returns the token that an argument's text is refused with. */
    public String token(String argument) {
        return tokenOf(read(call(SHELL, "hello", encoded(argument))));
    }

    /** Returns the token that a method is refused with. */
    public String tokenOf(String method, Object... argument) {
        return tokenOf(ask(method, argument));
    }

    private static String tokenOf(JSONObject answer) {
        JSONObject error = answer.optJSONObject("error");
        if (error == null) {
            throw new AssertionError(answer);
        }
        return error.optString("token");
    }

    /** Returns how a target compares with what was approved. */
    public String state(String packageName) {
        JSONArray targets = inBackground("status").optJSONArray("targets");
        for (int index = 0; index < targets.length(); index++) {
            if (targets.optJSONObject(index).optString("package").equals(packageName)) {
                return targets.optJSONObject(index).optString("state");
            }
        }
        throw new AssertionError(targets);
    }

    public int histories() {
        return ask("history").optJSONArray("calls").length();
    }

    /** Returns a member of an entry of the history. */
    public String history(int index, String key) {
        return String.valueOf(ask("history").optJSONArray("calls").optJSONObject(index).opt(key));
    }

    public String revoke(String caller, String capability) {
        return String.valueOf(ask("revoke", "caller", caller, "capability", capability).opt("revoked"));
    }

    public String discover(String component) {
        return String.valueOf(inBackground("discover-broadcast", "component", component).opt("tools"));
    }

    /** Asks from a thread of its own, as a binder's is, while everything else goes on. */
    private JSONObject inBackground(String method, Object... argument) {
        return new Pending(method, argument).answer();
    }

    /** A method that runs on a thread of its own, as a binder's is. */
    public final class Pending {
        private final String method;
        private final Thread binder;
        private JSONObject answer;
        private RuntimeException failed;

        Pending(String method, Object... argument) {
            this.method = method;
            binder =
                    new Thread(
                            () -> {
                                try {
                                    answer = ask(method, argument);
                                } catch (RuntimeException refused) {
                                    failed = refused;
                                }
                            });
            binder.start();
        }

        JSONObject answer() {
            phone.until(method, () -> !binder.isAlive());
            if (failed != null) {
                throw failed;
            }
            return answer;
        }

        /** Waits for the answer, and returns the token that it is refused with. */
        public String token() {
            return tokenOf(answer());
        }
    }

    /** Begins a call of a capability, under an id. */
    public Pending begin(String id, String capability) {
        String request = Edition.ARGS.request("7", capability, Agent.of());
        return new Pending("call", "request", request, "deadline_ms", 20_000, "id", id);
    }

    /** Returns how far an open call has come. */
    public String stage(String id) {
        return String.valueOf(ask("progress", "id", id).opt("stage"));
    }

    /** Calls a capability, and returns the trace. */
    public JSONObject trace(String capability) {
        String request = Edition.ARGS.request("7", capability, Agent.of());
        return inBackground("call", "request", request, "deadline_ms", 20_000, "trace", true).optJSONObject("trace");
    }

    /** Calls a capability. */
    public Answer callTool(Edition edition, String id, String capability, Object... arguments) {
        String request = edition.request(id, capability, Agent.of(arguments));
        JSONObject answer = inBackground("call", "request", request, "deadline_ms", 20_000);
        return edition.read(answer.optString("response"));
    }

    public String tokenOfCall(String capability, long deadline) {
        String request = Edition.ARGS.request("7", capability, Agent.of());
        return tokenOf(inBackground("call", "request", request, "deadline_ms", deadline));
    }

    /** Grants a capability to a package, or to {@code any-app}. */
    public void grant(String caller, String capability) {
        JSONObject answer = ask("grant", "caller", caller, "capability", capability);
        if (!answer.has("grant")) {
            throw new AssertionError(answer);
        }
    }

    /** Opens a call's file as a uid. */
    public ParcelFileDescriptor open(int uid, String id, String mode) throws FileNotFoundException {
        ParcelFileDescriptor[] pipe = new ParcelFileDescriptor[1];
        FileNotFoundException[] failed = new FileNotFoundException[1];
        phone.as(
                uid,
                () -> {
                    try {
                        pipe[0] = provider.openFile(Uri.parse("content://" + AUTHORITY + "/calls/" + id), mode);
                    } catch (FileNotFoundException none) {
                        failed[0] = none;
                    }
                });
        if (failed[0] != null) {
            throw failed[0];
        }
        return pipe[0];
    }
}
