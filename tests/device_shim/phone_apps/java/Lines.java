package dev.droidgate.sample;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Texts a line each, as base64 of UTF-16: charsets replace half characters, a buffer keeps them. */
public final class Lines {
    private static final BufferedReader IN =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));

    private Lines() {
    }

    /** What a runner does with a text. */
    public interface Answering {
        String answer(String text) throws Exception;
    }

    /** Answers each line that is left. */
    public static void answer(Answering answering) throws Exception {
        for (String line = IN.readLine(); line != null; line = IN.readLine()) {
            print(answering.answer(text(line)));
        }
    }

    /** Returns the next text; "-" is null, "=" an empty text. */
    public static String next() throws IOException {
        return text(IN.readLine());
    }

    private static String text(String line) {
        if (line.equals("-")) {
            return null;
        }
        return ByteBuffer.wrap(Base64.getDecoder().decode(line.equals("=") ? "" : line)).asCharBuffer().toString();
    }

    private static void print(String text) {
        ByteBuffer printed = ByteBuffer.allocate(2 * text.length());
        printed.asCharBuffer().put(text);
        System.out.println('"' + Base64.getEncoder().encodeToString(printed.array()) + '"');
    }
}
