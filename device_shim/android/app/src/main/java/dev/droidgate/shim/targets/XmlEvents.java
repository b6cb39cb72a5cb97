package dev.droidgate.shim.targets;

import android.content.res.Resources;
import android.content.res.XmlResourceParser;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.JsonWriter;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.xmlpull.v1.XmlPullParser;
import org.xmlpull.v1.XmlPullParserException;

/** An XML resource as the text that its digest is of (shim.md 5). */
public final class XmlEvents {
    private XmlEvents() {}

    static String of(Resources resources, int id) throws IOException, XmlPullParserException {
        StringBuilder text = new StringBuilder();
        try (XmlResourceParser parser = resources.getXml(id)) {
            int event = parser.next();
            for (; event != XmlPullParser.END_DOCUMENT; event = parser.next()) {
                if (event == XmlPullParser.START_TAG) {
                    text.append('<').append(parser.getName());
                    attributes(parser, resources, text);
                    text.append('>');
                } else if (event == XmlPullParser.END_TAG) {
                    text.append("</").append(parser.getName()).append('>');
                } else if (event == XmlPullParser.TEXT) {
                    String stripped = FailureTokens.stripped(parser.getText());
                    text.append(stripped.isEmpty() ? "" : JsonWriter.write(stripped));
                }
            }
        }
        return text.toString();
    }

    private static void attributes(XmlResourceParser parser, Resources resources, StringBuilder text) {
        // No name holds the blank that keeps the order one of namespace first, then name.
        Map<String, String> sorted = new TreeMap<>();
        for (int index = 0; index < parser.getAttributeCount(); index++) {
            String namespace = parser.getAttributeNamespace(index);
            String name = parser.getAttributeName(index);
            boolean plain = namespace == null || namespace.isEmpty();
            String written = plain ? name : '{' + namespace + '}' + name;
            String value = JsonWriter.write(valueOf(parser, resources, index));
            sorted.put((plain ? "" : namespace) + ' ' + name, ' ' + written + '=' + value);
        }
        for (String item : sorted.values()) {
            text.append(item);
        }
    }

    private static String valueOf(XmlResourceParser parser, Resources resources, int index) {
        int reference = parser.getAttributeResourceValue(index, 0);
        if (reference == 0) {
            return parser.getAttributeValue(index);
        }
        return '@' + resources.getResourceTypeName(reference) + '/'
                + resources.getResourceEntryName(reference);
    }
}
