package libcore.util;

/** In place of Android's, which needs a class of Java 8: there is nothing native to free. */
public class NativeAllocationRegistry {
    public NativeAllocationRegistry(ClassLoader loader, long free, long size) {}

    public static NativeAllocationRegistry createMalloced(ClassLoader loader, long free) {
        return new NativeAllocationRegistry(loader, free, 0);
    }

    public Runnable registerNativeAllocation(Object referent, long pointer) {
        return () -> {};
    }
}
