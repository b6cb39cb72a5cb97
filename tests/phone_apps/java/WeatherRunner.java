package dev.droidgate.sample.weather;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.json.JSONException;

/** Runs tools: a line with the tool's name and one with its parameters for each call. */
public final class WeatherRunner {
    private WeatherRunner() {
    }

    public static void main(String[] unused) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String tool = in.readLine(); tool != null; tool = in.readLine()) {
            String answer;
            try {
                answer = WeatherTools.run(text(tool), text(in.readLine()));
            } catch (WeatherTools.Refusal | JSONException refusal) {
                answer = "Error: " + refusal.getMessage();
            }
            byte[] bytes = new byte[answer.length() * 2];
            for (int i = 0; i < answer.length(); i++) {
                bytes[2 * i] = (byte) (answer.charAt(i) >> 8);
                bytes[2 * i + 1] = (byte) answer.charAt(i);
            }
            System.out.println('"' + Base64.getEncoder().encodeToString(bytes) + '"');
        }
    }

    private static String text(String line) {
        if (line.equals("-")) {
            return null;
        }
        byte[] bytes = line.equals("=") ? new byte[0] : Base64.getDecoder().decode(line);
        char[] units = new char[bytes.length / 2];
        for (int i = 0; i < units.length; i++) {
            units[i] = (char) ((bytes[2 * i] & 0xff) << 8 | bytes[2 * i + 1] & 0xff);
        }
        return new String(units);
    }
}
