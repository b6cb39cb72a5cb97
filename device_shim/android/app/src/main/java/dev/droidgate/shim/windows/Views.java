package dev.droidgate.shim.windows;

import android.app.Activity;
import android.content.Context;
import android.content.res.TypedArray;
import android.graphics.Typeface;
import android.graphics.drawable.GradientDrawable;
import android.os.Build;
import android.text.SpannableStringBuilder;
import android.text.style.StyleSpan;
import android.view.MotionEvent;
import android.view.View;
import android.view.ViewGroup;
import android.widget.Button;
import android.widget.LinearLayout;
import android.widget.ScrollView;
import android.widget.TextView;
import java.text.Bidi;

/** Screens of plain widgets in a column, light or dark as the device is. */
public final class Views {
    private static final int PADDING_DP = 16;
    private static final int SMALL_SP = 14;
    private static final int TEXT_SP = 16;
    private static final int TITLE_SP = 20;

    /**
     * Letters, marks and a symbol of which nothing shows: fillers of Hangul, joiners, the blank Braille cell.
     */
    private static final String BLANKS = "\u115f\u1160\u3164\uffa0\u034f\u17b4\u17b5\u2800";

    private static final int MOST_MARKS = 4;
    private static final int LONGEST_NAME = 48;
    private static final int FAINT = 0x14ffffff;
    private static final char ISOLATE = '\u2068';
    private static final char END_ISOLATE = '\u2069';

    private Views() {}

    /** Chooses the theme; before the activity's window is made. */
    public static void follow(Activity activity) {
        activity.setTheme(
                Build.VERSION.SDK_INT >= 29
                        ? android.R.style.Theme_DeviceDefault_DayNight
                        : android.R.style.Theme_DeviceDefault_Light);
    }

    /** Shows an empty column in the window, below the status bar. */
    public static LinearLayout column(Activity activity) {
        LinearLayout column = new LinearLayout(activity);
        column.setOrientation(LinearLayout.VERTICAL);
        int padding = (int) (PADDING_DP * activity.getResources().getDisplayMetrics().density);
        column.setPadding(padding, padding, padding, padding);
        ScrollView scroll = new ScrollView(activity);
        scroll.setFitsSystemWindows(true);
        scroll.addView(column);
        activity.setContentView(scroll);
        return column;
    }

    /**
     * Keeps what others draw, and services that are not accessibility tools, away from a screen with a
     * decision.
     */
    public static void hideOverlays(Activity activity) {
        if (Build.VERSION.SDK_INT >= 34) {
            View content = activity.getWindow().getDecorView();
            content.setAccessibilityDataSensitive(View.ACCESSIBILITY_DATA_SENSITIVE_YES);
        }
        if (Build.VERSION.SDK_INT >= 31) {
            try {
                activity.getWindow().setHideOverlayWindows(true);
            } catch (SecurityException notAllowed) {
                // Touches through other windows allow nothing all the same.
                return;
            }
        }
    }

    /** Returns whether another app's window covers the screen that is touched, at that point or elsewhere. */
    public static boolean isObscured(MotionEvent event) {
        int obscured = MotionEvent.FLAG_WINDOW_IS_OBSCURED | MotionEvent.FLAG_WINDOW_IS_PARTIALLY_OBSCURED;
        return (event.getFlags() & obscured) != 0;
    }

    /** Adds a column to a parent, with a padding in pixels. */
    public static LinearLayout part(ViewGroup parent, int padding) {
        LinearLayout part = new LinearLayout(parent.getContext());
        part.setOrientation(LinearLayout.VERTICAL);
        part.setPadding(padding, 0, padding, 0);
        parent.addView(part, ViewGroup.LayoutParams.MATCH_PARENT, ViewGroup.LayoutParams.WRAP_CONTENT);
        return part;
    }

    public static TextView heading(ViewGroup parent, CharSequence text) {
        TextView view = text(parent, text, TITLE_SP);
        if (Build.VERSION.SDK_INT >= 28) {
            view.setAccessibilityHeading(true);
        }
        view.setPadding(0, view.getPaddingTop() + PADDING_DP, 0, 0);
        return view;
    }

    /** Returns a text of others with the number of what cannot be seen, or turns what can around. */
    public static String visible(String text) {
        StringBuilder shown = new StringBuilder();
        int marks = 0;
        for (int index = 0; index < text.length(); ) {
            int character = text.codePointAt(index);
            index += Character.charCount(character);
            marks = isMark(character) ? marks + 1 : 0;
            // Many marks on one letter draw over the lines around it.
            if (isSeen(character) && marks <= MOST_MARKS) {
                shown.appendCodePoint(character);
            } else {
                shown.append("\\u{").append(Integer.toHexString(character)).append('}');
            }
        }
        return shown.toString();
    }

    private static boolean isMark(int character) {
        int type = Character.getType(character);
        return type == Character.NON_SPACING_MARK || type == Character.ENCLOSING_MARK;
    }

    /**
     * Returns a text whose parts, a quoted one each, do not turn each other or what is around them around.
     */
    public static String isolated(String text) {
        if (!Bidi.requiresBidi(text.toCharArray(), 0, text.length())) {
            return text;
        }
        StringBuilder shown = new StringBuilder().append(ISOLATE);
        boolean quoted = false;
        for (int index = 0; index < text.length(); index++) {
            char character = text.charAt(index);
            if (character == '"' && !quoted) {
                shown.append(ISOLATE).append(character);
                quoted = true;
            } else if (character == '"') {
                shown.append(character).append(END_ISOLATE);
                quoted = false;
            } else {
                shown.append(character);
                if (character == '\\' && index + 1 < text.length()) {
                    shown.append(text.charAt(++index));
                }
            }
        }
        return shown.append(quoted ? "" + END_ISOLATE : "").append(END_ISOLATE).toString();
    }

    private static boolean isSeen(int character) {
        switch (Character.getType(character)) {
            case Character.CONTROL:
            case Character.FORMAT:
            case Character.LINE_SEPARATOR:
            case Character.PARAGRAPH_SEPARATOR:
            case Character.PRIVATE_USE:
            case Character.SURROGATE:
            case Character.UNASSIGNED:
                return false;
            case Character.SPACE_SEPARATOR:
                return character == ' ';
            case Character.NON_SPACING_MARK:
                boolean selects = character >= 0xfe00 && character <= 0xfe0f
                        || character >= 0xe0100 && character <= 0xe01ef;
                return !selects && BLANKS.indexOf(character) < 0;
            default:
                return BLANKS.indexOf(character) < 0;
        }
    }

    public static void paragraph(ViewGroup parent, String text) {
        text(parent, text, TEXT_SP).setTextIsSelectable(true);
    }

    public static TextView small(ViewGroup parent, String text) {
        return text(parent, text, SMALL_SP);
    }

    /**
     * Adds a text, in the theme's strongest colour: the usual one of a text is too faint to be read by
     * everybody.
     */
    public static TextView text(ViewGroup parent, CharSequence text, int size) {
        TextView view = new TextView(parent.getContext());
        view.setText(text);
        view.setTextSize(size);
        // On the side where the icons and the first button are, whatever the text's own direction.
        view.setTextAlignment(View.TEXT_ALIGNMENT_VIEW_START);
        TypedArray colours = parent.getContext()
                .obtainStyledAttributes(new int[] {android.R.attr.textColorPrimary});
        view.setTextColor(colours.getColorStateList(0));
        colours.recycle();
        parent.addView(view);
        return view;
    }

    /** Adds what another app wrote, in a box that nothing else of the screen looks like. */
    public static View foreign(ViewGroup parent, CharSequence text) {
        TextView view = text(parent, text, TEXT_SP);
        view.setTextIsSelectable(true);
        view.setTypeface(Typeface.MONOSPACE);
        GradientDrawable box = new GradientDrawable();
        int colour = view.getCurrentTextColor();
        int dp = (int) parent.getResources().getDisplayMetrics().density;
        box.setColor(colour & FAINT);
        box.setStroke(2 * dp, colour);
        view.setBackground(box);
        view.setPadding(PADDING_DP / 2 * dp, PADDING_DP / 2 * dp, PADDING_DP / 2 * dp, PADDING_DP / 2 * dp);
        return view;
    }

    /** Returns words in bold, and after each one words that are not. */
    public static SpannableStringBuilder sentence(String... words) {
        SpannableStringBuilder text = new SpannableStringBuilder();
        for (int index = 0; index < words.length; index++) {
            int start = text.length();
            text.append(words[index]);
            if (index % 2 == 0) {
                text.setSpan(new StyleSpan(Typeface.BOLD), start, text.length(), 0);
            }
        }
        return text;
    }

    /** Returns a name without its middle where it is longer than anybody reads. */
    public static String shortened(String name) {
        int half = LONGEST_NAME / 2;
        int length = name.length();
        return length <= LONGEST_NAME
                ? name
                : name.substring(0, half) + '\u2026' + name.substring(length - half);
    }

    public static LinearLayout row(ViewGroup parent) {
        LinearLayout row = new LinearLayout(parent.getContext());
        parent.addView(row);
        return row;
    }

    public static Button button(ViewGroup parent, String text, View.OnClickListener listener) {
        Context context = parent.getContext();
        Button button = new Button(context);
        button.setText(text);
        button.setAllCaps(false);
        button.setOnClickListener(listener);
        parent.addView(button);
        return button;
    }
}
