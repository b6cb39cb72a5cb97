package dev.droidgate.shim.consent;

import android.annotation.SuppressLint;
import android.app.Activity;
import android.content.pm.PackageManager;
import android.graphics.Bitmap;
import android.graphics.Canvas;
import android.graphics.drawable.Drawable;
import android.os.Bundle;
import android.os.SystemClock;
import android.view.View;
import android.view.Window;
import android.widget.Button;
import android.widget.LinearLayout;
import android.widget.TextView;
import dev.droidgate.shim.Caller;
import dev.droidgate.shim.Shim;
import dev.droidgate.shim.core.Json;
import dev.droidgate.shim.core.JsonWriter;
import dev.droidgate.shim.core.Route;
import dev.droidgate.shim.core.Target;
import dev.droidgate.shim.platform.Extras;
import dev.droidgate.shim.windows.Texts;
import dev.droidgate.shim.windows.Views;
import dev.droidgate.shim.windows.WindowOpener;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Asks the user about one call (shim.md 3). Touches through what others draw over it, and those that came
 * before it could be read, allow nothing (reference android-runtime 2.3).
 */
public final class ConsentActivity extends Activity {
    private static final long ARMED_MS = 500;
    private static final int ICON_DP = 40;
    private static final int LONGEST_LABEL = 40;

    private Shim shim;
    private Consent.Question question;
    private QuestionLayout layout;
    private View arguments;
    private boolean isRead;

    /** Why the call cannot be allowed now, empty where it can. */
    private TextView note;

    private long shownAt = Long.MAX_VALUE;

    @Override
    protected void onCreate(Bundle saved) {
        Views.follow(this);
        // The question is its own title.
        requestWindowFeature(Window.FEATURE_NO_TITLE);
        super.onCreate(saved);
        shim = Shim.of(this);
        question = shim.consent.opened(Extras.text(getIntent().getExtras(), WindowOpener.KEY), this);
        if (question == null) {
            finish();
            return;
        }
        Views.hideOverlays(this);
        setTitle(Texts.CONSENT);
        layout = new QuestionLayout(this, this::follow);
        show(layout);
        setContentView(layout);
    }

    private void show(QuestionLayout layout) {
        Route route = question.route;
        showCaller(layout);
        layout.fact(layout.head, effect(route));
        boolean none = question.arguments.isEmpty();
        layout.fact(layout.head, none ? Texts.NO_ARGUMENTS : Texts.ARGUMENTS);
        arguments = Views.foreign(layout.scrolling, arguments());
        arguments.setVisibility(none ? View.GONE : View.VISIBLE);
        showDescription(layout.scrolling);
        showDetails(layout.scrolling);
        note = layout.fact(layout.foot, "");
        note.setVisibility(View.GONE);
        Button deny = button(layout, Texts.DENY, false, false);
        guard(button(layout, Texts.ONCE, true, false));
        if (question.mayAlways()) {
            guard(button(layout, Texts.ALWAYS, true, true));
        }
        layout.enable(false);
        deny.setFocusableInTouchMode(true);
        deny.requestFocus();
    }

    /** Returns the arguments, a name in bold and below it its value. */
    private CharSequence arguments() {
        List<String> words = new ArrayList<>();
        for (Map.Entry<String, Object> argument : question.arguments.entrySet()) {
            words.add((words.isEmpty() ? "" : "\n") + shown(argument.getKey()));
            words.add('\n' + shown(JsonWriter.write(argument.getValue())));
        }
        return Views.sentence(words.toArray(new String[0]));
    }

    private static String shown(String text) {
        return Views.isolated(Views.visible(text));
    }

    /** Adds a button that shows the whole names and certificates of the apps. */
    private void showDetails(LinearLayout column) {
        Caller caller = question.reply.caller;
        Target target = question.route.target;
        TextView line = Views.small(column, "");
        Views.button(
                Views.row(column),
                Texts.DETAILS,
                view -> {
                    StringBuilder whole = new StringBuilder();
                    for (int index = 0; index < caller.packages.size(); index++) {
                        String signer = caller.signers.get(index);
                        whole.append(caller.packages.get(index)).append('\n');
                        whole.append(signer.isEmpty() ? "?" : signer).append('\n');
                    }
                    line.setText(whole.append(target.packageName).append('\n').append(target.signer));
                });
    }

    private Button button(QuestionLayout layout, String text, boolean yes, boolean always) {
        return layout.answer(
                text,
                view -> {
                    if (SystemClock.uptimeMillis() - shownAt >= ARMED_MS && (!yes || isRead)) {
                        decide(yes, always);
                        finish();
                    }
                });
    }

    /** Lets the call be allowed once the question was shown for a while, and its arguments to their end. */
    void follow() {
        boolean armed = SystemClock.uptimeMillis() - shownAt >= ARMED_MS;
        boolean before = isRead;
        isRead |= armed && arguments.getBottom() <= layout.bottom();
        layout.enable(armed && isRead);
        if (!before) {
            note(isRead ? "" : Texts.NOT_READ);
        }
    }

    private void note(String text) {
        note.setText(text);
        note.setVisibility(text.isEmpty() ? View.GONE : View.VISIBLE);
    }

    /** Has a button ignore touches that come through another window; only a no may be given so. */
    @SuppressLint("ClickableViewAccessibility")
    private void guard(Button button) {
        button.setOnTouchListener(
                (view, event) -> {
                    boolean obscured = Views.isObscured(event);
                    if (obscured) {
                        note(Texts.COVERED);
                    }
                    return obscured;
                });
    }

    private void decide(boolean yes, boolean always) {
        if (yes) {
            shim.consent.allow(question, always);
        } else {
            shim.consent.deny(question);
        }
    }

    /** Shows who wants what, and of a start which app receives the answer. */
    private void showCaller(QuestionLayout layout) {
        Caller caller = question.reply.caller;
        Route route = question.route;
        boolean named = question.reply.bound && !caller.packages.isEmpty();
        layout.icon(icon(named ? caller.packageName() : ""));
        layout.icon(icon(route.target.packageName));
        layout.ask(
                Views.sentence(
                        named ? label(caller.packageName()) : Texts.UNNAMED_CALLER,
                        Texts.WANTS,
                        Views.isolated(Views.shortened(Views.visible(route.id))),
                        Texts.OF,
                        label(route.target.packageName)));
        if (!named && !caller.packages.isEmpty()) {
            layout.fact(layout.head, Views.sentence("", Texts.RECEIVER, label(caller.packageName())));
        }
        if (!caller.packages.isEmpty()) {
            layout.fact(layout.head, Views.shortened(caller.packageName()));
        }
        if (caller.packages.size() > 1) {
            layout.fact(layout.head, String.format(Texts.OTHERS, caller.packages.size() - 1));
        }
    }

    /**
     * Returns an app's icon as a picture of its own, whose size the app does not choose: Android's for an app
     * without one, so that no other app's is taken for the caller's.
     */
    private Bitmap icon(String name) {
        try {
            return drawn(getPackageManager().getApplicationIcon(name));
        } catch (PackageManager.NameNotFoundException | RuntimeException | OutOfMemoryError none) {
            return drawn(getPackageManager().getDefaultActivityIcon());
        }
    }

    private Bitmap drawn(Drawable icon) {
        int size = (int) (ICON_DP * getResources().getDisplayMetrics().density);
        Bitmap drawn = Bitmap.createBitmap(size, size, Bitmap.Config.ARGB_8888);
        icon.setBounds(0, 0, size, size);
        icon.draw(new Canvas(drawn));
        return drawn;
    }

    /** Shows what the app behind says of the capability, as its words. */
    private void showDescription(LinearLayout column) {
        Object shown = Json.members(shim.app.get("capabilities")).get(question.route.id);
        boolean labelled = false;
        for (String key : new String[] {"title", "description"}) {
            Object text = Json.members(shown).get(key);
            if (text instanceof String) {
                if (!labelled) {
                    Views.small(column, Texts.APP_SAYS);
                    labelled = true;
                }
                Views.paragraph(column, Views.isolated('\u201c' + Views.visible((String) text) + '\u201d'));
            }
        }
    }

    private static String effect(Route route) {
        if (route.readOnly) {
            return Texts.READS;
        }
        if (Boolean.TRUE.equals(route.effects.get("destructive"))) {
            return Texts.DELETES;
        }
        return Boolean.FALSE.equals(route.effects.get("read_only")) ? Texts.CHANGES : Texts.EFFECT_UNKNOWN;
    }

    private String label(String name) {
        PackageManager packages = getPackageManager();
        try {
            String label = packages.getApplicationInfo(name, 0).loadLabel(packages).toString();
            return shown(
                    label.length() <= LONGEST_LABEL ? label : label.substring(0, LONGEST_LABEL) + '\u2026');
        } catch (PackageManager.NameNotFoundException gone) {
            return Views.shortened(name);
        }
    }

    @Override
    public void onWindowFocusChanged(boolean focused) {
        super.onWindowFocusChanged(focused);
        shownAt = focused ? SystemClock.uptimeMillis() : Long.MAX_VALUE;
        if (focused && question != null) {
            shim.main.postDelayed(this::follow, ARMED_MS);
        }
    }

    /** What is left, as by Home, nobody finds again: its question waits in a notification. */
    @Override
    protected void onStop() {
        super.onStop();
        if (question != null && !isFinishing() && !isChangingConfigurations()) {
            shim.consent.open(question, false);
            question = null;
            finish();
        }
    }

    @Override
    protected void onDestroy() {
        super.onDestroy();
        if (question != null && isFinishing()) {
            shim.consent.close(question);
        }
    }
}
