package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.droidgate.proof.apps.Apps;
import dev.droidgate.proof.apps.RadioReceiver;
import dev.droidgate.proof.phone.Inputs;
import java.util.Map;
import org.junit.Before;
import org.junit.Test;
import org.robolectric.annotation.Config;

/** What happens to a request between its coming and its going out. */
public final class RequestsOnTheirWayTest extends ShimTest {
    @Before
    public void grantAll() {
        host.grant(AGENT, "*");
    }

    @Test
    @Config(sdk = {29, 36})
    public void whatOneAgentSendsReachesAToolInItsOrderAndNeverComesToTheMainThread() {
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
    public void anExtraThatCannotBeReadDoesNotHinderARequest() {
        agent.sendPoison("1", "clock.now");
        assertEquals("12:00", agent.answer().outputs().get("time"));
    }

    /** Has things change while a call waits, and sees the token that the call ends with then. */
    private void assertChangesCount(String capability, String app, Object... arguments) {
        Map<String, Runnable> changes =
                Map.of(
                        "denied", () -> host.revoke(AGENT),
                        "unavailable", () -> phone.uninstall("dev.droidgate.proof." + app));
        changes.forEach(
                (token, change) -> {
                    phone.install(Inputs.app(app));
                    grantAll();
                    // Nothing is bound any more when a minute has passed.
                    phone.pass(61_000);
                    // Android knows what the shim asks for, and has not done it yet.
                    phone.untilAsked(() -> agent.send("7", capability, arguments));
                    change.run();
                    assertEquals(capability, token, agent.answer().token());
                });
        assertTrue(Apps.CALLS.toString(), Apps.CALLS.isEmpty());
    }

    @Test
    public void whatChangesWhileAToolIsBoundStartedOrAskedForItsToolsCounts() {
        assertChangesCount("clock.now", "clock");
        assertChangesCount("lamp.switch", "clock", "on", true);
        assertChangesCount("radio.forecast", "radio", "place", "x");
    }

    @Test
    public void aReceiverIsAskedForItsToolsAgainAfterEachInstallation() {
        agent.send("1", "radio.forecast", "place", "x");
        assertEquals("sunny", agent.answer().outputs().get("result"));
        RadioReceiver.description = "Sell the weather.";
        agent.send("2", "radio.forecast", "place", "x");
        assertEquals("sunny", agent.answer().outputs().get("result"));
        // Of the same version, as a developer installs it.
        phone.install(Inputs.app("radio"));
        agent.send("3", "radio.forecast", "place", "x");
        assertEquals("needs_approval", agent.answer().token());
    }
}
