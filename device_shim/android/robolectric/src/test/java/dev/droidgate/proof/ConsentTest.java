package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;

import dev.droidgate.proof.agents.Consent;
import dev.droidgate.proof.phone.Inputs;
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
                for (int length : new int[] {10, 1_500, 3_900}) {
                    RuntimeEnvironment.setQualifiers(display);
                    RuntimeEnvironment.setFontScale(fontScale);
                    phone.label(AGENT, length == 3_900 ? label : "The agent");
                    agent.send("q" + question++, "clock.now", "zone", label.repeat(4).substring(0, length));
                    phone.quiet();
                    consent.layOut();
                    String name = display + "-" + fontScale + "-" + length;
                    String caller = length == 3_900 ? "Called by Android" : "The agent";
                    for (String text
                            : new String[] {caller, AGENT, "clock.now", "Only reads", "The clock",
                                    Inputs.app("agent").signer().substring(0, 8), "dev.droidgate.proof.clock",
                                    "Deny", "Once", always}) {
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
