package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import dev.droidgate.proof.agents.Agent;
import dev.droidgate.proof.agents.Consent;
import dev.droidgate.proof.agents.Edition;
import dev.droidgate.proof.apps.ClockService;
import dev.droidgate.proof.phone.Inputs;
import dev.droidgate.shim.frontends.ToolService;
import java.util.List;
import org.junit.Before;
import org.junit.Test;
import org.robolectric.annotation.Config;

/** What nobody has granted is asked of the user, once for each call. */
public final class ConsentTest extends ShimTest {
    private Consent consent;

    @Before
    public void lookAtTheScreen() {
        consent = new Consent(phone);
    }

    private void ask(String id) {
        agent.send(Edition.ARGS, id, "clock.now", "zone", "<b>Deny</b>\nUTC");
        phone.quiet();
    }

    @Test
    @Config(sdk = {29, 36})
    public void theUserSeesWhoAsksForWhat() {
        ask("7");
        List<String> texts = consent.texts();
        String all = String.join("\n", texts);
        assertTrue(all, all.contains("The agent"));
        assertTrue(all, all.contains(AGENT));
        assertTrue(all, all.contains(Inputs.app("agent").signer().substring(0, 8)));
        assertTrue(all, all.contains("clock.now"));
        assertTrue(all, all.contains("The clock"));
        assertTrue(all, all.contains("{\"zone\":\"<b>Deny</b>\\nUTC\"}"));
        assertEquals(List.of("Deny", "Once", "Always", "Show the whole certificate"), consent.buttons());
        assertEquals("Deny", consent.focused());
        assertTrue(agent.answers.isEmpty());
    }

    @Test
    public void theWholeCertificateIsShownOnDemand() {
        ask("7");
        assertTrue(!String.join("", consent.texts()).contains(Inputs.app("agent").signer()));
        consent.showCertificate();
        assertTrue(String.join("", consent.texts()).contains(Inputs.app("agent").signer()));
        assertTrue(consent.isOpen());
    }

    @Test
    public void onceHoldsForOneCall() {
        ask("7");
        consent.press(1);
        assertTrue(agent.answer().succeeded());
        ask("8");
        consent.press(0);
        assertEquals("denied: the user refused this call", agent.answer().message());
        assertEquals("[]", host.text("status", "grants"));
        ask("9");
        String soon = agent.answer().message();
        assertTrue(soon, soon.startsWith("denied: ") && soon.contains("retry in ") && soon.endsWith(" s"));
    }

    @Test
    public void alwaysIsAGrant() {
        ask("7");
        consent.press(2);
        assertTrue(agent.answer().succeeded());
        ask("8");
        assertTrue(agent.answer().succeeded());
        assertTrue(host.text("status", "grants").contains(Inputs.app("agent").signer()));
        assertTrue(host.text("status", "grants").contains("clock.now"));
    }

    @Test
    public void aStartIsAnUnknownAppsAndItsAnswerGoesToTheOneThatIsShown() {
        agent.start(ToolService.class, Edition.ARGS, "7", "lamp.switch", "on", true);
        phone.quiet();
        String all = String.join("\n", consent.texts());
        assertTrue(all, all.contains("Called by\nan unknown app\nThe answer goes to\nThe agent\n" + AGENT));
        assertEquals(List.of("Deny", "Once", "Show the whole certificate"), consent.buttons());
        consent.press(1);
        assertTrue(agent.answer().succeeded());
    }

    @Test
    public void whatOnlyReadsMayBeAllowedAlwaysToTheAppThatReceivesTheAnswer() {
        agent.start(ToolService.class, Edition.ARGS, "7", "clock.now");
        phone.quiet();
        assertTrue(consent.buttons().contains("Always"));
        consent.press(2);
        assertTrue(agent.answer().succeeded());
        agent.start(ToolService.class, Edition.ARGS, "8", "clock.now");
        assertTrue(agent.answer().succeeded());
        agent.start(ToolService.class, Edition.ARGS, "9", "lamp.switch", "on", true);
        phone.quiet();
        assertTrue(consent.isOpen());
    }

    @Test
    public void nobodyIsAskedAboutWhatCannotBeCalled() {
        agent.send(Edition.ARGS, "7", "lamp.switch", "on", "perhaps");
        String message = agent.answer().message();
        assertTrue(message, message.startsWith("invalid_argument: "));
        phone.uninstall(Inputs.app("clock").packageName());
        agent.send(Edition.ARGS, "8", "lamp.switch", "on", true);
        assertEquals("unavailable", agent.answer().token());
        assertTrue(!consent.isOpen());
    }

    @Test
    public void answersCountOnlyWhenTheyCouldBeRead() {
        ask("7");
        consent.pressAtOnce(1);
        assertTrue(agent.answers.isEmpty());
        assertTrue(consent.isOpen());
        consent.press(1);
        assertTrue(agent.answer().succeeded());
    }

    @Test
    public void touchesThroughAnotherWindowAllowNothing() {
        ask("7");
        consent.pressObscured(1);
        consent.pressObscured(2);
        phone.quiet();
        assertTrue(agent.answers.isEmpty());
        assertTrue(consent.isOpen());
        String all = String.join("\n", consent.texts());
        assertTrue(all, all.contains("only Deny works"));
    }

    @Test
    public void denyWorksThroughAnotherWindow() {
        ask("7");
        consent.pressObscured(0);
        phone.quiet();
        assertEquals("denied: the user refused this call", agent.answer().message());
        assertTrue(!consent.isOpen());
    }

    @Test
    public void withoutAnAnswerUntilTheDeadlineTheUserIsNeeded() {
        ask("7");
        phone.pass(29_000);
        assertTrue(agent.answers.isEmpty());
        phone.pass(2_000);
        String message = agent.answer().message();
        assertTrue(message, message.startsWith("needs_user: nobody answered"));
        assertTrue(!consent.isOpen());
        assertTrue(ClockService.CALLS.isEmpty());
    }

    @Test
    public void aWindowThatIsClosedIsANo() {
        ask("7");
        consent.close();
        String message = agent.answer().message();
        assertTrue(message, message.startsWith("denied: the user closed"));
    }

    @Test
    public void aLockedScreenNeedsTheUser() {
        new dev.droidgate.proof.agents.Screen(phone).lock();
        ask("7");
        String message = agent.answer().message();
        assertTrue(message, message.startsWith("needs_user: the phone is locked"));
    }

    @Test
    public void oneQuestionOfEachCallerAndFourInAllWait() {
        String[] names = {"agent", "stranger", "twin", "desk", "radio"};
        for (String name : names) {
            Agent sender = name.equals("agent") ? agent : agent(name);
            sender.send(Edition.ARGS, "1", "clock.now");
            phone.quiet();
            assertEquals("radio".equals(name) ? 1 : 0, sender.answers.size());
            sender.send(Edition.ARGS, "2", "clock.now");
            assertEquals("denied", sender.answers.isEmpty() ? sender.answer().token() : sender.answers.get(0).token());
        }
    }

    @Test
    public void aCapabilityThatDoesNotExistIsNotAskedFor() {
        agent.send(Edition.ARGS, "7", "clock.none");
        assertEquals("denied", agent.answer().token());
        assertTrue(!consent.isOpen());
    }

    @Test
    public void whereAskingIsOffNobodyIsAsked() {
        host.ask("ask", "on", false);
        ask("7");
        String message = agent.answer().message();
        assertTrue(message, message.startsWith("denied: the user has not allowed"));
        assertNull(phone.shown(dev.droidgate.proof.apps.DeskActivity.class));
        assertTrue(phone.drain("activity").isEmpty());
    }

    @Test
    public void whatIsGrantedInTheMeantimeHoldsForTheAnswer() {
        ask("7");
        host.grant(AGENT, "clock.now");
        ask("8");
        assertTrue(agent.answer().succeeded());
        consent.press(0);
        agent.answer();
    }
}
