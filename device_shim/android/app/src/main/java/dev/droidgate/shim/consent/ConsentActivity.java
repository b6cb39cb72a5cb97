package dev.droidgate.shim.consent;

import android.annotation.SuppressLint;
import android.app.Activity;
import android.content.pm.PackageManager;
import android.os.Bundle;
import android.os.SystemClock;
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
 * Asks the user about one call (docs/shim.md 3). Touches through what others draw over it, and those that came before
 * it could be read, allow nothing (reference android-runtime 2.3).
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
        super.onCreate(saved);
        shim = Shim.of(this);
        question = shim.consent.opened(Extras.text(getIntent().getExtras(), WindowOpener.KEY), this);
        if (question == null) {
            finish();
            return;
        }
        Views.hideOverlays(this);
        setTitle(Texts.CONSENT);
        show(Views.column(this));
    }

    private void show(LinearLayout column) {
        Views.small(column, Texts.CALLER);
        if (!question.reply.bound) {
            Views.paragraph(column, Texts.UNNAMED_CALLER);
            Views.small(column, Texts.RECEIVER);
        }
        showCaller(column);
        Views.small(column, Texts.CAPABILITY);
        Views.paragraph(column, Views.visible(question.preview.route.id));
        Views.small(column, Texts.EFFECT);
        Views.paragraph(column, effect(question.preview.route));
        showDescription(column);
        Views.small(column, Texts.SOURCE);
        showApp(column, question.preview.route.target.packageName, "");
        Views.small(column, Texts.ARGUMENTS);
        Views.paragraph(column, Views.isolated(Views.visible(question.preview.arguments)));
        covered = Views.small(column, "");
        LinearLayout buttons = Views.row(column);
        Button deny = button(buttons, Texts.DENY, false, false);
        guard(button(buttons, Texts.ONCE, true, false));
        if (question.mayAlways()) {
            guard(button(buttons, Texts.ALWAYS, true, true));
        }
        deny.setFocusableInTouchMode(true);
        deny.requestFocus();
        showCertificates(column);
    }

    /** Adds a button that shows the whole certificates of the app above. */
    private void showCertificates(LinearLayout column) {
        if (question.reply.caller.packages.isEmpty()) {
            return;
        }
        TextView line = Views.small(column, "");
        Views.button(
                Views.row(column),
                Texts.SHOW_CERTIFICATE,
                view -> {
                    StringBuilder digests = new StringBuilder();
                    for (String signer : question.reply.caller.signers) {
                        digests.append(digests.length() == 0 ? "" : "\n").append(signer.isEmpty() ? "?" : signer);
                    }
                    line.setText(digests);
                });
    }

    private Button button(LinearLayout parent, String text, boolean yes, boolean always) {
        return Views.button(
                parent,
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

    /** Shows the app that asked, or of a start the one that receives the answer. */
    private void showCaller(LinearLayout column) {
        Caller caller = question.reply.caller;
        if (caller.packages.isEmpty()) {
            Views.paragraph(column, Texts.UNNAMED_CALLER);
        }
        for (int index = 0; index < caller.packages.size(); index++) {
            String signer = caller.signers.get(index);
            String digits = " · " + signer.substring(0, Math.min(SHOWN_DIGITS, signer.length()));
            showApp(column, caller.packages.get(index), digits);
        }
    }

    /** Shows an app: its own words first, and in a line of its own what nobody can choose alike. */
    private void showApp(LinearLayout column, String name, String certificate) {
        Views.paragraph(column, Views.isolated(label(name)));
        Views.paragraph(column, name + certificate);
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
