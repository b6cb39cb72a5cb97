package PACKAGE;

import java.io.BufferedReader;
import java.io.InputStreamReader;

import android.content.ContextWrapper;
import org.json.JSONObject;

/** Prints what each call on standard input returns: the capability and its arguments, a blank between. */
public final class CallsRunner {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PREFIXCalls calls = new PREFIXCalls(new PREFIXCapabilities(new ContextWrapper(null)), false);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            int blank = line.indexOf(' ');
            JSONObject answer = new JSONObject();
            try {
                answer.put("value", calls.call(line.substring(0, blank), PREFIXJson.object(line.substring(blank + 1))));
            } catch (PREFIXCalls.CallException failure) {
                answer.put("error", failure.getMessage());
            }
            System.out.println(answer);
        }
    }
}
