package dev.droidgate.sample.tally;

import java.util.HashMap;
import java.util.Map;

/** Who has how many points, in memory only. */
final class Totals {
    private static final int MOST_PLAYERS = 100;
    private static final int LONGEST_NAME = 100;

    private final Map<String, Long> totals = new HashMap<>();

    long of(String player) {
        Long total = totals.get(player);
        return total == null ? 0 : total;
    }

    /** Returns why the points cannot be added, or null. */
    String add(String player, long points) {
        if (player.isEmpty() || player.length() > LONGEST_NAME) {
            return "\"player\" must have 1 to " + LONGEST_NAME + " characters";
        }
        if (!totals.containsKey(player) && totals.size() == MOST_PLAYERS) {
            return "\"player\" would be one more than " + MOST_PLAYERS + " players";
        }
        try {
            totals.put(player, Math.addExact(of(player), points));
            return null;
        } catch (ArithmeticException tooFar) {
            return "\"points\" would make a total that no 64-bit number holds";
        }
    }

    void clear() {
        totals.clear();
    }
}
