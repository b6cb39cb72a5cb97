package dev.droidgate.sample.tally;

import com.android.org.kxml2.io.KXmlParser;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.StringReader;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.xmlpull.v1.XmlPullParser;

/** Answers requests over one assistant's totals: the descriptor in the first line, then one request a line. */
public final class TallyRunner {
    private TallyRunner() {
    }

    public static void main(String[] unused) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        Descriptor descriptor = new Descriptor();
        Method read = Descriptor.class.getDeclaredMethod("read", XmlPullParser.class);
        read.setAccessible(true);
        KXmlParser parser = new KXmlParser();
        parser.setInput(new StringReader(text(in.readLine())));
        read.invoke(descriptor, parser);
        RequestEngine engine = new RequestEngine(descriptor);
        Totals totals = new Totals();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            byte[] answer = bytes(engine.answer(text(line), totals));
            System.out.println('"' + Base64.getEncoder().encodeToString(answer) + '"');
        }
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
