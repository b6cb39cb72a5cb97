package dev.droidgate.proof;

import dev.droidgate.proof.agents.Agent;
import dev.droidgate.proof.agents.Host;
import dev.droidgate.proof.apps.Apps;
import dev.droidgate.proof.phone.Inputs;
import dev.droidgate.proof.phone.Phone;
import dev.droidgate.shim.frontends.ToolService;
import org.junit.Before;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;

/**
 * A phone with the shim, all tools that behave, and agents that nobody has granted anything.
 *
 * <p>Test classes name no class of Android's in their own members: JUnit looks at them before there is an
 * Android, and the oldest release is all that it sees then.
 */
@RunWith(RobolectricTestRunner.class)
public abstract class ShimTest {
    static final String AGENT = "dev.droidgate.proof.agent";
    static final String ANY_APP = "any-app";

    Phone phone;
    Host host;
    Agent agent;

    @Before
    public final void startPhone() {
        phone = Phone.withAll();
        Apps.begin(phone);
        host = new Host(phone);
        agent = agent("agent");
    }

    /** Returns an agent that is bound to the shim. */
    final Agent agent(String name) {
        Agent made = new Agent(phone, Inputs.app(name));
        made.bind(ToolService.class);
        return made;
    }
}
