package dev.droidgate.sample.weather;

import java.util.Scanner;
import org.json.JSONObject;

/** Prints the intent of each line: the id of a capability, a blank, and its arguments. */
public final class ScreensRunner {
    public static void main(String[] none) {
        Scanner lines = new Scanner(System.in, "UTF-8");
        while (lines.hasNextLine()) {
            String[] call = lines.nextLine().split(" ", 2);
            try {
                String shown = MainActivityScreens.intentOf("org.own", call[0], new JSONObject(call[1])).toUri(0);
                System.out.println(JSONObject.quote(shown));
            } catch (Exception refusal) {
                System.out.println(JSONObject.quote(refusal.getMessage()));
            }
        }
    }
}
