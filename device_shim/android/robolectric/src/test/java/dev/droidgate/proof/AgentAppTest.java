package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Map;
import java.util.Set;
import org.json.JSONObject;
import org.junit.Test;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;

/** The agent's own dex on the code of other releases; the virtual phone runs it on Android 16's. */
@Config(sdk = {29, 34, 36, 37})
public final class AgentAppTest extends ShimTest {
    private static final String REQUEST =
            "{\"mobile-mcp-request\": {\"version\": \"1.0\", \"request\":"
                    + " {\"id\": \"7\", \"capability\": {\"id\": \"now\", \"args\": {}}}}}";

    @Test
    public void itCarriesOutEachCommandOfTheComputer() throws Exception {
        AgentApp app = new AgentApp(phone);
        int api = RuntimeEnvironment.getApiLevel();
        assertEquals(api, app.ask("hello", Map.of()).getInt("sdk"));
        assertEquals(
                Set.of("mobile-mcp$Clock", "mobile-mcp$Lamp", "mmcp$Desk", "mmcp-broadcast$Radio"),
                Set.copyOf(app.sees()));
        Map<String, String> request = Map.of("mobile-mcp-request", REQUEST);
        JSONObject bound = app.call("bind", "", "Clock", request);
        assertEquals("message", bound.getString("kind"));
        assertTrue(bound.toString(), bound.getString("extras").contains("12:00"));
        JSONObject started = app.call("start", "", "Lamp", request);
        assertEquals("callback", started.getString("kind"));
        assertTrue(started.toString(), started.getString("extras").contains("success"));
        JSONObject opened =
                app.call(
                        "activity",
                        "com.example.mMCP.ACTION_TOOL_CALL",
                        "Desk",
                        Map.of("tool_name", "echo"));
        assertEquals("activity-result -1", opened.getString("kind") + " " + opened.getInt("code"));
        assertTrue(opened.toString(), opened.getString("extras").contains("hello"));
        JSONObject sent =
                app.call("broadcast", "com.example.ACTION_MMCP_INVOKE", "Radio", Map.of("tool", "forecast"));
        assertEquals("broadcast-result sunny", sent.getString("kind") + " " + sent.getString("data"));
    }

    @Test
    @Config(sdk = {36, 37})
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
    @Config(sdk = {36, 37})
    public void aCancellationReachesTheAppWhoseAnswerIsDroppedThen() throws Exception {
        AgentApp app = new AgentApp(phone);
        OpenFunction function = new OpenFunction(app);
        function.execute();
        app.ask("cancel", Map.of("call", "f"));
        assertTrue(function.isCanceled());
        assertEquals("cancelled", function.answerWithFiles().getString("kind"));
    }
}
