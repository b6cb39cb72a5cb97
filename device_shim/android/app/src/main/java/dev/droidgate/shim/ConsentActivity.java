package dev.droidgate.shim;

import android.annotation.SuppressLint;
import android.app.Activity;
import android.content.pm.PackageManager;
import android.os.Build;
import android.os.Bundle;
import android.os.SystemClock;
import android.view.MotionEvent;
import android.view.View;
import android.widget.Button;
import android.widget.LinearLayout;
import android.widget.TextView;
import dev.droidgate.shim.core.Json;
import dev.droidgate.shim.core.Route;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Asks the user about one call (docs/shim.md 3). Touches through what others draw over it, and those that came before
 * it could be read, allow nothing (runtime reference 2.3).
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
        hideOverlays();
        setTitle(Texts.CONSENT);
        show(Views.column(this));
    }

    private void hideOverlays() {
        if (Build.VERSION.SDK_INT >= 31) {
            try {
                getWindow().setHideOverlayWindows(true);
            } catch (SecurityException notAllowed) {
                // Touches through other windows allow nothing all the same.
                return;
            }
        }
    }

    private void show(LinearLayout column) {
        if (Build.VERSION.SDK_INT >= 34) {
            column.getRootView().setAccessibilityDataSensitive(View.ACCESSIBILITY_DATA_SENSITIVE_YES);
        }
        Views.small(column, Texts.CALLER);
        Views.paragraph(column, question.reply.bound ? caller() : Texts.UNNAMED_CALLER);
        if (!question.reply.bound) {
            Views.small(column, Texts.RECEIVER);
            Views.paragraph(column, caller());
        }
        Views.small(column, Texts.CAPABILITY);
        for (String line : capability()) {
            Views.paragraph(column, line);
        }
        Views.small(column, Texts.SOURCE);
        Views.paragraph(column, source());
        Views.small(column, Texts.ARGUMENTS);
        Views.paragraph(column, Views.visible(question.preview.arguments));
        covered = Views.small(column, "");
        LinearLayout buttons = Views.row(column);
        Button deny = button(buttons, Texts.DENY, false, false);
        guard(button(buttons, Texts.ONCE, true, false));
        if (question.mayAlways()) {
            guard(button(buttons, Texts.ALWAYS, true, true));
        }
        deny.setFocusableInTouchMode(true);
        deny.requestFocus();
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
                    boolean obscured = isObscured(event);
                    if (obscured) {
                        covered.setText(Texts.COVERED);
                    }
                    return obscured;
                });
    }

    private static boolean isObscured(MotionEvent event) {
        int obscured = MotionEvent.FLAG_WINDOW_IS_OBSCURED | MotionEvent.FLAG_WINDOW_IS_PARTIALLY_OBSCURED;
        return (event.getFlags() & obscured) != 0;
    }

    private void decide(boolean yes, boolean always) {
        if (yes) {
            shim.consent.allow(question, always);
        } else {
            shim.consent.deny(question);
        }
    }

    /** Returns the app that asked, or of a start the one that receives the answer. */
    private String caller() {
        Caller caller = question.reply.caller;
        if (caller.packages.isEmpty()) {
            return Texts.UNNAMED_CALLER;
        }
        StringBuilder shown = new StringBuilder();
        for (int index = 0; index < caller.packages.size(); index++) {
            String name = caller.packages.get(index);
            String signer = caller.signers.get(index);
            shown.append(shown.length() == 0 ? "" : "\n")
                    .append(label(name)).append("\n").append(name).append(" · ")
                    .append(signer.substring(0, Math.min(SHOWN_DIGITS, signer.length())));
        }
        return shown.toString();
    }

    /** Returns what the app behind says of the capability, what it does to the phone, and its id. */
    private List<String> capability() {
        Route route = question.preview.route;
        List<String> lines = new ArrayList<>();
        Map<String, Object> shown = Json.members(Json.members(shim.app.get("capabilities")).get(route.id));
        for (String key : new String[] {"title", "description"}) {
            if (shown.get(key) instanceof String) {
                lines.add(Views.visible((String) shown.get(key)));
            }
        }
        lines.add(effect(route));
        lines.add(Views.visible(route.id));
        return lines;
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

    private String source() {
        String name = question.preview.route.target.packageName;
        return label(name) + "\n" + name;
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
