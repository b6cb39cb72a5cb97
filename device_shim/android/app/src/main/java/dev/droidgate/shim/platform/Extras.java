package dev.droidgate.shim.platform;

import android.os.Bundle;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reading bundles of others, which may hold anything and fail when they are looked at. */
public final class Extras {
    private static final String[] REQUEST = {
        "mobile-mcp-request", "request", "mcp_command_json", "mcp_request_id"
    };
    private static final String[] RESPONSE = {
        "mobile-mcp-response", "response", "result_json", "mcp_request_id", "trace_only"
    };

    private Extras() {}

    /** Returns what of a bundle may belong to a request. */
    public static Map<String, Object> ofRequest(Bundle bundle) {
        return read(bundle, REQUEST);
    }

    /** Returns what of a bundle may belong to a response. */
    public static Map<String, Object> ofResponse(Bundle bundle) {
        return read(bundle, RESPONSE);
    }

    /**
     * Returns the extras of these names that are there and can be read; null for what is neither a text nor a
     * flag.
     */
    @SuppressWarnings("deprecation")
    public static Map<String, Object> read(Bundle bundle, String... names) {
        Map<String, Object> extras = new LinkedHashMap<>();
        if (bundle == null) {
            return extras;
        }
        for (String name : names) {
            try {
                if (bundle.containsKey(name)) {
                    Object value = bundle.get(name);
                    extras.put(name, value instanceof String || value instanceof Boolean ? value : null);
                }
            } catch (RuntimeException | VirtualMachineError unreadable) {
                // A parcelable of a class that is not here, or one made to take its reader's stack or memory.
                continue;
            }
        }
        return extras;
    }

    /** Returns a value as it is, null where it is missing or cannot be read. */
    @SuppressWarnings("deprecation")
    public static Object any(Bundle bundle, String name) {
        try {
            return bundle.get(name);
        } catch (RuntimeException | VirtualMachineError unreadable) {
            return null;
        }
    }

    /** Returns a text, null where the value is not a text. */
    public static String text(Bundle bundle, String name) {
        Object value = read(bundle, name).get(name);
        return value instanceof String ? (String) value : null;
    }

    public static Bundle bundle(Map<String, String> extras) {
        Bundle bundle = new Bundle();
        for (Map.Entry<String, String> entry : extras.entrySet()) {
            bundle.putString(entry.getKey(), entry.getValue());
        }
        return bundle;
    }
}
