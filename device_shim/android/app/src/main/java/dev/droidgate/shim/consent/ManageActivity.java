package dev.droidgate.shim.consent;

import android.app.Activity;
import android.content.pm.PackageManager;
import android.os.Build;
import android.os.Bundle;
import android.text.format.DateUtils;
import android.view.MotionEvent;
import android.view.ViewGroup;
import android.widget.Button;
import android.widget.CompoundButton;
import android.widget.LinearLayout;
import android.widget.Switch;
import dev.droidgate.shim.Shim;
import dev.droidgate.shim.core.Json;
import dev.droidgate.shim.core.Route;
import dev.droidgate.shim.platform.Names;
import dev.droidgate.shim.windows.Texts;
import dev.droidgate.shim.windows.Views;
import java.util.List;
import java.util.Map;

/** The app's screen: who may call what, what is switched on, and what was called (shim.md 3). */
public final class ManageActivity extends Activity {
    private static final String NOTIFICATIONS = "android.permission.POST_NOTIFICATIONS";

    private Shim shim;

    @Override
    protected void onCreate(Bundle saved) {
        Views.follow(this);
        super.onCreate(saved);
        shim = Shim.of(this);
        Views.hideOverlays(this);
        if (saved == null && !shim.routes.all().isEmpty()) {
            askForNotifications();
        }
    }

    /**
     * The question about a call is a notification where no window may open; who installed this without adb is
     * asked here.
     */
    private void askForNotifications() {
        if (Build.VERSION.SDK_INT >= 33
                && checkSelfPermission(NOTIFICATIONS) != PackageManager.PERMISSION_GRANTED) {
            requestPermissions(new String[] {NOTIFICATIONS}, 1);
        }
    }

    @Override
    public boolean dispatchTouchEvent(MotionEvent event) {
        return Views.isObscured(event) || super.dispatchTouchEvent(event);
    }

    @Override
    protected void onResume() {
        super.onResume();
        show();
    }

    private void show() {
        LinearLayout column = Views.column(this);
        Views.heading(column, Texts.GRANTS);
        showGrants(column);
        showNotifications(column);
        Views.heading(column, Texts.SWITCHES);
        showSwitches(column);
        Views.heading(column, Texts.HISTORY);
        showHistory(column);
    }

    private void showGrants(LinearLayout column) {
        List<Object> grants = shim.grants.all();
        if (grants.isEmpty()) {
            Views.paragraph(column, Texts.NO_GRANTS);
        }
        for (Object item : grants) {
            Map<String, Object> grant = Json.object(item);
            Map<String, Object> named = Json.object(grant.get("caller"));
            String caller = named == null ? Names.ANY_APP : (String) named.get("package");
            String capability = (String) grant.get("capability");
            boolean everything = Names.EVERYTHING.equals(capability);
            String subject = named == null ? Texts.ANY_APP : caller;
            String shown = Views.visible(subject + ": " + (everything ? Texts.EVERYTHING : capability));
            Views.paragraph(column, shown);
            Button revoke =
                    Views.button(
                            Views.row(column),
                            Texts.REVOKE,
                            view -> {
                                shim.grants.remove(caller, capability);
                                show();
                            });
            revoke.setContentDescription(Texts.REVOKE + " " + shown);
        }
    }

    private void showNotifications(LinearLayout column) {
        if (Build.VERSION.SDK_INT >= 33
                && checkSelfPermission(NOTIFICATIONS) != PackageManager.PERMISSION_GRANTED) {
            Views.heading(column, Texts.NOTIFICATIONS);
            Views.paragraph(column, Texts.NO_NOTIFICATIONS);
            Views.button(Views.row(column), Texts.ALLOW_NOTIFICATIONS, view -> askForNotifications());
        }
    }

    private void showSwitches(LinearLayout column) {
        List<Object> off = shim.grants.switchedOff();
        for (Route route : shim.routes.all()) {
            toggle(column, route.id, !off.contains(route.id), on -> shim.grants.turn(route.id, on));
        }
        toggle(column, Texts.ASKING, shim.grants.isAsking(), shim.grants::ask);
    }

    /** Takes what a switch is set to. */
    private interface Setting {
        void set(boolean on);
    }

    private static void toggle(ViewGroup parent, String text, boolean on, Setting setting) {
        CompoundButton toggle = new Switch(parent.getContext());
        toggle.setText(Views.visible(text));
        toggle.setChecked(on);
        toggle.setOnCheckedChangeListener((view, checked) -> setting.set(checked));
        parent.addView(toggle);
    }

    private void showHistory(LinearLayout column) {
        List<Object> calls = shim.history.all();
        if (calls.isEmpty()) {
            Views.paragraph(column, Texts.NO_HISTORY);
            return;
        }
        Views.button(
                Views.row(column),
                Texts.CLEAR,
                view -> {
                    shim.history.clear();
                    show();
                });
        for (int index = calls.size() - 1; index >= 0; index--) {
            Map<String, Object> call = Json.object(calls.get(index));
            Object token = call.get("token");
            int format = DateUtils.FORMAT_SHOW_TIME | DateUtils.FORMAT_SHOW_DATE;
            String at = DateUtils.formatDateTime(this, (Long) call.get("time"), format);
            Object outcome = token == null ? Texts.SUCCESS : token;
            Object named = call.get("caller");
            Object caller = named == null ? Texts.UNNAMED_CALLER : named;
            Views.small(
                    column,
                    at + " · " + caller + "\n" + Views.visible((String) call.get("capability")) + " · "
                            + outcome + " · " + call.get("ms") + " ms");
        }
    }
}
