package com.android.server.am;

import android.content.Intent;
import com.android.server.appfunctions.ShellCommands;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** What Android's own `am` reads of the arguments of `start-activity`. */
public record Starts(Intent intent, boolean waits, boolean stops, int user, String rest) {
    /** Returns what the arguments spell; throws what `am` prints. */
    public static Starts read(String[] arguments) throws Exception {
        ActivityManagerShellCommand command = ShellCommands.bare(ActivityManagerShellCommand.class);
        command.init(null, null, null, null, arguments, 0);
        Method reader = ActivityManagerShellCommand.class.getDeclaredMethod("makeIntent", int.class);
        reader.setAccessible(true);
        try {
            Intent intent = (Intent) reader.invoke(command, 0);
            boolean waits = (boolean) field(command, "mWaitOption"), stops = (boolean) field(command, "mStopOption");
            return new Starts(intent, waits, stops, (int) field(command, "mUserId"), command.getNextArg());
        } catch (InvocationTargetException error) {
            throw (Exception) error.getCause();
        }
    }

    private static Object field(ActivityManagerShellCommand command, String name) throws Exception {
        Field field = ActivityManagerShellCommand.class.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(command);
    }
}
