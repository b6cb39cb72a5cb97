package dev.droidgate.proof;

import static org.junit.Assert.assertTrue;

import dev.droidgate.proof.agents.Edition;
import dev.droidgate.proof.agents.Hostile;
import dev.droidgate.proof.agents.Screen;
import java.util.Random;
import org.junit.Before;
import org.junit.Test;

/** Whatever an agent sends, only the tool's texts and the origin leave the shim, for the pinned component. */
public final class OutgoingTest extends ShimTest {
    private static final int REQUESTS = 1_000;

    /** As many as one caller may have open. */
    private static final int AT_ONCE = 8;

    @Before
    public void grantAll() {
        host.grant(AGENT, "*");
        phone.asked.clear();
    }

    @Test
    public void nothingElseLeavesTheShim() {
        Hostile hostile = new Hostile(phone, 26);
        Random random = new Random(27);
        String[] capabilities = {"clock.now", "lamp.switch"};
        int out = 0;
        for (int count = 0; count < 3 * REQUESTS; count += AT_ONCE) {
            Edition edition = Edition.values()[random.nextInt(Edition.values().length)];
            for (int index = 0; index < AT_ONCE; index++) {
                // Robolectric has one receiver for all broadcasts, so they come one at a time.
                boolean broadcast = index == 0;
                String capability = broadcast ? "radio.forecast" : capabilities[random.nextInt(2)];
                agent.send(edition, hostile.data(edition, "i" + (count + index), capability));
            }
            phone.until("all answers", () -> agent.answers.size() == AT_ONCE);
            agent.answers.clear();
            out += hostile.check();
        }
        hostile.forgetLamp();
        assertTrue(String.valueOf(out), out > 2 * REQUESTS);
    }

    @Test
    public void nothingElseReachesAnActivity() {
        phone.block("dev.droidgate.proof.apps.DeskActivity");
        Hostile hostile = new Hostile(phone, 28);
        Screen screen = new Screen(phone);
        int out = 0;
        for (int count = 0; count < REQUESTS / 10; count++) {
            agent.send(Edition.INPUT, hostile.data(Edition.INPUT, "i" + count, "desk.echo"));
            phone.quiet();
            if (agent.answers.isEmpty()) {
                screen.removeTrampoline();
            }
            agent.answer();
            out += hostile.check();
        }
        assertTrue(String.valueOf(out), out > REQUESTS / 8);
    }
}
