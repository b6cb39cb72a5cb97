package dev.droidgate.shim.core;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/** Numbers as texts, integers of so many bits, and floats as their shortest decimals. */
final class Numbers {
    private static final int MAX_NUMBER_TEXT = 64;
    private static final int MAX_WHOLE_DIGITS = 64;
    private static final int MAX_PLAIN_DIGITS = 18;
    private static final int DOUBLE_DIGITS = 17;
    private static final int FIRST_FLOAT_DIGITS = 6;
    private static final int FLOAT_DIGITS = 9;

    private Numbers() {}

    /** Returns whether a text spells an integer of at most 19 digits. */
    static boolean isInteger(String text) {
        return text.matches("-?(?:0|[1-9][0-9]{0,18})");
    }

    /** Returns whether a text spells a JSON number of at most 64 characters. */
    static boolean isReal(String text) {
        return text.length() <= MAX_NUMBER_TEXT
                && text.matches("-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?");
    }

    /**
     * Returns whether a decimal has no fraction, and no exponent that would make an integer of
     * many digits.
     */
    static boolean isWhole(BigDecimal number) {
        return adjusted(number) < MAX_WHOLE_DIGITS
                && number.setScale(0, RoundingMode.DOWN).compareTo(number) == 0;
    }

    /** Returns the exponent of a number's first digit. */
    static long adjusted(BigDecimal number) {
        return (long) number.precision() - number.scale() - 1;
    }

    /** Returns a whole number that fits so many bits, null for what does not. */
    static Long whole(Object value, int bits) {
        BigDecimal number = Json.decimal(value);
        if (number == null || !isWhole(number)) {
            return null;
        }
        BigInteger whole = number.toBigInteger();
        return whole.bitLength() < bits ? (Long) whole.longValue() : null;
    }

    /**
     * Returns the nearest 64-bit float, or 32-bit one, as its shortest decimal; null beyond the
     * largest.
     */
    static BigDecimal nearest(BigDecimal number, boolean single) {
        double near = number.doubleValue();
        near = single ? (float) near : near;
        if (Double.isInfinite(near)) {
            return null;
        }
        BigDecimal shortest = single ? shortestOfFloat((float) near) : shortest(near);
        if (shortest.signum() == 0) {
            return BigDecimal.ZERO;
        }
        BigDecimal plain = shortest.stripTrailingZeros();
        return plain.scale() < 0 && adjusted(plain) < MAX_PLAIN_DIGITS ? plain.setScale(0) : plain;
    }

    private static BigDecimal shortestOfFloat(float near) {
        for (int digits = FIRST_FLOAT_DIGITS; digits < FLOAT_DIGITS; digits++) {
            double shorter = rounded(near, digits).doubleValue();
            if ((float) shorter == near) {
                return shortest(shorter);
            }
        }
        return shortest(rounded(near, FLOAT_DIGITS).doubleValue());
    }

    private static BigDecimal shortest(double near) {
        for (int digits = 1; digits < DOUBLE_DIGITS; digits++) {
            BigDecimal shorter = rounded(near, digits);
            if (shorter.doubleValue() == near) {
                return shorter;
            }
        }
        return rounded(near, DOUBLE_DIGITS);
    }

    private static BigDecimal rounded(double near, int digits) {
        return new BigDecimal(near).round(new MathContext(digits, RoundingMode.HALF_EVEN));
    }
}
