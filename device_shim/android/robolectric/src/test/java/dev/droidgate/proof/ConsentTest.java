package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.droidgate.proof.agents.Consent;
import java.util.ArrayList;
import java.util.List;
import org.junit.Test;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;
import org.robolectric.annotation.GraphicsMode;

/** The question to the user as Android draws it. */
public final class ConsentTest extends ShimTest {
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
        Consent consent = new Consent(phone);
        List<String> wrong = new ArrayList<>();
        String label = "Called by Android System, which is safe. ".repeat(30);
        int question = 0;
        // An accessibility service presses what it likes before Android 14.
        String always = RuntimeEnvironment.getApiLevel() < 34 ? "Once" : "Always";
        for (String display : DISPLAYS) {
            for (float fontScale : new float[] {1, 2}) {
                for (int length : new int[] {10, 3_900}) {
                    RuntimeEnvironment.setQualifiers(display);
                    RuntimeEnvironment.setFontScale(fontScale);
                    phone.label(AGENT, length == 3_900 ? label : "The agent");
                    phone.icon(AGENT, length == 3_900 ? 0 : 0xff3f51b5);
                    phone.icon("dev.droidgate.proof.clock", 0xff00897b);
                    agent.send("q" + question++, "clock.now", "zone", label.repeat(4).substring(0, length));
                    phone.quiet();
                    consent.layOut();
                    String name = display + "-" + fontScale + "-" + length;
                    String caller = length == 3_900 ? "Called by Android" : "The agent";
                    consent.read();
                    consent.layOut();
                    String asks = " wants to use clock.now of The clock";
                    String[] texts = {caller, asks, AGENT, "Only reads", "Deny", "Once", always};
                    for (String text : texts) {
                        String hidden = consent.hidden(text);
                        if (hidden != null) {
                            wrong.add(name + ": " + hidden);
                        }
                    }
                    int[] scrolling = consent.scrolling();
                    if (scrolling[0] < 20 || scrolling[1] != 0) {
                        wrong.add(
                                name + ": of the arguments " + scrolling[0] + " pixels are seen, from "
                                        + scrolling[1]);
                    }
                    consent.faint(name).forEach(text -> wrong.add(name + ": faint: " + text));
                    if (fontScale == 1 && length == 10 && !display.contains("h220dp")) {
                        assertEquals(name, 2, consent.icons());
                    }
                    assertTrue(name, consent.isProtected());
                    // What does not fit has to be scrolled through before the call can be allowed.
                    if (!display.contains("h220dp")) {
                        assertEquals(name, length == 10, consent.isEnabled("Once"));
                    }
                    consent.scroll();
                    consent.layOut();
                    assertTrue(name, consent.isEnabled("Once"));
                    assertEquals("Deny", consent.focused());
                    assertEquals(always.equals("Once"), consent.hidden("Always") != null);
                    consent.allow();
                    assertEquals("12:00", agent.answer().outputs().get("time"));
                }
            }
        }
        assertEquals(String.join("\n", wrong), 0, wrong.size());
    }
}
