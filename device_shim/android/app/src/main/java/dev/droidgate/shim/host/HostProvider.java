package dev.droidgate.shim.host;

import android.content.ContentProvider;
import android.content.ContentValues;
import android.content.pm.PackageManager;
import android.database.Cursor;
import android.net.Uri;
import android.os.Binder;
import android.os.Bundle;
import android.os.ParcelFileDescriptor;
import android.util.Base64;
import dev.droidgate.shim.Caller;
import dev.droidgate.shim.Shim;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Json;
import dev.droidgate.shim.core.JsonReader;
import dev.droidgate.shim.core.JsonWriter;
import dev.droidgate.shim.core.MalformedJsonException;
import dev.droidgate.shim.platform.Names;
import java.io.FileNotFoundException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The way in for the computer, through adb (shim.md 7).
 *
 * <p>{@code call} is checked by no permission of the framework's, and an app can be granted DUMP; so each
 * entry asks for both, the permission and the shell's or root's uid (reference android-runtime 1.8).
 */
public final class HostProvider extends ContentProvider {
    private static final long VERSION = 1;
    private static final String DUMP = "android.permission.DUMP";
    private static final int ROOT = 0;
    private static final int SHELL = 2000;
    private static final int BASE64 = Base64.URL_SAFE | Base64.NO_PADDING | Base64.NO_WRAP;

    /** The calls of the computer that are open, by the ids that it gave them. */
    private final ConcurrentMap<String, HostReply> calls = new ConcurrentHashMap<>();

    private final HostFrames frames = new HostFrames(calls);

    @Override
    public boolean onCreate() {
        return true;
    }

    /** Returns the caller, who is let in. */
    private long checkHost() {
        int uid = Binder.getCallingUid();
        boolean may =
                getContext().checkPermission(DUMP, Binder.getCallingPid(), uid)
                        == PackageManager.PERMISSION_GRANTED;
        if (!may || uid != ROOT && uid != SHELL) {
            throw new SecurityException("only the host may call");
        }
        return uid;
    }

    private Caller host() {
        long uid = checkHost();
        return Caller.named(uid, uid == ROOT ? "root" : "com.android.shell");
    }

    @Override
    public Bundle call(String method, String argument, Bundle extras) {
        Caller host = host();
        Map<String, Object> answer = new LinkedHashMap<>();
        long identity = Binder.clearCallingIdentity();
        try {
            Map<String, Object> read = read(argument);
            answer.putAll(new HostCommands(Shim.of(getContext()), host, calls).run(method, read));
        } catch (CallFailure failure) {
            answer.put("error", error(failure.token, failure.getMessage()));
        } catch (MalformedJsonException malformed) {
            answer.put("error", error(FailureTokens.INVALID_ARGUMENT, malformed.getMessage()));
        } catch (RuntimeException unexpected) {
            answer.put(
                    "error",
                    error(FailureTokens.BACKEND_FAILURE, "internal error of the shim: " + unexpected));
        } finally {
            Binder.restoreCallingIdentity(identity);
        }
        answer.put("version", VERSION);
        byte[] text = JsonWriter.write(answer).getBytes(StandardCharsets.UTF_8);
        Bundle result = new Bundle();
        result.putString(Names.RESULT, Base64.encodeToString(text, BASE64));
        return result;
    }

    private static Map<String, Object> error(String token, String message) {
        Map<String, Object> error = new LinkedHashMap<>();
        error.put("token", token);
        error.put("message", message);
        return error;
    }

    private static Map<String, Object> read(String argument)
            throws CallFailure, MalformedJsonException {
        String text;
        try {
            byte[] bytes = Base64.decode(argument == null ? "" : argument, BASE64);
            text = new String(bytes, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException malformed) {
            throw new CallFailure(FailureTokens.INVALID_ARGUMENT, "the argument is not base64url");
        }
        Map<String, Object> read = Json.objectOf(JsonReader.parse(text), "the argument");
        if (Json.integerAt(read, "version", 0) != VERSION) {
            throw new CallFailure(
                    FailureTokens.UNSUPPORTED_VERSION, "this shim speaks version " + VERSION);
        }
        return read;
    }

    @Override
    public ParcelFileDescriptor openFile(Uri uri, String mode) throws FileNotFoundException {
        Caller host = host();
        long identity = Binder.clearCallingIdentity();
        try {
            return frames.open(Shim.of(getContext()), host, uri, mode);
        } finally {
            Binder.restoreCallingIdentity(identity);
        }
    }

    @Override
    public Cursor query(
            Uri uri, String[] columns, String selection, String[] arguments, String order) {
        checkHost();
        return null;
    }

    @Override
    public String getType(Uri uri) {
        return null;
    }

    @Override
    public Uri insert(Uri uri, ContentValues values) {
        checkHost();
        return null;
    }

    @Override
    public int delete(Uri uri, String selection, String[] arguments) {
        checkHost();
        return 0;
    }

    @Override
    public int update(Uri uri, ContentValues values, String selection, String[] arguments) {
        checkHost();
        return 0;
    }
}
