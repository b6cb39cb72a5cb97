package dev.droidgate.shim.storage;

import android.content.Context;
import android.util.AtomicFile;
import android.util.Log;
import dev.droidgate.shim.core.JsonReader;
import dev.droidgate.shim.core.JsonWriter;
import dev.droidgate.shim.core.MalformedJsonException;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** A JSON value in a file of the app, written as a whole or not at all. */
public final class JsonFile {
    private final AtomicFile file;

    JsonFile(Context context, String name) {
        file = new AtomicFile(new File(context.getFilesDir(), name));
    }

    /** Returns the value, null where the file is missing or cannot be read. */
    Object read() {
        try {
            return JsonReader.parseOwn(new String(file.readFully(), StandardCharsets.UTF_8));
        } catch (IOException | MalformedJsonException none) {
            return null;
        }
    }

    synchronized void write(Object value) {
        FileOutputStream out = null;
        try {
            out = file.startWrite();
            out.write(JsonWriter.write(value).getBytes(StandardCharsets.UTF_8));
            file.finishWrite(out);
        } catch (IOException full) {
            Log.w("droidgate", "cannot write " + file.getBaseFile().getName(), full);
            file.failWrite(out);
        }
    }
}
