package dev.droidgate.proof.agents;

import android.content.pm.ActivityInfo;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageParser;
import android.content.pm.ProviderInfo;
import android.content.pm.ServiceInfo;
import dev.droidgate.proof.phone.Inputs.App;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.robolectric.shadows.ShadowPackageParser;

/** A shim's manifest as Android's package parser has it, compared with docs/shim.md 1. */
public final class BuiltShim {
    private static final String CLASSES = "dev.droidgate.shim.";
    private static final Set<String> ALWAYS =
            Set.of("TrampolineActivity", "ConsentActivity", "ManageActivity", "HostProvider");
    private static final Set<String> ADVERTISED = Set.of("MmcpActivity", "MmcpReceiver", "FunctionService");
    private static final Set<String> EXPORTED =
            Set.of(
                    "ToolService", "ManageActivity", "HostProvider", "MmcpActivity", "MmcpReceiver", "FunctionService",
                    "ShellIdentityService");
    private static final Set<String> PERMISSIONS =
            Set.of(
                    "android.permission.FOREGROUND_SERVICE",
                    "android.permission.POST_NOTIFICATIONS",
                    "android.permission.SYSTEM_ALERT_WINDOW",
                    "android.permission.HIDE_OVERLAY_WINDOWS",
                    "android.permission.EXECUTE_APP_FUNCTIONS");
    private static final int SHORT_SERVICE = 1 << 11;

    private final String name;
    private final PackageParser.Package parsed;

    public BuiltShim(App app) {
        name = app.name();
        parsed = ShadowPackageParser.callParsePackage(app.apk());
        expect(parsed.packageName.equals(app.packageName()), parsed.packageName);
    }

    /** Compares it with what is said of a shim, or of one without routes. */
    public void check(boolean bare) {
        ApplicationInfo application = parsed.applicationInfo;
        expect(application.minSdkVersion == 24 && application.targetSdkVersion == 36, "releases");
        expect((application.flags & ApplicationInfo.FLAG_DEBUGGABLE) == 0, "debuggable");
        expect((application.flags & ApplicationInfo.FLAG_HAS_CODE) != 0, "code");
        expect(PERMISSIONS.containsAll(parsed.requestedPermissions), parsed.requestedPermissions.toString());
        expect(parsed.permissions.isEmpty() && parsed.mSharedUserId == null, "powers of its own");
        Map<String, Boolean> components = components();
        Set<String> names = new TreeSet<>(components.keySet());
        expect(names.containsAll(ALWAYS), names.toString());
        expect(names.contains("ToolService") != bare, names.toString());
        names.removeAll(ALWAYS);
        names.removeAll(ADVERTISED);
        names.remove("ToolService");
        boolean holder = parsed.packageName.equals("dev.droidgate.shim");
        expect(names.remove("ShellIdentityService") == holder, names.toString());
        expect(names.isEmpty(), names.toString());
        components.forEach((item, exported) -> expect(exported == EXPORTED.contains(item), item + " is exported"));
        parsed.services.forEach(service -> checkService(service.info));
        parsed.activities.forEach(activity -> checkActivity(activity.info));
        checkProvider(parsed.providers.get(0).info);
        expect(parsed.instrumentation.size() == (holder ? 1 : 0), "instrumentation");
        if (holder) {
            String target = parsed.instrumentation.get(0).info.targetPackage;
            expect(target.equals(parsed.packageName), target);
        }
    }

    private Map<String, Boolean> components() {
        Map<String, Boolean> found = new TreeMap<>();
        parsed.services.forEach(service -> found.put(shortName(service.info.name), service.info.exported));
        // The parser adds one of Android's own where an app has no launcher.
        parsed.activities.removeIf(activity -> activity.info.name.equals("android.app.AppDetailsActivity"));
        parsed.activities.forEach(item -> found.put(shortName(item.info.name), item.info.exported));
        parsed.receivers.forEach(receiver -> found.put(shortName(receiver.info.name), receiver.info.exported));
        parsed.providers.forEach(provider -> found.put(shortName(provider.info.name), provider.info.exported));
        return found;
    }

    private String shortName(String className) {
        expect(className.startsWith(CLASSES), className);
        try {
            // The newer ones are loaded only on the releases that have what they are of.
            Class.forName(className, false, getClass().getClassLoader());
        } catch (ClassNotFoundException | NoClassDefFoundError missing) {
            expect(className.endsWith("FunctionService"), className);
        }
        return className.substring(className.lastIndexOf('.') + 1);
    }

    private void checkService(ServiceInfo info) {
        if (info.name.endsWith(".FunctionService")) {
            expect("android.permission.BIND_APP_FUNCTION_SERVICE".equals(info.permission), info.permission);
            return;
        }
        expect(info.permission == null, info.permission);
        if (info.name.endsWith(".ShellIdentityService")) {
            return;
        }
        expect(info.getForegroundServiceType() == SHORT_SERVICE, "type " + info.getForegroundServiceType());
    }

    private void checkActivity(ActivityInfo info) {
        expect(info.permission == null, info.permission);
        if (!info.name.endsWith(".TrampolineActivity")) {
            return;
        }
        expect(info.launchMode == ActivityInfo.LAUNCH_MULTIPLE, "launch mode");
        expect(info.taskAffinity == null, "affinity " + info.taskAffinity);
        expect(info.getThemeResource() == android.R.style.Theme_Translucent_NoTitleBar, "theme");
        expect((info.flags & ActivityInfo.FLAG_EXCLUDE_FROM_RECENTS) != 0, "recents");
        expect((info.flags & ActivityInfo.FLAG_NO_HISTORY) == 0, "history");
        expect(info.screenOrientation == ActivityInfo.SCREEN_ORIENTATION_UNSPECIFIED, "orientation");
        int handled =
                ActivityInfo.CONFIG_ORIENTATION
                        | ActivityInfo.CONFIG_SCREEN_SIZE
                        | ActivityInfo.CONFIG_UI_MODE
                        | ActivityInfo.CONFIG_DENSITY
                        | ActivityInfo.CONFIG_FONT_SCALE
                        | ActivityInfo.CONFIG_LOCALE
                        | ActivityInfo.CONFIG_KEYBOARD;
        expect((info.configChanges & handled) == handled, "changes " + info.configChanges);
    }

    private void checkProvider(ProviderInfo info) {
        String dump = "android.permission.DUMP";
        expect(info.authority.equals(parsed.packageName + ".host"), info.authority);
        expect(dump.equals(info.readPermission) && dump.equals(info.writePermission), info.readPermission);
        expect(!info.grantUriPermissions && info.pathPermissions == null, "grants");
    }

    private void expect(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(name + ": " + what);
        }
    }
}
