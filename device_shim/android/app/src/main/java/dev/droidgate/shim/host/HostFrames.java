package dev.droidgate.shim.host;

import android.net.Uri;
import android.os.ParcelFileDescriptor;
import android.util.Log;
import dev.droidgate.shim.Caller;
import dev.droidgate.shim.Shim;
import dev.droidgate.shim.core.FailureTokens;
import dev.droidgate.shim.core.Frontend;
import dev.droidgate.shim.platform.Digests;
import dev.droidgate.shim.platform.Streams;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentMap;

/** Requests and answers that are too long for an argument, as framed files (shim.md 7). */
public final class HostFrames {
    private static final byte[] MAGIC = "DGF1".getBytes(StandardCharsets.US_ASCII);
    private static final int DIGEST = 32;
    private static final int HEAD = MAGIC.length + 4 + DIGEST;
    private static final int MAX_PAYLOAD = 1 << 20;
    private static final int MOST_FRAMES = 16;
    private static final long FRAME_MS = 600_000;
    private static final String CALLS = "calls";

    private final ConcurrentMap<String, HostReply> open;
    private final Map<String, HostReply> calls = new HashMap<>();

    HostFrames(ConcurrentMap<String, HostReply> open) {
        this.open = open;
    }

    /** Opens the file of a call: to write its request, or to read its answer, which is waited for. */
    ParcelFileDescriptor open(Shim shim, Caller host, Uri uri, String mode)
            throws FileNotFoundException {
        List<String> path = uri.getPathSegments();
        if (path.size() != 2 || !CALLS.equals(path.get(0)) || !path.get(1).matches(HostReply.ID)) {
            throw new FileNotFoundException("the file does not exist");
        }
        try {
            return mode.startsWith("w")
                    ? request(shim, host, path.get(1))
                    : answer(shim, path.get(1));
        } catch (FileNotFoundException missing) {
            throw missing;
        } catch (IOException failed) {
            Log.w("droidgate", "a frame failed", failed);
            throw new FileNotFoundException(failed.getMessage());
        }
    }

    private ParcelFileDescriptor request(Shim shim, Caller host, String id) throws IOException {
        HostReply reply = new HostReply(host, false);
        synchronized (calls) {
            for (Iterator<HostReply> all = calls.values().iterator(); all.hasNext(); ) {
                // The computer reads no answer to what it has canceled; an app's own cancel is an answer.
                HostReply call = all.next();
                if (FailureTokens.CANCELED.equals(call.token()) && call.text() == null) {
                    all.remove();
                }
            }
            if (calls.size() >= MOST_FRAMES || calls.containsKey(id) || !reply.open(open, id)) {
                throw new FileNotFoundException("too many calls, or one of this id");
            }
            calls.put(id, reply);
        }
        shim.main.postDelayed(() -> forget(id), FRAME_MS);
        File file = File.createTempFile("frame", null, shim.context.getCacheDir());
        int mode = ParcelFileDescriptor.MODE_WRITE_ONLY | ParcelFileDescriptor.MODE_TRUNCATE;
        return ParcelFileDescriptor.open(
                file, mode, shim.main, broken -> shim.calls.execute(() -> begin(shim, reply, file)));
    }

    private void begin(Shim shim, HostReply reply, File file) {
        try (InputStream in = new FileInputStream(file)) {
            boolean isLong = file.length() > HEAD + MAX_PAYLOAD;
            String text = payload(isLong ? new byte[0] : Streams.readAll(in));
            shim.receive(reply, Frontend.written(text), true);
        } catch (IOException broken) {
            Log.w("droidgate", "a request is not a frame", broken);
            reply.answer(null, FailureTokens.INVALID_ARGUMENT);
        } finally {
            file.delete();
        }
    }

    private ParcelFileDescriptor answer(Shim shim, String id) throws IOException {
        HostReply reply;
        synchronized (calls) {
            reply = calls.get(id);
        }
        if (reply == null || !reply.await(FRAME_MS)) {
            throw new FileNotFoundException("the call does not exist");
        }
        forget(id);
        String text = reply.text() == null ? "" : reply.text();
        File file = File.createTempFile("frame", null, shim.context.getCacheDir());
        try (OutputStream out = new FileOutputStream(file)) {
            out.write(frame(text.getBytes(StandardCharsets.UTF_8)));
        }
        ParcelFileDescriptor opened =
                ParcelFileDescriptor.open(file, ParcelFileDescriptor.MODE_READ_ONLY);
        // Open files outlive their names.
        file.delete();
        return opened;
    }

    private void forget(String id) {
        synchronized (calls) {
            calls.remove(id);
        }
    }

    private static byte[] frame(byte[] payload) {
        ByteBuffer frame = ByteBuffer.allocate(HEAD + payload.length);
        frame.put(MAGIC).putInt(payload.length).put(Digests.sha256().digest(payload)).put(payload);
        return frame.array();
    }

    private static String payload(byte[] frame) throws IOException {
        if (frame.length >= HEAD && frame.length <= HEAD + MAX_PAYLOAD) {
            byte[] payload = Arrays.copyOfRange(frame, HEAD, frame.length);
            if (Arrays.equals(frame, frame(payload))) {
                return new String(payload, StandardCharsets.UTF_8);
            }
        }
        throw new IOException("another magic, length or digest");
    }
}
