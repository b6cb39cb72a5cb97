package dev.droidgate.sample.tally;

import com.android.org.kxml2.io.KXmlParser;
import dev.droidgate.sample.Lines;
import dev.droidgate.sample.mobilemcp.Descriptor;
import java.io.StringReader;

/** Answers requests over one assistant's totals: the descriptor in the first line, then one request a line. */
public final class TallyRunner {
    private TallyRunner() {
    }

    public static void main(String[] unused) throws Exception {
        KXmlParser parser = new KXmlParser();
        parser.setInput(new StringReader(Lines.next()));
        Lines.answer(new TallyEngine(Descriptor.read(parser), new Totals())::answer);
    }
}
