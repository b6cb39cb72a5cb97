package dev.droidgate.shim.targets;

import android.content.ComponentName;
import android.content.pm.ComponentInfo;
import android.content.pm.PackageManager;
import android.content.res.Resources;
import android.os.Bundle;
import android.util.Log;
import dev.droidgate.shim.core.Backend.ToolBackend;
import dev.droidgate.shim.core.Route;
import dev.droidgate.shim.platform.Digests;
import dev.droidgate.shim.platform.Extras;
import dev.droidgate.shim.platform.Names;
import dev.droidgate.shim.platform.Streams;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.xmlpull.v1.XmlPullParserException;

/** Digests of what an app says that it can do, by the recipes of shim.md 5. */
public final class TargetDigests {
    private static final String XML = "xml(";

    private final PackageManager packages;
    private final Discoveries discoveries;

    public TargetDigests(PackageManager packages, Discoveries discoveries) {
        this.packages = packages;
        this.discoveries = discoveries;
    }

    /** Returns the recipe that a digest was made by. */
    public static String recipeOf(String digest) {
        return digest.substring(0, Math.max(0, digest.lastIndexOf(':')));
    }

    /** Returns the digest by a recipe, null where what it is of is not there. */
    String digest(String recipe, Route route) {
        try {
            String hash = hash(recipe, route);
            return hash == null ? null : recipe + ':' + hash;
        } catch (PackageManager.NameNotFoundException
                | IOException
                | XmlPullParserException
                | RuntimeException unreadable) {
            Log.w("droidgate", "cannot read what " + route.target.packageName + " offers", unreadable);
            return null;
        }
    }

    private String hash(String recipe, Route route)
            throws PackageManager.NameNotFoundException, IOException, XmlPullParserException {
        int names = recipe.indexOf('(') + 1;
        if (names > 0 && recipe.endsWith(")")) {
            return files(recipe.substring(0, names), recipe.substring(names, recipe.length() - 1), route);
        }
        if (Discoveries.RECIPE.equals(recipe)) {
            return digestOf(Discoveries.text(discoveries.discover(route.destination)));
        }
        if ("mmcp".equals(recipe)) {
            return digestOf(textOf(infoOf(route), Names.MMCP_MANIFEST));
        }
        if (!"mobile-mcp".equals(recipe)) {
            return null;
        }
        ComponentInfo info = infoOf(route);
        String text = textOf(info, Names.CAPABILITIES);
        return digestOf(text == null ? textOf(info, Names.OLD_CAPABILITIES) : text);
    }

    private static String digestOf(String text) {
        return text == null ? null : Digests.of(text);
    }

    private String files(String kind, String names, Route route)
            throws PackageManager.NameNotFoundException, IOException, XmlPullParserException {
        String app = route.target.packageName;
        Resources resources = packages.getResourcesForApplication(app);
        MessageDigest digest = Digests.sha256();
        for (String name : names.split(",")) {
            if (XML.equals(kind)) {
                String events = XmlEvents.of(resources, resources.getIdentifier(name, "xml", app));
                digest.update(events.getBytes(StandardCharsets.UTF_8));
                continue;
            }
            try (InputStream in = resources.getAssets().open(name)) {
                digest.update(Streams.readAll(in));
            } catch (FileNotFoundException absent) {
                continue;
            }
        }
        return Digests.hex(digest.digest());
    }

    /** Returns what meta-data holds: a text, the content of a raw resource, or the events of an XML. */
    public String textOf(ComponentInfo info, String key)
            throws PackageManager.NameNotFoundException, IOException, XmlPullParserException {
        Bundle data = info.metaData;
        Object value = data == null ? null : Extras.any(data, key);
        if (!(value instanceof Integer)) {
            return value == null ? null : value.toString();
        }
        int id = (Integer) value;
        Resources resources = packages.getResourcesForApplication(info.applicationInfo);
        String type = resources.getResourceTypeName(id);
        if ("xml".equals(type)) {
            return XmlEvents.of(resources, id);
        }
        if (!"raw".equals(type)) {
            return resources.getString(id);
        }
        try (InputStream in = resources.openRawResource(id)) {
            return new String(Streams.readAll(in), StandardCharsets.UTF_8);
        }
    }

    /** Returns what a route calls, with its meta-data. */
    private ComponentInfo infoOf(Route route) throws PackageManager.NameNotFoundException {
        ComponentName component = ComponentName.unflattenFromString(route.destination);
        if (!(route.backend instanceof ToolBackend)) {
            return packages.getServiceInfo(component, PackageManager.GET_META_DATA);
        }
        return ((ToolBackend) route.backend).isBroadcast
                ? packages.getReceiverInfo(component, PackageManager.GET_META_DATA)
                : packages.getActivityInfo(component, PackageManager.GET_META_DATA);
    }
}
