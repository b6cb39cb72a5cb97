package dev.droidgate.sample.pdftool;

import dev.droidgate.sample.Lines;
import org.json.JSONObject;

/** Checks values against schemas: a line with a schema and one with a value; prints the problem, if any. */
public final class PdfRunner {
    private PdfRunner() {
    }

    public static void main(String[] unused) throws Exception {
        Lines.answer(schema -> {
            String found = SchemaCheck.problem(new JSONObject(schema), new JSONObject(Lines.next()), "");
            return found == null ? "" : found;
        });
    }
}
