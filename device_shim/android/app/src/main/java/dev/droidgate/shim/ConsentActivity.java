package dev.droidgate.shim;

import android.app.Activity;
import android.content.pm.PackageManager;
import android.os.Build;
import android.os.Bundle;
import android.os.SystemClock;
import android.view.MotionEvent;
import android.view.View;
import android.widget.Button;
import android.widget.LinearLayout;
import dev.droidgate.shim.core.Route;

/**
 * Asks the user about one call (docs/shim.md 3). What others draw over it, and touches that came before it
 * could be read, decide nothing (runtime reference 2.3).
 */
public final class ConsentActivity extends Activity {
    private static final long ARMED_AFTER = 500;
    private static final int SHOWN_DIGITS = 8;
    private static final int LONGEST_LABEL = 100;

    private Shim shim;
    private Consent.Question question;
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
                // Touches through other windows are ignored all the same.
                return;
            }
        }
    }

    private void show(LinearLayout column) {
        if (Build.VERSION.SDK_INT >= 34) {
            column.getRootView().setAccessibilityDataSensitive(View.ACCESSIBILITY_DATA_SENSITIVE_YES);
        }
        Views.small(column, Texts.CALLER);
        Views.paragraph(column, caller());
        Views.small(column, Texts.CAPABILITY);
        Views.paragraph(column, Views.visible(question.preview.capability));
        Views.small(column, Texts.SOURCE);
        Views.paragraph(column, source());
        Views.small(column, Texts.ARGUMENTS);
        Views.paragraph(column, Views.visible(question.preview.arguments));
        LinearLayout buttons = Views.row(column);
        Button deny = button(buttons, Texts.DENY, false, false);
        button(buttons, Texts.ONCE, true, false);
        if (question.bound) {
            button(buttons, Texts.ALWAYS, true, true);
        }
        deny.setFocusableInTouchMode(true);
        deny.requestFocus();
    }

    private Button button(LinearLayout parent, String text, boolean yes, boolean always) {
        Button button =
                Views.button(
                        parent,
                        text,
                        view -> {
                            if (SystemClock.uptimeMillis() - shownAt >= ARMED_AFTER) {
                                decide(yes, always);
                                finish();
                            }
                        });
        button.setFilterTouchesWhenObscured(true);
        return button;
    }

    private void decide(boolean yes, boolean always) {
        if (yes) {
            shim.consent.allow(question, always);
        } else {
            shim.consent.deny(question);
        }
    }

    private String caller() {
        if (!question.bound || question.caller.packages.isEmpty()) {
            return Texts.UNNAMED_CALLER;
        }
        StringBuilder told = new StringBuilder();
        for (int index = 0; index < question.caller.packages.size(); index++) {
            String name = question.caller.packages.get(index);
            String signer = question.caller.signers.get(index);
            told.append(told.length() == 0 ? "" : "\n")
                    .append(label(name)).append("\n").append(name).append(" · ")
                    .append(signer.substring(0, Math.min(SHOWN_DIGITS, signer.length())));
        }
        return told.toString();
    }

    private String source() {
        Route route = shim.routes.find(question.preview.capability);
        return label(route.target.packageName) + "\n" + route.target.packageName;
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
    public boolean dispatchTouchEvent(MotionEvent event) {
        int obscured = MotionEvent.FLAG_WINDOW_IS_OBSCURED;
        if (Build.VERSION.SDK_INT >= 29) {
            obscured |= MotionEvent.FLAG_WINDOW_IS_PARTIALLY_OBSCURED;
        }
        return (event.getFlags() & obscured) != 0 || super.dispatchTouchEvent(event);
    }

    @Override
    protected void onDestroy() {
        super.onDestroy();
        if (question != null && isFinishing()) {
            shim.consent.close(question);
        }
    }
}
