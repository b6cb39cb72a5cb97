package dev.droidgate.proof;

import dev.droidgate.robolectric.AndroidRunner;
import org.junit.After;
import org.junit.Before;
import org.junit.runner.RunWith;

/**
 * A phone with the shim, a tool, and an agent that nobody has granted anything.
 *
 * <p>Test classes name no class of Android's in their own members: JUnit looks at them before there is an
 * Android, and the oldest release is all that it sees then.
 */
@RunWith(AndroidRunner.class)
public abstract class ShimTest {
    static final String AGENT = "dev.droidgate.proof.agent";

    Phone phone;
    Host host;
    Agent agent;

    @Before
    public final void startPhone() {
        phone = new Phone("clock", "agent");
        Clock.CALLS.clear();
        host = new Host(phone);
        agent = new Agent(phone, Inputs.app("agent"));
    }

    /** Else an open call of this test may be answered to the agent of the next one. */
    @After
    public final void endShim() {
        phone.killShim();
    }
}
