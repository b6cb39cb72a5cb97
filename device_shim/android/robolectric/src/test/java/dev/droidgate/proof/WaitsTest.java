package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import dev.droidgate.shim.frontends.ToolService;
import org.junit.Test;
import org.robolectric.annotation.Config;

/** How long the shim waits for tools and for the user; time passes when a test says so. */
public final class WaitsTest extends ShimTest {
    /** Sees to it that the one call is not answered before a time, and is a second and a half later. */
    private String tokenAfter(long millis) {
        phone.pass(millis);
        assertTrue(agent.answers.toString(), agent.answers.isEmpty());
        phone.pass(1_500);
        return agent.token();
    }

    private void startSilent() {
        host.grant("any-app");
        Apps.silent = true;
        agent.start("1", "clock.now");
        phone.quiet();
    }

    @Test
    @Config(sdk = {29, 34, 37})
    public void aSilentToolHasHalfAMinuteAndASilentReceiverTenSeconds() {
        host.grant(AGENT);
        Apps.silent = true;
        agent.send("2", "lamp.switch", "on", true);
        assertEquals("timeout", tokenAfter(29_000));
        agent.send("3", "desk.echo", "text", "x");
        assertEquals("timeout", tokenAfter(29_000));
        agent.send("4", "radio.forecast", "place", "x");
        assertEquals("timeout", tokenAfter(9_000));
    }

    @Test
    @Config(sdk = {34, 37})
    public void whenAndroidsTimeForTheServiceIsOverOpenCallsGoOn() {
        startSilent();
        phone.service(ToolService.class).onTimeout(1);
        assertEquals("timeout", tokenAfter(29_000));
    }

    @Test
    @Config(sdk = {34, 37})
    public void aStartBeginsTheThreeMinutesAnewOnceAMinute() {
        startSilent();
        Object first = phone.foreground();
        for (String id : new String[] {"2", "3"}) {
            phone.pass(29_000);
            agent.start(id, "clock.now");
            assertSame(first, phone.foreground());
        }
        phone.pass(2_500);
        agent.start("4", "clock.now");
        assertNotSame(first, phone.foreground());
    }

    @Test
    @Config(sdk = {29, 34, 37})
    public void whatIsOpenWhenAndroidEndsTheServiceIsInterruptedOnce() {
        startSilent();
        phone.service(ToolService.class).onDestroy();
        assertEquals("interrupted", agent.token());
        phone.pass(60_000);
        assertTrue(agent.answers.isEmpty());
    }

    @Test
    @Config(sdk = {29, 34, 37})
    public void theDeadlineOfACallWakesADeviceThatSleeps() {
        host.grant(AGENT);
        Apps.silent = true;
        assertEquals(-1, phone.wakesIn());
        agent.send("1", "clock.now");
        phone.quiet();
        assertTrue("" + phone.wakesIn(), phone.wakesIn() > 29_000 && phone.wakesIn() <= 30_000);
        assertEquals("timeout", tokenAfter(29_000));
    }

    @Test
    @Config(sdk = {29, 34, 37})
    public void aQuestionThatNobodySeesIsANotificationForTwoMinutes() {
        for (boolean isOn : new boolean[] {true, false}) {
            phone.hideWindows(isOn);
            agent.send("1", "clock.now");
            phone.quiet();
            assertEquals(1, phone.notifications());
            assertEquals("needs_user", tokenAfter(119_000));
            assertEquals(0, phone.notifications());
        }
    }

    @Test
    public void aQuestionEndsBeforeTheSenderOfABroadcastGivesUp() {
        Consent consent = new Consent(phone);
        Frontends frontends = new Frontends(phone);
        assertTrue(frontends.broadcast("clock.now", "{}").startsWith("0 Error: needs_user: nobody answered"));
        phone.quiet();
        assertFalse(consent.isOpen());
        assertTrue(Apps.CALLS.isEmpty());
    }
}
