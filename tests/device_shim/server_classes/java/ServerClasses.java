import android.content.pm.PermissionInfo;
import com.android.server.appfunctions.Callers;
import com.android.server.appfunctions.ShellCommands;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.json.JSONObject;

/** Answers each line of standard input, a JSON object: a command's `args`, a protection `level`, or a caller. */
public final class ServerClasses {
    private ServerClasses() {}

    public static void main() throws Exception {
        Path folder = Files.createTempDirectory("server");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        for (String line; (line = lines.readLine()) != null; ) {
            JSONObject given = new JSONObject(line);
            if (given.has("shell")) {
                answers.println(Shells.run(given.getString("shell"), given.getJSONArray("words"), folder));
            } else if (given.has("packages")) {
                answers.println(Shells.install(given.getJSONArray("packages")));
            } else if (given.has("args")) {
                answers.println(ShellCommands.run(given.getJSONArray("args"), folder));
            } else if (given.has("level")) {
                answers.println(JSONObject.quote(PermissionInfo.protectionToString(given.getInt("level"))));
            } else if (given.has("intent")) {
                answers.println(Intents.parsed(given.getJSONArray("intent")));
            } else if (given.has("started")) {
                answers.println(Intents.started(given.getString("started")));
            } else if (given.has("filter")) {
                answers.println(Intents.matched(given));
            } else if (given.has("components")) {
                answers.println(Intents.resolved(given));
            } else if (given.has("uri")) {
                answers.println(Intents.parts(given.getString("uri")));
            } else {
                answers.println(Callers.verify(given));
            }
        }
        answers.flush();
    }
}
