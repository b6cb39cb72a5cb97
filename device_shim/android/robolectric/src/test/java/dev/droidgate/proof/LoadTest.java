package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.droidgate.proof.agents.Agent;
import dev.droidgate.proof.agents.Answer;
import dev.droidgate.proof.agents.Edition;
import dev.droidgate.proof.agents.MainThread;
import java.util.HashSet;
import java.util.Set;
import org.junit.Test;

/** Many requests of an app that nobody has granted anything. */
public final class LoadTest extends ShimTest {
    private static final int MANY = 2_000;

    private void flood(Agent stranger, int count, String text) {
        for (int sent = 0; sent < count; sent++) {
            stranger.send(Edition.ARGS, "f" + sent, "clock.now", "zone", text);
        }
    }

    @Test
    public void aFloodIsAnsweredToTheLastAndNeverComesToTheMainThread() {
        host.ask("ask", "on", false);
        Agent stranger = agent("stranger");
        MainThread main = new MainThread();
        flood(stranger, MANY, "x");
        assertFalse(main.hasWorkBy("ToolService"));
        phone.until("all answers", () -> stranger.answers.size() == MANY);
        Set<String> ids = new HashSet<>();
        int denied = 0;
        for (Answer answer : stranger.answers) {
            ids.add(answer.id());
            denied += answer.token().equals("denied") ? 1 : 0;
            assertTrue(answer.message(), answer.token().equals("denied") || answer.token().equals("busy"));
        }
        assertEquals(MANY, ids.size());
        assertTrue("denied " + denied, denied > 0);
    }

    @Test
    public void aFloodOfLongRequestsKeepsTheirIds() {
        host.ask("ask", "on", false);
        Agent stranger = agent("stranger");
        flood(stranger, 100, "a".repeat(190_000));
        phone.until("all answers", () -> stranger.answers.size() == 100);
        Set<String> ids = new HashSet<>();
        stranger.answers.forEach(answer -> ids.add(answer.id()));
        assertEquals(100, ids.size());
    }

    @Test
    public void anotherAgentsCallIsNotHeldUpByAFlood() {
        host.ask("ask", "on", false);
        host.grant(AGENT, "*");
        Agent stranger = agent("stranger");
        // What the engine takes of the flood: each has its place, and none is refused at the door.
        flood(stranger, 32, "a".repeat(150_000));
        agent.send(Edition.ARGS, "7", "clock.now");
        assertTrue(agent.answer().succeeded());
    }

    @Test
    public void whatIsRefusedIsNotWrittenToTheJournal() throws Exception {
        host.ask("ask", "on", false);
        Agent stranger = agent("stranger");
        flood(stranger, 20, "x");
        phone.until("all answers", () -> stranger.answers.size() == 20);
        phone.quiet();
        assertFalse(phone.hasFile("journal.json"));
    }
}
