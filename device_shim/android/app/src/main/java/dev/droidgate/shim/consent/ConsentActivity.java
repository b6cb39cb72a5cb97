package dev.droidgate.shim.consent;

import android.annotation.SuppressLint;
import android.app.Activity;
import android.content.pm.PackageManager;
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
import dev.droidgate.shim.core.Route;
import dev.droidgate.shim.platform.Extras;
import dev.droidgate.shim.windows.Texts;
import dev.droidgate.shim.windows.Views;
import dev.droidgate.shim.windows.WindowOpener;

/**
 * Asks the user about one call (shim.md 3). Touches through what others draw over it, and those that came
 * before it could be read, allow nothing (reference android-runtime 2.3).
 */
public final class ConsentActivity extends Activity {
    private static final long ARMED_AFTER = 500;
    private static final int SHOWN_DIGITS = 8;
    private static final int LONGEST_LABEL = 100;

    private Shim shim;
    private Consent.Question question;
    private TextView covered;
    private long shownAt = Long.MAX_VALUE;

    @Override
    protected void onCreate(Bundle saved) {
        Views.follow(this);
        // The question has a title of its own, which leaves the screen where there is no room for it.
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
        QuestionLayout layout = new QuestionLayout(this, Texts.CONSENT);
        show(layout);
        setContentView(layout);
    }

    private void show(QuestionLayout layout) {
        Route route = question.preview.route;
        showCaller(layout);
        layout.fact(layout.head, Views.named(Texts.CAPABILITY, Views.shortened(Views.visible(route.id))));
        layout.fact(layout.head, effect(route));
        showApp(layout, Texts.SOURCE, route.target.packageName, "");
        layout.fact(layout.head, Texts.ARGUMENTS);
        Views.foreign(layout.scrolling, Views.isolated(Views.visible(question.preview.arguments)));
        showDescription(layout.scrolling);
        showCertificates(layout.scrolling);
        covered = layout.fact(layout.foot, "");
        covered.setVisibility(View.GONE);
        Button deny = button(layout, Texts.DENY, false, false);
        guard(button(layout, Texts.ONCE, true, false));
        if (question.mayAlways()) {
            guard(button(layout, Texts.ALWAYS, true, true));
        }
        deny.setFocusableInTouchMode(true);
        deny.requestFocus();
    }

    /** Adds a button that shows the whole names and certificates of the apps above. */
    private void showCertificates(LinearLayout column) {
        Caller caller = question.reply.caller;
        if (caller.packages.isEmpty()) {
            return;
        }
        TextView line = Views.small(column, "");
        Views.button(
                Views.row(column),
                Texts.SHOW_CERTIFICATE,
                view -> {
                    StringBuilder whole = new StringBuilder();
                    for (int index = 0; index < caller.packages.size(); index++) {
                        String signer = caller.signers.get(index);
                        whole.append(caller.packages.get(index)).append('\n');
                        whole.append(signer.isEmpty() ? "?" : signer).append('\n');
                    }
                    line.setText(whole.append(question.preview.route.target.packageName));
                });
    }

    private Button button(QuestionLayout layout, String text, boolean yes, boolean always) {
        return layout.answer(
                text,
                view -> {
                    if (SystemClock.uptimeMillis() - shownAt >= ARMED_AFTER) {
                        decide(yes, always);
                        finish();
                    }
                });
    }

    /** Has a button ignore touches that come through another window; only a no may be given so. */
    @SuppressLint("ClickableViewAccessibility")
    private void guard(Button button) {
        button.setOnTouchListener(
                (view, event) -> {
                    boolean obscured = Views.isObscured(event);
                    if (obscured) {
                        covered.setText(Texts.COVERED);
                        covered.setVisibility(View.VISIBLE);
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

    /** Shows the app that asked, and of a start the one that receives the answer. */
    private void showCaller(QuestionLayout layout) {
        Caller caller = question.reply.caller;
        if (!question.reply.bound || caller.packages.isEmpty()) {
            layout.fact(layout.head, Views.named(Texts.CALLER, Texts.UNNAMED_CALLER));
        }
        if (!caller.packages.isEmpty()) {
            String signer = caller.signer();
            String digits = " · " + signer.substring(0, Math.min(SHOWN_DIGITS, signer.length()));
            String caption = question.reply.bound ? Texts.CALLER : Texts.RECEIVER;
            showApp(layout, caption, caller.packageName(), digits);
        }
        if (caller.packages.size() > 1) {
            layout.fact(layout.head, String.format(Texts.OTHERS, caller.packages.size() - 1));
        }
    }

    /** Shows an app: its own words first, and in a line of its own what nobody can choose alike. */
    private void showApp(QuestionLayout layout, String caption, String name, String certificate) {
        layout.fact(layout.head, Views.named(caption, Views.isolated(label(name))));
        layout.name(layout.head, Views.shortened(name) + certificate);
    }

    /** Shows what the app behind says of the capability, as its words. */
    private void showDescription(LinearLayout column) {
        Object shown = Json.members(shim.app.get("capabilities")).get(question.preview.route.id);
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
            return Views.visible(label.substring(0, Math.min(LONGEST_LABEL, label.length())));
        } catch (PackageManager.NameNotFoundException gone) {
            return name;
        }
    }

    @Override
    public void onWindowFocusChanged(boolean focused) {
        super.onWindowFocusChanged(focused);
        shownAt = focused ? SystemClock.uptimeMillis() : Long.MAX_VALUE;
    }

    @Override
    protected void onDestroy() {
        super.onDestroy();
        if (question != null && isFinishing()) {
            shim.consent.close(question);
        }
    }
}
