package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import dev.droidgate.proof.agents.Edition;
import dev.droidgate.proof.agents.Screen;
import dev.droidgate.proof.apps.Apps;
import dev.droidgate.proof.apps.Behaviour;
import dev.droidgate.proof.apps.DeskActivity;
import org.junit.Before;
import org.junit.Test;
import org.robolectric.annotation.Config;

/** The window that waits for an mMCP activity, where Android lets it open and where not. */
public final class TrampolineTest extends ShimTest {
    private static final String WINDOW = "dev.droidgate.shim.backends.TrampolineActivity";
    private Screen screen;

    @Before
    public void grantAll() {
        host.grant(AGENT, "*");
        screen = new Screen(phone);
    }

    private void echo(String id) {
        agent.send(Edition.ARGS, id, "desk.echo", "text", id);
    }

    @Test
    @Config(sdk = {29, 36})
    public void aStartThatAndroidSwallowsBecomesANotification() {
        phone.block(WINDOW);
        echo("7");
        phone.pass(2_000);
        assertEquals(0, screen.notifications());
        phone.pass(1_000);
        assertEquals(1, screen.notifications());
        assertTrue(agent.answers.isEmpty());
        phone.unblock(WINDOW);
        screen.tap();
        assertEquals("7", agent.answer().outputs().get("result"));
        assertEquals(0, screen.notifications());
    }

    @Test
    public void withoutATapItNeedsTheUser() {
        phone.block(WINDOW);
        echo("7");
        phone.pass(28_000);
        assertTrue(agent.answers.isEmpty());
        // A second before the route's own deadline of 30 seconds.
        phone.pass(1_500);
        assertEquals("needs_user", agent.answer().token());
        assertEquals(0, screen.notifications());
    }

    @Test
    public void whereNothingMayBeShownItNeedsTheUser() {
        phone.block(WINDOW);
        screen.forbidNotifications();
        echo("7");
        phone.pass(3_000);
        assertEquals("needs_user", agent.answer().token());
    }

    @Test
    public void aLockedScreenNeedsTheUserAtOnce() {
        screen.lock();
        echo("7");
        assertEquals("needs_user", agent.answer().token());
        assertTrue(phone.drain("activity").isEmpty());
    }

    @Test
    public void oneCallIsOnTheScreenAndTheOthersWait() {
        Apps.all(Behaviour.SILENT);
        for (int id = 0; id < 5; id++) {
            echo("first" + id);
            phone.quiet();
        }
        assertEquals(1, DeskActivity.CALLS.size());
        for (int id = 0; id < 5; id++) {
            phone.shown(DeskActivity.class).done();
            assertEquals("first" + id, agent.answer().outputs().get("result"));
            phone.quiet();
        }
        assertNull(phone.shown(DeskActivity.class));
    }

    @Test
    public void moreThanEightDoNotWait() {
        Apps.all(Behaviour.SILENT);
        for (String name : new String[] {"stranger", "agent"}) {
            host.grant("dev.droidgate.proof." + name, "*");
            dev.droidgate.proof.agents.Agent agent = agent(name);
            for (int id = 0; id < 5; id++) {
                agent.send(Edition.ARGS, name + id, "desk.echo", "text", "x");
                phone.quiet();
            }
            assertEquals("stranger".equals(name) ? 0 : 1, agent.answers.size());
            if (!agent.answers.isEmpty()) {
                assertEquals("busy", agent.answer().token());
            }
        }
    }

    @Test
    public void aWindowThatIsMadeAnewGoesOnWithItsCall() {
        Apps.all(Behaviour.SILENT);
        echo("7");
        phone.until("the tool", () -> phone.shown(DeskActivity.class) != null);
        screen.recreateTrampoline();
        phone.pass(1_000);
        assertEquals(1, DeskActivity.CALLS.size());
        screen.result("fine");
        assertEquals("fine", agent.answer().outputs().get("result"));
        phone.pass(60_000);
        assertTrue(agent.answers.isEmpty());
    }

    @Test
    public void theResultOfAnotherAppIsNone() {
        Apps.all(Behaviour.SILENT);
        echo("7");
        phone.until("the tool", () -> phone.shown(DeskActivity.class) != null);
        screen.forgedResult("fine");
        assertEquals("malformed_response", agent.answer().token());
    }

    @Test
    public void aWindowThatTheUserRemovesIsACancel() {
        Apps.all(Behaviour.SILENT);
        echo("7");
        phone.until("the tool", () -> phone.shown(DeskActivity.class) != null);
        screen.removeTrampoline();
        assertEquals("canceled", agent.answer().token());
    }

    @Test
    public void aWindowWithoutACallCloses() {
        assertTrue(screen.openWithoutACall());
        assertNotNull(phone);
        phone.pass(1_000);
        assertTrue(DeskActivity.CALLS.isEmpty());
    }

    @Test
    public void theToolIsClosedWhenItsTimeIsOver() {
        Apps.all(Behaviour.SILENT);
        echo("7");
        phone.pass(31_000);
        assertEquals("timeout", agent.answer().token());
        phone.quiet();
        assertNull(phone.shown(DeskActivity.class));
    }
}
