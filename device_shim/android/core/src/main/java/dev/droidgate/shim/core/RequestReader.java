package dev.droidgate.shim.core;

import java.math.BigDecimal;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads a request of any dialect (docs/shim-engine.md 3; {@code droidgate_mobile_mcp.wire_requests}).
 *
 * <p>One reader reads one request; after a failure {@link #seen} holds what an answer needs.
 */
final class RequestReader {
    private static final String[] EXTRAS = {
        Dialect.REQUEST_EXTRA, Dialect.PROTOTYPE_REQUEST_EXTRA, Dialect.COMMAND_EXTRA
    };
    private static final String[] ARGUMENT_KEYS = {"args", "input"};

    /** What was read so far; null where no extra holds a request. */
    Request seen;

    private final boolean bound;

    RequestReader(boolean bound) {
        this.bound = bound;
    }

    /**
     * Reads a request.
     *
     * @throws CallFailure {@code invalid_argument} or {@code unsupported_version}
     */
    Request read(Map<String, ?> extras) throws CallFailure {
        String extra = null;
        for (int index = EXTRAS.length - 1; index >= 0; index--) {
            extra = extras.containsKey(EXTRAS[index]) ? EXTRAS[index] : extra;
        }
        if (extra == null) {
            throw malformed("no extra holds a request");
        }
        boolean specified = Dialect.REQUEST_EXTRA.equals(extra);
        boolean command = Dialect.COMMAND_EXTRA.equals(extra);
        Dialect usual = bound ? Dialect.MM_6 : Dialect.MM_5;
        seen = new Request(specified ? Dialect.S0 : usual, specified, extra);
        if (command && extras.get(Dialect.REQUEST_ID_EXTRA) instanceof String) {
            seen.id = (String) extras.get(Dialect.REQUEST_ID_EXTRA);
            seen.writtenId = seen.id;
        }
        try {
            Object text = extras.get(extra);
            if (!(text instanceof String)) {
                throw malformed("the request is no text");
            }
            Map<String, Object> document =
                    Json.objectOf(JsonReader.parse((String) text), "the request");
            if (command) {
                return readCommand(document);
            }
            return readDocument(document, extra);
        } catch (MalformedJsonException malformed) {
            throw malformed(malformed.getMessage());
        }
    }

    private static CallFailure malformed(String message) {
        return new CallFailure(FailureTokens.INVALID_ARGUMENT, message);
    }

    private Request readCommand(Map<String, Object> document) throws CallFailure {
        boolean named = document.containsKey("capability");
        Object capability = document.get(named ? "capability" : "capabilityId");
        seen.capability = capability instanceof String ? (String) capability : "";
        throw new CallFailure(
                FailureTokens.UNSUPPORTED_VERSION, "this form of requests is older than version 1.0");
    }

    private Request readDocument(Map<String, Object> document, String extra)
            throws CallFailure, MalformedJsonException {
        Map<String, Object> inner = document;
        if (document.containsKey(Dialect.REQUEST_EXTRA)) {
            inner = Json.objectOf(document.get(Dialect.REQUEST_EXTRA), Dialect.REQUEST_EXTRA);
        }
        boolean wrapped = inner.containsKey("request");
        Map<String, Object> request =
                wrapped ? Json.objectOf(inner.get("request"), "request") : inner;
        Map<String, Object> capability = Json.object(request.get("capability"));
        seen = new Request(dialectOf(keyOf(capability, request), wrapped), wrapped, extra);
        readId(request.get("id"));
        if (wrapped) {
            checkVersion(inner.get("version"));
        }
        if (capability == null) {
            throw malformed("the request names no capability");
        }
        String id = Json.text(capability.get("id"));
        if (id == null || id.isEmpty()) {
            throw malformed("the request's capability has no id");
        }
        seen.capability = id;
        seen.arguments = readArguments(capability, request);
        return seen;
    }

    private static String keyOf(Map<String, Object> capability, Map<String, Object> request) {
        for (String key : ARGUMENT_KEYS) {
            if (request.containsKey(key) || capability != null && capability.containsKey(key)) {
                return key;
            }
        }
        return "";
    }

    private Dialect dialectOf(String key, boolean wrapped) {
        if (wrapped) {
            return "input".equals(key) ? Dialect.S1 : Dialect.S0;
        }
        boolean listed = "args".equals(key);
        if (bound) {
            return listed ? Dialect.MM_6_ARGS : Dialect.MM_6;
        }
        return listed ? Dialect.MM_4 : Dialect.MM_5;
    }

    private void readId(Object id) throws CallFailure {
        if (!(id instanceof Long) && (!(id instanceof String) || ((String) id).isEmpty())) {
            throw malformed("the request has no id");
        }
        seen.id = id.toString();
        seen.writtenId = id;
    }

    private static void checkVersion(Object version) throws CallFailure {
        boolean known =
                version == null
                        || Dialect.VERSION.equals(version)
                        || "1".equals(version)
                        || Json.equal(version, BigDecimal.ONE);
        if (!known) {
            throw new CallFailure(
                    FailureTokens.UNSUPPORTED_VERSION, "version " + Dialect.VERSION + " is what is known");
        }
    }

    private static Map<String, Object> readArguments(
            Map<String, Object> capability, Map<String, Object> request)
            throws CallFailure, MalformedJsonException {
        Map<String, Object> found = null;
        for (String key : ARGUMENT_KEYS) {
            Map<String, Object> holder = capability.containsKey(key) ? capability : request;
            if (holder.containsKey(key)) {
                Map<String, Object> read = mapOf(holder.get(key));
                if (found != null && !Json.equal(found, read)) {
                    throw malformed("args and input hold different arguments");
                }
                found = found == null ? read : found;
            }
        }
        return found == null ? Collections.<String, Object>emptyMap() : found;
    }

    private static Map<String, Object> mapOf(Object given)
            throws CallFailure, MalformedJsonException {
        Object value = given;
        if (value instanceof String) {
            String text = (String) value;
            value = FailureTokens.stripped(text).isEmpty() ? null : JsonReader.parse(text);
        }
        if (value == null) {
            return Collections.emptyMap();
        }
        if (value instanceof List) {
            return mapOfList(Json.list(value));
        }
        return Json.objectOf(value, "the value of args or input");
    }

    private static Map<String, Object> mapOfList(List<Object> entries) throws CallFailure {
        Map<String, Object> arguments = new LinkedHashMap<>();
        for (Object entry : entries) {
            Map<String, Object> held = Json.object(entry);
            String name = held == null ? null : Json.text(held.get("name"));
            if (name == null || !held.containsKey("value")) {
                throw malformed("an argument of the list has no name or no value");
            }
            if (arguments.containsKey(name)) {
                throw malformed("the argument " + name + " is given twice");
            }
            arguments.put(name, held.get("value"));
        }
        return arguments;
    }
}
