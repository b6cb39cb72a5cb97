package PACKAGE;

import java.io.BufferedReader;
import java.io.InputStreamReader;

import org.json.JSONArray;
import org.json.JSONObject;

/** Prints the response to each request on standard input, and the calls it led to. */
public final class MobileMcpRunner {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        Author author = new Author(Author.read(lines.readLine()));
        PREFIXRequests requests = new PREFIXRequests(author.capabilities());
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            author.calls = new JSONArray();
            PREFIXRequests.Answer answer = requests.answer(Author.read(line));
            System.out.println(new JSONObject().put("text", answer.text).put("id", answer.requestId)
                    .put("calls", author.calls));
        }
    }
}
