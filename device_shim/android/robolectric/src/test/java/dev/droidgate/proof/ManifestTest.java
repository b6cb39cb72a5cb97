package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.droidgate.proof.agents.Agent;
import dev.droidgate.proof.agents.BuiltShim;
import dev.droidgate.proof.agents.Tool;
import dev.droidgate.proof.phone.Inputs;
import dev.droidgate.proof.phone.Phone;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.annotation.Config;

/** Android reads the shims that the builder makes of the sample apps, and the sample apps themselves. */
@RunWith(RobolectricTestRunner.class)
public final class ManifestTest {
    @Test
    @Config(sdk = {29, 34, 36})
    public void anAgentFindsEachShimAndEachSample() {
        Phone phone = Phone.with();
        // The last is the bare one, which has the id of the one before it.
        List<String> shims = Inputs.list("shims");
        String bare = shims.get(shims.size() - 1);
        shims.subList(0, shims.size() - 1).forEach(item -> phone.install(Inputs.app(item)));
        for (String sample : Inputs.list("samples")) {
            phone.installWhereItFits(Inputs.app(sample));
        }
        Set<String> found = new HashSet<>();
        for (Tool tool : new Agent(phone, Inputs.app("agent")).discover()) {
            found.add(tool.service().getPackageName());
            assertTrue(tool.toString(), !tool.name().isEmpty() && !tool.description().isEmpty());
            assertTrue(tool.toString(), !tool.capabilities().isEmpty());
            Set<String> ids = new HashSet<>();
            tool.capabilities().forEach(capability -> ids.add(capability.id()));
            assertEquals(tool.capabilities().size(), ids.size());
        }
        for (String shim : shims) {
            assertTrue(shim + " in " + found, found.contains(Inputs.app(shim).packageName()));
        }
        assertTrue(found.toString(), found.contains("dev.droidgate.sample.clockin"));
        phone.install(Inputs.app(bare));
        assertEquals(found.size() - 1, new Agent(phone, Inputs.app("agent")).discover().size());
    }

    @Test
    @Config(sdk = {29, 36})
    public void eachShimDeclaresWhatThePageSaysAndNothingElse() {
        List<String> shims = Inputs.list("shims");
        assertTrue(shims.toString(), shims.size() > 4);
        for (String name : shims) {
            new BuiltShim(Inputs.app(name)).check(name.startsWith("bare"));
        }
    }
}
