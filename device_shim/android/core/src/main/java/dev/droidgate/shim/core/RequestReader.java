package dev.droidgate.shim.core;

import java.math.BigDecimal;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads a request of any dialect (shim-engine.md 3; {@code droidgate_mobile_mcp.wire}).
 *
 * <p>One reader reads one request; after a failure {@link #seen} holds what an answer needs.
 */
final class RequestReader {
    private static final String[] EXTRAS = {
        WireDialect.REQUEST_EXTRA, WireDialect.PROTOTYPE_REQUEST_EXTRA, WireDialect.COMMAND_EXTRA
    };
    private static final String[] ARGUMENT_KEYS = {"args", "input"};

    /** A broken text has a form if one of these could be read. */
    private static final String[] KEYS_OF_A_FORM = {
        WireDialect.REQUEST_EXTRA, "request", "id", "capability"
    };

    /** What was read so far; null where no extra holds a request. */
    MobileMcpRequest seen;

    private final boolean bound;

    RequestReader(boolean bound) {
        this.bound = bound;
    }

    /**
     * Reads a request.
     *
     * @throws CallFailure {@code invalid_argument} or {@code unsupported_version}
     */
    MobileMcpRequest read(Map<String, ?> extras) throws CallFailure {
        String extra = null;
        for (int index = EXTRAS.length - 1; index >= 0; index--) {
            extra = extras.containsKey(EXTRAS[index]) ? EXTRAS[index] : extra;
        }
        if (extra == null) {
            throw malformed("no extra holds a request");
        }
        boolean specified = WireDialect.REQUEST_EXTRA.equals(extra);
        boolean command = WireDialect.COMMAND_EXTRA.equals(extra);
        WireDialect usual = bound ? WireDialect.MM_6 : WireDialect.MM_5;
        seen = new MobileMcpRequest(specified ? WireDialect.S0 : usual, specified, extra);
        if (command && extras.get(WireDialect.REQUEST_ID_EXTRA) instanceof String) {
            seen.identify(extras.get(WireDialect.REQUEST_ID_EXTRA));
        }
        Object text = extras.get(extra);
        if (!(text instanceof String)) {
            throw malformed("the request is not a text");
        }
        Map<String, Object> document = documentOf((String) text, command, extra);
        if (command) {
            return readCommand(document);
        }
        try {
            return readDocument(document, extra);
        } catch (MalformedJsonException malformed) {
            throw malformed(malformed.getMessage());
        }
    }

    private static CallFailure malformed(String message) {
        return new CallFailure(FailureTokens.INVALID_ARGUMENT, message);
    }

    private Map<String, Object> documentOf(String text, boolean command, String extra) throws CallFailure {
        Object value;
        try {
            value = JsonReader.parse(text);
        } catch (MalformedJsonException mistake) {
            seePartly(Json.members(JsonReader.parsePartial(text)), command, extra);
            throw malformed("the request cannot be read as JSON: " + mistake.getMessage());
        }
        if (!(value instanceof Map)) {
            throw malformed("the request is not a JSON object");
        }
        return Json.object(value);
    }

    /** Keeps what an answer needs of a request that cannot be read to its end. */
    private void seePartly(Map<String, Object> document, boolean command, String extra) {
        if (command) {
            seen.capability = capabilityId(document.get("capability"));
            return;
        }
        for (String key : KEYS_OF_A_FORM) {
            if (document.containsKey(key)) {
                seen = identify(document, extra);
                return;
            }
        }
    }

    private MobileMcpRequest readCommand(Map<String, Object> document) throws CallFailure {
        boolean named = document.containsKey("capability");
        seen.capability = capabilityId(document.get(named ? "capability" : "capabilityId"));
        throw new CallFailure(
                FailureTokens.UNSUPPORTED_VERSION,
                "requests of this form are not supported; use Mobile-MCP " + WireDialect.VERSION);
    }

    /** Returns what an answer needs of a document, whatever else is wrong with it. */
    private MobileMcpRequest identify(Map<String, Object> document, String extra) {
        boolean named = document.containsKey(WireDialect.REQUEST_EXTRA);
        Map<String, Object> inner =
                named ? Json.members(document.get(WireDialect.REQUEST_EXTRA)) : document;
        boolean hasRequest = inner.containsKey("request");
        boolean wrapped = named || hasRequest;
        Map<String, Object> request = hasRequest ? Json.members(inner.get("request")) : inner;
        Map<String, Object> capability = Json.members(request.get("capability"));
        MobileMcpRequest found =
                new MobileMcpRequest(dialectOf(keyOf(capability, request), wrapped), wrapped, extra);
        found.identify(request.get("id"));
        found.capability = capabilityId(capability.get("id"));
        return found;
    }

    private static String capabilityId(Object id) {
        return id instanceof String && MobileMcpRequest.isId(id) ? (String) id : "";
    }

    private MobileMcpRequest readDocument(Map<String, Object> document, String extra)
            throws CallFailure, MalformedJsonException {
        seen = identify(document, extra);
        Map<String, Object> inner = document;
        if (document.containsKey(WireDialect.REQUEST_EXTRA)) {
            inner = Json.objectOf(document.get(WireDialect.REQUEST_EXTRA), WireDialect.REQUEST_EXTRA);
        }
        // The specification's order (3.2): the version, then the id, then the capability.
        if (seen.wrapped) {
            checkVersion(inner.get("version"));
        }
        Map<String, Object> request =
                inner.containsKey("request") ? Json.objectOf(inner.get("request"), "request") : inner;
        checkId(request.get("id"), MobileMcpRequest.isId(request.get("id")), "the request");
        Map<String, Object> capability = Json.object(request.get("capability"));
        if (capability == null) {
            throw malformed("the request has no capability object");
        }
        checkId(capability.get("id"), !seen.capability.isEmpty(), "the request's capability");
        seen.arguments = readArguments(capability, request);
        return seen;
    }

    private static void checkId(Object id, boolean isId, String whose) throws CallFailure {
        if (isId) {
            return;
        }
        int length = id instanceof String ? ((String) id).length() : 0;
        if (length == 0) {
            throw malformed(whose + " has no id");
        }
        throw malformed(
                whose + " has an id of " + length + " characters; at most " + MobileMcpRequest.MAX_ID_UNITS
                        + " are allowed");
    }

    private static String keyOf(Map<String, Object> capability, Map<String, Object> request) {
        for (String key : ARGUMENT_KEYS) {
            if (request.containsKey(key) || capability.containsKey(key)) {
                return key;
            }
        }
        return "";
    }

    private WireDialect dialectOf(String key, boolean wrapped) {
        if (wrapped) {
            return "input".equals(key) ? WireDialect.S1 : WireDialect.S0;
        }
        boolean listed = "args".equals(key);
        if (bound) {
            return listed ? WireDialect.MM_6_ARGS : WireDialect.MM_6;
        }
        return listed ? WireDialect.MM_4 : WireDialect.MM_5;
    }

    private static void checkVersion(Object version) throws CallFailure {
        boolean known =
                version == null
                        || WireDialect.VERSION.equals(version)
                        || "1".equals(version)
                        || Json.equal(version, BigDecimal.ONE);
        if (!known) {
            throw new CallFailure(
                    FailureTokens.UNSUPPORTED_VERSION,
                    "the request has version "
                            + Constraints.shown(version)
                            + "; the supported version is \""
                            + WireDialect.VERSION
                            + "\"");
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
            value = FailureTokens.stripped(text).isEmpty() ? null : argumentsOf(text);
        }
        if (value == null) {
            return Collections.emptyMap();
        }
        if (value instanceof List) {
            return mapOfList(Json.list(value));
        }
        return Json.objectOf(value, "the value of args or input");
    }

    private static Object argumentsOf(String text) throws CallFailure {
        try {
            return JsonReader.parse(text);
        } catch (MalformedJsonException mistake) {
            throw malformed("the arguments cannot be read as JSON: " + mistake.getMessage());
        }
    }

    private static Map<String, Object> mapOfList(List<Object> entries) throws CallFailure {
        Map<String, Object> arguments = new LinkedHashMap<>();
        for (Object entry : entries) {
            Map<String, Object> fields = Json.object(entry);
            String name = fields == null ? null : Json.text(fields.get("name"));
            if (name == null || !fields.containsKey("value")) {
                throw malformed("an argument of the list has no name or no value");
            }
            if (arguments.containsKey(name)) {
                throw malformed("the argument " + name + " is given twice");
            }
            arguments.put(name, fields.get("value"));
        }
        return arguments;
    }
}
