package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.droidgate.proof.agents.Agent;
import dev.droidgate.proof.agents.Answer;
import dev.droidgate.proof.agents.Edition;
import dev.droidgate.proof.apps.Apps;
import dev.droidgate.proof.apps.Behaviour;
import dev.droidgate.proof.apps.ClockService;
import dev.droidgate.proof.apps.DeskActivity;
import dev.droidgate.proof.apps.LampService;
import dev.droidgate.proof.apps.RadioReceiver;
import org.junit.Before;
import org.junit.Test;
import org.robolectric.annotation.Config;

/** Calls over a binding, to each kind of tool, whatever the tool does. */
public final class BoundCallsTest extends ShimTest {
    @Before
    public void grantAll() {
        host.grant(AGENT, "*");
    }

    private Answer call(Edition edition, String capability, Object... arguments) {
        agent.send(edition, "7", capability, arguments);
        Answer answer = agent.answer();
        assertEquals("7", answer.id());
        return answer;
    }

    private String failure(String capability, Object... arguments) {
        Answer answer = call(Edition.ARGS, capability, arguments);
        assertEquals("failure", answer.status());
        assertEquals(capability, answer.capability());
        return answer.token();
    }

    @Test
    @Config(sdk = {29, 34, 36})
    public void everyEditionReachesEveryKindOfTool() {
        for (Edition edition : Edition.values()) {
            assertEquals("hello", call(edition, "desk.echo", "text", "hello").outputs().get("result"));
            assertEquals(5, call(edition, "desk.add", "a", 2, "b", 3).outputs().get("result"));
            assertEquals("sunny", call(edition, "radio.forecast", "place", "Ulm").outputs().get("result"));
            assertEquals("sunny", call(edition, "radio.declared", "place", "Ulm").outputs().get("result"));
            assertEquals("12:00", call(edition, "clock.now").outputs().get("time"));
            assertEquals(true, call(edition, "lamp.switch", "on", true).outputs().get("on"));
        }
        assertEquals(6, DeskActivity.CALLS.size());
        assertEquals(3, LampService.CALLS.size());
    }

    @Test
    public void aToolThatDoesNotWantToIsTold() {
        Apps.all(Behaviour.REFUSE);
        assertEquals("denied", failure("desk.echo", "text", "x"));
        assertEquals("denied", failure("radio.forecast", "place", "x"));
        assertEquals("disabled", failure("clock.now"));
    }

    @Test
    public void anActivityThatIsClosedIsACancel() {
        Apps.all(Behaviour.SILENT);
        agent.send(Edition.ARGS, "7", "desk.echo", "text", "x");
        phone.pass(2_000);
        phone.shown(DeskActivity.class).finish();
        Answer answer = agent.answer();
        assertEquals("canceled", answer.token());
        assertTrue(answer.message(), !answer.message().contains("callee_in_new_task"));
    }

    @Test
    public void anActivityThatIsCancelledAtOnceIsInAnotherTask() {
        Apps.all(Behaviour.CANCEL);
        Answer answer = call(Edition.ARGS, "desk.echo", "text", "x");
        assertTrue(answer.message(), answer.message().startsWith("canceled: callee_in_new_task: "));
    }

    @Test
    public void oneThatStaysSilentRunsOutOfTime() {
        Apps.all(Behaviour.SILENT);
        for (String capability : new String[] {"desk.echo", "clock.now", "lamp.switch"}) {
            Object[] given = capability.equals("desk.echo") ? new Object[] {"text", "x"} : new Object[0];
            given = capability.equals("lamp.switch") ? new Object[] {"on", true} : given;
            agent.send(Edition.INPUT, "7", capability, given);
            phone.pass(29_000);
            assertTrue(agent.answers.toString(), agent.answers.isEmpty());
            phone.pass(1_500);
            assertEquals("timeout", agent.answer().token());
            phone.pass(120_000);
        }
        assertEquals(null, phone.shown(DeskActivity.class));
    }

    @Test
    public void aSilentReceiverHasTenSeconds() {
        Apps.all(Behaviour.SILENT);
        agent.send(Edition.INPUT, "7", "radio.forecast", "place", "x");
        phone.pass(9_000);
        assertTrue(agent.answers.isEmpty());
        phone.pass(1_500);
        assertEquals("timeout", agent.answer().token());
        RadioReceiver.done();
        phone.quiet();
        assertTrue(agent.answers.isEmpty());
    }

    @Test
    public void aReceiverThatSaysNothingHasTimedOut() {
        Apps.all(Behaviour.CRASH);
        assertEquals("timeout", failure("radio.forecast", "place", "x"));
    }

    @Test
    public void whatNobodyCanReadIsAFailure() {
        Apps.all(Behaviour.GARBAGE);
        assertEquals("malformed_response", failure("clock.now"));
        assertEquals("unknown_capability", failure("radio.forecast", "place", "x"));
        assertEquals("fine", call(Edition.ARGS, "desk.echo", "text", "x").outputs().get("result"));
    }

    @Test
    public void aSecondAnswerIsDropped() {
        Apps.all(Behaviour.TWICE);
        assertEquals("12:00", call(Edition.ARGS, "clock.now").outputs().get("time"));
        assertEquals(true, call(Edition.ARGS, "lamp.switch", "on", true).outputs().get("on"));
        phone.pass(1_000);
        assertTrue(agent.answers.isEmpty());
    }

    @Test
    public void aLateAnswerIsDropped() {
        Apps.all(Behaviour.LATE);
        agent.send(Edition.ARGS, "7", "clock.now");
        agent.send(Edition.ARGS, "8", "lamp.switch", "on", true);
        phone.pass(31_000);
        assertEquals(2, agent.answers.size());
        phone.service(ClockService.class).done();
        phone.quiet();
        assertEquals(2, agent.answers.size());
        assertEquals("timeout", agent.answers.get(0).token());
        assertEquals("timeout", agent.answers.get(1).token());
    }

    @Test
    public void aToolThatDiesEndsEachOpenCallOnce() {
        Apps.all(Behaviour.SILENT);
        agent.send(Edition.ARGS, "7", "clock.now");
        agent.send(Edition.INPUT, "8", "clock.now");
        phone.until("both calls", () -> ClockService.CALLS.size() == 2);
        phone.kill(ClockService.class);
        phone.until("both answers", () -> agent.answers.size() == 2);
        phone.pass(60_000);
        assertEquals(2, agent.answers.size());
        assertEquals("interrupted", agent.answers.get(0).token());
        assertEquals("interrupted", agent.answers.get(1).token());
        agent.answers.clear();
        Apps.all(Behaviour.ANSWER);
        assertEquals("12:00", call(Edition.ARGS, "clock.now").outputs().get("time"));
    }

    @Test
    public void eachAgentHasABindingOfItsOwnUntilItIsIdle() {
        host.grant("dev.droidgate.proof.stranger", "*");
        assertEquals(1, call(Edition.ARGS, "clock.now").outputs().get("visits"));
        assertEquals(2, call(Edition.ARGS, "clock.now").outputs().get("visits"));
        assertEquals(1, phone.bindingsTo(ClockService.class));
        Agent stranger = agent("stranger");
        stranger.send(Edition.ARGS, "7", "clock.now");
        assertEquals(1, stranger.answer().outputs().get("visits"));
        assertEquals(3, call(Edition.ARGS, "clock.now").outputs().get("visits"));
        assertEquals(2, phone.bindingsTo(ClockService.class));
        phone.pass(59_000);
        assertEquals(2, phone.bindingsTo(ClockService.class));
        phone.pass(2_000);
        assertEquals(0, phone.bindingsTo(ClockService.class));
    }

    @Test
    public void anAnswerOfAnotherAppIsNone() {
        Apps.all(Behaviour.FORGED);
        agent.send(Edition.ARGS, "7", "clock.now");
        phone.pass(1_000);
        assertTrue(agent.answers.isEmpty());
        phone.pass(30_000);
        assertEquals("timeout", agent.answer().token());
    }

    @Test
    @Config(sdk = {29, 36})
    public void anAnswerToOneAgentsRequestReachesNoOtherAgent() {
        host.grant("dev.droidgate.proof.stranger", "*");
        Agent stranger = agent("stranger");
        Apps.all(Behaviour.CROSSED);
        agent.send(Edition.ARGS, "7", "clock.now");
        phone.until("the first call", () -> ClockService.CALLS.size() == 1);
        stranger.send(Edition.ARGS, "7", "clock.now");
        phone.until("the second call", () -> ClockService.CALLS.size() == 2);
        phone.pass(20_000);
        assertTrue(stranger.answers.toString(), stranger.answers.isEmpty());
        assertTrue(agent.answers.toString(), agent.answers.isEmpty());
        phone.pass(11_000);
        assertEquals("timeout", stranger.answer().token());
        assertEquals("timeout", agent.answer().token());
    }

    @Test
    public void aSuccessWithoutAResultIsASuccess() {
        Apps.all(Behaviour.EMPTY);
        for (Edition edition : Edition.values()) {
            assertTrue(call(edition, "clock.now").succeeded());
            Answer answer = call(edition, "desk.echo", "text", "x");
            assertTrue(answer.message(), answer.succeeded());
            assertTrue(answer.outputs().toString(), answer.outputs().isEmpty());
        }
    }

    @Test
    public void aResultThatIsNoTextIsNotTheTextNull() {
        Apps.all(Behaviour.UNREADABLE);
        Answer answer = call(Edition.ARGS, "desk.echo", "text", "x");
        assertEquals("malformed_response", answer.token());
        assertTrue(answer.message(), answer.message().contains("not a text"));
    }

    @Test
    public void anAnswerThatIsTooLongIsAShortFailureOfTheSameRequest() {
        Apps.all(Behaviour.HUGE);
        for (Edition edition : Edition.values()) {
            Answer answer = call(edition, "desk.echo", "text", "x");
            assertEquals("malformed_response", answer.token());
            assertEquals("desk.echo", answer.capability());
            assertTrue(answer.message(), answer.message().contains("65536"));
        }
    }

    @Test
    public void anAnswerThatTheAgentsBinderHasNoRoomForIsAShortFailure() {
        agent.sendToNarrow(Edition.ARGS, "7", 20_000, "desk.echo", "text", "a".repeat(15_000));
        Answer answer = agent.answer();
        assertEquals("7", answer.id());
        assertEquals("malformed_response", answer.token());
        assertTrue(answer.message(), answer.message().contains("the call ran"));
        agent.sendToNarrow(Edition.ARGS, "8", 20_000, "desk.echo", "text", "short");
        assertEquals("short", agent.answer().outputs().get("result"));
    }

    @Test
    public void aMisspelledArgumentIsRefusedWithTheNearestOne() {
        Answer answer = call(Edition.ARGS, "clock.now", "zoen", "UTC");
        assertEquals("invalid_argument", answer.token());
        assertTrue(answer.message(), answer.message().contains("did you mean \"zone\"?"));
        assertTrue(ClockService.CALLS.isEmpty());
    }

    @Test
    public void twoAgentsMayUseOneId() {
        host.grant("dev.droidgate.proof.stranger", "*");
        Agent stranger = agent("stranger");
        Apps.all(Behaviour.LATE);
        agent.send(Edition.ARGS, "7", "clock.now");
        stranger.send(Edition.ARGS, "7", "lamp.switch", "on", true);
        phone.quiet();
        agent.send(Edition.ARGS, "7", "clock.now");
        assertEquals("busy", agent.answer().token());
        phone.service(LampService.class).done();
        assertTrue(stranger.answer().succeeded());
        phone.service(ClockService.class).done();
        assertTrue(agent.answer().succeeded());
    }

    @Test
    public void argumentsThatDoNotFitReachNobody() {
        assertEquals("invalid_argument", failure("desk.add", "a", "two", "b", 3));
        assertEquals("invalid_argument", failure("desk.add", "a", 2));
        assertEquals("invalid_argument", failure("lamp.switch", "on", "perhaps"));
        assertTrue(DeskActivity.CALLS.isEmpty());
        assertTrue(LampService.CALLS.isEmpty());
    }
}
