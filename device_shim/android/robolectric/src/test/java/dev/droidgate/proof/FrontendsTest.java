package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import dev.droidgate.proof.agents.Frontends;
import dev.droidgate.proof.agents.FunctionAgent;
import dev.droidgate.proof.agents.Functions;
import dev.droidgate.proof.apps.Apps;
import dev.droidgate.proof.apps.Behaviour;
import dev.droidgate.proof.apps.ClockService;
import org.junit.Before;
import org.junit.Test;
import org.robolectric.annotation.Config;

/** The other way round: mMCP agents and app function agents reach every kind of tool through the shim. */
public final class FrontendsTest extends ShimTest {
    private Frontends frontends;

    @Before
    public void openFrontends() {
        host.ask("ask", "on", false);
        frontends = new Frontends(phone);
    }

    @Test
    @Config(sdk = {29, 36})
    public void anActivityAgentReachesEveryKindOfTool() {
        host.grant(ANY_APP, "*");
        assertEquals("-1 sunny", frontends.activity("radio.forecast", "{\"place\":\"Ulm\"}"));
        assertEquals("-1 {\"time\":\"12:00\",\"visits\":1}", frontends.activity("clock.now", "{}"));
        assertEquals("-1 {\"on\":false}", frontends.activity("lamp.switch", "{\"on\":false}"));
        assertEquals("-1 hello", frontends.activity("desk.echo", "{\"text\":\"hello\"}"));
    }

    @Test
    public void anActivityAgentIsToldWhatFailed() {
        assertTrue(frontends.activity("clock.now", "{}").startsWith("0 Error: denied: "));
        host.grant(ANY_APP, "*");
        assertTrue(frontends.activity("clock.none", "{}").startsWith("0 Error: unknown_capability: "));
        assertTrue(frontends.activity("lamp.switch", "{\"on\":9}").startsWith("0 Error: invalid_argument: "));
        assertTrue(frontends.activity("lamp.switch", "no json").startsWith("0 Error: invalid_argument: "));
        assertTrue(frontends.activity("lamp.switch", null).startsWith("0 Error: invalid_argument: "));
        Apps.all(Behaviour.EMPTY);
        assertEquals("-1 {}", frontends.activity("clock.now", "{}"));
        assertEquals("0 null", frontends.advertisingActivity());
    }

    @Test
    @Config(sdk = {29, 36})
    public void aBroadcastAgentFindsAndCallsTools() {
        host.grant(ANY_APP, "*");
        assertEquals("[desk.echo, clock.now, notes.create, radio.forecast]", frontends.discovered());
        assertEquals("-1 {\"time\":\"12:00\",\"visits\":1}", frontends.broadcast("clock.now", "{}"));
        assertEquals("-1 sunny", frontends.broadcast("radio.forecast", "{\"place\":\"Ulm\"}"));
        assertEquals("-1 {\"on\":true}", frontends.broadcast("lamp.switch", "{\"on\":true}"));
    }

    @Test
    public void aBroadcastAgentIsToldWhatFailed() {
        assertTrue(frontends.broadcast("clock.now", "{}").startsWith("0 Error: denied: "));
        host.grant(ANY_APP, "*");
        assertTrue(frontends.broadcast("lamp.switch", "{}").startsWith("0 Error: invalid_argument: "));
        Apps.all(Behaviour.SILENT);
        assertTrue(frontends.broadcast("clock.now", "{}").startsWith("0 Error: timeout"));
        assertEquals("0", host.text("status", "open"));
    }

    @Test
    public void grantsOfAppsDoNotHoldForAgentsWithoutAName() {
        host.grant(AGENT, "*");
        assertTrue(frontends.activity("clock.now", "{}").startsWith("0 Error: denied: "));
        assertTrue(frontends.broadcast("clock.now", "{}").startsWith("0 Error: denied: "));
        assertTrue(ClockService.CALLS.isEmpty());
    }

    @Test
    public void anAppFunctionAgentReachesEveryKindOfTool() {
        new Functions(phone);
        host.grant(AGENT, "*");
        FunctionAgent functions = new FunctionAgent(phone);
        assertEquals("{result=[sunny]}", functions.call(AGENT, "radio.forecast", "place", "Ulm"));
        assertEquals("{time=[12:00], visits=[1]}", functions.call(AGENT, "clock.now"));
        assertEquals("{result=[hello]}", functions.call(AGENT, "desk.echo", "text", "hello"));
        assertEquals("{result=[kept milk]}", functions.call(AGENT, "notes.create", "title", "milk"));
    }

    @Test
    public void anAppFunctionAgentIsToldCodes() {
        host.grant(AGENT, "*");
        FunctionAgent functions = new FunctionAgent(phone);
        assertEquals("1000", functions.call("dev.droidgate.proof.stranger", "clock.now"));
        assertEquals("1000", functions.call("dev.nobody", "clock.now"));
        assertEquals("1003", functions.call(AGENT, "clock.none"));
        assertEquals("1001", functions.call(AGENT, "lamp.switch", "on", "perhaps"));
        host.ask("switch", "capability", "clock.now", "on", false);
        assertEquals("1002", functions.call(AGENT, "clock.now"));
        assertNull(functions.callAs(10_105, AGENT, "clock.now"));
    }
}
