package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import android.content.Intent;
import dev.droidgate.proof.apps.Apps;
import dev.droidgate.proof.apps.DeskActivity;
import dev.droidgate.shim.backends.TrampolineActivity;
import org.junit.Before;
import org.junit.Test;
import org.robolectric.Robolectric;
import org.robolectric.annotation.Config;

/** The window that waits for an mMCP activity, and what Android may do to it. */
public final class TrampolineTest extends ShimTest {
    @Before
    public void grantAll() {
        host.grant("any-app", "*");
        Apps.silent = true;
    }

    private void open() {
        agent.start("7", "desk.echo", "text", "x");
        phone.until("the tool", () -> phone.shown(DeskActivity.class) != null);
    }

    /** Lets the tool that is shown answer. */
    private void answer() {
        phone.shown(DeskActivity.class).done();
        phone.settle();
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
        phone.recreate(TrampolineActivity.class);
        phone.pass(1_000);
        answer();
        assertEquals("hello", agent.answer().outputs().get("result"));
        assertNothingMore();
    }

    @Test
    @Config(sdk = {29, 36})
    public void oneThatOutlivesTheShimTellsThatTheCallWasInterrupted() {
        open();
        phone.killShimUnder(TrampolineActivity.class);
        assertEquals("interrupted", agent.answer().token());
        assertNothingMore();
    }

    @Test
    public void theResultOfAnotherAppIsNone() {
        open();
        phone.forge();
        answer();
        assertEquals("malformed_response", agent.answer().token());
    }

    @Test
    public void oneWithoutACallCloses() {
        Intent intent = new Intent(phone.shim, TrampolineActivity.class)
                .putExtra("opening", "0123456789abcdef");
        assertTrue(Robolectric.buildActivity(TrampolineActivity.class, intent).create().get().isFinishing());
        phone.pass(1_000);
        assertTrue(Apps.CALLS.isEmpty());
    }
}
