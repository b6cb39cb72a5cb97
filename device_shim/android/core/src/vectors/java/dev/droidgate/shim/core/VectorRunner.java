package dev.droidgate.shim.core;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs vectors: one JSON object a line on standard input, its outcome on standard output (shim-engine.md
 * 9). Each line is answered, also what is not a vector: with {@code {"error": "malformed"}} or {@code
 * "internal"}.
 */
public final class VectorRunner {
    private VectorRunner() {}

    /** Answers lines until there are no more. */
    public static void main(String[] arguments) throws IOException {
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Writer out = new OutputStreamWriter(System.out, StandardCharsets.UTF_8);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            out.write(JsonWriter.write(outcome(line)));
            out.write('\n');
            out.flush();
        }
    }

    private static Map<String, Object> outcome(String line) {
        try {
            return evaluate(Json.objectOf(JsonReader.parseOwn(line), "a vector"));
        } catch (MalformedJsonException malformed) {
            return single("error", "malformed");
        } catch (RuntimeException | StackOverflowError unexpected) {
            Map<String, Object> outcome = single("error", "internal");
            outcome.put("message", String.valueOf(unexpected));
            return outcome;
        }
    }

    /** Returns the outcome of a vector. */
    static Map<String, Object> evaluate(Map<String, Object> vector) throws MalformedJsonException {
        switch (Json.textAt(vector, "op")) {
            case "parse":
                return parse(Json.textAt(vector, "text"));
            case "pattern":
                return pattern(Json.textAt(vector, "pattern"), Json.textAt(vector, "text"));
            case "fit":
                return fit(vector);
            case "write-document":
            case "read-document":
                return document(vector);
            case "call":
                return new CallVector(vector).outcome();
            case "life":
                return new LifeVector(vector).outcome();
            case "sequences":
                return new SequenceVector(vector).outcome();
            case "journal":
                return new CallVector(Json.objectAt(vector, "vector")).interrupted();
            case "tokens":
                return tokens();
            default:
                throw new IllegalArgumentException("no such op");
        }
    }

    static Map<String, Object> single(String key, Object value) {
        Map<String, Object> outcome = new LinkedHashMap<>();
        outcome.put(key, value);
        return outcome;
    }

    private static Map<String, Object> parse(String text) {
        try {
            return single("canonical", JsonWriter.write(JsonReader.parse(text)));
        } catch (MalformedJsonException malformed) {
            return single("error", "malformed");
        }
    }

    private static Map<String, Object> pattern(String pattern, String text) {
        try {
            return single("matches", Pattern.compile(pattern).matches(text));
        } catch (UnsupportedPatternException unsupported) {
            return single("error", "unsupported");
        }
    }

    private static Map<String, Type> definitions(Map<String, Object> vector)
            throws MalformedJsonException {
        return Type.mapOf(Json.objectAt(vector, "definitions"));
    }

    private static Map<String, Object> fit(Map<String, Object> vector)
            throws MalformedJsonException {
        boolean exact = Boolean.TRUE.equals(vector.get("exact"));
        ValueFitter fitter = new ValueFitter(definitions(vector), exact);
        try {
            Object value = fitter.fit(vector.get("value"), Type.of(vector.get("type")));
            Map<String, Object> outcome = single("value", value);
            outcome.put("coercions", fitter.coercions);
            return outcome;
        } catch (UnfitValueException unfit) {
            Map<String, Object> outcome = single("error", "unfit");
            outcome.put("pointer", unfit.pointer);
            return outcome;
        }
    }

    private static Map<String, Object> document(Map<String, Object> vector)
            throws MalformedJsonException {
        Type type = vector.get("type") == null ? null : Type.of(vector.get("type"));
        Map<String, Type> definitions = definitions(vector);
        try {
            if ("read-document".equals(vector.get("op"))) {
                return single("value", DocumentReader.read(vector.get("document"), type, definitions));
            }
            return single("document", DocumentWriter.write(vector.get("value"), type, definitions));
        } catch (CallFailure failure) {
            return single("error", failure.token);
        }
    }

    /** Writes the table of tokens, for the test that compares it with the mappings. */
    private static Map<String, Object> tokens() {
        Map<String, Object> written = new LinkedHashMap<>();
        Map<String, Object> meanings = new LinkedHashMap<>();
        for (String token : FailureTokens.all()) {
            written.put(token, (long) FailureTokens.codeOf(token));
            meanings.put(token, FailureTokens.meaningOf(token));
        }
        List<Object> read = new ArrayList<>();
        for (long code = 0; code < 5_000; code++) {
            read.add(FailureTokens.ofCode(code));
        }
        Map<String, Object> outcome = single("written", written);
        outcome.put("read", read);
        outcome.put("meanings", meanings);
        return outcome;
    }
}
