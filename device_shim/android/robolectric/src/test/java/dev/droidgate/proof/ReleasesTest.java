package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import org.junit.Test;
import org.robolectric.annotation.Config;

/** What the virtual phone cannot see of a message to the shim: its thread, and what cannot be read of it. */
@Config(sdk = {29, 34, 37})
public final class ReleasesTest extends ShimTest {
    @Test
    public void whatOneAgentSendsReachesAToolInItsOrderAndNeverComesToTheMainThread() {
        host.grant(AGENT);
        for (int id = 0; id < 8; id++) {
            agent.send(String.valueOf(id), "clock.now", "zone", "turn " + id);
        }
        assertFalse(phone.mainThreadHasWorkBy("ToolService"));
        phone.until("all answers", () -> agent.answers.size() == 8);
        for (int id = 0; id < 8; id++) {
            assertTrue(Clock.CALLS.get(id), Clock.CALLS.get(id).contains("turn " + id));
            assertEquals(String.valueOf(id), agent.answers.get(id).id());
        }
    }

    @Test
    @Config(sdk = {34, 37})
    public void anExtraThatCannotBeReadDoesNotHinderARequest() {
        host.grant(AGENT);
        agent.sendPoison("1", "clock.now");
        assertEquals("12:00", agent.output());
    }
}
