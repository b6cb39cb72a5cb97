package dev.droidgate.shim.core;

import java.io.UnsupportedEncodingException;
import java.net.URLEncoder;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Intents that open screens, filled from what the builder wrote (shim-engine.md 4). */
final class ScreenStarts {
    private static final String UNSAFE = "(?i)[^?#]*/(\\.|%2e){1,2}([/?#].*)?";

    private ScreenStarts() {}

    /**
     * Returns the text of the first intent whose parameters are given.
     *
     * @throws CallFailure {@code invalid_argument}: none is, or the arguments move its link's path
     */
    static String write(Map<String, Object> backend, Map<String, Object> arguments) throws CallFailure {
        Map<String, Object> ids = Json.members(backend.get("values"));
        Map<String, String> texts = new HashMap<>();
        for (Map.Entry<String, Object> entry : arguments.entrySet()) {
            Object value = entry.getValue();
            String text = value instanceof String ? (String) value : JsonWriter.write(value);
            Map<String, Object> named = Json.members(ids.get(entry.getKey()));
            Object id = named.get(named.containsKey(text) ? text : text.toLowerCase(Locale.ROOT));
            texts.put(entry.getKey(), id == null ? text : (String) id);
        }
        for (Object start : Json.list(backend.get("starts"))) {
            if (isReady(Json.members(Json.members(start).get("needs")), texts)) {
                String intent = filled(Json.list(Json.members(start).get("intent")), texts);
                if (intent.matches(UNSAFE)) {
                    throw new CallFailure(
                            FailureTokens.INVALID_ARGUMENT, "the link's path has a segment '.' or '..'");
                }
                return intent;
            }
        }
        throw new CallFailure(
                FailureTokens.INVALID_ARGUMENT, "each fulfilment requires what is not given");
    }

    private static boolean isReady(Map<String, Object> needs, Map<String, String> texts) {
        for (Map.Entry<String, Object> need : needs.entrySet()) {
            String text = texts.get(need.getKey());
            if (text == null || need.getValue() != null && !Json.list(need.getValue()).contains(text)) {
                return false;
            }
        }
        return true;
    }

    /** Fills in the variables: each a name, what precedes its value, and what does behind another one. */
    private static String filled(List<Object> parts, Map<String, String> texts) {
        StringBuilder intent = new StringBuilder();
        int before = 1;
        for (Object part : parts) {
            List<Object> variable = Json.list(part);
            if (variable == null) {
                intent.append(part);
                before = 1;
            } else if (texts.containsKey(variable.get(0))) {
                intent.append(variable.get(before)).append(encoded(texts.get(variable.get(0))));
                before = 2;
            }
        }
        return intent.toString();
    }

    /** Percent-encodes all but what RFC 3986 reserves for nothing, so a value adds nothing but itself. */
    private static String encoded(String text) {
        try {
            String form = URLEncoder.encode(text, "UTF-8");
            return form.replace("+", "%20").replace("*", "%2A").replace("%7E", "~");
        } catch (UnsupportedEncodingException never) {
            throw new IllegalStateException(never);
        }
    }
}
