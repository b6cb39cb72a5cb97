package dev.droidgate.sample;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.json.JSONException;
import org.json.JSONObject;

/** Reads one JSON object a line with Android's org.json, and prints how org.json writes it, or why it refuses it. */
public final class JsonRunner {
    private JsonRunner() {
    }

    public static void main(String[] unused) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ByteBuffer given = ByteBuffer.wrap(Base64.getDecoder().decode(line));
            String text = given.asCharBuffer().toString();
            String answer;
            try {
                // toString() gives null where a number is not finite.
                answer = "" + new JSONObject(text).toString();
            } catch (JSONException refusal) {
                answer = refusal.getMessage();
            }
            // Charsets replace half characters; a buffer keeps them.
            ByteBuffer printed = ByteBuffer.allocate(2 * answer.length());
            printed.asCharBuffer().put(answer);
            System.out.println('"' + Base64.getEncoder().encodeToString(printed.array()) + '"');
        }
    }
}
