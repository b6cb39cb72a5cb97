package com.android.server.appfunctions;

import android.app.ActivityManager;
import android.app.IActivityManager;
import android.app.appfunctions.AppFunctionException;
import android.app.appfunctions.ExecuteAppFunctionAidlRequest;
import android.app.appfunctions.ExecuteAppFunctionRequest;
import android.app.appfunctions.ExecuteAppFunctionResponse;
import android.app.appfunctions.IAppFunctionManager;
import android.app.appfunctions.IExecuteAppFunctionCallback;
import android.app.appfunctions.IIsAppFunctionEnabledCallback;
import android.app.appfunctions.ISetAppFunctionEnabledCallback;
import android.content.Context;
import android.content.ContextWrapper;
import android.os.ParcelableException;
import android.os.ShellCallback;
import android.os.ShellCommand;
import android.os.UserHandle;
import android.util.Singleton;
import java.io.FileDescriptor;
import java.io.RandomAccessFile;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import org.json.JSONArray;
import org.json.JSONObject;

/** Android's own `cmd app_function`, and what a shell command prints. */
public final class ShellCommands {
    private ShellCommands() {}

    /** Sets what answers questions about users. */
    public static void prepareUsers(IActivityManager users) throws Exception {
        Field singleton = ActivityManager.class.getDeclaredField("IActivityManagerSingleton");
        singleton.setAccessible(true);
        Field instance = Singleton.class.getDeclaredField("mInstance");
        instance.setAccessible(true);
        instance.set(singleton.get(null), users);
    }

    /**
     * Returns what `cmd app_function` prints and its exit status.
     *
     * The service behind it is a stand-in: a function answers with its parameters, `fail` fails, each state can be
     * set, and each function is enabled.
     */
    public static JSONObject run(JSONArray words, Path folder) throws Exception {
        prepareUsers((IActivityManager) proxy(
                IActivityManager.class, (of, method, given) -> zero(method.getReturnType())));
        return printed(new AppFunctionManagerServiceShellCommand(context(), service()), words, folder);
    }

    /** Returns what a command prints, and its exit status. */
    public static JSONObject printed(ShellCommand command, JSONArray words, Path folder) throws Exception {
        String[] arguments = new String[words.length()];
        for (int at = 0; at < arguments.length; at++) {
            arguments[at] = words.getString(at);
        }
        Path out = folder.resolve("out"), error = folder.resolve("error");
        JSONObject answer = new JSONObject();
        try (RandomAccessFile first = new RandomAccessFile(out.toFile(), "rw");
                RandomAccessFile second = new RandomAccessFile(error.toFile(), "rw")) {
            first.setLength(0);
            second.setLength(0);
            answer.put("status", command.exec(null, FileDescriptor.in, first.getFD(), second.getFD(), arguments,
                    new ShellCallback(), null));
        }
        return answer.put("out", Files.readString(out)).put("error", Files.readString(error));
    }

    private static Context context() {
        return new ContextWrapper(null) {
            @Override
            public Context createContextAsUser(UserHandle user, int flags) {
                return this;
            }
        };
    }

    private static IAppFunctionManager service() {
        return (IAppFunctionManager) proxy(IAppFunctionManager.class, (of, method, given) -> {
            switch (method.getName()) {
                case "executeAppFunction" -> {
                    ExecuteAppFunctionRequest request = ((ExecuteAppFunctionAidlRequest) given[0]).getClientRequest();
                    IExecuteAppFunctionCallback callback = (IExecuteAppFunctionCallback) given[1];
                    if (request.getFunctionIdentifier().equals("fail")) {
                        callback.onError(new AppFunctionException(1003, "No such function"));
                    } else {
                        callback.onSuccess(new ExecuteAppFunctionResponse(request.getParameters()));
                    }
                }
                case "setAppFunctionEnabled" -> {
                    ISetAppFunctionEnabledCallback callback = (ISetAppFunctionEnabledCallback) given[4];
                    if ("fail".equals(given[1])) {
                        callback.onError(unknown());
                    } else {
                        callback.onSuccess();
                    }
                }
                case "isAppFunctionEnabled" -> {
                    IIsAppFunctionEnabledCallback callback = (IIsAppFunctionEnabledCallback) given[4];
                    if ("fail".equals(given[2])) {
                        callback.onError(unknown());
                    } else {
                        callback.onSuccess(true);
                    }
                }
                default -> {
                    return zero(method.getReturnType());
                }
            }
            return null;
        });
    }

    private static ParcelableException unknown() {
        return new ParcelableException(new IllegalArgumentException("Function fail does not exist"));
    }

    /** Returns an object without having its constructor run. */
    public static <T> T bare(Class<T> type) throws Exception {
        Field unsafe = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        unsafe.setAccessible(true);
        return type.cast(((sun.misc.Unsafe) unsafe.get(null)).allocateInstance(type));
    }

    static Object proxy(Class<?> type, InvocationHandler handler) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler);
    }

    public static Object zero(Class<?> type) {
        return type == boolean.class ? (Object) false : type == int.class ? (Object) 0 : type == long.class ? (Object) 0L : null;
    }
}
