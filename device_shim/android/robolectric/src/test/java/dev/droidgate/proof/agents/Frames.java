package dev.droidgate.proof.agents;

import android.net.Uri;
import android.os.ParcelFileDescriptor;
import dev.droidgate.proof.phone.Phone;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Requests and answers as files of the host, by docs/shim.md 7. */
public final class Frames {
    private static final int HEAD = 40;

    private final Phone phone;
    private final Host host;

    public Frames(Phone phone, Host host) {
        this.phone = phone;
        this.host = host;
    }

    /** Returns a text's frame. */
    public static byte[] frame(String text) {
        byte[] payload = text.getBytes(StandardCharsets.UTF_8);
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(payload);
            return ByteBuffer.allocate(HEAD + payload.length)
                    .put("DGF1".getBytes(StandardCharsets.US_ASCII))
                    .putInt(payload.length)
                    .put(digest)
                    .put(payload)
                    .array();
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Returns frames that are none: shorter, longer, and with a bit turned in each part. */
    public static List<byte[]> spoiled(byte[] good) {
        List<byte[]> bad = new ArrayList<>();
        for (int length : new int[] {0, 3, HEAD - 1, good.length - 1, good.length + 1}) {
            bad.add(Arrays.copyOf(good, length));
        }
        for (int place : new int[] {0, 4, 7, 8, HEAD - 1, HEAD, good.length - 1}) {
            byte[] turned = good.clone();
            turned[place] ^= 1;
            bad.add(turned);
        }
        return bad;
    }

    /** Writes a request's file. */
    public void write(String id, byte[] frame) {
        try {
            ParcelFileDescriptor file = host.open(Host.SHELL, id, "w");
            try (OutputStream out = new ParcelFileDescriptor.AutoCloseOutputStream(file)) {
                out.write(frame);
            }
        } catch (IOException failed) {
            throw new AssertionError(failed);
        }
        phone.quiet();
    }

    /** Reads an answer's file. */
    public byte[] read(String id) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (InputStream in = new ParcelFileDescriptor.AutoCloseInputStream(host.open(Host.SHELL, id, "r"))) {
            in.transferTo(out);
        } catch (FileNotFoundException missing) {
            throw new AssertionError(missing);
        } catch (IOException failed) {
            throw new AssertionError(failed);
        }
        return out.toByteArray();
    }

    /** Returns what a frame holds. */
    public byte[] payload(byte[] frame) {
        byte[] payload = Arrays.copyOfRange(frame, HEAD, frame.length);
        if (!Arrays.equals(frame, frame(new String(payload, StandardCharsets.UTF_8)))) {
            throw new AssertionError("an answer is not a frame");
        }
        return payload;
    }

    /** Calls by files. */
    public Answer call(String id, Edition edition, String capability, Object... arguments) {
        write(id, frame(edition.request("7", capability, Agent.of(arguments))));
        phone.quiet();
        return edition.read(new String(payload(read(id)), StandardCharsets.UTF_8));
    }

    /** Tries everything else that a provider can be asked for. */
    public void rows(int uid) {
        Uri uri = Uri.parse("content://" + Host.AUTHORITY);
        phone.as(uid, () -> host.provider.query(uri, null, null, null, null));
    }
}
