package dev.droidgate.shim.storage;

import android.content.Context;
import dev.droidgate.shim.core.Json;
import java.util.ArrayList;
import java.util.List;

/**
 * What is open, on disk, so that the next process knows what this one left unanswered (shim.md 3).
 *
 * <p>An entry goes after its answer and after the service's start was acknowledged. So what Android delivers
 * again and has no entry never ran, and what has one may have run and is not run again.
 */
public final class OpenJournal {
    private static final int MOST_LEFT = 64;

    private final JsonFile file;
    private final List<String> left = new ArrayList<>();
    private List<String> written;

    public OpenJournal(Context context) {
        file = new JsonFile(context, "journal.json");
        List<Object> stored = Json.list(file.read());
        if (stored != null) {
            int first = Math.max(0, stored.size() - MOST_LEFT);
            for (Object item : stored.subList(first, stored.size())) {
                left.add(String.valueOf(item));
            }
        }
        written = new ArrayList<>(left);
    }

    /** Keeps what is open now, and what is still left from before; writes only what has changed. */
    public synchronized void write(List<String> open) {
        List<String> entries = new ArrayList<>(left);
        entries.addAll(open);
        if (!entries.equals(written)) {
            written = entries;
            file.write(new ArrayList<Object>(entries));
        }
    }

    /** Takes an entry of a process before this; false where it is missing or taken already. */
    public synchronized boolean claim(long creator, String entry) {
        return left.remove(creator + " " + entry);
    }

    /** Forgets what nobody has come for. */
    public synchronized void forgetLeft() {
        left.clear();
    }
}
