package dev.droidgate.sample.agent;

import android.content.Context;
import android.content.Intent;
import android.content.pm.ComponentInfo;
import android.content.pm.PackageManager;
import android.content.pm.ResolveInfo;
import android.content.res.Resources;
import android.content.res.XmlResourceParser;
import android.os.Bundle;
import java.io.IOException;
import java.util.List;
import org.json.JSONArray;
import org.json.JSONObject;
import org.xmlpull.v1.XmlPullParserException;

/** The components of other apps that offer tools, as far as the queries of the manifest let them be seen. */
final class ToolApps {
    private static final String[] META_DATA = {
        "mobile.mcp.tool.name", "mobile.mcp.tool.description", "mobile.mcp.tool.capabilities",
        "mMCP_manifest", "mcp.application.name", "mcp.application.description", "mcp.capabilities",
    };

    private final PackageManager packages;
    private final JSONArray found = new JSONArray();

    private ToolApps(Context context) {
        packages = context.getPackageManager();
    }

    /** Returns each component with its protocol, its meta-data, and the XML that these refer to. */
    static JSONArray findAll(Context context) {
        ToolApps all = new ToolApps(context);
        int flags = PackageManager.GET_META_DATA;
        Intent bound = new Intent("mobile.mcp.SERVICE");
        Intent opened = new Intent("com.example.mMCP.ACTION_TOOL_ADVERTISE");
        Intent asked = new Intent("com.example.ACTION_MMCP_DISCOVERY");
        all.add("mobile-mcp", all.packages.queryIntentServices(bound, flags));
        all.add("mmcp", all.packages.queryIntentActivities(opened, flags));
        all.add("mmcp-broadcast", all.packages.queryBroadcastReceivers(asked, flags));
        return all.found;
    }

    private void add(String protocol, List<ResolveInfo> resolved) {
        for (ResolveInfo each : resolved) {
            ComponentInfo info = each.serviceInfo == null ? each.activityInfo : each.serviceInfo;
            Bundle kept = new Bundle();
            JSONObject xml = new JSONObject();
            for (String name : META_DATA) {
                Object value = info.metaData == null ? null : RawValues.valueOf(info.metaData, name);
                if (value instanceof Integer) {
                    kept.putInt(name, (Integer) value);
                    RawValues.put(xml, name, xmlOf(info, (Integer) value));
                } else if (value != null) {
                    kept.putString(name, value.toString());
                }
            }
            found.put(RawValues.object(
                    "protocol", protocol,
                    "component", info.packageName + "/" + info.name,
                    "meta_data", RawValues.of(kept),
                    "xml", xml));
        }
    }

    /** As the specification of Mobile-MCP has it, section 2. */
    private JSONObject xmlOf(ComponentInfo info, int reference) {
        try (XmlResourceParser parser =
                packages.getResourcesForApplication(info.applicationInfo).getXml(reference)) {
            JSONObject root = RawValues.of(parser);
            // One app's XML may not fill the answer, which has all apps.
            return root == null || root.toString().length() > RawValues.LONGEST_TEXT ? null : root;
        } catch (PackageManager.NameNotFoundException
                | Resources.NotFoundException
                | IOException
                | XmlPullParserException unreadable) {
            return null;
        }
    }
}
