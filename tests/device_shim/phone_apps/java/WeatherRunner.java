package dev.droidgate.sample.weather;

import dev.droidgate.sample.Lines;
import org.json.JSONException;

/** Runs tools: a line with the tool's name and one with its parameters for each call. */
public final class WeatherRunner {
    private WeatherRunner() {
    }

    public static void main(String[] unused) throws Exception {
        Lines.answer(tool -> {
            try {
                return WeatherTools.run(tool, Lines.next());
            } catch (WeatherTools.Refusal | JSONException refusal) {
                return "Error: " + refusal.getMessage();
            }
        });
    }
}
