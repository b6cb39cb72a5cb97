package dev.droidgate.proof;

import android.os.Process;
import dev.droidgate.shim.consent.ConsentActivity;
import dev.droidgate.shim.consent.ManageActivity;
import java.io.IOException;
import org.junit.Test;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;

/** The screens that the documentation shows, as each release of Android draws them. */
public final class ScreensTest extends ShimTest {
    private static final String DISPLAY = "w320dp-h480dp-port-notnight-hdpi";

    private static final String LONG =
            "Play the list Evening, skip what was played today, and lower the volume after midnight. ";

    @Test
    @Config(sdk = {29, 34, 36, 37})
    public void theScreensAreThoseInTheDocumentation() throws IOException {
        phone.label(AGENT, "Home helper");
        phone.icon(AGENT, 0xff3f51b5);
        phone.icon("dev.droidgate.proof.clock", 0xff00897b);
        ask("question-short", DISPLAY, "Europe/Berlin");
        ask("question-long", DISPLAY, LONG.repeat(12));
        phone.label(AGENT, ConsentTest.ARABIC_CALLER);
        ask("question-arabic", "ar-ldrtl-" + DISPLAY, ConsentTest.ARABIC_ARGUMENT);
        RuntimeEnvironment.setQualifiers("en-rUS-ldltr-" + DISPLAY);
        Pictures.check("notification", notification());
        host.grant(AGENT);
        host.grant("any-app");
        phone.allow(Process.myUid(), "android.permission.POST_NOTIFICATIONS");
        // As long as what does not change with the time of the test.
        RuntimeEnvironment.setQualifiers("w320dp-h545dp-port-notnight-hdpi");
        phone.open(ManageActivity.class, null);
        Pictures.check("grants", phone.layOut(ManageActivity.class));
    }

    private void ask(String name, String display, String zone) throws IOException {
        RuntimeEnvironment.setQualifiers(display);
        Consent consent = new Consent(phone);
        agent.send(name, "clock.now", "zone", zone);
        phone.quiet();
        consent.layOut();
        consent.read();
        Pictures.check(name, consent.layOut());
        consent.scroll();
        consent.layOut();
        consent.allow();
    }

    private Object notification() {
        agent.send("1", "clock.now");
        phone.until("the user is asked", () -> phone.shown(ConsentActivity.class) != null);
        phone.stop(ConsentActivity.class);
        return phone.notification();
    }
}
