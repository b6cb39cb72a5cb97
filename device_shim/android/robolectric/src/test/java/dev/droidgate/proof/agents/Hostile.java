package dev.droidgate.proof.agents;

import android.content.ComponentName;
import android.content.Intent;
import android.net.Uri;
import android.os.Bundle;
import android.os.Parcel;
import android.os.Parcelable;
import dev.droidgate.proof.apps.ClockService;
import dev.droidgate.proof.apps.LampService;
import dev.droidgate.proof.phone.Inputs;
import dev.droidgate.proof.phone.Phone;
import dev.droidgate.proof.phone.Phone.Asked;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.json.JSONException;
import org.json.JSONObject;

/** Requests that try to get more out of the shim than a tool's two texts, and what went out. */
public final class Hostile {
    private static final String ORIGIN = "gateway_origin_package";
    private static final String CERTIFICATE = "gateway_origin_certificate";
    private static final String[] TEXTS = {
        "",
        "content://dev.droidgate.shim.host/calls/0",
        "intent://evil#Intent;component=android/.Evil;S.mcp_callback=x;launchFlags=0x3;end",
        "\u0000\u001f\u007f\u2028\u202e\ud83d\ude00",
        "{\"tool_name\":\"evil\",\"gateway_origin_package\":\"android\"}",
        "\"}},\"capability\":{\"id\":\"lamp.switch\"",
        "Error: denied",
        "@string/app_name",
        "-1e999",
    };
    private static final String[] NAMES = {
        "text", "place", "zone", "on", "a", "b", "title", "tool_name", "tool", "parameters", "params", ORIGIN, CERTIFICATE,
        "mcp_callback", "request", "mobile-mcp-request", "opening", "android.intent.extra.INTENT", "__proto__",
    };

    private static final Map<String, String> PARAMETERS =
            Map.of("desk.echo", "text", "radio.forecast", "place", "clock.now", "zone", "lamp.switch", "on");

    private final Random random;
    private final Phone phone;

    public Hostile(Phone phone, long seed) {
        this.phone = phone;
        random = new Random(seed);
    }

    /** Cannot be read by an app that does not have this class, nor by this one. */
    private static final class Poison implements Parcelable {
        @Override
        public int describeContents() {
            return 0;
        }

        @Override
        public void writeToParcel(Parcel out, int flags) {
            out.writeInt(1);
        }
    }

    private String text() {
        StringBuilder text = new StringBuilder(TEXTS[random.nextInt(TEXTS.length)]);
        for (int count = random.nextInt(4); count > 0; count--) {
            text.append((char) (random.nextInt(0xd7ff - 1) + 1)).append(TEXTS[random.nextInt(TEXTS.length)]);
        }
        return text.toString();
    }

    private Object value() {
        switch (random.nextInt(6)) {
            case 0:
                return random.nextInt();
            case 1:
                return random.nextBoolean();
            case 2:
                return JSONObject.NULL;
            case 3:
                return Agent.of(NAMES[random.nextInt(NAMES.length)], text());
            default:
                return text();
        }
    }

    /** Returns data of a message: a request that may fit, and what no request has. */
    public Bundle data(Edition edition, String id, String capability) {
        JSONObject arguments = new JSONObject();
        try {
            for (int count = random.nextInt(8); count > 0; count--) {
                arguments.put(NAMES[random.nextInt(NAMES.length)], value());
            }
            // Most of them fit what is declared; any other name is refused.
            if (random.nextInt(8) > 0) {
                boolean isSwitch = capability.equals("lamp.switch");
                arguments = new JSONObject();
                arguments.put(PARAMETERS.get(capability), isSwitch ? (Object) random.nextBoolean() : text());
            }
        } catch (JSONException impossible) {
            throw new AssertionError(impossible);
        }
        Bundle data = new Bundle();
        for (int count = random.nextInt(5); count > 0; count--) {
            spoil(data);
        }
        data.putString(edition.requestExtra, edition.request(id, capability, arguments));
        return data;
    }

    private void spoil(Bundle data) {
        String name = NAMES[random.nextInt(NAMES.length)];
        if (name.endsWith("request")) {
            // Another request, which would be answered in its own form.
            return;
        }
        switch (random.nextInt(4)) {
            case 0:
                data.putParcelable(
                        name,
                        new Intent("evil", Uri.parse("content://evil/1"))
                                .setFlags(Intent.FLAG_GRANT_READ_URI_PERMISSION));
                break;
            case 1:
                data.putParcelable("poison", new Poison());
                break;
            case 2:
                data.putString(name, text());
                break;
            default:
                data.putBundle(name, new Bundle());
        }
    }

    /** Looks at all that went out since the last time, to the last field; returns how much that was. */
    public int check() {
        List<Asked> asked = phone.asked;
        int count = 0;
        while (!asked.isEmpty()) {
            check(asked.remove(0));
            count++;
        }
        while (!ClockService.CALLS.isEmpty()) {
            check(ClockService.CALLS.remove(0), Set.of("mobile-mcp-request", ORIGIN, CERTIFICATE));
            count++;
        }
        return count;
    }

    private void check(Asked question) {
        Intent intent = question.intent();
        ComponentName component = intent.getComponent();
        String action = intent.getAction();
        String text = question + " " + (intent.getExtras() == null ? "" : keys(intent.getExtras()));
        expect(intent.getData() == null && intent.getType() == null, text);
        expect(intent.getClipData() == null && intent.getSelector() == null, text);
        expect(intent.getCategories() == null && intent.getSourceBounds() == null, text);
        expect(question.options() == null, text);
        String name = component == null ? null : component.getShortClassName();
        if (name == null) {
            // Only the callbacks: of the agents, and of the shim's own starts.
            expect("broadcast".equals(question.what()), text);
            return;
        }
        String packageName = component.getPackageName();
        switch (name.substring(name.lastIndexOf('.') + 1)) {
            case "TrampolineActivity":
                expect(packageName.equals("dev.droidgate.shim") && action == null, text);
                expect(intent.getFlags() == (Intent.FLAG_ACTIVITY_NEW_TASK | Intent.FLAG_ACTIVITY_MULTIPLE_TASK), text);
                expect(keys(intent.getExtras()).equals(Set.of("opening")), text);
                break;
            case "DeskActivity":
                expect(packageName.equals("dev.droidgate.proof.desk") && intent.getFlags() == 0, text);
                expect("com.example.mMCP.ACTION_TOOL_CALL".equals(action), text);
                check(intent.getExtras(), Set.of("tool_name", "parameters", ORIGIN, CERTIFICATE));
                expect("echo".equals(intent.getStringExtra("tool_name")), text);
                break;
            case "RadioReceiver":
                expect(packageName.equals("dev.droidgate.proof.radio"), text);
                expect(intent.getFlags() == Intent.FLAG_INCLUDE_STOPPED_PACKAGES, text);
                if ("com.example.ACTION_MMCP_DISCOVERY".equals(action)) {
                    expect(intent.getExtras() == null, text);
                    break;
                }
                expect("com.example.ACTION_MMCP_INVOKE".equals(action), text);
                check(intent.getExtras(), Set.of("tool", "params", ORIGIN, CERTIFICATE));
                expect("forecast".equals(intent.getStringExtra("tool")), text);
                break;
            case "ClockService":
            case "LampService":
                expect(packageName.equals("dev.droidgate.proof.clock") && intent.getFlags() == 0, text);
                expect("mobile.mcp.SERVICE".equals(action), text);
                if ("bind".equals(question.what())) {
                    expect(intent.getExtras() == null, text);
                    break;
                }
                Bundle extras = new Bundle(intent.getExtras());
                expect(extras.get("mcp_callback") instanceof android.app.PendingIntent, text);
                extras.remove("mcp_callback");
                check(extras, Set.of("mobile-mcp-request", ORIGIN, CERTIFICATE));
                break;
            default:
                throw new AssertionError(text);
        }
    }

    private static Set<String> keys(Bundle extras) {
        return new TreeSet<>(extras.keySet());
    }

    private static void check(Bundle extras, Set<String> names) {
        Map<String, Object> fields = new TreeMap<>();
        for (String extra : extras.keySet()) {
            fields.put(extra, extras.get(extra));
        }
        expect(fields.keySet().equals(names), fields.toString());
        fields.values().forEach(item -> expect(item instanceof String, fields.toString()));
        expect(fields.get(ORIGIN).equals("dev.droidgate.proof.agent"), fields.toString());
        expect(fields.get(CERTIFICATE).equals(Inputs.app("agent").signer()), fields.toString());
        for (String json : new String[] {"parameters", "params", "mobile-mcp-request"}) {
            if (fields.containsKey(json)) {
                parse((String) fields.get(json));
            }
        }
    }

    private static void parse(String json) {
        try {
            new JSONObject(json);
        } catch (JSONException malformed) {
            throw new AssertionError(json, malformed);
        }
    }

    private static void expect(boolean holds, String text) {
        if (!holds) {
            throw new AssertionError(text);
        }
    }

    public void forgetLamp() {
        LampService.CALLS.clear();
    }
}
