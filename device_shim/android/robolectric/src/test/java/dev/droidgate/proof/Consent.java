package dev.droidgate.proof;

import android.app.Activity;
import android.graphics.Bitmap;
import android.graphics.Color;
import android.graphics.Rect;
import android.os.Build;
import android.text.Layout;
import android.view.MotionEvent;
import android.view.View;
import android.view.ViewGroup;
import android.view.ViewParent;
import android.widget.Button;
import android.widget.ImageView;
import android.widget.ScrollView;
import android.widget.TextView;
import dev.droidgate.shim.consent.ConsentActivity;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The user before the question. */
final class Consent {
    private static final long READING = 600;

    /** Of text on its background (WCAG 2.1, 1.4.3). */
    private static final double LEAST_CONTRAST = 4.5;

    private final Phone phone;

    Consent(Phone phone) {
        this.phone = phone;
    }

    private Activity window() {
        phone.until("the user is asked", this::isOpen);
        return phone.shown(ConsentActivity.class);
    }

    boolean isOpen() {
        return phone.shown(ConsentActivity.class) != null;
    }

    private View decor() {
        return window().getWindow().getDecorView();
    }

    /** Returns all views of a class. */
    private <V extends View> Stream<V> views(Class<V> type) {
        List<View> found = new ArrayList<>(List.of(decor()));
        for (int index = 0; index < found.size(); index++) {
            if (found.get(index) instanceof ViewGroup group) {
                for (int child = 0; child < group.getChildCount(); child++) {
                    found.add(group.getChildAt(child));
                }
            }
        }
        return found.stream().filter(type::isInstance).map(type::cast);
    }

    private Stream<Button> buttons(String text) {
        return views(Button.class).filter(view -> text.contentEquals(view.getText()));
    }

    /** Returns whether a key would press this button. */
    boolean isFocused(String text) {
        return buttons(text).anyMatch(View::isFocused);
    }

    /** Returns whether a button takes a touch. */
    boolean isEnabled(String text) {
        return buttons(text).anyMatch(View::isEnabled);
    }

    /** Returns how many icons are shown. */
    long icons() {
        return views(ImageView.class).filter(View::isShown).count();
    }

    private ScrollView scroller() {
        return views(ScrollView.class).findFirst().get();
    }

    /** Looks at the question until it could be read. */
    void read() {
        window().onWindowFocusChanged(true);
        phone.pass(READING);
    }

    /** Scrolls the arguments to their end. */
    void scroll() {
        scroller().scrollTo(0, scroller().getChildAt(0).getHeight());
        phone.settle();
    }

    /** Allows the call once, after the question could be read. */
    void allow() {
        read();
        Rect place = placeOf(buttons("Once").findFirst().get());
        for (int action : new int[] {MotionEvent.ACTION_DOWN, MotionEvent.ACTION_UP}) {
            window().dispatchTouchEvent(
                    MotionEvent.obtain(0, 0, action, place.left + 1, place.top + 1, 0));
        }
        phone.quiet();
    }

    /** Lays the window out as large as the display, as it is drawn first. */
    View layOut() {
        return phone.layOut(ConsentActivity.class);
    }

    private static Rect placeOf(View view) {
        int[] place = new int[2];
        view.getLocationInWindow(place);
        return new Rect(place[0], place[1], place[0] + view.getWidth(), place[1] + view.getHeight());
    }

    private Rect display() {
        return new Rect(0, 0, decor().getWidth(), decor().getHeight());
    }

    /** Returns why a text cannot be read without scrolling, null where it can. */
    String hidden(String text) {
        List<TextView> with =
                views(TextView.class).filter(view -> view.getText().toString().contains(text)).toList();
        for (TextView view : with) {
            if (hidden(view) == null) {
                return null;
            }
        }
        return text + (with.isEmpty() ? " is not there" : hidden(with.get(0)));
    }

    private String hidden(TextView view) {
        for (ViewParent parent = view.getParent(); parent != null; parent = parent.getParent()) {
            if (parent instanceof ScrollView) {
                return " scrolls";
            }
        }
        if (!view.isShown() || view.getWidth() == 0 || !display().contains(placeOf(view))) {
            return " is outside of the window: " + placeOf(view);
        }
        Layout lines = view.getLayout();
        int room = view.getHeight() - view.getCompoundPaddingTop() - view.getCompoundPaddingBottom();
        int shown = Math.min(lines.getLineCount(), view.getMaxLines());
        if (lines.getLineBottom(shown - 1) > room || view instanceof Button && shown > 1) {
            return " is cut off";
        }
        return lines.getEllipsisCount(shown - 1) > 0 ? " is shortened" : null;
    }

    /** Returns whether the arguments begin at their beginning, and 20 pixels of them are seen. */
    boolean showsArguments() {
        return scroller().getHeight() >= 20 && scroller().getScrollY() == 0;
    }

    /** Returns whether only accessibility tools may see the window, which leaves the bars their room. */
    boolean isProtected() {
        View content = ((ViewGroup) decor().findViewById(android.R.id.content)).getChildAt(0);
        return content.getFitsSystemWindows()
                && (Build.VERSION.SDK_INT < 34 || decor().isAccessibilityDataSensitive());
    }

    /** Draws the window, and returns the texts with too little contrast. */
    List<String> faint(String name) {
        Bitmap bitmap = Pictures.draw(decor());
        List<String> faint = new ArrayList<>();
        views(TextView.class)
                .filter(view -> view.isShown() && view.isEnabled() && view.length() > 0)
                // Of the button that scrolls perhaps nothing is seen but its edge.
                .filter(view -> !"Details".contentEquals(view.getText()))
                .forEach(
                        view -> {
                            int back = background(bitmap, placeOf(view));
                            double contrast = contrast(over(view.getCurrentTextColor(), back), back);
                            if (contrast < LEAST_CONTRAST) {
                                faint.add(name + ": faint: " + view.getText() + " " + contrast);
                            }
                        });
        return faint;
    }

    /** Returns the colour that most of a place has, of what is seen of it. */
    private static int background(Bitmap bitmap, Rect place) {
        if (!place.intersect(0, 0, bitmap.getWidth(), bitmap.getHeight())) {
            return Color.TRANSPARENT;
        }
        Map<Integer, Integer> counts = new HashMap<>();
        for (int y = place.top; y < place.bottom; y += 3) {
            for (int x = place.left; x < place.right; x += 3) {
                counts.merge(bitmap.getPixel(x, y), 1, Integer::sum);
            }
        }
        return Collections.max(counts.entrySet(), Map.Entry.comparingByValue()).getKey();
    }

    /** Returns a colour as it looks where it is drawn on another one. */
    private static int over(int colour, int back) {
        float share = Color.alpha(colour) / 255f;
        return Color.rgb(
                Math.round(Color.red(colour) * share + Color.red(back) * (1 - share)),
                Math.round(Color.green(colour) * share + Color.green(back) * (1 - share)),
                Math.round(Color.blue(colour) * share + Color.blue(back) * (1 - share)));
    }

    private static double contrast(int one, int other) {
        double high = Math.max(Color.luminance(one), Color.luminance(other));
        double low = Math.min(Color.luminance(one), Color.luminance(other));
        return (high + 0.05) / (low + 0.05);
    }
}
