package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.droidgate.proof.apps.Apps;
import dev.droidgate.proof.apps.DeskActivity;
import dev.droidgate.proof.agents.Screen;
import org.junit.Before;
import org.junit.Test;
import org.robolectric.annotation.Config;

/** The window that waits for an mMCP activity, and what Android may do to it. */
public final class TrampolineTest extends ShimTest {
    private Screen screen;

    @Before
    public void grantAll() {
        host.grant("any-app", "*");
        Apps.silent = true;
        screen = new Screen(phone);
    }

    private void open() {
        agent.start("7", "desk.echo", "text", "x");
        phone.until("the tool", () -> phone.shown(DeskActivity.class) != null);
    }

    private void assertNothingMore() {
        phone.pass(60_000);
        assertTrue(agent.answers.isEmpty());
        assertEquals(1, Apps.CALLS.size());
    }

    @Test
    @Config(sdk = {29, 34, 36})
    public void oneThatIsMadeAnewGoesOnWithItsCall() {
        open();
        screen.recreateTrampoline();
        phone.pass(1_000);
        screen.answer();
        assertEquals("hello", agent.answer().outputs().get("result"));
        assertNothingMore();
    }

    @Test
    @Config(sdk = {29, 36})
    public void oneThatOutlivesTheShimTellsThatTheCallWasInterrupted() {
        open();
        screen.killShimUnderTrampoline();
        assertEquals("interrupted", agent.answer().token());
        assertNothingMore();
    }

    @Test
    public void theResultOfAnotherAppIsNone() {
        open();
        phone.forge();
        screen.answer();
        assertEquals("malformed_response", agent.answer().token());
    }

    @Test
    public void oneWithoutACallCloses() {
        assertTrue(screen.opensWithoutACall());
        phone.pass(1_000);
        assertTrue(Apps.CALLS.isEmpty());
    }
}
