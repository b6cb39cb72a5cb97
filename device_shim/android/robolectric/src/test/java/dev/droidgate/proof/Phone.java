package dev.droidgate.proof;

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
import android.content.Intent;
import android.content.IntentFilter;
import android.content.ServiceConnection;
import android.content.pm.PackageInfo;
import android.content.pm.PackageParser;
import android.content.pm.Signature;
import android.content.pm.SigningInfo;
import android.graphics.Canvas;
import android.graphics.Color;
import android.graphics.drawable.ShapeDrawable;
import android.graphics.drawable.shapes.OvalShape;
import android.os.Bundle;
import android.os.Handler;
import android.os.IBinder;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.os.PowerManager;
import android.os.Process;
import android.os.SystemClock;
import android.view.View;
import android.widget.FrameLayout;
import dev.droidgate.robolectric.BinderOnPhone;
import dev.droidgate.robolectric.CallersOnPhone;
import dev.droidgate.shim.frontends.MmcpActivity;
import dev.droidgate.shim.frontends.ToolService;
import java.time.Duration;
import java.util.ArrayList;
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
    private record Waiting(Activity asking, Intent intent) {}

    /** What an app does. */
    interface Work {
        void run() throws Exception;
    }

    private static final long PATIENCE_MILLIS = 120_000;
    private static Phone current;

    /** The shim's application. */
    final Application shim = RuntimeEnvironment.getApplication();

    private final Map<String, Inputs.App> installed = new HashMap<>();
    private final Map<String, ServiceController<? extends Service>> services = new LinkedHashMap<>();
    private final List<ActivityController<? extends Activity>> screen = new ArrayList<>();
    private final Map<Activity, Waiting> waiting = new HashMap<>();
    private final Handler system = new Handler(Looper.getMainLooper());
    private int starts;
    private boolean isForged;

    /** Makes a phone with the shim and these apps. */
    Phone(String... apps) {
        current = this;
        shims().clear();
        shadowOf(shim).setUnbindServiceCallsOnServiceDisconnected(false);
        packages().setPackagesForUid(Process.myUid(), shim.getPackageName());
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

    /** Installs an app as Android's own parser reads its APK. */
    @SuppressWarnings("deprecation")
    private void install(Inputs.App app) {
        PackageParser.Package parsed = ShadowPackageParser.callParsePackage(app.apk());
        installed.put(app.packageName(), app);
        packages().addPackageInternal(parsed);
        PackageInfo info = packages().getInternalMutablePackageInfo(app.packageName());
        info.applicationInfo.uid = app.uid();
        info.applicationInfo.sourceDir = app.apk().toString();
        info.applicationInfo.publicSourceDir = app.apk().toString();
        info.signatures = new Signature[] {new Signature(app.certificate())};
        info.signingInfo = Shadow.newInstanceOf(SigningInfo.class);
        ShadowSigningInfo shadow = Shadow.extract(info.signingInfo);
        shadow.setSignatures(info.signatures);
        packages().setPackagesForUid(app.uid(), app.packageName());
    }

    /** Gives a uid a permission. */
    void allow(int uid, String permission) {
        shadowOf(shim).grantPermissions(Process.myPid(), uid, permission);
    }

    /** Has an app bear another label. */
    void label(String packageName, String label) {
        packages().getInternalMutablePackageInfo(packageName).applicationInfo.nonLocalizedLabel = label;
    }

    /** Gives an app an icon: a disc, or for no colour one for which there is no memory. */
    void icon(String packageName, int colour) {
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

    /** Runs something as if another app's process called. */
    void as(int uid, Work work) {
        Integer before = BinderOnPhone.CALLER.get();
        BinderOnPhone.CALLER.set(uid);
        try {
            work.run();
        } catch (Exception failed) {
            throw new AssertionError(failed);
        } finally {
            BinderOnPhone.CALLER.set(before);
        }
    }

    /** Runs something as if an installed app's process did it. */
    static void as(String packageName, Work work) {
        current.as(current.installed.get(packageName).uid(), work);
    }

    /** Puts a receiver where broadcasts that name its class reach it. */
    void listen(BroadcastReceiver receiver) {
        // Robolectric takes a class's name for a match, and an action that somebody else is named with too.
        shim.registerReceiver(receiver, new IntentFilter(receiver.getClass().getName()));
    }

    // Services.

    /** Returns the running service of a class, made where there is none. */
    @SuppressWarnings("unchecked")
    <S extends Service> S service(Class<S> type) {
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
    Object foreground() {
        return shadowOf((Service) service(ToolService.class)).getLastForegroundNotification();
    }

    /** Has Android refuse that the shim's service goes to the foreground. */
    void forbidForeground() {
        shadowOf((Service) service(ToolService.class))
                .setThrowInStartForeground(new IllegalStateException("not now"));
    }

    /** Has no window be seen, for a keyguard without a lock where the screen is on. */
    void hideWindows(boolean isOn) {
        shadowOf(shim.getSystemService(KeyguardManager.class)).setKeyguardLocked(isOn);
        shadowOf(shim.getSystemService(PowerManager.class)).turnScreenOn(isOn);
    }

    /** Returns in how many milliseconds the shim wakes the device, -1 for never. */
    long wakesIn() {
        ShadowAlarmManager.ScheduledAlarm next =
                shadowOf(shim.getSystemService(AlarmManager.class)).peekNextScheduledAlarm();
        boolean wakes = next != null && next.getType() == AlarmManager.ELAPSED_REALTIME_WAKEUP;
        return wakes ? next.getTriggerAtMs() - SystemClock.elapsedRealtime() : -1;
    }

    /** Returns the class behind a component, null where there is none. */
    private static <T> Class<? extends T> typeOf(ComponentName component, Class<T> kind) {
        try {
            return component == null ? null : Class.forName(component.getClassName()).asSubclass(kind);
        } catch (ClassNotFoundException none) {
            return null;
        }
    }

    ComponentName started(Intent intent) {
        Class<? extends Service> type = typeOf(intent.getComponent(), Service.class);
        if (type == null) {
            return null;
        }
        Intent received = new Intent(intent);
        system.post(() -> service(type).onStartCommand(received, 0, ++starts));
        return intent.getComponent();
    }

    boolean bound(Intent intent, ServiceConnection connection) {
        ComponentName component = intent.getComponent();
        Class<? extends Service> type = typeOf(component, Service.class);
        if (type == null) {
            return false;
        }
        Intent received = new Intent(intent);
        system.post(
                () -> {
                    IBinder binder = service(type).onBind(received);
                    if (binder == null) {
                        connection.onNullBinding(component);
                    } else {
                        connection.onServiceConnected(component, binder);
                    }
                });
        return true;
    }

    // Activities.

    /** Returns the topmost activity of a class, null where none is shown. */
    <A extends Activity> A shown(Class<A> type) {
        ActivityController<?> found = controller(type);
        return found == null ? null : type.cast(found.get());
    }

    private ActivityController<?> controller(Class<?> type) {
        ActivityController<?> found = null;
        for (ActivityController<?> item : screen) {
            found = type.isInstance(item.get()) && !item.get().isFinishing() ? item : found;
        }
        return found;
    }

    /** Opens an activity as a tap or another app does. */
    <A extends Activity> A open(Class<A> type, Intent intent) {
        ActivityController<A> opened = Robolectric.buildActivity(type, intent);
        screen.add(opened);
        opened.setup();
        return opened.get();
    }

    private void deliver(IntentForResult started) {
        Class<? extends Activity> type = typeOf(started.intent.getComponent(), Activity.class);
        if (type == null) {
            return;
        }
        Activity asking = started.requestCode < 0 ? null : shown(Activity.class);
        Activity opened = open(type, new Intent(started.intent));
        if (asking != null) {
            waiting.put(opened, new Waiting(asking, started.intent));
        }
    }

    /** Lays an activity's window out as large as the display, and returns its view. */
    View layOut(Class<? extends Activity> type) {
        View decor = shown(type).getWindow().getDecorView();
        int width = decor.getResources().getDisplayMetrics().widthPixels;
        int height = decor.getResources().getDisplayMetrics().heightPixels;
        // Twice, as Android does: the second time with what the first one asked for.
        for (int pass = 0; pass < 2; pass++) {
            decor.measure(
                    View.MeasureSpec.makeMeasureSpec(width, View.MeasureSpec.EXACTLY),
                    View.MeasureSpec.makeMeasureSpec(height, View.MeasureSpec.EXACTLY));
            decor.layout(0, 0, width, height);
            settle();
        }
        return decor;
    }

    /** Lets the next result be reported as another app's than the one that set it. */
    void forge() {
        isForged = true;
    }

    /** Makes the open activity of a class anew. */
    void recreate(Class<?> type) {
        ActivityController<?> item = controller(type);
        Activity before = item.get();
        Activity again = item.recreate().get();
        waiting.replaceAll(
                (opened, found) -> found.asking() == before ? new Waiting(again, found.intent()) : found);
        settle();
    }

    /** Leaves the open activity of a class, as Home does. */
    void stop(Class<?> type) {
        controller(type).pause().stop();
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
    void settle() {
        do {
            shadowOf(Looper.getMainLooper()).idle();
        } while (deliverStarted() || close());
    }

    /** Lets time pass, and everything happen that becomes due. */
    void pass(long millis) {
        quiet();
        shadowOf(Looper.getMainLooper()).idleFor(Duration.ofMillis(millis));
        quiet();
    }

    /** Lets everything happen, on other threads too, until a condition holds. */
    void until(String what, BooleanSupplier holds) {
        long end = System.nanoTime() + PATIENCE_MILLIS * 1_000_000;
        settle();
        while (!holds.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("it never came to this: " + what);
            }
            try {
                Thread.sleep(1);
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
            settle();
        }
    }

    /** Lets everything happen that needs no time to pass, until no thread of the shim has anything to do. */
    void quiet() {
        int[] calm = new int[1];
        until("the shim's threads are quiet", () -> (calm[0] = isWorking() ? 0 : calm[0] + 1) == 3);
    }

    /** Returns whether a message waits on the main thread for a handler of a class with this in its name. */
    boolean mainThreadHasWorkBy(String className) {
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
    private List<Notification> tappable() {
        return shadowOf(shim.getSystemService(NotificationManager.class)).getAllNotifications().stream()
                .filter(item -> item.contentIntent != null)
                .toList();
    }

    /** Returns how many notifications ask for a tap. */
    long notifications() {
        return tappable().size();
    }

    /** Returns the newest notification that asks for a tap, as wide as the display. */
    View notification() {
        FrameLayout shade = new FrameLayout(shim);
        shade.setBackgroundColor(Color.WHITE);
        Notification newest = tappable().get(tappable().size() - 1);
        shade.addView(
                Notification.Builder.recoverBuilder(shim, newest).createContentView().apply(shim, shade));
        int width = shim.getResources().getDisplayMetrics().widthPixels;
        shade.measure(
                View.MeasureSpec.makeMeasureSpec(width, View.MeasureSpec.EXACTLY),
                View.MeasureSpec.UNSPECIFIED);
        shade.layout(0, 0, width, shade.getMeasuredHeight());
        return shade;
    }

    private static List<ThreadPoolExecutor> threads(Object shim) {
        List<ThreadPoolExecutor> threads = new ArrayList<>();
        for (String name : List.of("calls", "refusals")) {
            threads.add(ReflectionHelpers.getField(ReflectionHelpers.getField(shim, name), "thread"));
        }
        return threads;
    }

    private static boolean isWorking() {
        synchronized (shims()) {
            return shims().values().stream()
                    .flatMap(shim -> threads(shim).stream())
                    .anyMatch(thread -> thread.getActiveCount() > 0 || !thread.getQueue().isEmpty());
        }
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
    void killShim() {
        quiet();
        for (Object shim : shims().values()) {
            ReflectionHelpers.<Handler>getField(shim, "main").removeCallbacksAndMessages(null);
            threads(shim).forEach(ThreadPoolExecutor::shutdownNow);
        }
        shims().clear();
        ReflectionHelpers.<Map<?, ?>>getStaticField(MmcpActivity.class, "WAITING").clear();
        services.clear();
        screen.clear();
    }

    /** Ends the shim's process under its open windows, which Android then makes anew in this order. */
    @SafeVarargs
    final List<Activity> killShimUnder(Class<? extends Activity>... types) {
        Map<Class<? extends Activity>, Bundle> saved = new LinkedHashMap<>();
        Map<Class<? extends Activity>, Intent> intents = new HashMap<>();
        for (Class<? extends Activity> type : types) {
            Activity open = shown(type);
            intents.put(type, open.getIntent());
            saved.put(type, new Bundle());
            ReflectionHelpers.callInstanceMethod(
                    Activity.class,
                    open,
                    "performSaveInstanceState",
                    ClassParameter.from(Bundle.class, saved.get(type)));
        }
        killShim();
        List<Activity> again = new ArrayList<>();
        saved.forEach(
                (type, state) ->
                        again.add(
                                Robolectric.buildActivity(type, intents.get(type)).create(state).get()));
        return again;
    }
}
