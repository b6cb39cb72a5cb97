package dev.droidgate.proof.agents;

import static org.robolectric.Shadows.shadowOf;

import android.app.Notification;
import android.app.NotificationManager;
import android.app.PendingIntent;
import android.content.Context;
import android.content.Intent;
import android.os.Bundle;
import dev.droidgate.proof.apps.DeskActivity;
import dev.droidgate.proof.phone.Phone;
import dev.droidgate.shim.backends.TrampolineActivity;
import java.util.ArrayList;
import java.util.List;
import org.robolectric.Robolectric;
import org.robolectric.util.ReflectionHelpers;
import org.robolectric.util.ReflectionHelpers.ClassParameter;

/** The user, and what Android does to windows. */
public final class Screen {
    private final Phone phone;

    public Screen(Phone phone) {
        this.phone = phone;
    }

    /** Returns how many notifications ask for a tap. */
    public int notifications() {
        return asking().size();
    }

    private List<Notification> asking() {
        Object manager = phone.shim.getSystemService(Context.NOTIFICATION_SERVICE);
        List<Notification> found = new ArrayList<>(shadowOf((NotificationManager) manager).getAllNotifications());
        found.removeIf(item -> item.contentIntent == null);
        return found;
    }

    /** Taps the one notification. */
    public void tap() {
        try {
            asking().get(0).contentIntent.send();
        } catch (PendingIntent.CanceledException gone) {
            throw new AssertionError(gone);
        }
        phone.settle();
    }

    /** Makes the waiting window anew, as a change that it does not handle itself does. */
    public void recreateTrampoline() {
        phone.recreate(TrampolineActivity.class);
    }

    /** Lets the tool that is shown answer. */
    public void answer() {
        phone.shown(DeskActivity.class).done();
        phone.settle();
    }

    /** Ends the shim's process under its open window, which Android then makes anew. */
    public void killShimUnderTrampoline() {
        Bundle saved = new Bundle();
        TrampolineActivity open = phone.shown(TrampolineActivity.class);
        ReflectionHelpers.callInstanceMethod(
                android.app.Activity.class,
                open,
                "performSaveInstanceState",
                ClassParameter.from(Bundle.class, saved));
        phone.killShim();
        Robolectric.buildActivity(TrampolineActivity.class, open.getIntent()).create(saved);
    }

    /** Opens the window as nobody should; says whether it closes itself. */
    public boolean opensWithoutACall() {
        Intent intent = new Intent(phone.shim, TrampolineActivity.class).putExtra("opening", "0123456789abcdef");
        return Robolectric.buildActivity(TrampolineActivity.class, intent).create().get().isFinishing();
    }
}
