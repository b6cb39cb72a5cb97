package dev.droidgate.proof.phone;

import static org.robolectric.Shadows.shadowOf;

import android.app.Activity;
import android.app.AlarmManager;
import android.app.Application;
import android.app.KeyguardManager;
import android.app.Notification;
import android.app.NotificationManager;
import android.app.Service;
import android.content.BroadcastReceiver;
import android.content.ComponentName;
import android.content.Context;
import android.content.Intent;
import android.content.IntentFilter;
import android.content.ServiceConnection;
import android.content.pm.PackageInfo;
import android.content.pm.PackageParser;
import android.content.pm.Signature;
import android.content.pm.SigningInfo;
import android.graphics.Canvas;
import android.graphics.drawable.ShapeDrawable;
import android.graphics.drawable.shapes.OvalShape;
import android.os.Build;
import android.os.Bundle;
import android.os.Handler;
import android.os.IBinder;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.os.PowerManager;
import android.os.Process;
import android.os.SystemClock;
import dev.droidgate.proof.phone.Inputs.App;
import dev.droidgate.robolectric.BinderOnPhone;
import dev.droidgate.robolectric.CallersOnPhone;
import dev.droidgate.shim.frontends.ToolService;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.BooleanSupplier;
import org.robolectric.Robolectric;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.android.controller.ActivityController;
import org.robolectric.android.controller.ServiceController;
import org.robolectric.shadow.api.Shadow;
import org.robolectric.shadows.ShadowActivity.IntentForResult;
import org.robolectric.shadows.ShadowAlarmManager;
import org.robolectric.shadows.ShadowApplication;
import org.robolectric.shadows.ShadowPackageManager;
import org.robolectric.shadows.ShadowPackageParser;
import org.robolectric.shadows.ShadowSigningInfo;
import org.robolectric.util.ReflectionHelpers;
import org.robolectric.util.ReflectionHelpers.ClassParameter;

/**
 * The system around the shim: which apps are installed, whose uid is whose, and what becomes of what apps
 * start.
 *
 * <p>Android's own classes do the work inside the one process; this carries intents and binders between its
 * components as the system server would between processes. All of it runs on the test's thread.
 */
public final class Phone {
    private record Binding(ServiceConnection connection, Intent.FilterComparison intent) {
        ComponentName component() {
            return intent.getIntent().getComponent();
        }
    }

    private record Waiting(Activity asking, Intent intent) {}

    private static final long PATIENCE_MILLIS = 120_000;
    private static Phone current;

    /** The uid of the shell, which may ask a shim as the host does. */
    public static final int SHELL = 2_000;

    /** The shim's application. */
    public final Application shim = RuntimeEnvironment.getApplication();

    /** Whether an app has asked for a start, a binding or a broadcast since a test looked. */
    volatile boolean isAsked;

    private final Map<String, App> installed = new LinkedHashMap<>();
    private final Map<String, ServiceController<? extends Service>> services = new LinkedHashMap<>();
    private final Map<Intent.FilterComparison, IBinder> binders = new HashMap<>();
    private final List<Binding> bindings = Collections.synchronizedList(new ArrayList<>());
    private final List<ActivityController<? extends Activity>> screen = new ArrayList<>();
    private final Map<Activity, Waiting> waiting = new HashMap<>();
    private final Handler system = new Handler(Looper.getMainLooper());
    private int starts;
    private long updates;
    private boolean isForged;

    /** Makes a phone with the shim and these apps. */
    public Phone(String... apps) {
        current = this;
        shims().clear();
        shadowOf(shim).setUnbindServiceCallsOnServiceDisconnected(false);
        packages().setPackagesForUid(Process.myUid(), shim.getPackageName());
        shadowOf(shim).grantPermissions(Process.myPid(), SHELL, "android.permission.DUMP");
        // Robolectric gives them every broadcast of their actions, also one that names another component.
        for (ShadowApplication.Wrapper wrapper : shadowOf(shim).getRegisteredReceivers()) {
            shim.unregisterReceiver(wrapper.broadcastReceiver);
        }
        for (String app : apps) {
            install(Inputs.app(app));
        }
    }

    /** Returns the running test's phone, null before there is one. */
    static Phone current() {
        return current;
    }

    private ShadowPackageManager packages() {
        return shadowOf(shim.getPackageManager());
    }

    /** Installs an app, or another in its place, as Android's own parser reads its APK. */
    public void install(App app) {
        PackageParser.Package parsed = ShadowPackageParser.callParsePackage(app.apk());
        installed.put(app.packageName(), app);
        if (packages().getInternalMutablePackageInfo(app.packageName()) != null) {
            packages().removePackage(app.packageName());
        }
        packages().addPackageInternal(parsed);
        PackageInfo info = packages().getInternalMutablePackageInfo(app.packageName());
        info.lastUpdateTime = ++updates;
        info.applicationInfo.uid = app.uid();
        info.applicationInfo.sourceDir = app.apk().toString();
        info.applicationInfo.publicSourceDir = app.apk().toString();
        sign(info, new Signature(app.certificate()));
        packages().setPackagesForUid(app.uid(), app.packageName());
    }

    /** Has an app bear another label. */
    public void label(String packageName, String label) {
        packages().getInternalMutablePackageInfo(packageName).applicationInfo.nonLocalizedLabel = label;
    }

    /**
     * Does something, and waits until an app asks Android for something, without anything being done about
     * it.
     */
    public void untilAsked(Runnable first) {
        isAsked = false;
        first.run();
        poll("an app asks Android", () -> isAsked);
    }

    /** Gives an app an icon: a disc, or for no colour one for which there is no memory. */
    public void icon(String packageName, int colour) {
        ShapeDrawable disc =
                new ShapeDrawable(new OvalShape()) {
                    @Override
                    public void draw(Canvas canvas) {
                        if (colour == 0) {
                            throw new OutOfMemoryError("an icon of a gigabyte");
                        }
                        super.draw(canvas);
                    }
                };
        disc.getPaint().setColor(colour);
        packages().setApplicationIcon(packageName, disc);
    }

    @SuppressWarnings("deprecation")
    private static void sign(PackageInfo info, Signature... signatures) {
        info.signatures = signatures;
        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.P) {
            info.signingInfo = Shadow.newInstanceOf(SigningInfo.class);
            ShadowSigningInfo shadow = Shadow.extract(info.signingInfo);
            shadow.setSignatures(signatures);
        }
    }

    /** Takes an app away. */
    public void uninstall(String packageName) {
        App app = installed.remove(packageName);
        packages().removePackage(packageName);
        packages().setPackagesForUid(app.uid());
    }

    /** Runs something as if another app's process called. */
    public void as(int uid, Runnable call) {
        Integer before = BinderOnPhone.CALLER.get();
        BinderOnPhone.CALLER.set(uid);
        try {
            call.run();
        } finally {
            BinderOnPhone.CALLER.set(before);
        }
    }

    /** Runs something as if an installed app's process did it. */
    public static void speak(String packageName, Runnable call) {
        current.as(current.installed.get(packageName).uid(), call);
    }

    /** Puts a receiver where broadcasts that name its class reach it. */
    public void listen(BroadcastReceiver receiver) {
        // Robolectric takes a class's name for a match, and an action that somebody else is named with too.
        shim.registerReceiver(receiver, new IntentFilter(receiver.getClass().getName()));
    }

    // Services.

    /** Returns the running service of a class, made where there is none. */
    @SuppressWarnings("unchecked")
    public <S extends Service> S service(Class<S> type) {
        ServiceController<? extends Service> running = services.get(type.getName());
        if (running == null) {
            running = Robolectric.buildService(type);
            services.put(type.getName(), running);
            // While one is made, what waits on the main thread may happen: such as the making of another.
            running.create();
        }
        return (S) running.get();
    }

    /** Returns with which notification the shim's service went to the foreground last. */
    public Object foreground() {
        return shadowOf((Service) service(ToolService.class)).getLastForegroundNotification();
    }

    /** Has Android refuse that the shim's service goes to the foreground. */
    public void forbidForeground() {
        shadowOf((Service) service(ToolService.class))
                .setThrowInStartForeground(new IllegalStateException("not now"));
    }

    /** Has no window be seen, for a keyguard without a lock where the screen is on. */
    public void hideWindows(boolean isOn) {
        shadowOf((KeyguardManager) shim.getSystemService(Context.KEYGUARD_SERVICE)).setKeyguardLocked(isOn);
        shadowOf((PowerManager) shim.getSystemService(Context.POWER_SERVICE)).turnScreenOn(isOn);
    }

    /** Returns in how many milliseconds the shim wakes the device, -1 for never. */
    public long wakesIn() {
        AlarmManager alarms = (AlarmManager) shim.getSystemService(Context.ALARM_SERVICE);
        ShadowAlarmManager.ScheduledAlarm next = shadowOf(alarms).peekNextScheduledAlarm();
        boolean wakes = next != null && next.getType() == AlarmManager.ELAPSED_REALTIME_WAKEUP;
        return wakes ? next.getTriggerAtMs() - SystemClock.elapsedRealtime() : -1;
    }

    /** Returns whether the shim's service has stopped itself. */
    public boolean isShimStopped() {
        return shadowOf((Service) service(ToolService.class)).isStoppedBySelf();
    }

    private Service serviceOf(ComponentName component) {
        return service(typeOf(component).asSubclass(Service.class));
    }

    /** Returns the class behind a component, null where there is none. */
    private Class<?> typeOf(ComponentName component) {
        if (component == null) {
            return null;
        }
        try {
            return Class.forName(component.getClassName());
        } catch (ClassNotFoundException none) {
            return null;
        }
    }

    ComponentName started(Intent intent) {
        isAsked = true;
        ComponentName component = intent.getComponent();
        if (typeOf(component) == null) {
            return null;
        }
        Intent received = new Intent(intent);
        system.post(() -> serviceOf(component).onStartCommand(received, 0, ++starts));
        return component;
    }

    boolean bound(Intent intent, ServiceConnection connection) {
        isAsked = true;
        ComponentName component = intent.getComponent();
        if (typeOf(component) == null) {
            return false;
        }
        Binding binding = new Binding(connection, new Intent.FilterComparison(new Intent(intent)));
        bindings.add(binding);
        system.post(() -> connect(serviceOf(component), binding));
        return true;
    }

    /** Hands out a service's binder: it is asked for one for each intent that differs from the others. */
    private void connect(Service service, Binding binding) {
        IBinder binder = binders.computeIfAbsent(binding.intent(), item -> service.onBind(item.getIntent()));
        if (binder == null) {
            binding.connection().onNullBinding(binding.component());
        } else {
            binding.connection().onServiceConnected(binding.component(), binder);
        }
    }

    void unbound(ServiceConnection connection) {
        if (!bindings.removeIf(binding -> binding.connection() == connection)) {
            throw new IllegalArgumentException("not bound");
        }
    }

    // Activities.

    /** Returns the topmost activity of a class, null where none is shown. */
    public <A extends Activity> A shown(Class<A> type) {
        for (int index = screen.size() - 1; index >= 0; index--) {
            Activity activity = screen.get(index).get();
            if (type.isInstance(activity) && !activity.isFinishing()) {
                return type.cast(activity);
            }
        }
        return null;
    }

    /** Opens an activity as a tap or another app does. */
    public <A extends Activity> A open(Class<A> type, Intent intent) {
        ActivityController<A> opened = Robolectric.buildActivity(type, intent);
        screen.add(opened);
        opened.setup();
        return opened.get();
    }

    private void deliver(IntentForResult started) {
        ComponentName component = started.intent.getComponent();
        Class<?> type = typeOf(component);
        if (type == null) {
            return;
        }
        Activity asking = started.requestCode < 0 ? null : shown(Activity.class);
        Activity opened = open(type.asSubclass(Activity.class), new Intent(started.intent));
        if (asking != null) {
            waiting.put(opened, new Waiting(asking, started.intent));
        }
    }

    /** Lets the next result be reported as another app's than the one that set it. */
    public void forge() {
        isForged = true;
    }

    /** Makes the open activity of a class anew. */
    public <A extends Activity> void recreate(Class<A> type) {
        A before = shown(type);
        for (ActivityController<? extends Activity> item : screen) {
            if (item.get() == before) {
                Activity again = item.recreate().get();
                waiting.replaceAll(
                        (opened, found) -> found.asking() == before
                                ? new Waiting(again, found.intent())
                                : found);
            }
        }
        settle();
    }

    private boolean close() {
        boolean closed = false;
        for (ActivityController<? extends Activity> item : new ArrayList<>(screen)) {
            Activity activity = item.get();
            if (!activity.isFinishing()) {
                continue;
            }
            screen.remove(item);
            closed = true;
            Waiting asking = waiting.remove(activity);
            int code = shadowOf(activity).getResultCode();
            Intent result = shadowOf(activity).getResultIntent();
            item.pause().stop().destroy();
            if (asking != null && !asking.asking().isFinishing()) {
                String setter = asking.intent().getComponent().getPackageName();
                CallersOnPhone.uid = isForged ? 1 : installed.get(setter).uid();
                shadowOf(asking.asking()).receiveResult(asking.intent(), code, result);
            }
        }
        return closed;
    }

    private boolean deliverStarted() {
        List<IntentForResult> started = new ArrayList<>();
        // Only this list: the shim's threads add to Robolectric's two lists one after the other.
        ShadowApplication asked = shadowOf(shim);
        for (IntentForResult intent = asked.getNextStartedActivityForResult();
                intent != null;
                intent = asked.getNextStartedActivityForResult()) {
            started.add(0, intent);
        }
        started.forEach(this::deliver);
        return !started.isEmpty();
    }

    // Time.

    /** Lets everything happen that needs no time to pass. */
    public void settle() {
        do {
            shadowOf(Looper.getMainLooper()).idle();
        } while (deliverStarted() || close());
    }

    /** Lets time pass, and everything happen that becomes due. */
    public void pass(long millis) {
        quiet();
        shadowOf(Looper.getMainLooper()).idleFor(Duration.ofMillis(millis));
        quiet();
    }

    /** Lets everything happen, on other threads too, until a condition holds. */
    public void until(String what, BooleanSupplier holds) {
        poll(
                what,
                () -> {
                    settle();
                    return holds.getAsBoolean();
                });
    }

    /** Lets everything happen that needs no time to pass, until no thread of the shim has anything to do. */
    public void quiet() {
        int[] calm = new int[1];
        until("the shim's threads are quiet", () -> (calm[0] = working() ? 0 : calm[0] + 1) == 3);
    }

    private static void poll(String what, BooleanSupplier holds) {
        long end = System.nanoTime() + PATIENCE_MILLIS * 1_000_000;
        while (!holds.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("it never came to this: " + what);
            }
            try {
                Thread.sleep(1);
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
        }
    }

    /**
     * Returns whether a message waits on the main thread for a handler whose class belongs to one of the
     * shim's.
     */
    public boolean mainThreadHasWorkBy(String className) {
        MessageQueue queue = Looper.getMainLooper().getQueue();
        synchronized (queue) {
            Message next = ReflectionHelpers.getField(queue, "mMessages");
            for (; next != null; next = ReflectionHelpers.getField(next, "next")) {
                if (next.getTarget() != null && next.getTarget().getClass().getName().contains(className)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns the notifications that ask for a tap. */
    public List<Notification> notifications() {
        Object manager = shim.getSystemService(Context.NOTIFICATION_SERVICE);
        List<Notification> found =
                new ArrayList<>(shadowOf((NotificationManager) manager).getAllNotifications());
        found.removeIf(item -> item.contentIntent == null);
        return found;
    }

    private static List<ThreadPoolExecutor> threads(Object shim) {
        List<ThreadPoolExecutor> threads = new ArrayList<>();
        for (String name : List.of("calls", "refusals")) {
            threads.add(ReflectionHelpers.getField(ReflectionHelpers.getField(shim, name), "thread"));
        }
        return threads;
    }

    private static boolean working() {
        synchronized (shims()) {
            for (Object shim : shims().values()) {
                for (ThreadPoolExecutor threads : threads(shim)) {
                    if (threads.getActiveCount() > 0 || !threads.getQueue().isEmpty()) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /** Returns what the shim holds of each application of this process. */
    private static Map<Object, Object> shims() {
        try {
            return ReflectionHelpers.getStaticField(Class.forName("dev.droidgate.shim.Shim"), "ALL");
        } catch (ClassNotFoundException missing) {
            throw new AssertionError(missing);
        }
    }

    /**
     * Ends the shim's process: nothing is left of it but its files and the activities that Android remembers.
     */
    public void killShim() {
        quiet();
        for (Object shim : shims().values()) {
            ReflectionHelpers.<Handler>getField(shim, "main").removeCallbacksAndMessages(null);
            threads(shim).forEach(ThreadPoolExecutor::shutdownNow);
        }
        shims().clear();
        services.clear();
        binders.clear();
        bindings.clear();
        screen.clear();
    }

    /** Ends the shim's process under its open window, which Android then makes anew. */
    public void killShimUnder(Class<? extends Activity> type) {
        Bundle saved = new Bundle();
        Activity open = shown(type);
        ReflectionHelpers.callInstanceMethod(
                Activity.class, open, "performSaveInstanceState", ClassParameter.from(Bundle.class, saved));
        killShim();
        Robolectric.buildActivity(type, open.getIntent()).create(saved);
    }
}
