package dev.droidgate.sample.weather;

import android.os.Bundle;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * The tools and their parameters. Clients of this dialect send every value as text, so "3" is as good as 3,
 * and every parameter is needed.
 */
final class WeatherTools {
    static final class Refusal extends Exception {
        Refusal(String reason) {
            super(reason);
        }
    }

    private static final class Tool {
        final String name;
        final String description;
        final String[] parameters;

        Tool(String name, String description, String... parameters) {
            this.name = name;
            this.description = description;
            this.parameters = parameters;
        }
    }

    private static final Tool[] TOOLS = {
        new Tool("currentWeather", "Returns the weather in a place right now, in one sentence.", "location"),
        new Tool("forecast",
                "Gives the weather of the coming days in a place as JSON. days is a number from 1 to 7.",
                "location", "days"),
        new Tool("warmestPlace",
                "Compares places and names the warmest one. "
                        + "places is a list of 2 to 10 names with semicolons between.",
                "places"),
    };

    private static final int MAX_PARAMS = 16 * 1024;
    private static final int MAX_NAME = 80;
    private static final int MAX_DAYS = 7;
    private static final int MAX_PLACES = 10;

    private WeatherTools() {
    }

    static void describe(Bundle into) {
        String[] names = new String[TOOLS.length];
        for (int i = 0; i < TOOLS.length; i++) {
            Tool tool = TOOLS[i];
            Map<String, String> parameters = new LinkedHashMap<>();
            for (String parameter : tool.parameters) {
                parameters.put(parameter, "string");
            }
            names[i] = tool.name;
            into.putString(tool.name + ".description", tool.description);
            into.putString(tool.name + ".parameters", new JSONObject(parameters).toString());
        }
        into.putStringArray("tools", names);
    }

    static String run(String toolName, String params) throws Refusal, JSONException {
        Map<String, String> args = argsFor(toolNamed(toolName), params);
        switch (toolName) {
            case "currentWeather":
                return current(args.get("location"));
            case "forecast":
                return forecast(args.get("location"), args.get("days"));
            case "warmestPlace":
                return warmest(args.get("places"));
            default:
                throw new IllegalStateException("listed but not written: " + toolName);
        }
    }

    static String current(String location) throws Refusal {
        String place = placeFrom(location);
        Weather now = Weather.of(place, 0);
        return place + ": " + now.sky + ", " + now.temperature + " °C, wind " + now.wind + " km/h.";
    }

    private static String forecast(String location, String days) throws Refusal, JSONException {
        String place = placeFrom(location);
        int count = days.matches("[1-9]") ? Integer.parseInt(days) : 0;
        if (count < 1 || count > MAX_DAYS) {
            throw new Refusal("days must be a number from 1 to " + MAX_DAYS);
        }
        JSONArray list = new JSONArray();
        for (int day = 1; day <= count; day++) {
            Weather weather = Weather.of(place, day);
            list.put(new JSONObject()
                    .put("day", day)
                    .put("sky", weather.sky)
                    .put("temperature", weather.temperature)
                    .put("wind", weather.wind));
        }
        return new JSONObject().put("location", place).put("days", list).toString();
    }

    private static String warmest(String places) throws Refusal {
        String[] names = places.split(";", -1);
        if (names.length < 2 || names.length > MAX_PLACES) {
            throw new Refusal("places must hold 2 to " + MAX_PLACES + " names with semicolons between");
        }
        String best = null;
        int temperature = 0;
        for (String name : names) {
            String place = placeFrom(name);
            int here = Weather.of(place, 0).temperature;
            if (best == null || here > temperature) {
                best = place;
                temperature = here;
            }
        }
        return best + " is the warmest with " + temperature + " °C.";
    }

    private static String placeFrom(String text) throws Refusal {
        String place = text.trim().replaceAll("[ \t\r\n]+", " ");
        if (place.isEmpty() || place.codePointCount(0, place.length()) > MAX_NAME) {
            throw new Refusal("a place needs a name of 1 to " + MAX_NAME + " characters");
        }
        if (place.codePoints().noneMatch(Character::isLetter)) {
            throw new Refusal("\"" + place + "\" is not the name of a place");
        }
        return place;
    }

    private static Tool toolNamed(String name) throws Refusal {
        for (Tool tool : TOOLS) {
            if (tool.name.equals(name)) {
                return tool;
            }
        }
        throw new Refusal(name == null ? "no tool is named" : "unknown tool \"" + name + "\"");
    }

    private static Map<String, String> argsFor(Tool tool, String params) throws Refusal {
        Map<String, String> args = new LinkedHashMap<>();
        JSONObject given = objectFrom(params);
        for (String parameter : tool.parameters) {
            Object value = given.opt(parameter);
            if (!(value instanceof String || value instanceof Integer || value instanceof Long)) {
                throw new Refusal(parameter + (value == null ? " is missing" : " must be a text"));
            }
            args.put(parameter, value.toString());
        }
        for (Iterator<String> names = given.keys(); names.hasNext(); ) {
            String name = names.next();
            if (!args.containsKey(name)) {
                throw new Refusal("\"" + name + "\" is not a parameter of " + tool.name);
            }
        }
        return args;
    }

    private static JSONObject objectFrom(String params) throws Refusal {
        if (params == null || params.isEmpty()) {
            return new JSONObject();
        }
        if (params.length() > MAX_PARAMS) {
            throw new Refusal("the parameters are longer than " + MAX_PARAMS + " characters");
        }
        try {
            return new JSONObject(params);
        } catch (JSONException | StackOverflowError e) {
            // org.json reads nested values by recursion, so a deep text overflows the stack.
            throw new Refusal("the parameters are not a JSON object");
        }
    }
}
