package dev.droidgate.sample.clockin;

import android.util.Log;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** One Mobile-MCP 1.0 request text in, one response text out, whatever the request looks like. */
final class RequestEngine {
    private static final String TAG = "ClockIn";
    private static final String VERSION = "1.0";
    private static final int MAX_REQUEST = 64 * 1024;
    private static final LocalDate FIRST_DAY = LocalDate.of(2000, 1, 1);
    private static final Pattern ISO_DAY = Pattern.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}");

    private static final class Refusal extends Exception {
        Refusal(String token, String reason) {
            super(token + ": " + reason);
        }
    }

    private static final class Answer {
        final String message;
        final Map<String, Object> outputs = new HashMap<>();

        Answer(String message) {
            this.message = message;
        }
    }

    private final Descriptor descriptor;
    private final ClockInBook book;
    private final Clock clock;

    RequestEngine(Descriptor descriptor, ClockInBook book, Clock clock) {
        this.descriptor = descriptor;
        this.book = book;
        this.clock = clock;
    }

    String answer(String requestText) {
        String requestId = "";
        String capabilityId = "";
        try {
            JSONObject envelope = envelopeOf(requestText);
            JSONObject request = objectIn(envelope, "request");
            requestId = textIn(request, "id");
            JSONObject named = request.optJSONObject("capability");
            Object namedId = named == null ? null : named.opt("id");
            capabilityId = namedId instanceof String ? (String) namedId : "";
            if (!VERSION.equals(envelope.opt("version"))) {
                throw new Refusal("unsupported_version", "this tool speaks version " + VERSION);
            }
            JSONObject call = objectIn(request, "capability");
            capabilityId = textIn(call, "id");
            Descriptor.Capability capability = descriptor.find(capabilityId);
            if (capability == null) {
                throw new Refusal("unknown_capability", "there is no \"" + capabilityId + "\" here");
            }
            JSONObject args = argsOf(call);
            String problem = capability.problemWith(args);
            if (problem != null) {
                throw new Refusal("invalid_argument", problem);
            }
            Answer answer = run(capabilityId, args);
            return response(requestId, capabilityId, outputOf(capability, answer), "success", answer.message);
        } catch (Refusal refusal) {
            return response(requestId, capabilityId, null, "failure", refusal.getMessage());
        } catch (JSONException | RuntimeException e) {
            Log.e(TAG, "The request could not be answered", e);
            return response(requestId, capabilityId, null, "failure", "backend_failure: " + e.getMessage());
        }
    }

    private Answer run(String capabilityId, JSONObject args) throws Refusal {
        LocalDate today = LocalDate.now(clock);
        switch (capabilityId) {
            case "clock_in_today":
                return new Answer(book.add(today)
                        ? "Clocked in for today, " + today + "."
                        : "Today, " + today + ", was on record already.");
            case "make_up_clock_in":
                String problem = problemWithMissedDay(args.optString("date"), today);
                if (problem != null) {
                    throw new Refusal("invalid_argument", problem);
                }
                LocalDate missed = LocalDate.parse(args.optString("date"));
                return new Answer(book.add(missed)
                        ? "Added a clock-in for " + missed + "."
                        : "A clock-in for " + missed + " was on record already.");
            case "query_clock_in":
                LocalDate day = dayOf(args, today);
                boolean found = book.contains(day);
                Answer answer = new Answer(found
                        ? "There is a clock-in for " + day + "."
                        : "There is no clock-in for " + day + ".");
                answer.outputs.put("date", day.toString());
                answer.outputs.put("has_clocked_in", found);
                return answer;
            default:
                throw new IllegalStateException("declared but not written: " + capabilityId);
        }
    }

    private static LocalDate dayOf(JSONObject args, LocalDate fallback) throws Refusal {
        if (!args.has("date")) {
            return fallback;
        }
        String problem = problemWithForm(args.optString("date"));
        if (problem != null) {
            throw new Refusal("invalid_argument", problem);
        }
        return LocalDate.parse(args.optString("date"));
    }

    /** Returns why a day cannot be added, or null. */
    static String problemWithMissedDay(String text, LocalDate today) {
        String problem = problemWithForm(text);
        if (problem != null) {
            return problem;
        }
        LocalDate missed = LocalDate.parse(text);
        return missed.isAfter(today) || missed.isBefore(FIRST_DAY)
                ? "\"date\" must lie between " + FIRST_DAY + " and " + today
                : null;
    }

    private static String problemWithForm(String text) {
        if (!ISO_DAY.matcher(text).matches()) {
            return "\"date\" must look like YYYY-MM-DD";
        }
        try {
            LocalDate.parse(text);
            return null;
        } catch (DateTimeException noSuchDay) {
            return "\"date\" names a day that does not exist";
        }
    }

    private static JSONObject envelopeOf(String requestText) throws Refusal {
        if (requestText == null) {
            throw new Refusal("invalid_argument", "the request is missing");
        }
        if (requestText.length() > MAX_REQUEST) {
            throw new Refusal("invalid_argument", "the request is longer than " + MAX_REQUEST + " characters");
        }
        try {
            return objectIn(new JSONObject(requestText), "mobile-mcp-request");
        } catch (JSONException | StackOverflowError e) {
            // org.json reads nested values by recursion, so a deep text overflows the stack.
            throw new Refusal("invalid_argument", "the request is not a JSON object");
        }
    }

    private static JSONObject argsOf(JSONObject call) throws Refusal {
        if (call.has("input")) {
            throw new Refusal("invalid_argument", "arguments belong under \"args\", not under \"input\"");
        }
        return call.has("args") ? objectIn(call, "args") : new JSONObject();
    }

    private static JSONObject objectIn(JSONObject parent, String name) throws Refusal {
        Object value = parent.opt(name);
        if (value instanceof JSONObject) {
            return (JSONObject) value;
        }
        throw new Refusal("invalid_argument", "\"" + name + "\" must be an object");
    }

    private static String textIn(JSONObject parent, String name) throws Refusal {
        Object value = parent.opt(name);
        if (value instanceof String && !((String) value).isEmpty()) {
            return (String) value;
        }
        throw new Refusal("invalid_argument", "\"" + name + "\" must be a text that is not empty");
    }

    private static JSONArray outputOf(Descriptor.Capability capability, Answer answer) throws JSONException {
        if (capability.outputs.isEmpty()) {
            return null;
        }
        JSONArray output = new JSONArray();
        for (Descriptor.Param param : capability.outputs) {
            output.put(new JSONObject()
                    .put("name", param.name)
                    .put("type", param.type)
                    .put("value", answer.outputs.get(param.name)));
        }
        return output;
    }

    private static String response(
            String requestId, String capabilityId, JSONArray output, String status, String message) {
        try {
            JSONObject capability = new JSONObject().put("id", capabilityId);
            if (output != null) {
                capability.put("output", output);
            }
            JSONObject response = new JSONObject()
                    .put("id", requestId)
                    .put("capability", capability)
                    .put("status", status)
                    .put("message", message);
            return new JSONObject()
                    .put("mobile-mcp-response", new JSONObject().put("version", VERSION).put("response", response))
                    .toString();
        } catch (JSONException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
