package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.droidgate.proof.agents.Answer;
import dev.droidgate.proof.agents.Edition;
import dev.droidgate.proof.agents.Functions;
import dev.droidgate.proof.apps.Behaviour;
import java.util.Map;
import org.junit.Before;
import org.junit.Test;
import org.robolectric.annotation.Config;

/** Calls of app functions: Android 16's own manager and documents, over a service of the tests. */
public final class AppFunctionsTest extends ShimTest {
    /** What each code means; ranges where a code is not named. */
    private static final Map<Integer, String> TOKENS =
            Map.of(
                    1000, "denied",
                    1001, "invalid_argument",
                    1002, "disabled",
                    1003, "unknown_capability",
                    2000, "backend_failure",
                    2001, "canceled",
                    3000, "backend_failure");

    @Before
    public void grantAll() {
        host.grant(AGENT, "*");
    }

    private Answer call(String capability, Object... arguments) {
        agent.send(Edition.INPUT, "7", capability, arguments);
        return agent.answer();
    }

    @Test
    @Config(sdk = {29, 34})
    public void olderReleasesHaveNone() {
        assertThrows(ClassNotFoundException.class, () -> Class.forName("android.app.appfunctions.AppFunctionManager"));
        assertEquals("unavailable", call("notes.create", "title", "x").token());
    }

    @Test
    public void aFunctionAnswersWithADocument() {
        Functions functions = new Functions(phone);
        Answer created = call("notes.create", "title", "milk");
        assertEquals("kept milk", created.outputs().get("result"));
        assertEquals(2, call("notes.count").outputs().get("result"));
        assertEquals("dev.droidgate.proof.notes/createNote{title=[milk]}", functions.request(0));
        assertEquals("dev.droidgate.proof.notes/countNotes{}", functions.request(1));
    }

    @Test
    public void eachErrorCodeHasItsToken() {
        Functions functions = new Functions(phone);
        for (Map.Entry<Integer, String> entry : TOKENS.entrySet()) {
            functions.refuse(entry.getKey());
            Answer answer = call("notes.create", "title", "x");
            assertEquals(entry.getValue() + ": " + entry.getKey() + " not today", answer.message());
        }
    }

    @Test
    public void aFunctionThatIsOffOrGoneIsNotCalled() {
        Functions functions = new Functions(phone);
        functions.enabled(false);
        assertEquals("disabled", call("notes.create", "title", "x").token());
        functions.enabled(null);
        assertEquals("unknown_capability", call("notes.create", "title", "x").token());
        assertEquals(0, functions.count());
    }

    @Test
    public void aRefusalOfTheSystemIsTold() {
        new Functions(phone).behave(Behaviour.CRASH);
        assertEquals("denied", call("notes.create", "title", "x").token());
    }

    @Test
    public void anErrorInAProgramIsNoRefusal() {
        new Functions(phone).behave(Behaviour.ODD);
        Answer answer = call("notes.create", "title", "x");
        assertEquals("backend_failure", answer.token());
        assertTrue(answer.message(), answer.message().contains("IllegalStateException: odd"));
    }

    @Test
    public void aSecondAnswerIsDropped() {
        new Functions(phone).behave(Behaviour.TWICE);
        assertTrue(call("notes.create", "title", "x").succeeded());
        phone.pass(1_000);
        assertTrue(agent.answers.isEmpty());
    }

    @Test
    public void whatDoesNotFitItsTypeIsMalformed() {
        new Functions(phone).behave(Behaviour.GARBAGE);
        assertEquals("malformed_response", call("notes.count").token());
    }

    @Test
    public void oneThatStaysSilentIsCancelledAndWhatComesLaterIsDropped() {
        Functions functions = new Functions(phone);
        functions.behave(Behaviour.SILENT);
        agent.send(Edition.INPUT, "7", "notes.create", "title", "x");
        phone.pass(31_000);
        assertEquals("timeout", agent.answer().token());
        assertTrue(functions.isCancelled());
        functions.done();
        phone.pass(1_000);
        assertTrue(agent.answers.isEmpty());
    }
}
