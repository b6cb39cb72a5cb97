import android.app.ActivityThread;
import android.app.IActivityManager;
import android.content.ComponentName;
import android.content.Context;
import android.content.ContextWrapper;
import android.content.IIntentReceiver;
import android.content.Intent;
import android.content.IntentSender;
import android.content.pm.ActivityInfo;
import android.content.pm.ApplicationInfo;
import android.content.pm.IPackageDataObserver;
import android.content.pm.IPackageInstaller;
import android.content.pm.IPackageInstallerSession;
import android.content.pm.IPackageManager;
import android.content.pm.PackageInfo;
import android.content.pm.PackageInfoList;
import android.content.pm.PackageManager;
import android.content.pm.PackageManagerInternal;
import android.content.pm.ParceledListSlice;
import android.content.pm.ResolveInfo;
import android.content.pm.UserInfo;
import android.content.pm.VersionedPackage;
import android.hardware.input.IInputManager;
import android.hardware.input.InputManagerGlobal;
import android.os.Binder;
import android.os.IBinder;
import android.os.RemoteException;
import android.os.ServiceManager;
import android.os.ShellCommand;
import android.os.UserHandle;
import android.permission.IPermissionManager;
import android.permission.PermissionManager;
import android.view.InputEvent;
import android.view.KeyEvent;
import com.android.internal.app.IAppOpsService;
import com.android.internal.compat.IPlatformCompat;
import com.android.server.LocalServices;
import com.android.server.am.ActivityManagerService;
import com.android.server.appfunctions.ShellCommands;
import com.android.server.input.InputShellCommand;
import com.android.server.pm.UserManagerInternal;
import com.android.server.pm.verify.domain.DomainVerificationShell;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.json.JSONArray;
import org.json.JSONObject;

/** Android's own `pm`, `am`, `input` and `appops`; stand-ins with one package are behind them. */
final class Shells {
    private static final Map<String, PackageInfo> PACKAGES = new HashMap<>();
    private static final Map<String, Integer> STATES = new HashMap<>();

    private static JSONArray events;

    private Shells() {}

    /** The users: the owner. Abstract, so that the loader can make one without all other methods. */
    abstract static class Users extends UserManagerInternal {
        @Override
        public UserInfo getUserInfo(int user) {
            return user == 0 ? new UserInfo(0, "Owner", 0) : null;
        }

        @Override
        public List<UserInfo> getUsers(boolean excludesDying) {
            return List.of(new UserInfo(0, "Owner", UserInfo.FLAG_ADMIN));
        }

        @Override
        public int[] getUserIds() {
            return new int[] {0};
        }

    }

    /** Packages as an app sees them. */
    abstract static class Packages extends PackageManager {
        @Override
        public PackageInfo getPackageInfo(String name, int flags) throws NameNotFoundException {
            if (!PACKAGES.containsKey(name)) {
                throw new NameNotFoundException(name);
            }
            return PACKAGES.get(name);
        }
    }

    /** Packages as the server sees them. */
    abstract static class Internal extends PackageManagerInternal {
        @Override
        public boolean isApexPackage(String name) {
            return false;
        }
    }

    private static final class Somewhere extends ContextWrapper {
        Somewhere() {
            super(null);
        }

        @Override
        public Context createContextAsUser(UserHandle user, int flags) {
            return this;
        }

        @Override
        public int getDeviceId() {
            return 0;
        }

        @Override
        public PackageManager getPackageManager() {
            try {
                return ShellCommands.bare(Packages.class);
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        }
    }

    /** Installs the packages that the questions after this one are about. */
    static JSONArray install(JSONArray listed) throws Exception {
        ShellCommands.prepareUsers(stand(IActivityManager.class));
        Field known = ServiceManager.class.getDeclaredField("sCache");
        known.setAccessible(true);
        @SuppressWarnings("unchecked")
        Map<String, IBinder> services = (Map<String, IBinder>) known.get(null);
        set(ActivityThread.class, null, "sPackageManager", stand(IPackageManager.class));
        Binder compatibility = new Binder();
        compatibility.attachInterface(stand(IPlatformCompat.class), IPlatformCompat.DESCRIPTOR);
        services.put("platform_compat", compatibility);
        Constructor<?> input = InputManagerGlobal.class.getDeclaredConstructor(IInputManager.class);
        input.setAccessible(true);
        set(InputManagerGlobal.class, null, "sInstance", input.newInstance(stand(IInputManager.class)));
        LocalServices.addService(UserManagerInternal.class, ShellCommands.bare(Users.class));
        LocalServices.addService(PackageManagerInternal.class, ShellCommands.bare(Internal.class));
        for (int at = 0; at < listed.length(); at++) {
            JSONObject given = listed.getJSONObject(at);
            PackageInfo made = new PackageInfo();
            made.packageName = given.getString("name");
            made.applicationInfo = new ApplicationInfo();
            made.applicationInfo.uid = given.getInt("uid");
            made.applicationInfo.enabled = true;
            made.applicationInfo.sourceDir = given.getString("path");
            made.applicationInfo.longVersionCode = given.getLong("version");
            made.applicationInfo.flags = ApplicationInfo.FLAG_STOPPED;
            PACKAGES.put(made.packageName, made);
        }
        return listed;
    }

    /** Returns what a command prints and its exit status. */
    static JSONObject run(String shell, JSONArray words, Path folder) throws Exception {
        events = new JSONArray();
        // See `stopped`.
        Thread.interrupted();
        return ShellCommands.printed(command(shell), words, folder).put("events", events);
    }

    private static ShellCommand command(String shell) throws Exception {
        switch (shell) {
            case "pm" -> {
                PermissionManager permissions = ShellCommands.bare(PermissionManager.class);
                set(permissions, "mPermissionManager", stand(IPermissionManager.class));
                set(permissions, "mContext", new Somewhere());
                ShellCommand command = bare("com.android.server.pm.PackageManagerShellCommand", IPackageManager.class);
                set(command, "mPermissionManager", permissions);
                set(command, "mContext", new Somewhere());
                set(command, "mDomainVerificationShell", ShellCommands.bare(DomainVerificationShell.class));
                return command;
            }
            case "am" -> {
                ShellCommand command = bare("com.android.server.am.ActivityManagerShellCommand", IActivityManager.class);
                set(command, "mInternal", new ActivityManagerService());
                set(command, "mPm", stand(IPackageManager.class));
                return command;
            }
            case "appops" -> {
                return bare("com.android.server.appop.AppOpsService$Shell", IAppOpsService.class);
            }
            default -> {
                BiConsumer<InputEvent, Integer> injector = (event, mode) -> events.put(event instanceof KeyEvent key
                        ? "key " + key.getAction() + " " + key.getKeyCode() : Natives.place);
                Constructor<?> made = InputShellCommand.class.getDeclaredConstructor(BiConsumer.class);
                made.setAccessible(true);
                return (ShellCommand) made.newInstance(injector);
            }
        }
    }

    private static ShellCommand bare(String name, Class<?> service) throws Exception {
        ShellCommand command = (ShellCommand) ShellCommands.bare(Class.forName(name));
        set(command, "mInterface", stand(service));
        return command;
    }

    private static void set(Object of, String name, Object value) throws Exception {
        set(of.getClass(), of, name, value);
    }

    private static void set(Class<?> type, Object of, String name, Object value) throws Exception {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        field.set(of, value);
    }

    private static <T> T stand(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, Shells::answer));
    }

    private static Object answer(Object of, Method method, Object[] given) throws Throwable {
        return switch (method.getName()) {
            case "handleIncomingUser" -> user((int) given[2], (boolean) given[3]);
            case "getPackageInfo" -> (int) given[2] == 0 ? PACKAGES.get((String) given[0]) : null;
            case "getInstalledPackages" ->
                new PackageInfoList((int) given[1] == 0 ? new ArrayList<>(PACKAGES.values()) : List.of());
            case "getPackageInstaller" -> stand(IPackageInstaller.class);
            case "createSession" -> 7;
            case "openSession" -> {
                if (!given[0].equals(7)) {
                    throw new SecurityException("Caller has no access to session " + given[0]);
                }
                yield stand(IPackageInstallerSession.class);
            }
            case "getInputDeviceIds" -> new int[0];
            case "getNames" -> new String[0];
            case "commit" -> reported((IntentSender) given[0], true);
            case "uninstall" ->
                reported((IntentSender) given[3], known(((VersionedPackage) given[0]).getPackageName()));
            case "clearApplicationUserData", "deleteApplicationCacheFilesAsUser" ->
                cleared((IPackageDataObserver) given[2], (String) given[0]);
            case "setApplicationEnabledSetting", "setComponentEnabledSetting" -> enabled(given[0], (int) given[1]);
            case "getApplicationEnabledSetting", "getComponentEnabledSetting" -> STATES.get(name(given[0]));
            case "getPackageUid" ->
                known(given[0]) && given[2].equals(0) ? PACKAGES.get(given[0]).applicationInfo.uid : -1;
            case "queryIntentActivities" -> new ParceledListSlice<>(found("Activity", given));
            case "queryIntentServices" -> new ParceledListSlice<>(found("Service", given));
            case "queryIntentReceivers" -> new ParceledListSlice<>(found("Receiver", given));
            case "resolveIntent" -> found("Activity", given).stream().findFirst().orElse(null);
            case "startService" -> user((int) given[6], true) == 0 ? started((Intent) given[1]) : null;
            case "stopService" -> Math.abs(outcome((Intent) given[1])) > 1 ? 0 : outcome((Intent) given[1]);
            case "forceStopPackage" -> stopped();
            case "broadcastIntentWithFeature" ->
                List.of(-1, 0).contains(user((int) given[15], true))
                    ? sent((Intent) given[2], (IIntentReceiver) given[4])
                    : -2;
            case "grantRuntimePermission", "revokeRuntimePermission" -> changed((String) given[1]);
            default -> ShellCommands.zero(method.getReturnType());
        };
    }

    private static boolean known(Object name) {
        return PACKAGES.containsKey(name);
    }

    private static Object reported(IntentSender sender, boolean succeeded) throws RemoteException {
        Intent result = new Intent().putExtra("android.content.pm.extra.STATUS", succeeded ? 0 : 1);
        result.putExtra("android.content.pm.extra.STATUS_MESSAGE", "DELETE_FAILED_INTERNAL_ERROR");
        sender.getTarget().send(0, result, null, null, null, null, null);
        return null;
    }

    private static Object cleared(IPackageDataObserver observer, String name) throws RemoteException {
        observer.onRemoveCompleted(name, known(name));
        return true;
    }

    private static String name(Object of) {
        return of instanceof ComponentName component ? component.flattenToString() : (String) of;
    }

    private static Object enabled(Object of, int state) {
        ComponentName component = of instanceof ComponentName given ? given : null;
        String app = component == null ? (String) of : component.getPackageName();
        if (!known(app)) {
            String what = component == null ? "Unknown package: " : "Unknown component: ";
            throw new IllegalArgumentException(what + name(of));
        }
        if (component != null && !component.getClassName().matches("com.x.(Activity|Service|Receiver)")) {
            String problem = "Component class " + component.getClassName() + " does not exist in " + app;
            throw new IllegalArgumentException(problem);
        }
        STATES.put(name(of), state);
        PACKAGES.get(app).applicationInfo.enabled = STATES.getOrDefault(app, 0) < 2;
        return null;
    }

    /** Returns the component of a kind: com.x has one of each, with a filter for its kind as the action. */
    private static List<ResolveInfo> found(String kind, Object[] given) {
        Intent intent = (Intent) given[0];
        ComponentName own = new ComponentName("com.x", "com.x." + kind), asked = intent.getComponent();
        boolean matches = asked == null ? kind.equals(intent.getAction()) : own.equals(asked);
        if (!matches || !given[3].equals(0)
                || Stream.of("com.x", own.flattenToString()).anyMatch(name -> STATES.getOrDefault(name, 0) > 1)) {
            return List.of();
        }
        ResolveInfo made = new ResolveInfo();
        made.activityInfo = new ActivityInfo();
        made.activityInfo.packageName = own.getPackageName();
        made.activityInfo.name = own.getClassName();
        made.match = asked == null ? 0x108000 : 0;
        return List.of(made);
    }

    /** Returns the number at the end of an action such as `result.-91`. */
    private static int outcome(Intent intent) {
        String action = String.valueOf(intent.getAction());
        return action.startsWith("result.") ? Integer.parseInt(action.substring("result.".length())) : 0;
    }

    // The shell then sleeps, unless somebody interrupts it.
    private static Object stopped() {
        Thread.currentThread().interrupt();
        return null;
    }

    private static ComponentName started(Intent intent) {
        return switch (outcome(intent)) {
            case 0 -> new ComponentName("com.x", "com.x.Service");
            case 1 -> new ComponentName("!", "a.P");
            case 2 -> new ComponentName("?", "app is in background uid null");
            default -> null;
        };
    }

    private static int sent(Intent intent, IIntentReceiver receiver) throws RemoteException {
        receiver.performReceive(intent, outcome(intent), intent.getIdentifier(), null, true, false, 0);
        return 0;
    }

    private static Object changed(String permission) {
        if (!permission.equals("android.permission.POST_NOTIFICATIONS")) {
            throw new IllegalArgumentException("Unknown permission: " + permission);
        }
        return null;
    }

    // As UserController has it for the shell.
    private static int user(int asked, boolean allowsAll) {
        int user = asked == -2 || asked == -3 ? 0 : asked;
        if (!allowsAll && user < 0) {
            throw new IllegalArgumentException("Call does not support special user #" + user);
        }
        return user;
    }
}
