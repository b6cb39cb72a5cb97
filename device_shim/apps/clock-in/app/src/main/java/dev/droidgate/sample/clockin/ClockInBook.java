package dev.droidgate.sample.clockin;

import android.content.Context;
import android.content.SharedPreferences;
import java.time.LocalDate;
import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;

/** The days on record, kept as ISO dates in the app's preferences. */
final class ClockInBook {
    private static final String FILE = "clock_in";
    private static final String DAYS = "days";

    private final SharedPreferences preferences;

    ClockInBook(Context context) {
        preferences = context.getSharedPreferences(FILE, Context.MODE_PRIVATE);
    }

    TreeSet<String> days() {
        Set<String> stored = preferences.getStringSet(DAYS, Collections.<String>emptySet());
        return new TreeSet<>(stored);
    }

    boolean contains(LocalDate day) {
        return days().contains(day.toString());
    }

    /** Returns false when the day was on record before. */
    boolean add(LocalDate day) {
        TreeSet<String> days = days();
        if (!days.add(day.toString())) {
            return false;
        }
        if (!preferences.edit().putStringSet(DAYS, days).commit()) {
            throw new IllegalStateException("the record could not be written");
        }
        return true;
    }
}
