package dev.droidgate.runtime.shadows;

import android.content.ComponentName;
import android.content.Intent;
import android.content.pm.ActivityInfo;
import android.content.pm.ApplicationInfo;
import android.content.pm.ComponentInfo;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.content.pm.PackageParser;
import android.content.pm.ResolveInfo;
import android.content.pm.ServiceInfo;
import android.content.pm.Signature;
import android.content.pm.SigningInfo;
import android.content.res.Resources;
import dev.droidgate.robolectric.InstalledApks;
import dev.droidgate.runtime.ProcessLink;
import java.nio.file.Path;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.json.JSONArray;
import org.json.JSONObject;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.annotation.RealObject;
import org.robolectric.shadow.api.Shadow;
import org.robolectric.shadows.ShadowApplicationPackageManager;
import org.robolectric.shadows.ShadowPackageParser;
import org.robolectric.shadows.ShadowSigningInfo;

/** The phone's packages as one of its apps may see them; what an APK holds Android's own parser reads. */
@Implements(className = "android.app.ApplicationPackageManager", isInAndroidSdk = false)
public final class PackagesOnPhone extends ShadowApplicationPackageManager {
    /** Of an intent that asks the user for permissions: their names. */
    public static final String REQUESTED_PERMISSIONS = "android.content.pm.extra.REQUEST_PERMISSIONS_NAMES";

    /** An APK's path holds the digest of its content. */
    private static final Map<String, PackageParser.Package> PARSED = new ConcurrentHashMap<>();

    private static final Map<String, Resources> RESOURCES = new ConcurrentHashMap<>();

    @RealObject private PackageManager manager;

    private ProcessLink process() {
        return ProcessLink.ownerOf(manager);
    }

    private JSONObject facts(String name) throws PackageManager.NameNotFoundException {
        JSONObject facts = process().facts("package", "name", name);
        if (facts == null) {
            throw new PackageManager.NameNotFoundException(name);
        }
        return facts;
    }

    @Override
    @Implementation
    protected PackageInfo getPackageInfo(String name, int flags) throws PackageManager.NameNotFoundException {
        if (process() == null) {
            return super.getPackageInfo(name, flags);
        }
        JSONObject facts = facts(name);
        PackageInfo info = new PackageInfo();
        info.packageName = name;
        info.setLongVersionCode(facts.optLong("version_code"));
        info.lastUpdateTime = facts.optLong("updated");
        info.applicationInfo = application(facts);
        info.signatures = signatures(facts);
        info.signingInfo = signing(certificates(facts));
        return info;
    }

    private static ApplicationInfo application(JSONObject facts) {
        ApplicationInfo info = new ApplicationInfo();
        info.packageName = facts.optString("name");
        info.uid = facts.optInt("uid");
        info.sourceDir = facts.optString("apk");
        info.publicSourceDir = info.sourceDir;
        info.nonLocalizedLabel = facts.optString("label");
        return info;
    }

    private static List<String> certificates(JSONObject facts) {
        JSONArray array = facts.optJSONArray("certificates");
        List<String> all = new ArrayList<>();
        for (int index = 0; array != null && index < array.length(); index++) {
            all.add(array.optString(index));
        }
        return all;
    }

    private static Signature[] signatures(JSONObject facts) {
        return certificates(facts).stream().map(Signature::new).toArray(Signature[]::new);
    }

    /** Returns what Android reports signers with these certificates, in hexadecimal. */
    public static SigningInfo signing(List<String> certificates) {
        SigningInfo info = Shadow.newInstanceOf(SigningInfo.class);
        ShadowSigningInfo shadow = Shadow.extract(info);
        shadow.setSignatures(certificates.stream().map(Signature::new).toArray(Signature[]::new));
        return info;
    }

    @Implementation
    protected Intent buildRequestPermissionsIntent(String[] names) {
        return new Intent().putExtra(REQUESTED_PERMISSIONS, names);
    }

    @Override
    @Implementation
    protected int getPackageUid(String name, int flags) throws PackageManager.NameNotFoundException {
        return process() == null ? super.getPackageUid(name, flags) : facts(name).optInt("uid");
    }

    @Override
    @Implementation
    protected String[] getPackagesForUid(int uid) {
        if (process() == null) {
            return super.getPackagesForUid(uid);
        }
        List<String> names = process().names("packages_of_uid", "uid", uid);
        return names.isEmpty() ? null : names.toArray(new String[0]);
    }

    @Override
    @Implementation
    protected ApplicationInfo getApplicationInfo(String name, int flags)
            throws PackageManager.NameNotFoundException {
        return process() == null ? super.getApplicationInfo(name, flags) : application(facts(name));
    }

    private static PackageParser.Package parsed(JSONObject facts) {
        return PARSED.computeIfAbsent(
                facts.optString("apk"), path -> ShadowPackageParser.callParsePackage(Path.of(path)));
    }

    private static <I extends ComponentInfo> I described(
            I info, PackageParser.Component<?> part, JSONObject facts) {
        info.metaData = part.metaData;
        info.applicationInfo = application(facts);
        return info;
    }

    private ActivityInfo activity(List<PackageParser.Activity> all, ComponentName name, JSONObject facts)
            throws PackageManager.NameNotFoundException {
        for (PackageParser.Activity activity : all) {
            if (activity.info.name.equals(name.getClassName())) {
                return described(new ActivityInfo(activity.info), activity, facts);
            }
        }
        throw new PackageManager.NameNotFoundException(name.flattenToString());
    }

    @Override
    @Implementation
    protected ActivityInfo getActivityInfo(ComponentName name, int flags)
            throws PackageManager.NameNotFoundException {
        if (process() == null) {
            return super.getActivityInfo(name, flags);
        }
        JSONObject facts = facts(name.getPackageName());
        return activity(parsed(facts).activities, name, facts);
    }

    @Override
    @Implementation
    protected ActivityInfo getReceiverInfo(ComponentName name, int flags)
            throws PackageManager.NameNotFoundException {
        if (process() == null) {
            return super.getReceiverInfo(name, flags);
        }
        JSONObject facts = facts(name.getPackageName());
        return activity(parsed(facts).receivers, name, facts);
    }

    @Override
    @Implementation
    protected ServiceInfo getServiceInfo(ComponentName name, int flags)
            throws PackageManager.NameNotFoundException {
        if (process() == null) {
            return super.getServiceInfo(name, flags);
        }
        JSONObject facts = facts(name.getPackageName());
        for (PackageParser.Service service : parsed(facts).services) {
            if (service.info.name.equals(name.getClassName())) {
                return described(new ServiceInfo(service.info), service, facts);
            }
        }
        throw new PackageManager.NameNotFoundException(name.flattenToString());
    }

    private List<ResolveInfo> resolved(String kind, Intent intent) {
        List<ResolveInfo> all = new ArrayList<>();
        for (String name : process().names("query", "kind", kind, "action", intent.getAction())) {
            ComponentName component = ComponentName.unflattenFromString(name);
            ResolveInfo info = new ResolveInfo();
            try {
                if (kind.equals("service")) {
                    info.serviceInfo = getServiceInfo(component, 0);
                } else {
                    info.activityInfo = kind.equals("activity")
                        ? getActivityInfo(component, 0)
                        : getReceiverInfo(component, 0);
                }
            } catch (PackageManager.NameNotFoundException gone) {
                continue;
            }
            all.add(info);
        }
        return all;
    }

    @Override
    @Implementation
    protected List<ResolveInfo> queryIntentServices(Intent intent, int flags) {
        return process() == null ? super.queryIntentServices(intent, flags) : resolved("service", intent);
    }

    @Override
    @Implementation
    protected List<ResolveInfo> queryIntentActivities(Intent intent, int flags) {
        return process() == null ? super.queryIntentActivities(intent, flags) : resolved("activity", intent);
    }

    @Override
    @Implementation
    protected List<ResolveInfo> queryBroadcastReceivers(Intent intent, int flags) {
        return process() == null
            ? super.queryBroadcastReceivers(intent, flags)
            : resolved("receiver", intent);
    }

    /** Returns the resources of an APK. */
    public static Resources resourcesOf(String apk) {
        return RESOURCES.computeIfAbsent(apk, InstalledApks::resourcesOf);
    }

    @Override
    @Implementation
    protected Resources getResourcesForApplication(ApplicationInfo info)
            throws PackageManager.NameNotFoundException {
        return process() == null ? super.getResourcesForApplication(info) : resourcesOf(info.sourceDir);
    }

    @Override
    @Implementation
    protected Resources getResourcesForApplication(String name) throws PackageManager.NameNotFoundException {
        return process() == null
                ? super.getResourcesForApplication(name)
                : resourcesOf(facts(name).optString("apk"));
    }

    @Implementation
    protected boolean hasSigningCertificate(String name, byte[] certificate, int type)
            throws NoSuchAlgorithmException {
        JSONObject facts = process().facts("package", "name", name);
        return facts != null && InstalledApks.hasCertificate(signatures(facts), certificate, type);
    }
}
