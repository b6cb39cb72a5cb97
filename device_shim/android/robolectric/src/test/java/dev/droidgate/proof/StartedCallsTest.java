package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.droidgate.proof.agents.Agent;
import dev.droidgate.proof.agents.Answer;
import dev.droidgate.proof.agents.Edition;
import dev.droidgate.proof.agents.Starts;
import dev.droidgate.proof.apps.Apps;
import dev.droidgate.proof.apps.Behaviour;
import dev.droidgate.proof.apps.ClockService;
import dev.droidgate.proof.apps.DeskActivity;
import dev.droidgate.proof.apps.LampService;
import dev.droidgate.shim.frontends.ToolService;
import java.util.Set;
import org.junit.Test;
import org.robolectric.annotation.Config;

/** Calls by starting the service, whose caller nobody vouches for. */
public final class StartedCallsTest extends ShimTest {
    private Answer start(Edition edition, String capability, Object... arguments) {
        agent.start(ToolService.class, edition, "7", capability, arguments);
        return agent.answer();
    }

    @Test
    @Config(sdk = {29, 34, 36})
    public void everyEditionIsAnsweredByItsCallback() {
        host.grant(ANY_APP, "*");
        for (Edition edition : Edition.values()) {
            assertEquals("hello", start(edition, "desk.echo", "text", "hello").outputs().get("result"));
            assertEquals("12:00", start(edition, "clock.now").outputs().get("time"));
            assertEquals(true, start(edition, "lamp.switch", "on", true).outputs().get("on"));
        }
        phone.quiet();
        assertTrue(new Starts(phone).wasForeground());
        assertTrue(new Starts(phone).isStopped());
    }

    @Test
    public void theAnswerHoldsTextsOnly() {
        host.grant(ANY_APP, "*");
        agent.start(ToolService.class, Edition.PROTOTYPE, "7", "clock.now");
        phone.until("an answer", () -> !agent.answers.isEmpty());
        assertEquals(Set.of("edition", "mcp_request_id", "response"), agent.keys());
    }

    @Test
    public void whatAnAppWasGrantedHoldsForAStartOnlyIfItChangesNothing() {
        host.ask("ask", "on", false);
        host.grant(AGENT, "*");
        assertTrue(start(Edition.ARGS, "clock.now").succeeded());
        assertEquals("denied", start(Edition.ARGS, "lamp.switch", "on", true).token());
        assertTrue(LampService.CALLS.isEmpty());
    }

    @Test
    public void aStartWithoutACallbackDoesNothing() {
        host.grant(ANY_APP, "*");
        new Starts(phone).withoutCallback(Edition.ARGS.request("7", "clock.now", null));
        phone.quiet();
        assertTrue(ClockService.CALLS.isEmpty());
        assertTrue(new Starts(phone).isStopped());
    }

    @Test
    @Config(sdk = {34, 36})
    public void aCallbackThatIsAnActivityIsNotSent() {
        host.grant(ANY_APP, "*");
        new Starts(phone).withActivity(Edition.ARGS.request("7", "clock.now", null));
        phone.pass(1_000);
        assertTrue(phone.drain("activity").isEmpty());
        assertTrue(ClockService.CALLS.isEmpty());
    }

    @Test
    @Config(sdk = {34, 36})
    public void behindACallbackThatTakesNoAnswerNothingRuns() {
        host.grant(ANY_APP, "*");
        agent.startImmutable(ToolService.class, Edition.ARGS, "7", "clock.now");
        phone.quiet();
        assertTrue(ClockService.CALLS.isEmpty());
        assertTrue(host.text("history", "calls").contains("invalid_argument"));
        assertTrue(new Starts(phone).isStopped());
    }

    @Test
    public void whereAndroidForbidsTheForegroundItGoesOn() {
        host.grant(ANY_APP, "*");
        new Starts(phone).forbidForeground();
        assertEquals("12:00", start(Edition.ARGS, "clock.now").outputs().get("time"));
    }

    @Test
    public void theServiceStaysUntilTheLastStartIsAnswered() {
        host.grant(ANY_APP, "*");
        Apps.all(Behaviour.LATE);
        agent.start(ToolService.class, Edition.ARGS, "7", "clock.now");
        agent.start(ToolService.class, Edition.ARGS, "8", "lamp.switch", "on", true);
        phone.quiet();
        phone.service(dev.droidgate.proof.apps.LampService.class).done();
        assertTrue(agent.answer().succeeded());
        assertTrue(new Starts(phone).isForeground());
        assertFalse(new Starts(phone).isStopped());
        phone.service(ClockService.class).done();
        assertTrue(agent.answer().succeeded());
        phone.quiet();
        assertTrue(new Starts(phone).isStopped());
    }

    @Test
    public void whenItsTimeIsOverOpenCallsAreInterrupted() {
        host.grant(ANY_APP, "*");
        Apps.all(Behaviour.SILENT);
        agent.start(ToolService.class, Edition.ARGS, "7", "clock.now");
        phone.quiet();
        new Starts(phone).timeOut();
        assertEquals("interrupted", agent.answer().token());
        phone.pass(60_000);
        assertTrue(agent.answers.isEmpty());
    }

    @Test
    public void whatWasOpenWhenTheShimDiedIsInterruptedAndNotRunAgain() {
        host.grant(ANY_APP, "*");
        Apps.all(Behaviour.SILENT);
        agent.start(ToolService.class, Edition.INPUT, "7", "clock.now");
        phone.quiet();
        assertEquals(1, ClockService.CALLS.size());
        phone.killShim();
        new Starts(phone).again();
        assertEquals("interrupted", agent.answer().token());
        phone.pass(60_000);
        assertEquals(1, ClockService.CALLS.size());
        assertTrue(agent.answers.isEmpty());
    }

    @Test
    public void whatHadNotBegunWhenTheShimDiedIsRun() {
        host.grant(ANY_APP, "*");
        agent.start(ToolService.class, Edition.INPUT, "7", "clock.now");
        assertTrue(agent.answer().succeeded());
        phone.killShim();
        new Starts(phone).again();
        assertTrue(agent.answer().succeeded());
    }

    @Test
    @Config(sdk = {29, 36})
    public void anAnswerToOneStartReachesNoOtherStart() {
        host.grant(ANY_APP, "*");
        Agent stranger = agent("stranger");
        Apps.all(Behaviour.CROSSED);
        agent.start(ToolService.class, Edition.ARGS, "7", "lamp.switch", "on", true);
        phone.until("the first call", () -> LampService.CALLS.size() == 1);
        stranger.start(ToolService.class, Edition.ARGS, "8", "lamp.switch", "on", false);
        phone.until("the second call", () -> LampService.CALLS.size() == 2);
        phone.pass(20_000);
        assertTrue(stranger.answers.toString(), stranger.answers.isEmpty());
        assertTrue(agent.answers.toString(), agent.answers.isEmpty());
        phone.pass(11_000);
        assertEquals("timeout", stranger.answer().token());
        assertEquals("timeout", agent.answer().token());
    }

    @Test
    public void anAnswerThatIsTooLongForACallbackIsAShortFailure() {
        host.grant(ANY_APP, "*");
        Apps.all(Behaviour.HUGE);
        Answer answer = start(Edition.PROTOTYPE, "desk.echo", "text", "x");
        assertEquals("7", answer.id());
        assertEquals("malformed_response", answer.token());
        assertTrue(answer.message(), answer.message().contains("65536"));
    }

    @Test
    public void aWindowThatOutlivesTheShimTellsThatTheCallWasInterrupted() {
        host.grant(ANY_APP, "*");
        Apps.all(Behaviour.SILENT);
        agent.start(ToolService.class, Edition.ARGS, "7", "desk.echo", "text", "x");
        phone.until("the tool", () -> !DeskActivity.CALLS.isEmpty());
        new Starts(phone).dieAndComeBack();
        assertEquals("interrupted", agent.answer().token());
        phone.pass(60_000);
        assertTrue(agent.answers.isEmpty());
        assertEquals(1, DeskActivity.CALLS.size());
    }
}
