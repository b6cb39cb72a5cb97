package dev.droidgate.shim;

import android.app.Activity;
import android.content.Context;
import android.os.Build;
import android.view.View;
import android.view.ViewGroup;
import android.widget.Button;
import android.widget.LinearLayout;
import android.widget.ScrollView;
import android.widget.TextView;

/** Screens of plain widgets in a column, light or dark as the device is. */
final class Views {
    private static final int PADDING_DP = 16;
    private static final int SMALL_SP = 14;
    private static final int TEXT_SP = 16;
    private static final int TITLE_SP = 20;

    /** Letters, marks and a symbol of which nothing shows: fillers of Hangul, joiners, the blank Braille cell. */
    private static final String BLANKS = "\u115f\u1160\u3164\uffa0\u034f\u17b4\u17b5\u2800";

    private Views() {}

    /** Chooses the theme; before the activity's window is made. */
    static void follow(Activity activity) {
        activity.setTheme(
                Build.VERSION.SDK_INT >= 29
                        ? android.R.style.Theme_DeviceDefault_DayNight
                        : android.R.style.Theme_DeviceDefault_Light);
    }

    /** Shows an empty column in the window, below the status bar. */
    static LinearLayout column(Activity activity) {
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

    static void heading(ViewGroup parent, String text) {
        TextView view = text(parent, text, TITLE_SP);
        if (Build.VERSION.SDK_INT >= 28) {
            view.setAccessibilityHeading(true);
        }
        view.setPadding(0, view.getPaddingTop() + PADDING_DP, 0, 0);
    }

    /** Returns a text of others with the number of what cannot be seen, or turns what can around. */
    static String visible(String text) {
        StringBuilder shown = new StringBuilder();
        for (int index = 0; index < text.length(); ) {
            int one = text.codePointAt(index);
            index += Character.charCount(one);
            if (isSeen(one)) {
                shown.appendCodePoint(one);
            } else {
                shown.append("\\u{").append(Integer.toHexString(one)).append('}');
            }
        }
        return shown.toString();
    }

    private static boolean isSeen(int one) {
        switch (Character.getType(one)) {
            case Character.CONTROL:
            case Character.FORMAT:
            case Character.LINE_SEPARATOR:
            case Character.PARAGRAPH_SEPARATOR:
            case Character.PRIVATE_USE:
            case Character.SURROGATE:
            case Character.UNASSIGNED:
                return false;
            case Character.SPACE_SEPARATOR:
                return one == ' ';
            case Character.NON_SPACING_MARK:
                boolean selects = one >= 0xfe00 && one <= 0xfe0f || one >= 0xe0100 && one <= 0xe01ef;
                return !selects && BLANKS.indexOf(one) < 0;
            default:
                return BLANKS.indexOf(one) < 0;
        }
    }

    static void paragraph(ViewGroup parent, String text) {
        text(parent, text, TEXT_SP).setTextIsSelectable(true);
    }

    static TextView small(ViewGroup parent, String text) {
        return text(parent, text, SMALL_SP);
    }

    private static TextView text(ViewGroup parent, String text, int size) {
        TextView view = new TextView(parent.getContext());
        view.setText(text);
        view.setTextSize(size);
        parent.addView(view);
        return view;
    }

    static LinearLayout row(ViewGroup parent) {
        LinearLayout row = new LinearLayout(parent.getContext());
        parent.addView(row);
        return row;
    }

    static Button button(ViewGroup parent, String text, View.OnClickListener listener) {
        Context context = parent.getContext();
        Button button = new Button(context);
        button.setText(text);
        button.setAllCaps(false);
        button.setOnClickListener(listener);
        parent.addView(button);
        return button;
    }
}
