package dev.droidgate.proof;

import static org.robolectric.Shadows.shadowOf;

import android.app.Activity;
import android.app.appfunctions.AppFunctionManager;
import android.app.appfunctions.ExecuteAppFunctionResponse;
import android.app.appfunctions.IAppFunctionManager;
import android.app.appfunctions.IExecuteAppFunctionCallback;
import android.app.appsearch.GenericDocument;
import android.content.ContentProvider;
import android.content.Intent;
import android.net.Uri;
import android.os.Bundle;
import android.os.CancellationSignal;
import android.os.ICancellationSignal;
import java.io.ByteArrayInputStream;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;
import org.robolectric.Robolectric;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.util.ReflectionHelpers;
import org.robolectric.util.ReflectionHelpers.ClassParameter;

/** The agent app, whose classes are those of the dex that ships, and the computer that drives it. */
final class AgentApp {
    private static final String PACKAGE = "dev.droidgate.sample.agent.";

    private final Phone phone;
    private final ContentProvider provider;
    private IExecuteAppFunctionCallback function;
    private int calls;

    /** Whether the app of the open function was asked to cancel it. */
    boolean isCanceled;

    AgentApp(Phone phone) {
        this.phone = phone;
        provider = Robolectric.buildContentProvider(classOf("ComputerProvider", ContentProvider.class))
                .create("agent.computer")
                .get();
    }

    private static <T> Class<? extends T> classOf(String name, Class<T> kind) {
        try {
            return Class.forName(PACKAGE + name).asSubclass(kind);
        } catch (ClassNotFoundException missing) {
            throw new AssertionError(missing);
        }
    }

    /** Asks for something, and returns the answer. */
    JSONObject ask(String method, Map<String, ?> values) {
        return Host.ask(phone, provider, method, new JSONObject(values));
    }

    /** Returns protocol and class of what it sees that offers tools. */
    List<String> sees() throws JSONException {
        JSONArray components = ask("list", Map.of()).getJSONArray("components");
        List<String> found = new ArrayList<>();
        for (int index = 0; index < components.length(); index++) {
            JSONObject item = components.getJSONObject(index);
            String component = item.getString("component");
            if (component.contains("Apps$")) {
                found.add(item.getString("protocol") + component.substring(component.indexOf('$')));
            }
        }
        return found;
    }

    /** Calls a tool, and returns what ends the call. */
    JSONObject call(String transport, String action, String tool, Map<String, String> extras)
            throws JSONException {
        String call = "call " + calls++;
        String app = tool.equals("Lamp") ? "clock" : tool.toLowerCase(Locale.ROOT);
        ask("send", Map.of(
                "call", call,
                "transport", transport,
                "component", "dev.droidgate.proof." + app + "/dev.droidgate.proof.Apps$" + tool,
                "action", action,
                "extras", extras));
        if (transport.equals("activity")) {
            phone.open(classOf("CallActivity", Activity.class), new Intent().putExtra("call", call));
        }
        return end();
    }

    private JSONObject end() throws JSONException {
        phone.quiet();
        JSONArray events = ask("log", Map.of("after", 0)).getJSONArray("events");
        return events.getJSONObject(events.length() - 1);
    }

    /** Executes an app function that stays open, of an app that the test plays. */
    void execute() {
        IAppFunctionManager service =
                (IAppFunctionManager)
                        Proxy.newProxyInstance(
                                getClass().getClassLoader(),
                                new Class<?>[] {IAppFunctionManager.class},
                                (proxy, method, given) -> open((IExecuteAppFunctionCallback) given[1]));
        Shadows.appFunctions = new AppFunctionManager(service, phone.shim);
        Map<String, ?> arguments = Map.of("title", "Milk", "count", 2);
        ask("execute", Map.of("call", "f", "package", "p", "function", "f", "arguments", arguments));
        phone.quiet();
    }

    private ICancellationSignal open(IExecuteAppFunctionCallback callback) {
        function = callback;
        ICancellationSignal transport = CancellationSignal.createTransport();
        CancellationSignal.fromTransport(transport).setOnCancelListener(() -> isCanceled = true);
        return transport;
    }

    /** Answers the open function, from Android 17 on with two files, and returns what ends the call. */
    JSONObject answerWithFiles() throws Exception {
        GenericDocument document =
                new GenericDocument.Builder<>("", "", "").setPropertyString("title", "Milk").build();
        Bundle extras = new Bundle();
        extras.putString("property/kept", "here");
        ExecuteAppFunctionResponse response = new ExecuteAppFunctionResponse(document, extras);
        if (RuntimeEnvironment.getApiLevel() >= 37) {
            Uri readable = Uri.parse("content://notes/1");
            shadowOf(phone.shim.getContentResolver())
                    .registerInputStream(readable, new ByteArrayInputStream(new byte[70_000]));
            List<?> grants = List.of(grant(readable), grant(Uri.parse("content://nobody/2")));
            response =
                    ReflectionHelpers.callConstructor(
                            ExecuteAppFunctionResponse.class,
                            ClassParameter.from(GenericDocument.class, document),
                            ClassParameter.from(Bundle.class, extras),
                            ClassParameter.from(List.class, grants));
        }
        function.onSuccess(response);
        return end();
    }

    private static Object grant(Uri uri) throws ClassNotFoundException {
        return ReflectionHelpers.callConstructor(
                Class.forName("android.app.appfunctions.AppFunctionUriGrant"),
                ClassParameter.from(Uri.class, uri),
                ClassParameter.from(int.class, Intent.FLAG_GRANT_READ_URI_PERMISSION));
    }
}
