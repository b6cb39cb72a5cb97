package dev.droidgate.proof.agents;

import static org.robolectric.Shadows.shadowOf;

import android.app.Activity;
import android.app.KeyguardManager;
import android.app.Notification;
import android.app.NotificationManager;
import android.app.PendingIntent;
import android.content.Context;
import android.content.Intent;
import android.view.InputDevice;
import android.view.MotionEvent;
import android.view.View;
import android.view.ViewGroup;
import android.view.ViewParent;
import android.widget.Button;
import android.widget.ScrollView;
import android.widget.TextView;
import dev.droidgate.proof.apps.DeskActivity;
import dev.droidgate.proof.phone.Phone;
import dev.droidgate.shim.backends.TrampolineActivity;
import java.util.ArrayList;
import java.util.List;
import org.robolectric.Robolectric;

/** The user, and what Android does to windows. */
public final class Screen {
    private final Phone phone;
    private final NotificationManager manager;

    public Screen(Phone phone) {
        this.phone = phone;
        manager = (NotificationManager) phone.context().getSystemService(Context.NOTIFICATION_SERVICE);
    }

    /** Returns how many notifications ask for a tap. */
    public int notifications() {
        return asking().size();
    }

    private List<Notification> asking() {
        List<Notification> found = new ArrayList<>();
        for (Notification notification : shadowOf(manager).getAllNotifications()) {
            if (notification.contentIntent != null) {
                found.add(notification);
            }
        }
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

    public void forbidNotifications() {
        shadowOf(manager).setNotificationsEnabled(false);
    }

    public void lock() {
        KeyguardManager keyguard =
                (KeyguardManager) phone.context().getSystemService(Context.KEYGUARD_SERVICE);
        shadowOf(keyguard).setIsDeviceLocked(true);
        shadowOf(keyguard).setKeyguardLocked(true);
    }

    /** Makes the waiting window anew, as a change that it does not handle itself does. */
    public void recreateTrampoline() {
        phone.recreate(TrampolineActivity.class);
    }

    /** Returns whether a window waits for a tool's result. */
    public boolean isWaiting() {
        return phone.shown(TrampolineActivity.class) != null;
    }

    /** Sets the tool's result. */
    public void result(String text) {
        DeskActivity tool = phone.shown(DeskActivity.class);
        tool.setResult(Activity.RESULT_OK, new Intent().putExtra("result", text));
        tool.finish();
        phone.settle();
    }

    /** Hands the waiting window a result that another app than the tool has set. */
    public void forgedResult(String text) {
        phone.forge(phone.shown(DeskActivity.class));
        result(text);
    }

    public void removeTrampoline() {
        phone.shown(TrampolineActivity.class).finish();
        phone.settle();
    }

    /** Opens the window as nobody should; says whether it closes itself. */
    public boolean openWithoutACall() {
        Intent intent =
                new Intent(phone.context(), TrampolineActivity.class).putExtra("opening", "0123456789abcdef");
        return Robolectric.buildActivity(TrampolineActivity.class, intent).create().get().isFinishing();
    }

    /** Returns all texts of a window. */
    public static List<String> texts(Activity activity) {
        List<String> found = new ArrayList<>();
        collect(activity.getWindow().getDecorView(), found, new ArrayList<>());
        return found;
    }

    private static void collect(View view, List<String> texts, List<TextView> views) {
        if (view instanceof TextView) {
            texts.add(((TextView) view).getText().toString());
            views.add((TextView) view);
        }
        if (view instanceof ViewGroup) {
            for (int index = 0; index < ((ViewGroup) view).getChildCount(); index++) {
                collect(((ViewGroup) view).getChildAt(index), texts, views);
            }
        }
    }

    /** Returns all views of a window that show a text. */
    static List<TextView> views(Activity activity) {
        List<TextView> views = new ArrayList<>();
        collect(activity.getWindow().getDecorView(), new ArrayList<>(), views);
        return views;
    }

    /** Returns the buttons of a window. */
    public static List<TextView> buttons(Activity activity) {
        List<TextView> views = views(activity);
        views.removeIf(view -> !(view instanceof Button));
        return views;
    }

    /** Returns the part of a window that scrolls. */
    static ScrollView scroller(Activity activity) {
        for (TextView view : views(activity)) {
            for (ViewParent parent = view.getParent(); parent != null; parent = parent.getParent()) {
                if (parent instanceof ScrollView) {
                    return (ScrollView) parent;
                }
            }
        }
        throw new AssertionError("nothing scrolls");
    }

    /** Presses a button of a window; through another window where that lies above. */
    public static void press(Activity activity, String text, boolean obscured) {
        for (TextView view : buttons(activity)) {
            if (view.getText().toString().equals(text)) {
                touch(activity, view, MotionEvent.ACTION_DOWN, obscured);
                touch(activity, view, MotionEvent.ACTION_UP, obscured);
                return;
            }
        }
        throw new AssertionError(text + " is not among " + texts(activity));
    }

    private static void touch(Activity activity, View view, int action, boolean obscured) {
        int[] place = new int[2];
        view.getLocationInWindow(place);
        MotionEvent.PointerProperties finger = new MotionEvent.PointerProperties();
        MotionEvent.PointerCoords at = new MotionEvent.PointerCoords();
        at.x = place[0] + 1;
        at.y = place[1] + 1;
        MotionEvent event =
                MotionEvent.obtain(
                        0,
                        0,
                        action,
                        1,
                        new MotionEvent.PointerProperties[] {finger},
                        new MotionEvent.PointerCoords[] {at},
                        0,
                        0,
                        1,
                        1,
                        0,
                        0,
                        InputDevice.SOURCE_TOUCHSCREEN,
                        obscured ? MotionEvent.FLAG_WINDOW_IS_OBSCURED : 0);
        activity.dispatchTouchEvent(event);
    }
}
