package dev.droidgate.shim.host;

import android.app.NotificationManager;
import android.content.ComponentName;
import android.content.Context;
import android.os.Build;
import android.os.PowerManager;
import android.provider.Settings;
import dev.droidgate.shim.Caller;
import dev.droidgate.shim.Shim;
import dev.droidgate.shim.backends.ShellIdentity;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Frontend;
import dev.droidgate.shim.core.Json;
import dev.droidgate.shim.core.JsonWriter;
import dev.droidgate.shim.core.MalformedJsonException;
import dev.droidgate.shim.core.Route;
import dev.droidgate.shim.core.Target;
import dev.droidgate.shim.platform.Names;
import dev.droidgate.shim.platform.Packages;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentMap;

/** What the host may ask for (shim.md 7). */
public final class HostCommands {
    private static final int LONGEST_REQUEST = 32 * 1024;

    /** In UTF-16 units: with the response it has to fit into what Binder carries at once. */
    private static final int LONGEST_TRACE = 100_000;

    private static final long LONGEST_WAIT_MS = 600_000;
    private static final long USUAL_WAIT_MS = 150_000;

    private static final List<String> WORST_LAST =
            Arrays.asList("as-approved", "changed", "other-signer", "absent");

    private final Shim shim;
    private final Caller host;
    private final ConcurrentMap<String, HostReply> calls;

    HostCommands(Shim shim, Caller host, ConcurrentMap<String, HostReply> calls) {
        this.shim = shim;
        this.host = host;
        this.calls = calls;
    }

    /**
     * Runs a command and returns its answer.
     *
     * @throws CallFailure it cannot be done
     * @throws MalformedJsonException the argument lacks something, or holds it as something else
     */
    Map<String, Object> run(String method, Map<String, Object> argument)
            throws CallFailure, MalformedJsonException {
        switch (method) {
            case "hello":
                return hello();
            case "status":
                return status();
            case "grant":
                return grant(argument);
            case "revoke":
                long revoked =
                        shim.grants.remove(
                                Json.textAt(argument, "caller"), Json.textAt(argument, "capability"));
                return single("revoked", revoked);
            case "ask":
                Json.check(argument.get("on") != null, "on");
                shim.grants.ask(Json.flagAt(argument, "on"));
                return new LinkedHashMap<>();
            case "call":
                return call(argument);
            case "cancel":
                return cancel(Json.textAt(argument, "id"));
            case "progress":
                HostReply open = calls.get(Json.textAt(argument, "id"));
                return single("stage", open == null ? null : open.stage);
            case "discover-broadcast":
                return discover(Json.textAt(argument, "component"));
            default:
                throw new CallFailure(FailureTokens.INVALID_ARGUMENT, "the method does not exist");
        }
    }

    private static Map<String, Object> single(String key, Object value) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put(key, value);
        return answer;
    }

    private Map<String, Object> hello() {
        Map<String, Object> hello = single("application_id", shim.context.getPackageName());
        hello.put("build", shim.app.get("build"));
        hello.put("sdk", (long) Build.VERSION.SDK_INT);
        List<Object> ids = new ArrayList<>();
        for (Route route : shim.routes.all()) {
            ids.add(route.id);
        }
        hello.put("routes", ids);
        hello.put("sources", shim.app.get("sources"));
        return hello;
    }

    private Map<String, Object> status() {
        Map<String, Object> status = hello();
        status.put("grants", shim.grants.all());
        status.put("switched_off", shim.grants.switchedOff());
        status.put("asking", shim.grants.isAsking());
        status.put("open", (long) shim.open());
        status.put("targets", targets());
        status.put("access", access());
        return status;
    }

    private List<Object> targets() {
        Map<String, Object> states = new LinkedHashMap<>();
        for (Route route : shim.routes.all()) {
            String name = route.target.packageName;
            String state = stateOf(route);
            Object before = states.get(name);
            if (before == null || WORST_LAST.indexOf(state) > WORST_LAST.indexOf(before)) {
                states.put(name, state);
            }
        }
        List<Object> targets = new ArrayList<>();
        for (Map.Entry<String, Object> entry : states.entrySet()) {
            Map<String, Object> target = single("package", entry.getKey());
            target.put("state", entry.getValue());
            long version = Packages.version(shim.context, entry.getKey());
            target.put("version_code", version < 0 ? null : (Object) version);
            targets.add(target);
        }
        return targets;
    }

    private String stateOf(Route route) {
        Target installed = shim.installed.of(route);
        if (installed == null) {
            return "absent";
        }
        if (!installed.signer.equals(route.target.signer)) {
            return "other-signer";
        }
        return installed.digest.equals(route.target.digest) ? "as-approved" : "changed";
    }

    private Map<String, Object> access() {
        Context context = shim.context;
        NotificationManager notifications = context.getSystemService(NotificationManager.class);
        PowerManager power = context.getSystemService(PowerManager.class);
        Map<String, Object> access = single("notifications", notifications.areNotificationsEnabled());
        access.put("overlay", Settings.canDrawOverlays(context));
        access.put("battery_exempt", power.isIgnoringBatteryOptimizations(context.getPackageName()));
        boolean borrows = ShellIdentity.isHolder(context) && ShellIdentity.isLent();
        access.put("execute_app_functions", borrows || Packages.mayCallFunctions(context));
        return access;
    }

    private Map<String, Object> grant(Map<String, Object> argument)
            throws CallFailure, MalformedJsonException {
        String caller = Json.textAt(argument, "caller");
        String capability = Json.textAt(argument, "capability");
        if (!Names.EVERYTHING.equals(capability) && shim.routes.find(capability) == null) {
            throw new CallFailure(
                    FailureTokens.UNKNOWN_CAPABILITY, "the shim has no capability of this id");
        }
        Object signer = argument.get("signer");
        Map<String, Object> grant =
                shim.grants.add(caller, capability, signer == null ? null : Json.textAt(argument, "signer"));
        if (grant == null) {
            throw new CallFailure(
                    FailureTokens.UNAVAILABLE, caller + " is not installed, or signed by another");
        }
        return single("grant", grant);
    }

    private Map<String, Object> discover(String component) throws CallFailure {
        ComponentName named = ComponentName.unflattenFromString(component);
        if (named == null) {
            throw new CallFailure(FailureTokens.INVALID_ARGUMENT, "this is not a component");
        }
        if (Packages.version(shim.context, named.getPackageName()) < 0) {
            throw new CallFailure(FailureTokens.UNAVAILABLE, named.getPackageName() + " is not installed");
        }
        List<Object> tools = shim.discoveries.discover(component);
        if (tools == null) {
            throw new CallFailure(FailureTokens.TIMEOUT, "the receiver reported no tools");
        }
        return single(Names.TOOLS, tools);
    }

    private Map<String, Object> call(Map<String, Object> argument)
            throws CallFailure, MalformedJsonException {
        String request = Json.textAt(argument, "request");
        if (request.length() > LONGEST_REQUEST) {
            throw new CallFailure(FailureTokens.INVALID_ARGUMENT, "the request is too long for this method");
        }
        long allowed = Json.integerAt(argument, "deadline_ms", USUAL_WAIT_MS);
        HostReply reply = new HostReply(host, Json.flagAt(argument, "trace"));
        Object id = argument.get("id");
        if (id != null && !(id instanceof String && ((String) id).matches(HostReply.ID))) {
            throw new CallFailure(FailureTokens.INVALID_ARGUMENT, "/id: 32 hexadecimal digits are needed");
        }
        if (id != null && !reply.open(calls, (String) id)) {
            throw new CallFailure(FailureTokens.BUSY, "a call of this id is open");
        }
        shim.receive(reply, Frontend.written(request), true);
        if (!reply.await(Math.min(allowed, LONGEST_WAIT_MS))) {
            shim.cancel(reply);
            throw new CallFailure(
                    FailureTokens.TIMEOUT,
                    "no answer came in time; the call may have run");
        }
        if (reply.text() == null) {
            boolean canceled = FailureTokens.CANCELED.equals(reply.token());
            throw new CallFailure(
                    reply.token(),
                    canceled ? "the computer ended the call" : "the request has an unknown form");
        }
        Map<String, Object> answer = single("response", reply.text());
        Map<String, Object> trace = reply.trace();
        if (trace != null && JsonWriter.write(trace).length() <= LONGEST_TRACE) {
            answer.put("trace", trace);
        }
        return answer;
    }

    private Map<String, Object> cancel(String id) {
        HostReply reply = calls.get(id);
        if (reply != null) {
            shim.cancel(reply);
        }
        return single("canceled", reply != null);
    }
}
