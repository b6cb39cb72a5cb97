import com.android.manifmerger.Merger;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** Merges manifests with Android's own merger: a line of its words, separated by tabs, for each merge. */
final class Mergers {
    public static void main(String[] none) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            new Merger().process(line.split("\t"));
        }
    }
}
