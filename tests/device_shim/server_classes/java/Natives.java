import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Array;
import java.util.Properties;

/** Native methods of Android, by class and name, with the smallest answer that its Java code runs with. */
public final class Natives {
    private static final Properties BUILD = new Properties();

    static {
        try (InputStream file = Natives.class.getResourceAsStream("/build.prop")) {
            BUILD.load(file);
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

}
