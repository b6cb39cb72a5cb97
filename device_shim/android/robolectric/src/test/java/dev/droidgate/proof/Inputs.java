package dev.droidgate.proof;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;

/** What the Python side made for this run: APKs, and who signed them. */
final class Inputs {
    private static final Properties HELD = read();

    private Inputs() {}

    /** An app's APK as Android would know it. */
    record App(String packageName, Path apk, String certificate, int uid) {}

    private static Properties read() {
        Properties properties = new Properties();
        try (InputStream in = Inputs.class.getResourceAsStream("/inputs.properties")) {
            properties.load(in);
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
        return properties;
    }

    /** Returns the names of a list. */
    static List<String> list(String key) {
        return List.of(HELD.getProperty(key).split(","));
    }

    /** Returns a fact about this run. */
    static String fact(String key) {
        return HELD.getProperty(key);
    }

    static App app(String name) {
        return new App(
                "dev.droidgate.proof." + name,
                Path.of(HELD.getProperty(name + ".apk")),
                HELD.getProperty(name + ".certificate"),
                Integer.parseInt(HELD.getProperty(name + ".uid")));
    }
}
