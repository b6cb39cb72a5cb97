package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.List;

/**
 * A string pattern: an automaton over code points that decides in linear time whether the pattern matches
 * somewhere in a text, with the same states and limits as {@code droidgate_mappings.values.patterns}.
 */
public final class Pattern {
    private static final int MAX_STATES = 4_000;
    private static final int MAX_STEPS = 8_000_000;
    private static final int[] NOTHING = {};
    private static final char NO_CONDITION = 0;

    private final List<int[]> characters = new ArrayList<>();
    private final List<int[]> following = new ArrayList<>();
    private final StringBuilder conditions = new StringBuilder();
    private final int first;
    private final int last;

    private Pattern(PatternParser.Node tree) throws UnsupportedPatternException {
        int[] ends = build(tree);
        first = ends[0];
        last = ends[1];
    }

    /**
     * Compiles a pattern.
     *
     * @throws UnsupportedPatternException it is outside the subset, or too large
     */
    static Pattern compile(String text) throws UnsupportedPatternException {
        return new Pattern(PatternParser.parse(text));
    }

    private int add(int[] ranges, char condition) throws UnsupportedPatternException {
        PatternParser.require(characters.size() < MAX_STATES);
        characters.add(ranges);
        following.add(NOTHING);
        conditions.append(condition);
        return characters.size() - 1;
    }

    private int add() throws UnsupportedPatternException {
        return add(null, NO_CONDITION);
    }

    private void join(int from, int to) {
        int[] before = following.get(from);
        int[] after = new int[before.length + 1];
        System.arraycopy(before, 0, after, 0, before.length);
        after[before.length] = to;
        following.set(from, after);
    }

    /** Adds the states of a node and returns its first and its last. */
    private int[] build(PatternParser.Node node) throws UnsupportedPatternException {
        switch (node.kind) {
            case PatternParser.SEQUENCE:
                return sequence(node.parts);
            case PatternParser.CHOICE:
                return choice(node.parts);
            case PatternParser.REPEAT:
                return repeat(node.parts.get(0), node.least, node.most);
            case PatternParser.CHARACTERS:
                return single(add(node.ranges, NO_CONDITION));
            default:
                return single(add(null, node.kind));
        }
    }

    private int[] single(int state) throws UnsupportedPatternException {
        int after = add();
        join(state, after);
        return new int[] {state, after};
    }

    private int[] sequence(List<PatternParser.Node> parts) throws UnsupportedPatternException {
        int begin = add();
        int end = begin;
        for (PatternParser.Node part : parts) {
            end = append(end, part);
        }
        return new int[] {begin, end};
    }

    private int append(int state, PatternParser.Node part) throws UnsupportedPatternException {
        int[] ends = build(part);
        join(state, ends[0]);
        return ends[1];
    }

    private int[] choice(List<PatternParser.Node> alternatives) throws UnsupportedPatternException {
        int begin = add();
        int end = add();
        for (PatternParser.Node alternative : alternatives) {
            join(append(begin, alternative), end);
        }
        return new int[] {begin, end};
    }

    private int[] repeat(PatternParser.Node part, int least, int most)
            throws UnsupportedPatternException {
        int begin = add();
        int end = begin;
        for (int count = 0; count < least; count++) {
            end = append(end, part);
        }
        if (most < 0) {
            int[] again = build(part);
            int after = add();
            join(end, again[0]);
            join(end, after);
            join(again[1], again[0]);
            join(again[1], after);
            return new int[] {begin, after};
        }
        int after = add();
        for (int count = least; count < most; count++) {
            int before = end;
            end = append(before, part);
            join(before, after);
        }
        join(end, after);
        return new int[] {begin, after};
    }

    /**
     * Returns whether the pattern matches somewhere in a text.
     *
     * @throws UnsupportedPatternException the text is too long for so large a pattern
     */
    boolean matches(String text) throws UnsupportedPatternException {
        int[] points = PatternParser.codePoints(text);
        int count = characters.size();
        PatternParser.require((long) count * (points.length + 1) <= MAX_STEPS);
        States states = new States(count);
        States reached = new States(count);
        for (int position = 0; ; position++) {
            enter(first, states, position == 0, position == points.length);
            if (states.holds(last)) {
                return true;
            }
            if (position == points.length) {
                return false;
            }
            reached.clear();
            step(states, reached, points[position], position + 1 == points.length);
            States spare = states;
            states = reached;
            reached = spare;
        }
    }

    private void step(States states, States reached, int code, boolean atEnd) {
        for (int index = 0; index < states.size; index++) {
            int state = states.values[index];
            int[] ranges = characters.get(state);
            if (ranges != null && holds(ranges, code)) {
                for (int next : following.get(state)) {
                    enter(next, reached, false, atEnd);
                }
            }
        }
    }

    private static boolean holds(int[] ranges, int code) {
        for (int index = 0; index < ranges.length; index += 2) {
            if (ranges[index] <= code && code <= ranges[index + 1]) {
                return true;
            }
        }
        return false;
    }

    /** Adds a state and those behind it that take no character. */
    private void enter(int state, States states, boolean atBegin, boolean atEnd) {
        int unread = states.size;
        if (passes(state, atBegin, atEnd)) {
            states.add(state);
        }
        // What is added at the end is what still waits to be followed.
        for (; unread < states.size; unread++) {
            int character = states.values[unread];
            if (characters.get(character) == null) {
                for (int next : following.get(character)) {
                    if (passes(next, atBegin, atEnd)) {
                        states.add(next);
                    }
                }
            }
        }
    }

    private boolean passes(int state, boolean atBegin, boolean atEnd) {
        char condition = conditions.charAt(state);
        return condition == NO_CONDITION || (condition == PatternParser.BEGIN ? atBegin : atEnd);
    }

    /** A set of states in the order of their coming. */
    private static final class States {
        final int[] values;
        private final boolean[] marks;
        int size;

        States(int count) {
            values = new int[count];
            marks = new boolean[count];
        }

        void add(int state) {
            if (!marks[state]) {
                marks[state] = true;
                values[size++] = state;
            }
        }

        boolean holds(int state) {
            return marks[state];
        }

        void clear() {
            while (size > 0) {
                marks[values[--size]] = false;
            }
        }
    }
}
