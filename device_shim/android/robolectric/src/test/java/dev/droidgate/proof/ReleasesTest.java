package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import org.junit.Test;
import org.robolectric.annotation.Config;

/** The shim on the code of other releases; the virtual phone runs it on Android 16's. */
@Config(sdk = {29, 34, 37})
public final class ReleasesTest extends ShimTest {
    @Test
    public void aBoundAgentReachesEveryKindOfTool() {
        host.grant(AGENT);
        agent.send("1", "desk.echo", "text", "x");
        assertEquals("hello", agent.output());
        agent.send("2", "radio.forecast", "place", "Ulm");
        assertEquals("sunny", agent.output());
        agent.send("3", "clock.now");
        assertEquals("12:00", agent.output());
        agent.send("4", "lamp.switch", "on", true);
        assertEquals(true, agent.output());
    }

    @Test
    public void aStartIsAnsweredByItsCallbackAlsoWhereAndroidForbidsTheForeground() {
        host.grant("any-app");
        agent.start("1", "desk.echo", "text", "x");
        assertEquals("hello", agent.output());
        phone.forbidForeground();
        agent.start("2", "clock.now");
        assertEquals("12:00", agent.output());
    }

    @Test
    public void agentsOfMmcpReachTools() {
        host.grant("any-app");
        Frontends frontends = new Frontends(phone);
        assertEquals("-1 hello", frontends.activity("desk.echo", "{\"text\":\"x\"}"));
        assertEquals("-1 {\"time\":\"12:00\"}", frontends.activity("clock.now", "{}"));
        assertEquals("-1 {\"on\":true}", frontends.broadcast("lamp.switch", "{\"on\":true}"));
        assertEquals("-1 sunny", frontends.broadcast("radio.forecast", "{\"place\":\"Ulm\"}"));
    }

    @Test
    @Config(sdk = {29, 34})
    public void olderReleasesHaveNoAppFunctions() {
        assertThrows(
                ClassNotFoundException.class,
                () -> Class.forName("android.app.appfunctions.AppFunctionManager"));
        host.grant(AGENT);
        agent.send("1", "notes.create", "title", "x");
        assertEquals("unavailable", agent.token());
    }

    @Test
    public void whatWasOpenWhenTheShimDiedIsInterruptedAndNotRunAgain() {
        host.grant("any-app");
        Apps.silent = true;
        agent.start("1", "clock.now");
        phone.quiet();
        phone.killShim();
        agent.startAgain();
        assertEquals("interrupted", agent.token());
        phone.pass(60_000);
        assertEquals(1, Apps.CALLS.size());
        assertTrue(agent.answers.isEmpty());
    }

    @Test
    public void whatOneAgentSendsReachesAToolInItsOrderAndNeverComesToTheMainThread() {
        host.grant(AGENT);
        for (int id = 0; id < 8; id++) {
            agent.send(String.valueOf(id), "clock.now", "zone", "turn " + id);
        }
        assertFalse(phone.mainThreadHasWorkBy("ToolService"));
        phone.until("all answers", () -> agent.answers.size() == 8);
        for (int id = 0; id < 8; id++) {
            assertTrue(Apps.CALLS.get(id), Apps.CALLS.get(id).contains("turn " + id));
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
