import android.view.InputDevice;
import android.view.KeyEvent;
import android.view.MotionEvent;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Array;
import java.util.Properties;

/** Native methods of Android, by class and name, with the smallest answer that its Java code runs with. */
public final class Natives {
    private static final Properties BUILD = new Properties();
    private static long uptime;

    /** Where the newest touch is. */
    static String place;

    static {
        try (InputStream file = Natives.class.getResourceAsStream("/build.prop")) {
            BUILD.load(file);
            BUILD.setProperty("sys.boot_completed", "1");
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private Natives() {}

    public static int libcore_io_Linux_nativeGetuid() {
        return 1000;
    }

    public static int android_os_Binder_getCallingUid() {
        return 2000;
    }

    public static int android_os_Binder_getCallingPid() {
        return 1;
    }

    public static long android_os_Binder_clearCallingIdentity() {
        return 0;
    }

    public static void android_os_Binder_restoreCallingIdentity(long token) {}

    public static long android_os_Binder_getNativeBBinderHolder() {
        return 1;
    }

    public static long android_os_Binder_getNativeFinalizer() {
        return 1;
    }

    public static Object dalvik_system_VMRuntime_newUnpaddedArray(Class<?> type, int length) {
        return Array.newInstance(type, length);
    }

    public static boolean dalvik_system_VMRuntime_is64Bit() {
        return true;
    }

    public static int android_util_Log_logger_entry_max_payload_native() {
        return 4000;
    }

    public static boolean android_util_Log_isLoggable(String tag, int level) {
        return false;
    }

    public static int android_util_Log_println_native(int buffer, int priority, String tag, String message) {
        return 0;
    }

    public static String android_os_SystemProperties_native_get(String name, String without) {
        return BUILD.getProperty(name, name.contains("cpu.abilist") ? "x86_64" : without);
    }

    public static boolean android_os_SystemProperties_native_get_boolean(String name, boolean without) {
        String text = BUILD.getProperty(name);
        return text == null ? without : text.equals("1") || text.equals("true");
    }

    public static int android_os_SystemProperties_native_get_int(String name, int without) {
        return Integer.parseInt(BUILD.getProperty(name, Integer.toString(without)));
    }

    public static long android_os_SystemClock_elapsedRealtime() {
        return 1000;
    }

    /** Jumps ten seconds at each look, so that nothing that waits for a time sleeps. */
    public static long android_os_SystemClock_uptimeMillis() {
        return uptime += 10_000;
    }

    public static long android_os_SystemClock_uptimeNanos() {
        return android_os_SystemClock_uptimeMillis() * 1_000_000;
    }

    public static boolean android_os_Trace_nativeIsTagEnabled(long tags) {
        return false;
    }

    public static int android_view_KeyEvent_nativeNextId() {
        return 1;
    }

    public static int android_view_KeyEvent_nativeKeyCodeFromString(String name) {
        try {
            return KeyEvent.class.getField("KEYCODE_" + name).getInt(null);
        } catch (ReflectiveOperationException error) {
            return -1;
        }
    }

    public static long android_view_MotionEvent_nativeInitialize(long event, int device, int source, int display,
            int action, int flags, int edges, int meta, int buttons, int classification, float dx, float dy,
            float precisionX, float precisionY, long down, long when, int count, MotionEvent.PointerProperties[] pointers,
            MotionEvent.PointerCoords[] places) {
        place = places[0].x + " " + places[0].y;
        return 1;
    }

    public static int android_view_MotionEvent_nativeGetSource(long event) {
        return InputDevice.SOURCE_TOUCHSCREEN;
    }

    public static void android_view_MotionEvent_nativeSetCursorPosition(long event, float x, float y) {}
}
