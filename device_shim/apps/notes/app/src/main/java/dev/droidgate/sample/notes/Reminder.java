package dev.droidgate.sample.notes;

import android.app.appfunctions.AppFunctionException;
import android.app.appsearch.GenericDocument;
import java.time.LocalDateTime;
import org.json.JSONException;
import org.json.JSONObject;

/** A reminder: at a time, or near a place. The document's schema type says which of the two it is. */
final class Reminder {
    static final String AT_PLACE = "dev.droidgate.sample.notes.Reminder$AtPlace";
    static final String AT_TIME = "dev.droidgate.sample.notes.Reminder$AtTime";

    private static final int MAX_PLACE = 100;
    private static final double MIN_RADIUS = 50;
    private static final double MAX_RADIUS = 5000;

    private final LocalDateTime time;
    private final String place;
    private final double radiusMeters;

    private Reminder(LocalDateTime time, String place, double radiusMeters) {
        this.time = time;
        this.place = place;
        this.radiusMeters = radiusMeters;
    }

    /** Returns null when the document has no reminder. */
    static Reminder from(Arguments arguments, String name) throws AppFunctionException {
        if (!arguments.has(name)) {
            return null;
        }
        Arguments reminder = arguments.object(name);
        switch (reminder.schemaType()) {
            case AT_TIME:
                return new Reminder(reminder.dateTime("time"), null, 0);
            case AT_PLACE:
                return new Reminder(null, reminder.text("place", 1, MAX_PLACE),
                        reminder.number("radiusMeters", MIN_RADIUS, MAX_RADIUS));
            default:
                throw arguments.invalid(name, "must have the schema type " + AT_PLACE + " or " + AT_TIME);
        }
    }

    GenericDocument toDocument() {
        if (time != null) {
            return new GenericDocument.Builder<>("", "", AT_TIME)
                    .setPropertyDocument("time", Arguments.documentOf(time))
                    .build();
        }
        return new GenericDocument.Builder<>("", "", AT_PLACE)
                .setPropertyString("place", place)
                .setPropertyDouble("radiusMeters", radiusMeters)
                .build();
    }

    JSONObject toJson() throws JSONException {
        if (time != null) {
            return new JSONObject().put("time", time.toString());
        }
        return new JSONObject().put("place", place).put("radiusMeters", radiusMeters);
    }

    static Reminder fromJson(JSONObject json) throws JSONException {
        if (json.has("time")) {
            return new Reminder(LocalDateTime.parse(json.getString("time")), null, 0);
        }
        return new Reminder(null, json.getString("place"), json.getDouble("radiusMeters"));
    }
}
