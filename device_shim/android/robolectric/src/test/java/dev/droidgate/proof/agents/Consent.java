package dev.droidgate.proof.agents;

import android.app.Activity;
import android.widget.TextView;
import dev.droidgate.proof.phone.Phone;
import dev.droidgate.shim.consent.ConsentActivity;
import java.util.ArrayList;
import java.util.List;

/** The user before the question. */
public final class Consent {
    private static final long READING = 600;

    private final Phone phone;

    public Consent(Phone phone) {
        this.phone = phone;
    }

    private Activity window() {
        Activity open = phone.shown(ConsentActivity.class);
        if (open == null) {
            throw new AssertionError("nobody is asked");
        }
        return open;
    }

    public boolean isOpen() {
        return phone.shown(ConsentActivity.class) != null;
    }

    public List<String> texts() {
        return Screen.texts(window());
    }

    public List<String> buttons() {
        List<String> texts = new ArrayList<>();
        Screen.buttons(window()).forEach(item -> texts.add(item.getText().toString()));
        return texts;
    }

    /** Returns the text of the button that a key would press, null for none. */
    public String focused() {
        for (TextView view : Screen.buttons(window())) {
            if (view.isFocused()) {
                return view.getText().toString();
            }
        }
        return null;
    }

    /** Presses a button after it could be read. */
    public void press(int index) {
        window().onWindowFocusChanged(true);
        phone.pass(READING);
        pressAtOnce(index);
    }

    public void pressAtOnce(int index) {
        Screen.press(window(), buttons().get(index), false);
        phone.quiet();
    }

    public void pressObscured(int index) {
        window().onWindowFocusChanged(true);
        phone.pass(READING);
        Screen.press(window(), buttons().get(index), true);
    }

    /** Clicks the last button, which is below what the test's screen shows. */
    public void showCertificate() {
        List<TextView> buttons = Screen.buttons(window());
        buttons.get(buttons.size() - 1).performClick();
    }

    public void close() {
        window().finish();
        phone.quiet();
    }
}
