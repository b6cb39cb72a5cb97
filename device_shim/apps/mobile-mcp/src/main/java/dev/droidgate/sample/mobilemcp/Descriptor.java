package dev.droidgate.sample.mobilemcp;

import android.content.res.Resources;
import android.content.res.XmlResourceParser;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.json.JSONException;
import org.json.JSONObject;
import org.xmlpull.v1.XmlPullParser;
import org.xmlpull.v1.XmlPullParserException;

/**
 * What res/xml/mcp_capabilities.xml declares; requests are checked against the very file that assistants
 * read.
 */
public final class Descriptor {
    static final class Param {
        final String name;
        final String type;
        final boolean required;

        Param(String name, String type, boolean required) {
            this.name = name;
            this.type = type;
            this.required = required;
        }
    }

    static final class Capability {
        final Map<String, Param> inputs = new LinkedHashMap<>();
        final List<Param> outputs = new ArrayList<>();

        /** Returns what is wrong with the arguments, or null. */
        String problemWith(JSONObject args) throws JSONException {
            for (Param param : inputs.values()) {
                if (param.required && !args.has(param.name)) {
                    return "\"" + param.name + "\" is missing";
                }
            }
            for (Iterator<String> names = args.keys(); names.hasNext(); ) {
                String name = names.next();
                Param param = inputs.get(name);
                if (param == null) {
                    return "\"" + name + "\" is not a parameter of this capability";
                }
                if (!isOf(args.get(name), param.type)) {
                    return "\"" + name + "\" must be " + (param.type.equals("integer") ? "an " : "a ")
                            + param.type;
                }
            }
            return null;
        }

        private static boolean isOf(Object value, String type) {
            switch (type) {
                case "boolean":
                    return value instanceof Boolean;
                case "integer":
                    return value instanceof Integer || value instanceof Long;
                default:
                    return value instanceof String;
            }
        }
    }

    private final Map<String, Capability> capabilities = new LinkedHashMap<>();

    /** Reads the app's own descriptor, an XML resource. */
    public static Descriptor load(Resources resources, int resource) {
        try (XmlResourceParser xml = resources.getXml(resource)) {
            return read(xml);
        } catch (XmlPullParserException | IOException e) {
            throw new IllegalStateException("The app's own descriptor cannot be read", e);
        }
    }

    Capability find(String id) {
        return capabilities.get(id);
    }

    public static Descriptor read(XmlPullParser xml) throws XmlPullParserException, IOException {
        Descriptor descriptor = new Descriptor();
        Capability current = null;
        boolean inOutput = false;
        while (xml.next() != XmlPullParser.END_DOCUMENT) {
            if (xml.getEventType() != XmlPullParser.START_TAG) {
                continue;
            }
            switch (xml.getName()) {
                case "capability":
                    current = new Capability();
                    descriptor.capabilities.put(xml.getAttributeValue(null, "id"), current);
                    break;
                case "input":
                    inOutput = false;
                    break;
                case "output":
                    inOutput = true;
                    break;
                case "param":
                    Param param = new Param(
                            xml.getAttributeValue(null, "name"),
                            xml.getAttributeValue(null, "type"),
                            "true".equals(xml.getAttributeValue(null, "required")));
                    if (inOutput) {
                        current.outputs.add(param);
                    } else {
                        current.inputs.put(param.name, param);
                    }
                    break;
                default:
                    break;
            }
        }
        return descriptor;
    }
}
