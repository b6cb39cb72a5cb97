package PACKAGE;

import java.io.BufferedReader;
import java.io.InputStreamReader;

import org.json.JSONArray;
import org.json.JSONObject;

/** Prints the answer to each call on standard input (tool and parameters, a blank between), and what it led to. */
public final class MmcpRunner {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        Author author = new Author(Author.read(lines.readLine()));
        PREFIXRequests requests = new PREFIXRequests(author.capabilities());
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            author.calls = new JSONArray();
            String[] parts = line.split(" ");
            PREFIXRequests.Answer answer = requests.answer(Author.read(parts[0]), Author.read(parts[1]));
            System.out.println(new JSONObject().put("result", answer.result).put("error", answer.error)
                    .put("calls", author.calls));
        }
    }
}
