package dev.droidgate.sample.clockin;

import dev.droidgate.sample.mobilemcp.Descriptor;
import dev.droidgate.sample.mobilemcp.RequestEngine;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.regex.Pattern;
import org.json.JSONObject;

/** The capabilities of the app, over its book of days. */
final class ClockInEngine extends RequestEngine {
    private static final LocalDate FIRST_DAY = LocalDate.of(2000, 1, 1);
    private static final Pattern ISO_DAY = Pattern.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}");

    private final ClockInBook book;
    private final Clock clock;

    ClockInEngine(Descriptor descriptor, ClockInBook book, Clock clock) {
        super("ClockIn", descriptor);
        this.book = book;
        this.clock = clock;
    }

    @Override
    protected Answer run(String capabilityId, JSONObject args) throws Refusal {
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
}
