package dev.droidgate.runtime;

import static org.robolectric.Shadows.shadowOf;

import android.app.Activity;
import android.app.ActivityThread;
import android.app.Instrumentation;
import android.content.Context;
import android.content.Intent;
import android.content.pm.ActivityInfo;
import android.os.Binder;
import android.os.Bundle;
import android.os.IBinder;
import android.os.SystemClock;
import android.view.MotionEvent;
import android.view.View;
import android.view.ViewGroup;
import android.widget.Button;
import android.widget.CompoundButton;
import android.widget.LinearLayout;
import android.widget.TextView;
import dev.droidgate.runtime.shadows.CallersOnPhone;
import dev.droidgate.runtime.shadows.PackagesOnPhone;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.shadows.ActivityReflector;
import org.robolectric.shadows.ShadowActivity;
import org.robolectric.util.ReflectionHelpers;
import org.robolectric.util.ReflectionHelpers.ClassParameter;
import org.robolectric.util.reflector.Reflector;

/** The activities of a process, by the phone's numbers. */
public final class Screens {
    /** {@code WindowManager.LayoutParams.SYSTEM_FLAG_HIDE_NON_SYSTEM_OVERLAY_WINDOWS}. */
    private static final int HIDES_OVERLAYS = 0x00080000;

    private final ProcessLink process;
    private final Map<Integer, Activity> shown = new HashMap<>();

    Screens(ProcessLink process) {
        this.process = process;
    }

    /** What an activity starts goes to the phone. */
    private static final class Starter extends Instrumentation {
        private final ProcessLink process;
        private final int number;

        Starter(ProcessLink process, int number) {
            this.process = process;
            this.number = number;
        }

        @Override
        public ActivityResult execStartActivity(
                Context who, IBinder thread, IBinder token, Activity from, Intent intent, int request,
                Bundle options) {
            process.ask(
                    "start_activity",
                    "intent", Values.toJson(process, intent),
                    "activity", number,
                    "request", request);
            return null;
        }

        /** What an activity asks for permissions with (PackageManager.buildRequestPermissionsIntent). */
        @Override
        public ActivityResult execStartActivity(
                Context who, IBinder thread, IBinder token, String from, Intent intent, int request,
                Bundle options) {
            String[] names = intent.getStringArrayExtra(PackagesOnPhone.REQUESTED_PERMISSIONS);
            process.send(
                    "request_permissions", "activity", number, "permissions",
                    new JSONArray(Arrays.asList(names)));
            return null;
        }
    }

    /** Returns what an activity wants to keep beyond its process. */
    Bundle save(int number) {
        Bundle state = new Bundle();
        call(shown.get(number), "performSaveInstanceState", ClassParameter.from(Bundle.class, state));
        // What Android adds, as of its views, has kinds that do not leave the process.
        state.keySet().removeIf(key -> key.startsWith("android:"));
        return state;
    }

    /** Makes an activity anew, as Android does when the display turns. */
    void recreate(int number) throws ReflectiveOperationException {
        Activity before = shown.get(number);
        Bundle state = save(number);
        destroy(before);
        create(number, before.getClass().getName(), before.getIntent(), state);
    }

    /** Shows an activity, with what it saved if it comes again; returns whether and how it ended at once. */
    Object create(int number, String className, Intent intent, Bundle state)
            throws ReflectiveOperationException {
        Activity activity = (Activity) process.create(className);
        Instrumentation starter = new Starter(process, number);
        ActivityInfo info = new ActivityInfo();
        info.name = className;
        info.packageName = process.packageName;
        info.applicationInfo = process.context().getApplicationInfo();
        info.theme = android.R.style.Theme_DeviceDefault_Light;
        IBinder token = new Binder();
        Reflector.reflector(ActivityReflector.class, activity)
                .callAttach(
                        activity, process.context(), (ActivityThread) RuntimeEnvironment.getActivityThread(),
                        starter, process.application, intent, info, token, info.name, null);
        activity.setTheme(info.theme);
        shown.put(number, activity);
        starter.callActivityOnCreate(activity, state);
        if (!activity.isFinishing()) {
            call(activity, "performStart", ClassParameter.from(String.class, "start"));
            call(
                    activity,
                    "performResume",
                    ClassParameter.from(boolean.class, false),
                    ClassParameter.from(String.class, "resume"));
            activity.onWindowFocusChanged(true);
        }
        int flags = ReflectionHelpers.getField(activity.getWindow().getAttributes(), "privateFlags");
        if ((flags & HIDES_OVERLAYS) != 0) {
            process.send("hide_overlays", "activity", number);
        }
        return activity.isFinishing() ? ended(number, activity) : null;
    }

    private static void call(Activity activity, String name, ClassParameter<?>... parameters) {
        ReflectionHelpers.callInstanceMethod(Activity.class, activity, name, parameters);
    }

    private JSONObject ended(int number, Activity activity) {
        shown.remove(number);
        ShadowActivity result = shadowOf(activity);
        JSONObject json =
                Values.object(
                        "activity", number,
                        "code", result.getResultCode(),
                        "data", Values.toJson(process, result.getResultIntent()));
        destroy(activity);
        return json;
    }

    private static void destroy(Activity activity) {
        stop(activity);
        call(activity, "performDestroy");
    }

    private static void stop(Activity activity) {
        if (ReflectionHelpers.<Boolean>getField(activity, "mResumed")) {
            call(activity, "performPause");
            call(
                    activity,
                    "performStop",
                    ClassParameter.from(boolean.class, false),
                    ClassParameter.from(String.class, "stop"));
        }
    }

    /** Stops an activity of which nothing is seen any more. */
    void stop(int number) {
        Activity activity = shown.get(number);
        if (activity != null) {
            stop(activity);
        }
    }

    /** Reports to the phone each activity that has finished itself. */
    boolean closeFinished() {
        boolean any = false;
        for (Map.Entry<Integer, Activity> entry : new ArrayList<>(shown.entrySet())) {
            if (entry.getValue().isFinishing()) {
                any = true;
                process.send("finished", "result", ended(entry.getKey(), entry.getValue()));
            }
        }
        return any;
    }

    /** Ends an activity because the user, or the phone, ends it. */
    void close(int number) {
        Activity activity = shown.remove(number);
        if (activity != null) {
            ReflectionHelpers.setField(Activity.class, activity, "mFinished", true);
            destroy(activity);
        }
    }

    void result(int number, int request, int code, Intent data, int uid) {
        Activity activity = shown.get(number);
        if (activity == null) {
            return;
        }
        CallersOnPhone.uid = uid;
        shadowOf(activity).internalCallDispatchActivityResult(null, request, code, data);
    }

    /** Returns what an activity shows: kind, id, text, state and what is inside. */
    JSONObject view(int number) {
        Activity activity = shown.get(number);
        View content = activity == null ? null : activity.findViewById(android.R.id.content);
        return content == null ? null : viewJson(content, new ArrayList<>());
    }

    /** Finds the views in the order in which they are sent, and so gives each its id. */
    private static JSONObject viewJson(View view, List<View> before) {
        before.add(view);
        String kind = "column";
        String text = "";
        if (view instanceof TextView) {
            text = ((TextView) view).getText().toString();
            kind = view instanceof CompoundButton ? "switch" : view instanceof Button ? "button" : "text";
        } else if (view instanceof LinearLayout) {
            kind = ((LinearLayout) view).getOrientation() == LinearLayout.HORIZONTAL ? "row" : "column";
        }
        JSONArray children = new JSONArray();
        JSONObject json = Values.object("kind", kind, "id", idOf(view, before.size()), "text", text);
        if (view instanceof CompoundButton) {
            Values.with(json, "checked", ((CompoundButton) view).isChecked());
        }
        if (view instanceof ViewGroup) {
            for (int index = 0; index < ((ViewGroup) view).getChildCount(); index++) {
                children.put(viewJson(((ViewGroup) view).getChildAt(index), before));
            }
        }
        return Values.with(json, "children", children);
    }

    private static String idOf(View view, int place) {
        return view instanceof Button && !(view instanceof CompoundButton)
                ? ((Button) view).getText().toString().toLowerCase(Locale.ROOT)
                : "view_" + place;
    }

    /** Taps a view with the flags of a touch, as {@code MotionEvent} has them. */
    void click(int number, String id, int flags) throws JSONException {
        Activity activity = shown.get(number);
        List<View> all = new ArrayList<>();
        if (activity != null) {
            viewJson(activity.findViewById(android.R.id.content), all);
        }
        for (int index = 0; index < all.size(); index++) {
            if (idOf(all.get(index), index + 1).equals(id)) {
                // Nobody brings the answer to a request for permissions, without which there is no second
                // one.
                ReflectionHelpers.setField(Activity.class, activity, "mHasCurrentPermissionsRequest", false);
                tap(activity, all.get(index), flags);
                return;
            }
        }
    }

    /** Android asks the activity, then the view's filter and its listener, before a touch clicks a view. */
    private static void tap(Activity activity, View view, int flags) {
        long now = SystemClock.uptimeMillis();
        MotionEvent.PointerProperties pointer = new MotionEvent.PointerProperties();
        MotionEvent touch =
                MotionEvent.obtain(
                        now, now, MotionEvent.ACTION_DOWN, 1, new MotionEvent.PointerProperties[] {pointer},
                        new MotionEvent.PointerCoords[] {new MotionEvent.PointerCoords()}, 0, 0, 1, 1, 0, 0,
                        0, flags);
        View.OnTouchListener listener = shadowOf(view).getOnTouchListener();
        // Outside of all views, so that only what the activity itself does with touches counts.
        touch.setLocation(-1, -1);
        boolean taken = activity.dispatchTouchEvent(touch) || !view.onFilterTouchEventForSecurity(touch)
                || listener != null && listener.onTouch(view, touch);
        touch.recycle();
        if (!taken) {
            view.performClick();
        }
    }
}
