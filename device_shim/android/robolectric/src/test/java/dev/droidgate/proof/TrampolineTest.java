package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import android.app.Activity;
import dev.droidgate.shim.backends.TrampolineActivity;
import dev.droidgate.shim.frontends.MmcpActivity;
import org.junit.Test;
import org.robolectric.annotation.Config;

/** The window that waits for an mMCP activity, and what Android may do to it. */
public final class TrampolineTest extends ShimTest {
    private void open() {
        host.grant("any-app");
        Apps.silent = true;
        agent.start("7", "desk.echo", "text", "x");
        phone.until("the tool", () -> phone.shown(Apps.Desk.class) != null);
    }

    private void answer() {
        phone.shown(Apps.Desk.class).answer();
        phone.settle();
    }

    private void assertNothingMore() {
        phone.pass(60_000);
        assertTrue(agent.answers.isEmpty());
        assertEquals(1, Apps.CALLS.size());
    }

    @Test
    @Config(sdk = {29, 34, 37})
    public void oneThatIsMadeAnewGoesOnWithItsCall() {
        open();
        phone.recreate(TrampolineActivity.class);
        phone.pass(1_000);
        answer();
        assertEquals("hello", agent.output());
        assertNothingMore();
    }

    @Test
    @Config(sdk = {29, 37})
    public void oneThatOutlivesTheShimTellsThatTheCallWasInterrupted() {
        open();
        phone.killShimUnder(TrampolineActivity.class);
        assertEquals("interrupted", agent.token());
        assertNothingMore();
    }

    @Test
    @Config(sdk = {29, 37})
    public void anMmcpCallThatOutlivesTheShimIsInterruptedWhicheverWindowComesBackFirst() {
        host.grant("any-app");
        Apps.silent = true;
        Frontends frontends = new Frontends(phone);
        String interrupted = "0 Error: interrupted: the shim was stopped during the call";
        for (boolean isToolFirst : new boolean[] {true, false}) {
            Apps.CALLS.clear();
            frontends.open("desk.echo", "{\"text\":\"x\"}");
            phone.until("the tool", () -> phone.shown(Apps.Desk.class) != null);
            Class<? extends Activity> first = isToolFirst ? TrampolineActivity.class : MmcpActivity.class;
            Class<? extends Activity> second = isToolFirst ? MmcpActivity.class : TrampolineActivity.class;
            String answer = frontends.result(phone.killShimUnder(first, second).get(isToolFirst ? 1 : 0));
            assertEquals(interrupted, answer);
            assertNothingMore();
        }
    }

    @Test
    public void theResultOfAnotherAppIsNone() {
        open();
        phone.forge();
        answer();
        assertEquals("malformed_response", agent.token());
    }
}
