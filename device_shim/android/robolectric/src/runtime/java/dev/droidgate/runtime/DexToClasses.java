package dev.droidgate.runtime;

import com.googlecode.d2j.dex.Dex2jar;
import java.nio.file.Path;

/** Turns a dex back into class files: DEX JAR. */
public final class DexToClasses {
    private DexToClasses() {}

    public static void main(String[] arguments) throws Exception {
        // Without computed frames the JVM refuses what comes out.
        Dex2jar.from(Path.of(arguments[0]).toFile()).computeFrames(true).to(Path.of(arguments[1]));
    }
}
