package dev.droidgate.proof.agents;

import android.app.Activity;
import android.graphics.Bitmap;
import android.graphics.Canvas;
import android.graphics.Color;
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
import dev.droidgate.proof.phone.Phone;
import dev.droidgate.shim.consent.ConsentActivity;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The user before the question. */
public final class Consent {
    private static final long READING = 600;
    private static final String DETAILS = "Details";

    /** Of text on its background (WCAG 2.1, 1.4.3). */
    private static final double LEAST_CONTRAST = 4.5;

    private final Phone phone;

    public Consent(Phone phone) {
        this.phone = phone;
    }

    private Activity window() {
        phone.until("the user is asked", this::isOpen);
        return phone.shown(ConsentActivity.class);
    }

    public boolean isOpen() {
        return phone.shown(ConsentActivity.class) != null;
    }

    /** Returns the text of the button that a key would press, null for none. */
    public String focused() {
        for (TextView view : views()) {
            if (view instanceof Button && view.isFocused()) {
                return view.getText().toString();
            }
        }
        return null;
    }

    /** Looks at the question until it could be read. */
    public void read() {
        window().onWindowFocusChanged(true);
        phone.pass(READING);
    }

    /** Scrolls the arguments to their end. */
    public void scroll() {
        ScrollView scroll = scroller();
        scroll.scrollTo(0, scroll.getChildAt(0).getHeight());
        phone.settle();
    }

    /** Returns whether a button takes a touch. */
    public boolean isEnabled(String text) {
        return views().stream().anyMatch(view -> text.contentEquals(view.getText()) && view.isEnabled());
    }

    /** Allows the call once, after the question could be read. */
    public void allow() {
        read();
        for (TextView view : views()) {
            if ("Once".contentEquals(view.getText())) {
                touch(view, MotionEvent.ACTION_DOWN);
                touch(view, MotionEvent.ACTION_UP);
            }
        }
        phone.quiet();
    }

    private void touch(View view, int action) {
        int[] place = new int[2];
        view.getLocationInWindow(place);
        window().dispatchTouchEvent(MotionEvent.obtain(0, 0, action, place[0] + 1, place[1] + 1, 0));
    }

    /** Lays the window out as large as the display, as it is drawn first. */
    public void layOut() {
        View decor = window().getWindow().getDecorView();
        int width = decor.getResources().getDisplayMetrics().widthPixels;
        int height = decor.getResources().getDisplayMetrics().heightPixels;
        // Twice, as Android does: the second time with what the first one asked for.
        for (int pass = 0; pass < 2; pass++) {
            decor.measure(
                    View.MeasureSpec.makeMeasureSpec(width, View.MeasureSpec.EXACTLY),
                    View.MeasureSpec.makeMeasureSpec(height, View.MeasureSpec.EXACTLY));
            decor.layout(0, 0, width, height);
            phone.settle();
        }
    }

    /** Returns why a text cannot be read without scrolling, null where it can. */
    public String hidden(String text) {
        String why = text + " is not there";
        for (TextView view : views()) {
            if (view.getText().toString().contains(text)) {
                why = hidden(view);
                if (why == null) {
                    return null;
                }
            }
        }
        return why;
    }

    private String hidden(TextView view) {
        String text = view.getText() + ": ";
        if (!view.isShown() || view.getWidth() == 0) {
            return text + "not shown";
        }
        for (ViewParent parent = view.getParent(); parent != null; parent = parent.getParent()) {
            if (parent instanceof ScrollView) {
                return text + "scrolls";
            }
        }
        View decor = window().getWindow().getDecorView();
        int[] place = new int[2];
        view.getLocationInWindow(place);
        int right = place[0] + view.getWidth();
        int bottom = place[1] + view.getHeight();
        if (place[0] < 0 || place[1] < 0 || right > decor.getWidth() || bottom > decor.getHeight()) {
            return text + "outside of the window: " + place[0] + " " + place[1] + " " + right + " " + bottom;
        }
        Layout lines = view.getLayout();
        int room = view.getHeight() - view.getCompoundPaddingTop() - view.getCompoundPaddingBottom();
        int shown = Math.min(lines.getLineCount(), view.getMaxLines());
        if (lines.getLineBottom(shown - 1) > room || view instanceof Button && shown > 1) {
            return text + "cut off";
        }
        return lines.getEllipsisCount(shown - 1) > 0 ? text + "shortened" : null;
    }

    /** Returns how much of what scrolls is seen, in pixels, and where it begins. */
    public int[] scrolling() {
        return new int[] {scroller().getHeight(), scroller().getScrollY()};
    }

    /** Returns whether only accessibility tools may see the window, which leaves the bars their room. */
    public boolean isProtected() {
        View decor = window().getWindow().getDecorView();
        View content = ((ViewGroup) decor.findViewById(android.R.id.content)).getChildAt(0);
        return content.getFitsSystemWindows()
                && (Build.VERSION.SDK_INT < 34 || decor.isAccessibilityDataSensitive());
    }

    /** Returns how many icons are shown. */
    public int icons() {
        List<ImageView> found = new ArrayList<>();
        collect(window().getWindow().getDecorView(), ImageView.class, found);
        found.removeIf(view -> !view.isShown());
        return found.size();
    }

    private ScrollView scroller() {
        for (TextView view : views()) {
            for (ViewParent parent = view.getParent(); parent != null; parent = parent.getParent()) {
                if (parent instanceof ScrollView) {
                    return (ScrollView) parent;
                }
            }
        }
        throw new AssertionError("nothing scrolls");
    }

    /** Returns all views of the window that show a text. */
    private List<TextView> views() {
        List<TextView> found = new ArrayList<>();
        collect(window().getWindow().getDecorView(), TextView.class, found);
        return found;
    }

    private static <V extends View> void collect(View view, Class<V> type, List<V> found) {
        if (type.isInstance(view)) {
            found.add(type.cast(view));
        }
        if (view instanceof ViewGroup) {
            for (int index = 0; index < ((ViewGroup) view).getChildCount(); index++) {
                collect(((ViewGroup) view).getChildAt(index), type, found);
            }
        }
    }

    /** Draws the window, and returns the texts with too little contrast; keeps the picture where asked to. */
    public List<String> faint(String name) {
        View decor = window().getWindow().getDecorView();
        Bitmap bitmap = Bitmap.createBitmap(decor.getWidth(), decor.getHeight(), Bitmap.Config.ARGB_8888);
        decor.draw(new Canvas(bitmap));
        String folder = System.getenv("DROIDGATE_PICTURES");
        if (folder != null) {
            keep(bitmap, new File(folder, name + "-" + Build.VERSION.SDK_INT + ".png"));
        }
        List<String> faint = new ArrayList<>();
        for (TextView view : views()) {
            boolean drawn = view.isShown() && view.isEnabled() && view.getWidth() > 0 && view.length() > 0;
            // Of a button that scrolls perhaps nothing is seen but its edge.
            if (drawn && !DETAILS.contentEquals(view.getText())) {
                int back = background(bitmap, view);
                double contrast = contrast(over(view.getCurrentTextColor(), back), back);
                if (contrast < LEAST_CONTRAST) {
                    faint.add(view.getText() + " " + contrast);
                }
            }
        }
        return faint;
    }

    private static void keep(Bitmap bitmap, File file) {
        try (OutputStream out = new FileOutputStream(file)) {
            bitmap.compress(Bitmap.CompressFormat.PNG, 100, out);
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** Returns the colour that most of a view has, of what is seen of it. */
    private static int background(Bitmap bitmap, View view) {
        int[] place = new int[2];
        view.getLocationInWindow(place);
        Map<Integer, Integer> counts = new HashMap<>();
        int bottom = Math.min(bitmap.getHeight(), place[1] + view.getHeight());
        int right = Math.min(bitmap.getWidth(), place[0] + view.getWidth());
        for (int y = Math.max(0, place[1]); y < bottom; y += 3) {
            for (int x = Math.max(0, place[0]); x < right; x += 3) {
                counts.merge(bitmap.getPixel(x, y), 1, Integer::sum);
            }
        }
        counts.putIfAbsent(Color.TRANSPARENT, 0);
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
