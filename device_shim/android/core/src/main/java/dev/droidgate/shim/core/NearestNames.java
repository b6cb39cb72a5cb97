package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;

/** Which declared names a misspelled one is closest to ({@code droidgate_mappings.text.nearest_names}). */
final class NearestNames {
    /** Longer names are not compared: the work grows with the product of the lengths. */
    private static final int MAX_LENGTH = 64;

    private static final int MAX_NEAR = 3;
    private static final int LENGTH_PER_EDIT = 3;

    private NearestNames() {}

    /**
     * Returns the names that one was probably meant as, the closest first: one edit is allowed for each three
     * characters of the longer name, and neither letter case nor {@code _} and {@code -} count.
     */
    static List<String> of(String name, Collection<String> declared) {
        if (name.length() > MAX_LENGTH) {
            return new ArrayList<>();
        }
        String simple = simplified(name);
        // By distance; each list is in declared order.
        TreeMap<Integer, List<String>> near = new TreeMap<>();
        for (String candidate : declared) {
            String other = candidate.length() > MAX_LENGTH ? "" : simplified(candidate);
            int edits = other.isEmpty() ? MAX_LENGTH : distance(simple, other);
            if (edits <= Math.max(simple.length(), other.length()) / LENGTH_PER_EDIT) {
                List<String> alike = near.containsKey(edits) ? near.get(edits) : new ArrayList<String>();
                alike.add(candidate);
                near.put(edits, alike);
            }
        }
        List<String> names = new ArrayList<>();
        for (List<String> alike : near.values()) {
            names.addAll(alike);
        }
        return names.subList(0, Math.min(MAX_NEAR, names.size()));
    }

    private static String simplified(String name) {
        return name.toLowerCase(Locale.ROOT).replace("_", "").replace("-", "");
    }

    /** Returns the number of edits from one text to the other (optimal string alignment). */
    private static int distance(String left, String right) {
        int[] before = new int[right.length() + 1];
        int[] row = new int[right.length() + 1];
        for (int at = 0; at <= right.length(); at++) {
            row[at] = at;
        }
        for (int at = 1; at <= left.length(); at++) {
            int[] next = new int[right.length() + 1];
            next[0] = at;
            for (int other = 1; other <= right.length(); other++) {
                char character = left.charAt(at - 1);
                int replaced = row[other - 1] + (character == right.charAt(other - 1) ? 0 : 1);
                next[other] = Math.min(replaced, Math.min(row[other], next[other - 1]) + 1);
                boolean isSwapped =
                        at > 1
                                && other > 1
                                && character == right.charAt(other - 2)
                                && left.charAt(at - 2) == right.charAt(other - 1);
                if (isSwapped) {
                    next[other] = Math.min(next[other], before[other - 2] + 1);
                }
            }
            before = row;
            row = next;
        }
        return row[right.length()];
    }
}
