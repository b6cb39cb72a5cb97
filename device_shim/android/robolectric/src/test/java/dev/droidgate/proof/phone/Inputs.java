package dev.droidgate.proof.phone;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;

/** What the Python side made for this run: APKs, and who signed them. */
public final class Inputs {
    private static final Properties HELD = read();

    private Inputs() {}

    /** An app's APK as Android would know it. */
    public record App(
            String name, String packageName, Path apk, String certificate, String signer, int uid) {}

    private static Properties read() {
        Properties properties = new Properties();
        try (InputStream in = Inputs.class.getResourceAsStream("/inputs.properties")) {
            properties.load(in);
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
        return properties;
    }

    /** Returns a text. */
    public static String text(String key) {
        String found = HELD.getProperty(key);
        if (found == null) {
            throw new IllegalArgumentException("no input is called " + key);
        }
        return found;
    }

    /** Returns a list of names. */
    public static List<String> list(String key) {
        String text = text(key);
        return text.isEmpty() ? List.of() : Arrays.asList(text.split(","));
    }

    /** Returns an app. */
    public static App app(String name) {
        return new App(
                name,
                text(name + ".package"),
                Path.of(text(name + ".apk")),
                text(name + ".certificate"),
                text(name + ".signer"),
                Integer.parseInt(text(name + ".uid")));
    }
}
