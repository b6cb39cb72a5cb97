package dev.droidgate.sample.pdftool;

import java.util.Map;

/** A dictionary with bytes, as they are stored. */
final class PdfStream {
    final Map<String, Object> dictionary;
    final byte[] stored;

    PdfStream(Map<String, Object> dictionary, byte[] stored) {
        this.dictionary = dictionary;
        this.stored = stored;
    }
}
