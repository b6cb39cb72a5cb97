package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Map;
import org.json.JSONObject;
import org.junit.Test;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;

/** App functions that the agent's own dex calls through Android's own server classes. */
@Config(sdk = {36, 37})
public final class AgentAppTest extends ShimTest {
    @Test
    public void theResultOfAFunctionHasAllThatComesAlong() throws Exception {
        OpenFunction function = new OpenFunction(new AgentApp(phone));
        function.execute();
        JSONObject ended = function.answerWithFiles();
        assertEquals("function-result", ended.getString("kind"));
        assertEquals("{\"title\":[\"Milk\"]}", ended.getString("document"));
        assertTrue(ended.toString(), ended.getString("extras").contains("here"));
        String files = ended.getString("attachments");
        boolean hasFiles = RuntimeEnvironment.getApiLevel() >= 37;
        assertEquals(files, hasFiles ? 2 : 0, ended.getJSONArray("attachments").length());
        assertEquals(files, hasFiles, files.contains("\"bytes_read\":65536"));
        assertEquals(files, hasFiles, files.contains("\"error\":\"java"));
    }

    @Test
    public void aCancellationReachesTheAppWhoseAnswerIsDroppedThen() throws Exception {
        AgentApp app = new AgentApp(phone);
        OpenFunction function = new OpenFunction(app);
        function.execute();
        app.ask("cancel", Map.of("call", "f"));
        assertTrue(function.isCanceled());
        assertEquals("cancelled", function.answerWithFiles().getString("kind"));
    }
}
