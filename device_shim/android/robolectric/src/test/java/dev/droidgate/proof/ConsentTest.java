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
import java.util.ArrayList;
import java.util.List;
import org.junit.Before;
import org.junit.Test;
import org.robolectric.annotation.Config;
import org.robolectric.annotation.GraphicsMode;

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
        assertEquals(List.of("Deny", "Once", "Always"), consent.answers());
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
        assertTrue(all, all.contains("Called by an unknown app\nThe answer goes to The agent\n" + AGENT));
        assertEquals(List.of("Deny", "Once"), consent.answers());
        consent.press(1);
        assertTrue(agent.answer().succeeded());
    }

    @Test
    public void whatOnlyReadsMayBeAllowedAlwaysToTheAppThatReceivesTheAnswer() {
        agent.start(ToolService.class, Edition.ARGS, "7", "clock.now");
        phone.quiet();
        assertTrue(consent.answers().contains("Always"));
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

    /** Phones and windows on them, the smallest that Android makes among them. */
    private static final String[] DISPLAYS = {
        "w411dp-h891dp-port-notnight-xhdpi",
        "w891dp-h411dp-land-notnight-xhdpi",
        "w320dp-h480dp-port-night-mdpi",
        "w320dp-h220dp-land-notnight-hdpi",
        "ar-ldrtl-w360dp-h640dp-port-notnight-xhdpi",
        "ar-ldrtl-w320dp-h220dp-land-night-hdpi",
    };

    @Test
    @GraphicsMode(GraphicsMode.Mode.NATIVE)
    @Config(sdk = {29, 34, 36})
    public void whoAsksForWhatAndTheAnswersAreSeenWhateverElseIsShown() {
        List<String> wrong = new ArrayList<>();
        String label = "Called by Android System, which is safe. ".repeat(30);
        int question = 0;
        for (String display : DISPLAYS) {
            for (float fontScale : new float[] {1, 2}) {
                for (int length : new int[] {10, 1_500, 3_900}) {
                    Consent.display(display, fontScale);
                    phone.label(AGENT, length == 3_900 ? label : "The agent");
                    agent.send(Edition.ARGS, "q" + question++, "clock.now", "zone", label.repeat(4).substring(0, length));
                    phone.quiet();
                    consent.layOut();
                    String name = display + "-" + fontScale + "-" + length;
                    String caller = length == 3_900 ? "Called by Android" : "The agent";
                    for (String text : new String[] {caller, AGENT, "clock.now", "Only reads", "The clock", Inputs.app("agent").signer().substring(0, 8), "dev.droidgate.proof.clock", "Deny", "Once", "Always"}) {
                        String hidden = consent.hidden(text);
                        if (hidden != null) {
                            wrong.add(name + ": " + hidden);
                        }
                    }
                    int[] scrolling = consent.scrolling();
                    if (scrolling[0] < 20 || scrolling[1] != 0) {
                        wrong.add(name + ": of the arguments " + scrolling[0] + " pixels are seen, from " + scrolling[1]);
                    }
                    consent.faint(name).forEach(text -> wrong.add(name + ": faint: " + text));
                    assertEquals("Deny", consent.focused());
                    consent.press(1);
                    assertTrue(agent.answer().succeeded());
                }
            }
        }
        assertEquals(String.join("\n", wrong), 0, wrong.size());
        agent.send(Edition.ARGS, "long", "clock.now", "zone", label.repeat(13).substring(0, 15_000));
        assertEquals("denied: the arguments are too long to be shown to the user for approval", agent.answer().message());
    }
}
