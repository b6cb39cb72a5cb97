package dev.droidgate.proof;

import static org.robolectric.Shadows.shadowOf;

import android.app.Activity;
import android.app.Application;
import android.app.Notification;
import android.app.NotificationManager;
import android.app.Service;
import android.content.Intent;
import android.content.ServiceConnection;
import android.content.pm.PackageInfo;
import android.content.pm.PackageParser;
import android.content.pm.Signature;
import android.content.pm.SigningInfo;
import android.graphics.Canvas;
import android.graphics.Color;
import android.graphics.drawable.ShapeDrawable;
import android.graphics.drawable.shapes.OvalShape;
import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.MessageQueue;
import android.os.Process;
import android.view.View;
import android.widget.FrameLayout;
import dev.droidgate.robolectric.BinderOnPhone;
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
import org.robolectric.shadows.ShadowPackageManager;
import org.robolectric.shadows.ShadowPackageParser;
import org.robolectric.shadows.ShadowSigningInfo;
import org.robolectric.util.ReflectionHelpers;

/**
 * The system around the shim: which apps are installed, whose uid is whose, and what becomes of what apps
 * start.
 *
 * <p>Android's own classes do the work inside the one process; this carries intents and binders between its
 * components as the system server would between processes. All of it runs on the test's thread.
 */
public final class Phone {
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
    private final Handler system = new Handler(Looper.getMainLooper());

    /** Makes a phone with the shim and these apps. */
    Phone(String... apps) {
        current = this;
        shims().clear();
        shadowOf(shim).setUnbindServiceCallsOnServiceDisconnected(false);
        packages().setPackagesForUid(Process.myUid(), shim.getPackageName());
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

    /** Returns the class that an intent names. */
    private static <T> Class<? extends T> typeOf(Intent intent, Class<T> kind) {
        try {
            return Class.forName(intent.getComponent().getClassName()).asSubclass(kind);
        } catch (ClassNotFoundException missing) {
            throw new AssertionError(missing);
        }
    }

    boolean bound(Intent intent, ServiceConnection connection) {
        Class<? extends Service> type = typeOf(intent, Service.class);
        Intent received = new Intent(intent);
        system.post(
                () -> connection.onServiceConnected(
                        intent.getComponent(), service(type).onBind(received)));
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

    /** Leaves the open activity of a class, as Home does. */
    void stop(Class<?> type) {
        controller(type).pause().stop();
        settle();
    }

    private boolean close() {
        List<ActivityController<? extends Activity>> finished =
                screen.stream().filter(item -> item.get().isFinishing()).toList();
        finished.forEach(item -> item.pause().stop().destroy());
        return screen.removeAll(finished);
    }

    private boolean deliverStarted() {
        Intent started = shadowOf(shim).getNextStartedActivity();
        if (started != null) {
            open(typeOf(started, Activity.class), new Intent(started));
        }
        return started != null;
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

    /** Returns the newest notification that asks for a tap, as wide as the display. */
    View notification() {
        FrameLayout shade = new FrameLayout(shim);
        shade.setBackgroundColor(Color.WHITE);
        NotificationManager notifications = shim.getSystemService(NotificationManager.class);
        Notification newest =
                shadowOf(notifications).getAllNotifications().stream()
                        .filter(item -> item.contentIntent != null)
                        .reduce((older, newer) -> newer)
                        .get();
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

    /** Ends the shim's process: nothing is left of it but its files. */
    void killShim() {
        quiet();
        for (Object shim : shims().values()) {
            ReflectionHelpers.<Handler>getField(shim, "main").removeCallbacksAndMessages(null);
            threads(shim).forEach(ThreadPoolExecutor::shutdownNow);
        }
        shims().clear();
        services.clear();
        screen.clear();
    }
}
