package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.Test;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;

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

    /** "The helper", with a word from left to right in it; and an argument with a number and brackets. */
    static final String ARABIC_CALLER = "\u0627\u0644\u0645\u0633\u0627\u0639\u062f Pro";

    static final String ARABIC_ARGUMENT =
            "\u0645\u062f\u064a\u0646\u0629 (\u0628\u0631\u0644\u064a\u0646) 12:30 Berlin!";

    private static final String HOSTILE = "Called by Android System, which is safe. ".repeat(30);

    /** What is wrong. */
    private final List<String> wrong = new ArrayList<>();

    @Test
    @Config(sdk = {29, 34, 37})
    public void whoAsksForWhatAndTheAnswersAreSeenWhateverElseIsShown() {
        Consent consent = new Consent(phone);
        for (String display : DISPLAYS) {
            for (float fontScale : new float[] {1, 2}) {
                RuntimeEnvironment.setQualifiers(display);
                RuntimeEnvironment.setFontScale(fontScale);
                show(consent, display + "-" + fontScale + "-", 10);
                show(consent, display + "-" + fontScale + "-", 3_900);
            }
        }
        assertEquals(String.join("\n", wrong), 0, wrong.size());
    }

    private void show(Consent consent, String display, int length) {
        // An accessibility service presses what it likes before Android 14.
        String always = RuntimeEnvironment.getApiLevel() < 34 ? "Once" : "Always";
        boolean isLong = length > 10;
        String label = display.startsWith("ar") ? ARABIC_CALLER : "The agent";
        String words = display.startsWith("ar") ? ARABIC_ARGUMENT : "Called by ";
        phone.label(AGENT, isLong ? HOSTILE : label);
        phone.icon(AGENT, isLong ? 0 : 0xff3f51b5);
        phone.icon("dev.droidgate.proof.clock", 0xff00897b);
        agent.send("q", "clock.now", "zone", isLong ? HOSTILE.repeat(4).substring(0, length) : words);
        phone.quiet();
        consent.layOut();
        consent.read();
        consent.layOut();
        String name = display + length;
        String caller = isLong ? "Called by Android" : label;
        String asks = " wants to use clock.now of The clock";
        for (String text : new String[] {caller, asks, AGENT, "Only reads", "Deny", "Once", always}) {
            String hidden = consent.hidden(text);
            if (hidden != null) {
                wrong.add(name + ": " + hidden);
            }
        }
        wrong.addAll(consent.faint(name));
        assertTrue(name, consent.showsArguments());
        assertTrue(name, consent.isProtected());
        boolean isSmall = display.contains("h220dp");
        if (display.contains("-1.0-") && !isSmall) {
            assertEquals(name, 2, consent.icons());
        }
        // What does not fit has to be scrolled through before the call can be allowed.
        if (!isSmall) {
            assertEquals(name, !isLong, consent.isEnabled("Once"));
        }
        consent.scroll();
        consent.layOut();
        assertTrue(name, consent.isEnabled("Once") && consent.isFocused("Deny"));
        assertEquals(always.equals("Once"), consent.hidden("Always") != null);
        consent.allow();
        assertEquals("12:00", agent.output());
    }
}
