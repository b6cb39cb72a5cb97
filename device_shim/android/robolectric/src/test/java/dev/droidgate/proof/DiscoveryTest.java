package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.droidgate.proof.agents.Answer;
import dev.droidgate.proof.agents.Edition;
import dev.droidgate.proof.agents.Tool;
import dev.droidgate.proof.apps.ClockService;
import java.util.List;
import org.junit.Test;
import org.robolectric.annotation.Config;

/** An agent finds the shim and other tools as the specification says, with Android's own parser and resources. */
@Config(sdk = {29, 34, 36})
public final class DiscoveryTest extends ShimTest {
    @Test
    public void theShimIsATool() {
        Tool shim = tool(agent.discover(), "dev.droidgate.shim.frontends.ToolService");
        assertEquals("Several apps (via droidgate)", shim.name());
        assertEquals("Repeats texts, says time and weather.", shim.description());
        Tool.Capability add = shim.capabilities().get(1);
        assertEquals("desk.add", add.id());
        assertEquals(
                List.of(new Tool.Parameter("a", "integer", true, "a"), new Tool.Parameter("b", "integer", true, "b")),
                add.input());
        assertEquals("result", add.output().get(0).name());
        assertEquals(8, shim.capabilities().size());
    }

    @Test
    public void anAgentUnderstandsAToolThatIsNoShim()  {
        agent.bind(ClockService.class);
        agent.send(Edition.ARGS, "7", "now");
        Answer answer = agent.answer();
        assertTrue(answer.succeeded());
        assertEquals("12:00", answer.outputs().get("time"));
    }

    private static Tool tool(List<Tool> tools, String name) {
        for (Tool tool : tools) {
            if (tool.service().getClassName().equals(name)) {
                return tool;
            }
        }
        throw new AssertionError(name + " is not among " + tools);
    }
}
