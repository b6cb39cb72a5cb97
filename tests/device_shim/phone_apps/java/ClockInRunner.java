package dev.droidgate.sample.clockin;

import android.content.Context;
import android.content.ContextWrapper;
import android.content.SharedPreferences;
import com.android.org.kxml2.io.KXmlParser;
import dev.droidgate.sample.Lines;
import dev.droidgate.sample.mobilemcp.Descriptor;
import java.io.StringReader;
import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.Set;

/** Answers requests: the descriptor in the first line, the second of the day in the next, then one request a line. */
public final class ClockInRunner {
    private static final Set<String> DAYS = new HashSet<>();

    private ClockInRunner() {
    }

    public static void main(String[] unused) throws Exception {
        KXmlParser parser = new KXmlParser();
        parser.setInput(new StringReader(Lines.next()));
        Clock clock = Clock.fixed(Instant.ofEpochSecond(Long.parseLong(Lines.next())), ZoneOffset.UTC);
        Lines.answer(new ClockInEngine(Descriptor.read(parser), new ClockInBook(context()), clock)::answer);
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
}
