package dev.droidgate.sample.agent;

import android.content.ComponentName;
import android.content.ContentProvider;
import android.content.ContentValues;
import android.content.pm.PackageManager;
import android.database.Cursor;
import android.net.Uri;
import android.os.Binder;
import android.os.Build;
import android.os.Bundle;
import android.util.Base64;
import java.nio.charset.StandardCharsets;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * The way in for a computer that is connected by adb: argument and result of each call are a JSON object as
 * base64url. An app could be granted DUMP by adb, so the caller also has to be the shell or root.
 */
public final class ComputerProvider extends ContentProvider {
    private static final int VERSION = 1;
    private static final int ROOT = 0;
    private static final int SHELL = 2000;
    private static final int BASE64 = Base64.URL_SAFE | Base64.NO_PADDING | Base64.NO_WRAP;

    @Override
    public boolean onCreate() {
        return true;
    }

    @Override
    public Bundle call(String method, String argument, Bundle extras) {
        checkCaller();
        JSONObject answer;
        long identity = Binder.clearCallingIdentity();
        try {
            byte[] text = Base64.decode(argument == null ? "" : argument, BASE64);
            answer = run(method, new JSONObject(new String(text, StandardCharsets.UTF_8)));
        } catch (JSONException | IllegalArgumentException malformed) {
            answer = RawValues.object("error", String.valueOf(malformed.getMessage()));
        } finally {
            Binder.restoreCallingIdentity(identity);
        }
        RawValues.put(answer, "version", VERSION);
        Bundle result = new Bundle();
        byte[] text = answer.toString().getBytes(StandardCharsets.UTF_8);
        result.putString("result", Base64.encodeToString(text, BASE64));
        return result;
    }

    private JSONObject run(String method, JSONObject asked) throws JSONException {
        Calls calls = Calls.of(getContext());
        switch (method) {
            case "hello":
                return RawValues.object(
                        "application_id", getContext().getPackageName(),
                        "sdk", Build.VERSION.SDK_INT,
                        "is_lent", ShellIdentityInstrumentation.isLent());
            case "list":
                return RawValues.object("components", ToolApps.findAll(getContext()));
            case "send":
                calls.send(asked);
                return new JSONObject();
            case "execute":
                calls.execute(asked);
                return new JSONObject();
            case "cancel":
                calls.cancel(asked.getString(Calls.CALL));
                return new JSONObject();
            case "unbind":
                calls.unbind(ComponentName.unflattenFromString(asked.getString("component")));
                return new JSONObject();
            case "log":
                return RawValues.object(
                    "events", calls.eventsAfter(asked.getInt("after")), "last", calls.lastEvent());
            default:
                throw new JSONException("method is not known");
        }
    }

    private void checkCaller() {
        int uid = Binder.getCallingUid();
        int holds = getContext().checkPermission("android.permission.DUMP", Binder.getCallingPid(), uid);
        if (holds != PackageManager.PERMISSION_GRANTED || uid != ROOT && uid != SHELL) {
            throw new SecurityException("only adb may call");
        }
    }

    @Override
    public Cursor query(Uri uri, String[] columns, String selection, String[] arguments, String order) {
        return null;
    }

    @Override
    public String getType(Uri uri) {
        return null;
    }

    @Override
    public Uri insert(Uri uri, ContentValues values) {
        return null;
    }

    @Override
    public int delete(Uri uri, String selection, String[] arguments) {
        return 0;
    }

    @Override
    public int update(Uri uri, ContentValues values, String selection, String[] arguments) {
        return 0;
    }
}
