package dev.droidgate.shim.platform;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256 digests, as lower-case hexadecimal. */
public final class Digests {
    private Digests() {}

    public static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder(2 * bytes.length);
        for (byte octet : bytes) {
            text.append(Character.forDigit(octet >> 4 & 15, 16)).append(Character.forDigit(octet & 15, 16));
        }
        return text.toString();
    }

    /** Returns the bytes of a text, null where it is not hexadecimal. */
    static byte[] read(String text) {
        if (text.length() % 2 != 0) {
            return null;
        }
        byte[] bytes = new byte[text.length() / 2];
        for (int index = 0; index < text.length(); index++) {
            int digit = Character.digit(text.charAt(index), 16);
            if (digit < 0) {
                return null;
            }
            bytes[index / 2] = (byte) (bytes[index / 2] << 4 | digit);
        }
        return bytes;
    }

    public static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    public static String of(byte[] bytes) {
        return hex(sha256().digest(bytes));
    }

    public static String of(String text) {
        return of(text.getBytes(StandardCharsets.UTF_8));
    }
}
