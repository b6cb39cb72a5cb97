package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.droidgate.proof.agents.Frontends;
import dev.droidgate.proof.apps.Apps;
import org.junit.Test;
import org.robolectric.annotation.Config;

/** The shim on the code of older releases; the virtual phone runs it on Android 16's. */
@Config(sdk = {29, 34})
public final class ReleasesTest extends ShimTest {
    @Test
    public void aBoundAgentReachesEveryKindOfTool() {
        host.grant(AGENT, "*");
        agent.send("1", "desk.echo", "text", "x");
        assertEquals("hello", agent.answer().outputs().get("result"));
        agent.send("2", "radio.forecast", "place", "Ulm");
        assertEquals("sunny", agent.answer().outputs().get("result"));
        agent.send("3", "clock.now");
        assertEquals("12:00", agent.answer().outputs().get("time"));
        agent.send("4", "lamp.switch", "on", true);
        assertEquals(true, agent.answer().outputs().get("on"));
    }

    @Test
    public void aStartIsAnsweredByItsCallback() {
        host.grant("any-app", "*");
        agent.start("1", "clock.now");
        assertEquals("12:00", agent.answer().outputs().get("time"));
        agent.start("2", "desk.echo", "text", "x");
        assertEquals("hello", agent.answer().outputs().get("result"));
    }

    @Test
    public void whereAndroidForbidsTheForegroundAStartIsAnswered() {
        host.grant("any-app", "*");
        phone.forbidForeground();
        agent.start("1", "clock.now");
        assertEquals("12:00", agent.answer().outputs().get("time"));
    }

    @Test
    public void agentsOfMmcpReachTools() {
        host.grant("any-app", "*");
        Frontends frontends = new Frontends(phone);
        assertEquals("-1 hello", frontends.activity("desk.echo", "{\"text\":\"x\"}"));
        assertEquals("-1 {\"time\":\"12:00\"}", frontends.activity("clock.now", "{}"));
        assertEquals("-1 {\"on\":true}", frontends.broadcast("lamp.switch", "{\"on\":true}"));
        assertEquals("-1 sunny", frontends.broadcast("radio.forecast", "{\"place\":\"Ulm\"}"));
    }

    @Test
    public void olderReleasesHaveNoAppFunctions() {
        assertThrows(
                ClassNotFoundException.class,
                () -> Class.forName("android.app.appfunctions.AppFunctionManager"));
        host.grant(AGENT, "*");
        agent.send("1", "notes.create", "title", "x");
        assertEquals("unavailable", agent.answer().token());
    }

    @Test
    public void whatWasOpenWhenTheShimDiedIsInterruptedAndNotRunAgain() {
        host.grant("any-app", "*");
        Apps.silent = true;
        agent.start("1", "clock.now");
        phone.quiet();
        phone.killShim();
        agent.startAgain();
        assertEquals("interrupted", agent.answer().token());
        phone.pass(60_000);
        assertEquals(1, Apps.CALLS.size());
        assertTrue(agent.answers.isEmpty());
    }
}
