package dev.droidgate.sample.clockin;

import android.content.Context;
import android.content.ContextWrapper;
import android.content.SharedPreferences;
import com.android.org.kxml2.io.KXmlParser;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.StringReader;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.HashSet;
import java.util.Set;
import org.xmlpull.v1.XmlPullParser;

/** Answers requests: the descriptor in the first line, the second of the day in the next, then one request a line. */
public final class ClockInRunner {
    private static final Set<String> DAYS = new HashSet<>();

    private ClockInRunner() {
    }

    public static void main(String[] unused) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        Descriptor descriptor = new Descriptor();
        Method read = Descriptor.class.getDeclaredMethod("read", XmlPullParser.class);
        read.setAccessible(true);
        KXmlParser parser = new KXmlParser();
        parser.setInput(new StringReader(text(in.readLine())));
        read.invoke(descriptor, parser);
        Clock clock = Clock.fixed(Instant.ofEpochSecond(Long.parseLong(text(in.readLine()))), ZoneOffset.UTC);
        RequestEngine engine = new RequestEngine(descriptor, new ClockInBook(context()), clock);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            byte[] answer = bytes(engine.answer(text(line)));
            System.out.println('"' + Base64.getEncoder().encodeToString(answer) + '"');
        }
    }

    private static Context context() {
        Object editor = Proxy.newProxyInstance(ClockInRunner.class.getClassLoader(),
                new Class<?>[] {SharedPreferences.Editor.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("commit")) {
                        return true;
                    }
                    DAYS.clear();
                    for (Object day : (Set<?>) arguments[1]) {
                        DAYS.add((String) day);
                    }
                    return proxy;
                });
        Object preferences = Proxy.newProxyInstance(ClockInRunner.class.getClassLoader(),
                new Class<?>[] {SharedPreferences.class}, (proxy, method, arguments) ->
                        method.getName().equals("edit") ? editor : new HashSet<>(DAYS));
        return new ContextWrapper(null) {
            @Override
            public SharedPreferences getSharedPreferences(String name, int mode) {
                return (SharedPreferences) preferences;
            }
        };
    }

    /** UTF-16 that keeps half characters. */
    private static byte[] bytes(String text) {
        byte[] bytes = new byte[text.length() * 2];
        for (int i = 0; i < text.length(); i++) {
            bytes[2 * i] = (byte) (text.charAt(i) >> 8);
            bytes[2 * i + 1] = (byte) text.charAt(i);
        }
        return bytes;
    }

    private static String text(String line) {
        if (line.equals("-")) {
            return null;
        }
        byte[] bytes = line.equals("=") ? new byte[0] : Base64.getDecoder().decode(line);
        char[] units = new char[bytes.length / 2];
        for (int i = 0; i < units.length; i++) {
            units[i] = (char) ((bytes[2 * i] & 0xff) << 8 | bytes[2 * i + 1] & 0xff);
        }
        return new String(units);
    }
}
