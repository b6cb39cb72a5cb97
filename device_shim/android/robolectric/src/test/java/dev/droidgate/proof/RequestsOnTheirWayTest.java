package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.droidgate.proof.agents.Agent;
import dev.droidgate.proof.agents.Consent;
import dev.droidgate.proof.agents.Edition;
import dev.droidgate.proof.agents.Frontends;
import dev.droidgate.proof.agents.FunctionAgent;
import dev.droidgate.proof.agents.Screen;
import dev.droidgate.proof.apps.Apps;
import dev.droidgate.proof.apps.Behaviour;
import dev.droidgate.proof.apps.ClockService;
import dev.droidgate.proof.apps.DeskActivity;
import dev.droidgate.proof.apps.LampService;
import dev.droidgate.proof.apps.RadioReceiver;
import dev.droidgate.proof.phone.Inputs;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.Test;
import org.robolectric.annotation.Config;

/** What happens to a request between its coming and its going out. */
public final class RequestsOnTheirWayTest extends ShimTest {
    private static final String TRAMPOLINE = "dev.droidgate.shim.backends.TrampolineActivity";

    private void assertOrder(String capability, String argument, int count) {
        for (int id = 0; id < count; id++) {
            agent.send(Edition.ARGS, String.valueOf(id), capability, argument, "turn " + id);
        }
        phone.until("all answers", () -> agent.answers.size() == count);
        for (int id = 0; id < count; id++) {
            assertEquals(String.valueOf(id), agent.answers.get(id).id());
            assertTrue(agent.answers.get(id).message(), agent.answers.get(id).succeeded());
        }
        agent.answers.clear();
    }

    @Test
    @Config(sdk = {29, 36})
    public void whatOneAgentSendsReachesAToolInItsOrder() {
        host.grant(AGENT, "*");
        assertOrder("clock.now", "zone", 8);
        for (int id = 0; id < 8; id++) {
            String call = ClockService.CALLS.get(id).getString("mobile-mcp-request");
            assertTrue(call, call.contains("turn " + id));
        }
    }

    @Test
    public void aQuestionEndsWithTheRequestThatItIsAbout() {
        Consent consent = new Consent(phone);
        Frontends frontends = new Frontends(phone);
        assertTrue(frontends.broadcast("clock.now", "{}").startsWith("0 Error: timeout"));
        phone.quiet();
        assertTrue(!consent.isOpen());
        assertTrue(ClockService.CALLS.isEmpty());
        assertTrue(host.text("history", "calls").contains("timeout"));
    }

    @Test
    public void aQuestionOfAnAgentThatHasDiedIsTakenBackAndItsCallEnds() {
        Consent consent = new Consent(phone);
        agent.send(Edition.ARGS, "7", "clock.now");
        phone.quiet();
        assertTrue(consent.isOpen());
        agent.die();
        phone.quiet();
        assertTrue(!consent.isOpen());
        assertTrue(host.text("history", "calls").contains("canceled"));
        assertEquals("0", host.text("status", "open"));
        assertTrue(ClockService.CALLS.isEmpty());
    }

    @Test
    public void theWindowOfAnAgentThatHasDiedIsClosed() {
        host.grant(AGENT, "*");
        Apps.all(Behaviour.SILENT);
        agent.send(Edition.ARGS, "7", "desk.echo", "text", "x");
        phone.quiet();
        assertTrue(new Screen(phone).isWaiting());
        agent.die();
        phone.quiet();
        assertTrue(!new Screen(phone).isWaiting());
        assertEquals("0", host.text("status", "open"));
    }

    @Test
    public void whatCannotBeSeenIsShownByItsNumber() {
        Consent consent = new Consent(phone);
        agent.send(Edition.ARGS, "7", "clock.now", "zone", "a\u202eb\u3164c\u00a0d\ufe0fe \u00e9\u4e2d");
        phone.quiet();
        String all = String.join("\n", consent.texts());
        assertTrue(all, all.contains("a\\u{202e}b\\u{3164}c\\u{a0}d\\u{fe0f}e \u00e9\u4e2d"));
    }

    @Test
    public void whoeverWasTurnedAwayMayNotAskAgainAtOnce() {
        Consent consent = new Consent(phone);
        agent.send(Edition.ARGS, "7", "clock.now");
        phone.quiet();
        consent.close();
        assertEquals("denied", agent.answer().token());
        agent.send(Edition.ARGS, "8", "clock.now");
        assertEquals("denied", agent.answer().token());
        assertTrue(!consent.isOpen());
        Agent stranger = agent("stranger");
        stranger.send(Edition.ARGS, "8", "clock.now");
        phone.quiet();
        assertTrue(consent.isOpen());
        consent.close();
        phone.pass(61_000);
        agent.send(Edition.ARGS, "9", "clock.now");
        phone.quiet();
        assertTrue(consent.isOpen());
    }

    /** What may change while a call waits, by the token that it ends with then. */
    private Map<String, Runnable> changes(String capability, Runnable gone) {
        Map<String, Runnable> changes = new LinkedHashMap<>();
        changes.put("denied", () -> host.revoke(AGENT, "*"));
        changes.put("disabled", () -> host.ask("switch", "capability", capability, "on", false));
        changes.put("unavailable", gone);
        return changes;
    }

    private void restore(String capability, String app) {
        phone.install(Inputs.app(app));
        host.ask("switch", "capability", capability, "on", true);
        host.grant(AGENT, "*");
    }

    @Test
    public void whatChangesWhileACallWaitsForATapCounts() {
        Screen screen = new Screen(phone);
        Map<String, Runnable> changes = changes("desk.echo", () -> phone.uninstall("dev.droidgate.proof.desk"));
        changes.put("unavailable ", () -> phone.install(Inputs.app("desk_by_another")));
        changes.put("needs_approval", () -> phone.install(Inputs.app("changed_desk")));
        changes.forEach(
                (token, change) -> {
                    restore("desk.echo", "desk");
                    phone.block(TRAMPOLINE);
                    agent.send(Edition.ARGS, "7", "desk.echo", "text", "x");
                    phone.pass(3_000);
                    assertEquals(1, screen.notifications());
                    change.run();
                    phone.unblock(TRAMPOLINE);
                    screen.tap();
                    assertEquals(token.trim(), agent.answer().token());
                    phone.quiet();
                });
        assertTrue(DeskActivity.CALLS.isEmpty());
    }

    @Test
    public void whatChangesWhileCallsWaitForTheScreenCounts() {
        Apps.all(Behaviour.SILENT);
        changes("desk.echo", () -> phone.install(Inputs.app("desk_by_another")))
                .forEach(
                        (token, change) -> {
                            restore("desk.echo", "desk");
                            DeskActivity.CALLS.clear();
                            for (int id = 0; id < 8; id++) {
                                agent.send(Edition.ARGS, "q" + id, "desk.echo", "text", "x");
                                phone.quiet();
                            }
                            change.run();
                            phone.shown(DeskActivity.class).done();
                            phone.until("all answers", () -> agent.answers.size() == 8);
                            assertEquals(1, DeskActivity.CALLS.size());
                            agent.answers.remove(0);
                            agent.answers.forEach(answer -> assertEquals(token, answer.token()));
                            agent.answers.clear();
                            phone.pass(60_000);
                        });
    }

    @Test
    public void whatChangesWhileAToolIsBoundOrAskedForItsToolsCounts() {
        Map<String, Object[]> given =
                Map.of(
                        "clock.now", new Object[0],
                        "lamp.switch", new Object[] {"on", true},
                        "radio.forecast", new Object[] {"place", "x"});
        given.forEach(
                (capability, arguments) -> {
                    String app = capability.equals("radio.forecast") ? "radio" : "clock";
                    changes(capability, () -> phone.uninstall("dev.droidgate.proof." + app))
                            .forEach(
                                    (token, change) -> {
                                        restore(capability, app);
                                        phone.updated("dev.droidgate.proof." + app);
                                        phone.pass(61_000);
                                        phone.asked.clear();
                                        agent.send(Edition.ARGS, "7", capability, arguments);
                                        // Android knows what the shim asks for, and has not done it yet.
                                        phone.untilAsked();
                                        change.run();
                                        assertEquals(capability, token, agent.answer().token());
                                    });
                });
        assertTrue(ClockService.CALLS.isEmpty() && LampService.CALLS.isEmpty());
        RadioReceiver.CALLS.removeIf(intent -> !intent.hasExtra("tool"));
        assertTrue(RadioReceiver.CALLS.isEmpty());
    }

    @Test
    public void aReceiverIsAskedForItsToolsAgainAfterEachInstallation() {
        host.grant(AGENT, "*");
        agent.send(Edition.ARGS, "7", "radio.forecast", "place", "x");
        assertTrue(agent.answer().succeeded());
        RadioReceiver.description = "Sell the weather.";
        agent.send(Edition.ARGS, "8", "radio.forecast", "place", "x");
        assertTrue(agent.answer().succeeded());
        // Of the same version, as a developer installs it.
        phone.updated("dev.droidgate.proof.radio");
        agent.send(Edition.ARGS, "9", "radio.forecast", "place", "x");
        assertEquals("needs_approval", agent.answer().token());
    }

    @Test
    public void anAppFunctionAgentThatTheShimDoesNotSeeIsWhomAndroidVouchesFor() {
        host.grant(AGENT, "clock.now");
        host.ask("ask", "on", false);
        phone.uninstall(AGENT);
        FunctionAgent functions = new FunctionAgent(phone);
        functions.vouch(Inputs.app("agent"));
        assertEquals("{time=[12:00], visits=[1]}", functions.call(AGENT, "clock.now"));
        assertEquals("1000", functions.call(AGENT, "desk.echo", "text", "x"));
        assertEquals("1000", functions.call("dev.nobody", "clock.now"));
        functions.vouch(Inputs.app("agent_by_another"));
        assertEquals("1000", functions.call(AGENT, "clock.now"));
    }

    @Test
    public void unseenAgentsWhoseNamesHashAlikeHaveBindingsOfTheirOwn() {
        host.grant(ANY_APP, "clock.now");
        FunctionAgent functions = new FunctionAgent(phone);
        functions.vouch(Inputs.app("agent"));
        String first = "com.acme.Aagent";
        String other = "com.acme.BBgent";
        assertEquals(first.hashCode(), other.hashCode());
        assertEquals("{time=[12:00], visits=[1]}", functions.call(first, "clock.now"));
        assertEquals("{time=[12:00], visits=[1]}", functions.call(other, "clock.now"));
        assertEquals("{time=[12:00], visits=[2]}", functions.call(first, "clock.now"));
        functions.vouch(Inputs.app("agent_by_another"));
        assertEquals("{time=[12:00], visits=[1]}", functions.call(first, "clock.now"));
    }

    @Test
    public void theAnswersOfAToolAreKeptApartFromItsLaterWords() {
        host.grant(AGENT, "*");
        Apps.all(Behaviour.TWICE);
        assertOrder("clock.now", "zone", 4);
        phone.pass(1_000);
        assertTrue(agent.answers.isEmpty());
    }
}
