package dev.droidgate.runtime;

import dev.droidgate.robolectric.AndroidRunner;
import org.junit.Test;
import org.junit.runner.RunWith;

/**
 * Where Robolectric sets Android up, for as long as the phone speaks; names no class of Android's itself.
 */
@RunWith(AndroidRunner.class)
public final class Server {
    @Test
    public void serve() throws Exception {
        new Loop().run();
    }
}
