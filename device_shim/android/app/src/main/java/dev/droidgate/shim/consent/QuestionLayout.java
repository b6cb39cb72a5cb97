package dev.droidgate.shim.consent;

import android.content.Context;
import android.graphics.Bitmap;
import android.os.Build;
import android.text.TextUtils;
import android.util.DisplayMetrics;
import android.util.TypedValue;
import android.view.View;
import android.widget.Button;
import android.widget.ImageView;
import android.widget.LinearLayout;
import android.widget.ScrollView;
import android.widget.TextView;
import dev.droidgate.shim.windows.Views;
import java.util.ArrayList;
import java.util.List;

/**
 * Who asks for what above, the answers below, and in between, the one part that scrolls, the arguments.
 *
 * <p>What is above and below is on the screen whatever the window's size, the font's size and the length of
 * other apps' texts: where it does not fit, its texts become smaller and are cut, step by step.
 */
final class QuestionLayout extends LinearLayout {
    private static final int TEXT_SP = 16;
    private static final int LEAST_TEXT_DP = 12;
    private static final int PADDING_DP = 16;
    private static final int LEAST_SCROLLING_DP = 48;
    private static final int SCROLLING_SHARE = 5;

    /** Of the text's size, by step; the icons are there in the first one only. */
    private static final float[] SCALES = {1, 1, .8f, .65f, .5f, 0};

    /** Lines of a text, by step. */
    private static final int[] LINES = {3, 2, 2, 2, 1, 1};

    private static final float QUESTION_SCALE = 1.25f;
    private static final float FAINT = .4f;

    final LinearLayout head;
    final LinearLayout scrolling;
    final LinearLayout foot;
    private final LinearLayout icons;
    private final ScrollView scroll;
    private TextView question;
    private final List<TextView> facts = new ArrayList<>();
    private final List<Button> answers = new ArrayList<>();
    private final LinearLayout row;

    /** Makes an empty one; {@code scrolled} runs where other arguments are shown than before. */
    QuestionLayout(Context context, Runnable scrolled) {
        super(context);
        setOrientation(VERTICAL);
        setFitsSystemWindows(true);
        head = Views.part(this, 0);
        icons = Views.row(head);
        scroll = new ScrollView(context);
        scroll.setScrollbarFadingEnabled(false);
        scroll.setOnScrollChangeListener((view, x, y, beforeX, beforeY) -> scrolled.run());
        addView(scroll, new LayoutParams(LayoutParams.MATCH_PARENT, 0, 1));
        scrolling = Views.part(scroll, dp(PADDING_DP));
        foot = Views.part(this, 0);
        row = new LinearLayout(context);
    }

    /** Adds a text to what is always seen: the head or the foot. */
    TextView fact(LinearLayout part, CharSequence text) {
        TextView view = Views.text(part, text, TEXT_SP);
        facts.add(view);
        return view;
    }

    /** Adds the icon of an app. */
    void icon(Bitmap icon) {
        ImageView view = new ImageView(getContext());
        view.setImageBitmap(icon);
        view.setPadding(0, 0, dp(PADDING_DP), 0);
        icons.addView(view);
    }

    /** Adds the question, of which nothing is cut. */
    void ask(CharSequence text) {
        question = Views.heading(head, text);
    }

    /** Returns down to where what scrolls has been shown. */
    int bottom() {
        return scroll.getScrollY() + scroll.getHeight();
    }

    /** Lets all answers but the first be given, or not. */
    void enable(boolean on) {
        for (Button answer : answers.subList(1, answers.size())) {
            answer.setEnabled(on);
            // From Android 16 on the text of a button that is not enabled is as strong as another one's.
            answer.setAlpha(on || Build.VERSION.SDK_INT < 36 ? 1 : FAINT);
        }
    }

    /** Adds one of the answers, which share a row. */
    Button answer(String text, View.OnClickListener listener) {
        if (row.getParent() == null) {
            foot.addView(row);
        }
        Button button = Views.button(row, text, listener);
        button.setLayoutParams(new LayoutParams(0, LayoutParams.WRAP_CONTENT, 1));
        button.setMinWidth(0);
        button.setMinimumWidth(0);
        button.setSingleLine();
        button.setPadding(0, button.getPaddingTop(), 0, button.getPaddingBottom());
        answers.add(button);
        return button;
    }

    @Override
    protected void onMeasure(int widthSpec, int heightSpec) {
        int width = MeasureSpec.getSize(widthSpec) - getPaddingLeft() - getPaddingRight();
        int height = MeasureSpec.getSize(heightSpec) - getPaddingTop() - getPaddingBottom();
        int left = height - Math.max(dp(LEAST_SCROLLING_DP), height / SCROLLING_SHARE);
        int step = 0;
        take(step, width);
        while (heightOf(head, width) + heightOf(foot, width) > left && ++step < SCALES.length) {
            take(step, width);
        }
        super.onMeasure(widthSpec, heightSpec);
    }

    private static int heightOf(View part, int width) {
        part.measure(MeasureSpec.makeMeasureSpec(width, MeasureSpec.EXACTLY), MeasureSpec.UNSPECIFIED);
        return part.getMeasuredHeight();
    }

    private void take(int step, int width) {
        boolean last = step == SCALES.length - 1;
        int padding = dp(PADDING_DP);
        int above = last ? 0 : padding >> step;
        head.setPadding(padding, above, padding, above / 2);
        foot.setPadding(padding, 0, padding, above / 2);
        icons.setVisibility(step == 0 ? VISIBLE : GONE);
        float size = Math.max(dp(LEAST_TEXT_DP), sp(TEXT_SP) * SCALES[step]);
        question.setTextSize(TypedValue.COMPLEX_UNIT_PX, last ? size : size * QUESTION_SCALE);
        question.setPadding(0, above / 2, 0, above / 2);
        for (TextView fact : facts) {
            fact.setTextSize(TypedValue.COMPLEX_UNIT_PX, size);
            boolean single = LINES[step] == 1;
            fact.setSingleLine(single);
            fact.setMaxLines(LINES[step]);
            // A package's name is distinguished by both ends.
            fact.setEllipsize(single ? TextUtils.TruncateAt.MIDDLE : TextUtils.TruncateAt.END);
        }
        int room = (width - 2 * padding) / Math.max(1, answers.size()) - dp(PADDING_DP);
        for (Button answer : answers) {
            answer.setTextSize(TypedValue.COMPLEX_UNIT_PX, size);
            float needed = answer.getPaint().measureText(answer.getText().toString());
            answer.setTextSize(TypedValue.COMPLEX_UNIT_PX, size * Math.min(1, room / Math.max(1, needed)));
        }
    }

    private int dp(int size) {
        return Math.round(size * getResources().getDisplayMetrics().density);
    }

    private float sp(int size) {
        DisplayMetrics metrics = getResources().getDisplayMetrics();
        return TypedValue.applyDimension(TypedValue.COMPLEX_UNIT_SP, size, metrics);
    }
}
