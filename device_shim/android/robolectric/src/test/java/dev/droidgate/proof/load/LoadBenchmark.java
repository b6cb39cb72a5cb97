package dev.droidgate.proof.load;

import dev.droidgate.proof.agents.Host;
import dev.droidgate.proof.apps.Apps;
import dev.droidgate.proof.phone.Inputs;
import dev.droidgate.proof.phone.Phone;
import java.util.Arrays;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;

/**
 * What a flood of one app costs the shim's main thread and another agent; run by benchmarks/shim_load.py. The floor
 * is the same flood to a Messenger whose handler does nothing, on the same main thread.
 */
@RunWith(RobolectricTestRunner.class)
public final class LoadBenchmark {
    /** By how much the floods are smaller; a run that only shows that it works sets it. */
    private static final int DIVISOR = Integer.getInteger("load.divisor", 1);

    @Test
    public void measure() throws Exception {
        Phone phone = Phone.withAll();
        Apps.begin(phone);
        Host host = new Host(phone);
        host.ask("ask", "on", false);
        host.grant("dev.droidgate.proof.agent", "*");
        Flood flood = new Flood(phone, Inputs.app("stranger").uid(), Inputs.app("agent").uid());
        report("warm-up", flood.run(2_000, 20, false));
        report("none", flood.run(0, 20, false));
        report("floor", flood.run(10_000 / DIVISOR, 20, true));
        report("tiny", flood.run(10_000 / DIVISOR, 20, false));
        report("large", flood.run(400 / DIVISOR, 190_000, false));
    }

    private static void report(String name, Flood.Result result) {
        long[] calls = result.calls();
        Arrays.sort(calls);
        System.out.println(
                "LOAD " + name + " requests=" + result.requests() + " answered=" + result.answered()
                        + " seconds=" + result.seconds() + " longest_slice_ms=" + result.longestSlice()
                        + " calls=" + calls.length
                        + " call_ms_median=" + (calls.length == 0 ? 0 : calls[calls.length / 2] / 1e6)
                        + " call_ms_p95=" + (calls.length == 0 ? 0 : calls[calls.length * 95 / 100] / 1e6)
                        + " call_ms_max=" + (calls.length == 0 ? 0 : calls[calls.length - 1] / 1e6));
    }
}
