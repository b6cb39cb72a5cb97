package dev.droidgate.shim.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Reads a pattern of the subset into a tree ({@code droidgate_mappings.values.patterns}). */
final class PatternParser {
    private static final int MAX_DEPTH = 50;
    private static final int MAX_PATTERN = 2_000;
    private static final int HIGHEST_REPEAT = 1_000;
    private static final int MAX_COUNT_DIGITS = 6;
    private static final int LAST = Character.MAX_CODE_POINT;

    private static final int[] DIGITS = {'0', '9'};
    private static final int[] WORDS = {'0', '9', 'A', 'Z', '_', '_', 'a', 'z'};
    // ECMA-262 WhiteSpace and LineTerminator.
    private static final int[] BLANKS = {
        0x09, 0x0D, 0x20, 0x20, 0xA0, 0xA0, 0x1680, 0x1680, 0x2000, 0x200A, 0x2028, 0x2029,
        0x202F, 0x202F, 0x205F, 0x205F, 0x3000, 0x3000, 0xFEFF, 0xFEFF
    };
    private static final int[] LINE_ENDS = {0x0A, 0x0A, 0x0D, 0x0D, 0x2028, 0x2029};

    private final int[] text;
    private int at;

    /** One part of a pattern. */
    static final class Node {
        final char kind;

        /** First and last code points, of CHARACTERS. */
        final int[] ranges;

        final List<Node> parts;
        int least;

        /** Of REPEAT, -1 without an end. */
        int most;

        Node(char kind, int[] ranges, List<Node> parts) {
            this.kind = kind;
            this.ranges = ranges;
            this.parts = parts;
        }
    }

    static final char CHARACTERS = 'c';
    static final char BEGIN = '^';
    static final char END = '$';
    static final char SEQUENCE = 's';
    static final char CHOICE = '|';
    static final char REPEAT = '*';

    private PatternParser(int[] text) {
        this.text = text;
    }

    static Node parse(String pattern) throws UnsupportedPatternException {
        int[] text = codePoints(pattern);
        require(text.length <= MAX_PATTERN);
        PatternParser parser = new PatternParser(text);
        Node node = parser.choice(0);
        require(parser.at == text.length);
        return node;
    }

    static int[] codePoints(String text) {
        int[] found = new int[text.codePointCount(0, text.length())];
        int count = 0;
        for (int index = 0; count < found.length; index += Character.charCount(found[count++])) {
            found[count] = text.codePointAt(index);
        }
        return found;
    }

    /** Refuses a pattern that is not as it has to be. */
    static void require(boolean isSupported) throws UnsupportedPatternException {
        if (!isSupported) {
            throw new UnsupportedPatternException();
        }
    }

    private int peek(int ahead) {
        return at + ahead < text.length ? text[at + ahead] : -1;
    }

    private boolean peekIsOneOf(String characters) {
        return characters.indexOf(peek(0)) >= 0;
    }

    private int take() throws UnsupportedPatternException {
        require(at < text.length);
        return text[at++];
    }

    private boolean skip(char expected) {
        if (peek(0) != expected) {
            return false;
        }
        at++;
        return true;
    }

    private Node choice(int depth) throws UnsupportedPatternException {
        require(depth <= MAX_DEPTH);
        List<Node> alternatives = new ArrayList<>();
        do {
            alternatives.add(sequence(depth));
        } while (skip('|'));
        return alternatives.size() == 1 ? alternatives.get(0) : new Node(CHOICE, null, alternatives);
    }

    private Node sequence(int depth) throws UnsupportedPatternException {
        List<Node> parts = new ArrayList<>();
        while (peek(0) >= 0 && !peekIsOneOf("|)")) {
            parts.add(quantified(atom(depth)));
        }
        return new Node(SEQUENCE, null, parts);
    }

    private Node atom(int depth) throws UnsupportedPatternException {
        int character = take();
        switch (character) {
            case '(':
                return group(depth);
            case '[':
                return bracketed();
            case '\\':
                return characters(escape(false));
            case '.':
                return characters(inverted(LINE_ENDS));
            case '^':
                return new Node(BEGIN, null, null);
            case '$':
                return new Node(END, null, null);
            default:
                require("*+?{}]".indexOf(character) < 0);
                return characters(new int[] {character, character});
        }
    }

    private static Node characters(int[] ranges) {
        return new Node(CHARACTERS, ranges, null);
    }

    private Node group(int depth) throws UnsupportedPatternException {
        if (skip('?')) {
            if (peek(0) == '<' && peek(1) != '=' && peek(1) != '!') {
                at++;
                groupName();
            } else {
                // Neither look-around nor a flag.
                require(skip(':'));
            }
        }
        Node node = choice(depth + 1);
        require(skip(')'));
        return node;
    }

    private void groupName() throws UnsupportedPatternException {
        int begin = at;
        for (int character = take(); character != '>'; character = take()) {
            boolean digit = character >= '0' && character <= '9';
            boolean letter =
                    character == '_'
                            || character >= 'a' && character <= 'z'
                            || character >= 'A' && character <= 'Z';
            require(letter || digit && at - 1 > begin);
        }
        require(at - 1 > begin);
    }

    private Node quantified(Node part) throws UnsupportedPatternException {
        Node repeat = quantifier(part);
        if (repeat == null) {
            return part;
        }
        require(part.kind != BEGIN && part.kind != END);
        skip('?');
        require(!peekIsOneOf("*+?{"));
        return repeat;
    }

    private Node quantifier(Node part) throws UnsupportedPatternException {
        if (!peekIsOneOf("*+?{")) {
            return null;
        }
        List<Node> parts = new ArrayList<>(1);
        parts.add(part);
        Node repeat = new Node(REPEAT, null, parts);
        int sign = take();
        repeat.least = sign == '+' ? 1 : 0;
        repeat.most = sign == '?' ? 1 : -1;
        if (sign == '{') {
            repeat.least = count();
            repeat.most = repeat.least;
            if (skip(',')) {
                repeat.most = peek(0) == '}' ? -1 : count();
            }
            require(skip('}'));
            require(Math.max(repeat.least, repeat.most) <= HIGHEST_REPEAT);
            require(repeat.most < 0 || repeat.most >= repeat.least);
        }
        return repeat;
    }

    private int count() throws UnsupportedPatternException {
        int begin = at;
        int number = 0;
        while (peek(0) >= '0' && peek(0) <= '9' && at - begin < MAX_COUNT_DIGITS) {
            number = number * 10 + take() - '0';
        }
        require(at > begin);
        return number;
    }

    private Node bracketed() throws UnsupportedPatternException {
        boolean negated = skip('^');
        List<int[]> found = new ArrayList<>();
        while (!skip(']')) {
            int[] first = classMember();
            if (peek(0) != '-' || peek(1) == ']' || peek(1) < 0) {
                found.add(first);
                continue;
            }
            at++;
            int low = onlyOne(first);
            int high = onlyOne(classMember());
            require(low <= high);
            found.add(new int[] {low, high});
        }
        int count = 0;
        for (int[] item : found) {
            count += item.length;
        }
        int[] ranges = new int[count];
        count = 0;
        for (int[] item : found) {
            System.arraycopy(item, 0, ranges, count, item.length);
            count += item.length;
        }
        return characters(negated ? inverted(ranges) : ranges);
    }

    private int onlyOne(int[] ranges) throws UnsupportedPatternException {
        require(ranges.length == 2 && ranges[0] == ranges[1]);
        return ranges[0];
    }

    private int[] classMember() throws UnsupportedPatternException {
        int character = take();
        return character == '\\' ? escape(true) : new int[] {character, character};
    }

    private int[] escape(boolean inClass) throws UnsupportedPatternException {
        int character = take();
        switch (character) {
            case 'd':
                return DIGITS;
            case 'w':
                return WORDS;
            case 's':
                return BLANKS;
            case 'D':
                return inverted(DIGITS);
            case 'W':
                return inverted(WORDS);
            case 'S':
                return inverted(BLANKS);
            default:
                int code = codeOf(character, inClass);
                return new int[] {code, code};
        }
    }

    private int codeOf(int character, boolean inClass) throws UnsupportedPatternException {
        int control = "tnrfv".indexOf(character);
        if (control >= 0) {
            return "\t\n\r\f\u000b".charAt(control);
        }
        if (character == 'b' && inClass) {
            return '\b';
        }
        if (character == '0' && !(peek(0) >= '0' && peek(0) <= '9')) {
            return 0;
        }
        if (character == 'x') {
            return hexadecimal(2);
        }
        if (character == 'u') {
            return unicode();
        }
        require("^$\\.*+?()[]{}|/-".indexOf(character) >= 0);
        return character;
    }

    private int unicode() throws UnsupportedPatternException {
        if (!skip('{')) {
            int code = hexadecimal(4);
            require(code < Character.MIN_SURROGATE || code > Character.MAX_SURROGATE);
            return code;
        }
        int length = 0;
        while (length < MAX_COUNT_DIGITS && peek(length) != '}') {
            length++;
        }
        int code = length == 0 ? -1 : hexadecimal(length);
        require(code >= 0 && code <= LAST && skip('}'));
        return code;
    }

    private int hexadecimal(int length) throws UnsupportedPatternException {
        int code = 0;
        for (int index = 0; index < length; index++) {
            int character = take();
            int digit = character < 128 ? Character.digit(character, 16) : -1;
            require(digit >= 0);
            code = code * 16 + digit;
        }
        return code;
    }

    private static int[] inverted(int[] ranges) {
        long[] sorted = new long[ranges.length / 2];
        for (int index = 0; index < sorted.length; index++) {
            sorted[index] = (long) ranges[2 * index] << 32 | ranges[2 * index + 1];
        }
        Arrays.sort(sorted);
        int[] gaps = new int[ranges.length + 2];
        int count = 0;
        int begin = 0;
        for (long value : sorted) {
            int first = (int) (value >> 32);
            if (first > begin) {
                gaps[count++] = begin;
                gaps[count++] = first - 1;
            }
            begin = Math.max(begin, (int) value + 1);
        }
        if (begin <= LAST) {
            gaps[count++] = begin;
            gaps[count++] = LAST;
        }
        return Arrays.copyOf(gaps, count);
    }
}
