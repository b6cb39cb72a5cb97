package dev.droidgate.sample.agent;

import android.content.ComponentName;
import android.content.Context;
import android.content.Intent;
import android.content.pm.ComponentInfo;
import android.content.pm.PackageManager;
import android.content.pm.ResolveInfo;
import java.util.ArrayList;
import java.util.List;

/** A component of another app that offers tools, and the protocol in which it does. */
final class ToolApp {
    static final String ACTION_MOBILE_MCP = "mobile.mcp.SERVICE";
    static final String ACTION_MMCP = "com.example.mMCP.ACTION_TOOL_ADVERTISE";
    static final String ACTION_BROADCAST = "com.example.ACTION_MMCP_DISCOVERY";

    enum Protocol { MOBILE_MCP, MMCP, BROADCAST }

    final Protocol protocol;
    final ComponentName component;
    final String label;

    private ToolApp(Protocol protocol, ComponentInfo info, PackageManager packages) {
        this.protocol = protocol;
        this.component = new ComponentName(info.packageName, info.name);
        this.label = info.applicationInfo.loadLabel(packages).toString();
    }

    /** Finds what this app may see; its manifest lists the three actions under queries. */
    static List<ToolApp> findAll(Context context) {
        PackageManager packages = context.getPackageManager();
        List<ToolApp> found = new ArrayList<>();
        for (ResolveInfo each : packages.queryIntentServices(new Intent(ACTION_MOBILE_MCP), 0)) {
            found.add(new ToolApp(Protocol.MOBILE_MCP, each.serviceInfo, packages));
        }
        for (ResolveInfo each : packages.queryIntentActivities(new Intent(ACTION_MMCP), 0)) {
            found.add(new ToolApp(Protocol.MMCP, each.activityInfo, packages));
        }
        for (ResolveInfo each : packages.queryBroadcastReceivers(new Intent(ACTION_BROADCAST), 0)) {
            found.add(new ToolApp(Protocol.BROADCAST, each.activityInfo, packages));
        }
        return found;
    }

    @Override
    public String toString() {
        return label + "\n" + protocol + " " + component.flattenToShortString();
    }
}
