package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.droidgate.proof.agents.Agent;
import dev.droidgate.proof.agents.Edition;
import dev.droidgate.proof.agents.Functions;
import dev.droidgate.proof.apps.ClockService;
import dev.droidgate.proof.apps.LampService;
import dev.droidgate.proof.phone.Inputs;
import dev.droidgate.shim.frontends.ToolService;
import java.util.ArrayList;
import java.util.List;
import org.junit.Test;
import org.robolectric.annotation.Config;

/** Who may call what: callers, transports, grants and effects, all of them. */
public final class AuthorityTest extends ShimTest {
    /** One that reads, one that changes something, and one of which nobody knows. */
    private static final String[] CAPABILITIES = {"clock.now", "lamp.switch", "notes.count"};

    private static final String[] CALLERS = {"agent", "stranger", "twin", "other_twin"};

    /** A grant as the host gives it. */
    private record Grant(String caller, String capability) {}

    private static List<List<Grant>> grants() {
        List<List<Grant>> all = new ArrayList<>();
        all.add(List.of());
        for (String capability : new String[] {"clock.now", "lamp.switch", "notes.count", "*"}) {
            for (String caller : CALLERS) {
                all.add(List.of(new Grant(Inputs.app(caller).packageName(), capability)));
            }
            all.add(List.of(new Grant(ANY_APP, capability)));
            all.add(
                    List.of(
                            new Grant(Inputs.app("twin").packageName(), capability),
                            new Grant(Inputs.app("other_twin").packageName(), "*")));
        }
        return all;
    }

    /** The rule, said once more: each package of a uid needs the grant, and a start is from nobody. */
    private static boolean allowed(List<Grant> grants, String caller, boolean bound, String capability) {
        if (holds(grants, ANY_APP, capability)) {
            return true;
        }
        // The answer of a start only reaches the creator of its callback, so the creator may have what only reads.
        boolean all = bound || capability.equals("clock.now");
        for (String name : CALLERS) {
            if (Inputs.app(name).uid() == Inputs.app(caller).uid()) {
                all &= holds(grants, Inputs.app(name).packageName(), capability);
            }
        }
        return all;
    }

    private static boolean holds(List<Grant> grants, String caller, String capability) {
        return grants.contains(new Grant(caller, capability)) || grants.contains(new Grant(caller, "*"));
    }

    @Test
    public void deniedUnlessGranted() {
        new Functions(phone);
        host.ask("ask", "on", false);
        List<Agent> agents = new ArrayList<>();
        for (String caller : CALLERS) {
            agents.add(caller.equals("agent") ? agent : agent(caller));
        }
        int reached = 0;
        int calls = 0;
        for (List<Grant> grants : grants()) {
            grants.forEach(grant -> host.grant(grant.caller(), grant.capability()));
            for (Agent caller : agents) {
                for (String capability : CAPABILITIES) {
                    for (boolean bound : new boolean[] {true, false}) {
                        String id = "c" + calls++;
                        Object[] given = capability.equals("lamp.switch") ? new Object[] {"on", true} : new Object[0];
                        if (bound) {
                            caller.send(Edition.INPUT, id, capability, given);
                        } else {
                            caller.start(ToolService.class, Edition.INPUT, id, capability, given);
                        }
                        boolean may = allowed(grants, caller.app.name(), bound, capability);
                        String text = caller.app.name() + " " + capability + " " + bound + " " + grants;
                        assertEquals(text, may ? null : "denied", caller.answer().token());
                        reached += may ? 1 : 0;
                    }
                }
            }
            grants.forEach(item -> host.revoke(item.caller(), item.capability()));
        }
        assertEquals(25 * 4 * 3 * 2, calls);
        assertEquals(reached, ClockService.CALLS.size() + LampService.CALLS.size() + new FunctionCount().value());
        assertEquals(80, reached);
    }

    /** How often functions were called; a class of its own, since this one is read where there are none. */
    private static final class FunctionCount {
        int value() {
            return dev.droidgate.proof.phone.FunctionsOnPhone.CALLS.size();
        }
    }

    @Test
    @Config(sdk = {29, 36})
    public void aGrantIsOfACertificate() {
        host.ask("ask", "on", false);
        host.grant(AGENT, "*");
        agent.send(Edition.ARGS, "7", "clock.now");
        assertTrue(agent.answer().succeeded());
        phone.install(Inputs.app("agent_by_another"));
        Agent other = new Agent(phone, Inputs.app("agent_by_another"));
        other.bind(ToolService.class);
        other.send(Edition.ARGS, "8", "clock.now");
        assertEquals("denied", other.answer().token());
    }

    @Test
    public void aUidWithoutAPackageHasNoGrant() {
        host.ask("ask", "on", false);
        for (String caller : CALLERS) {
            host.grant(Inputs.app(caller).packageName(), "*");
        }
        phone.uninstall(AGENT);
        agent.send(Edition.ARGS, "7", "clock.now");
        assertEquals("denied", agent.answer().token());
    }

    @Test
    public void theCreatorOfACallbackIsNoCaller() {
        host.ask("ask", "on", false);
        host.grant(AGENT, "*");
        agent.start(ToolService.class, Edition.ARGS, "7", "lamp.switch", "on", true);
        assertEquals("denied", agent.answer().token());
        assertTrue(LampService.CALLS.isEmpty());
    }

    @Test
    public void anUnknownCapabilityIsToldOnlyToThoseWithAGrant() {
        host.ask("ask", "on", false);
        agent.send(Edition.ARGS, "7", "none");
        String denied = agent.answers.isEmpty() ? agent.answer().message() : null;
        agent.send(Edition.ARGS, "8", "clock.now");
        assertEquals(denied, agent.answer().message());
        host.grant(AGENT, "clock.now");
        agent.send(Edition.ARGS, "9", "none");
        assertEquals("unknown_capability", agent.answer().token());
    }

    @Test
    public void aTargetThatChangedIsNotCalled() {
        host.grant(AGENT, "*");
        phone.install(Inputs.app("desk_by_another"));
        agent.send(Edition.ARGS, "7", "desk.echo", "text", "x");
        assertEquals("unavailable", agent.answer().token());
        phone.uninstall("dev.droidgate.proof.clock");
        agent.send(Edition.ARGS, "8", "clock.now");
        assertEquals("unavailable", agent.answer().token());
        dev.droidgate.proof.apps.RadioReceiver.description = "Sell the weather.";
        agent.send(Edition.ARGS, "9", "radio.forecast", "place", "x");
        assertEquals("needs_approval", agent.answer().token());
    }

    @Test
    public void grantsThatCannotBeReadGrantNothing() {
        host.ask("ask", "on", false);
        host.grant(AGENT, "*");
        phone.killShim();
        phone.spoil("grants.json");
        agent.bind(ToolService.class);
        agent.send(Edition.ARGS, "7", "clock.now");
        assertEquals("denied", agent.answer().token());
    }
}
