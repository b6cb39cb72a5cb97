package dev.droidgate.proof;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.droidgate.proof.agents.Answer;
import dev.droidgate.proof.agents.Edition;
import dev.droidgate.proof.agents.Frames;
import dev.droidgate.proof.agents.Host;
import dev.droidgate.proof.apps.Apps;
import dev.droidgate.proof.apps.Behaviour;
import dev.droidgate.proof.apps.ClockService;
import dev.droidgate.proof.phone.Inputs;
import java.util.List;
import org.json.JSONException;
import org.json.JSONObject;
import org.junit.Test;

/** What a computer may ask for, and that nobody else may. */
public final class HostTest extends ShimTest {
    private static final String ID = "0123456789abcdef0123456789abcdef";

    @Test
    public void onlyTheShellAndRootWithTheirPermissionAreLetIn() {
        phone.permit(10_105, "android.permission.DUMP");
        phone.permit(1_000, "android.permission.DUMP");
        String argument = Host.encoded("{\"version\":1}");
        for (int uid : new int[] {10_105, 10_106, 1_000, 1, 1_999, 2_001}) {
            assertThrows(SecurityException.class, () -> host.call(uid, "hello", argument));
            assertThrows(SecurityException.class, () -> host.open(uid, ID, "w"));
            assertThrows(SecurityException.class, () -> host.open(uid, ID, "r"));
            assertThrows(SecurityException.class, () -> new Frames(phone, host).rows(uid));
        }
        phone.forbid(Host.SHELL, "android.permission.DUMP");
        assertThrows(SecurityException.class, () -> host.call(Host.SHELL, "hello", argument));
        assertEquals("dev.droidgate.shim", Host.text(host.call(Host.ROOT, "hello", argument), "application_id"));
    }

    @Test
    public void anotherVersionIsRefused() {
        for (String argument : List.of("{\"version\":2}", "{}", "{\"version\":\"1\"}")) {
            assertTrue(host.token(argument).matches("unsupported_version|invalid_argument"));
        }
        assertEquals("unsupported_version", host.token("{\"version\":2}"));
        assertEquals("invalid_argument", host.token("no json"));
        assertEquals("invalid_argument", host.token("{\"version\":1,\"version\":1}"));
    }

    @Test
    public void helloTellsWhatWasBuilt() {
        assertEquals("5e".repeat(32), host.text("hello", "build"));
        assertEquals(String.valueOf(36), host.text("hello", "sdk"));
        assertEquals(
                "[\"desk.echo\",\"desk.add\",\"radio.forecast\",\"radio.declared\",\"clock.now\",\"lamp.switch\",\"notes.create\",\"notes.count\"]",
                host.text("hello", "routes"));
    }

    @Test
    public void statusTellsWhatBecameOfTheTargets() {
        assertEquals("as-approved", host.state("dev.droidgate.proof.desk"));
        assertEquals("as-approved", host.state("dev.droidgate.proof.clock"));
        assertEquals("as-approved", host.state("dev.droidgate.proof.notes"));
        phone.install(Inputs.app("desk_by_another"));
        phone.uninstall("dev.droidgate.proof.notes");
        assertEquals("other-signer", host.state("dev.droidgate.proof.desk"));
        assertEquals("absent", host.state("dev.droidgate.proof.notes"));
    }

    @Test
    public void aCallOfTheHostNeedsNoGrant() {
        Answer answer = host.callTool(Edition.INPUT, "7", "clock.now");
        assertEquals("12:00", answer.outputs().get("time"));
        assertEquals("com.android.shell", host.history(0, "caller"));
        assertEquals("clock.now", host.history(0, "capability"));
        assertEquals("null", host.history(0, "token"));
    }

    @Test
    public void aCallOfTheHostRunsOutOfItsOwnTime() {
        Apps.all(Behaviour.SILENT);
        assertEquals("timeout", host.tokenOfCall("clock.now", 300));
        phone.quiet();
        assertEquals("0", host.text("status", "open"));
    }

    @Test
    public void aCallOfTheHostIsCanceledByItsId() {
        Apps.all(Behaviour.SILENT);
        Host.Pending call = host.begin(ID, "clock.now");
        phone.until("the call is at its app", () -> "app".equals(host.stage(ID)));
        assertEquals("busy", host.tokenOf("call", "request", "{}", "id", ID));
        assertEquals("true", String.valueOf(host.ask("cancel", "id", ID).opt("canceled")));
        assertEquals("canceled", call.token());
        phone.quiet();
        assertEquals("0", host.text("status", "open"));
        assertEquals("null", host.stage(ID));
        assertEquals("false", String.valueOf(host.ask("cancel", "id", ID).opt("canceled")));
    }

    @Test
    public void aTraceHasWhatWentToTheAppAndWhatCameBack() throws JSONException {
        JSONObject trace = host.trace("clock.now");
        assertTrue(trace.getString("to").startsWith("dev.droidgate.proof.clock/"));
        assertTrue(trace.getJSONObject("sent").getJSONObject("extras").toString().contains(trace.getString("id")));
        assertEquals(1, trace.getJSONArray("answers").length());
        assertTrue(trace.getJSONArray("answers").getJSONObject(0).toString().contains("12:00"));
        assertEquals("com.android.shell", trace.getJSONObject("origin").getString("gateway_origin_package"));
    }

    @Test
    public void anIdOfACallIsThirtyTwoDigits() {
        assertEquals("invalid_argument", host.tokenOf("call", "request", "{}", "id", "../grants"));
    }

    @Test
    public void grantsCanBeGivenListedAndRevoked() {
        host.grant(AGENT, "clock.now");
        host.grant(AGENT, "clock.now");
        host.grant(ANY_APP, "desk.echo");
        assertTrue(host.text("status", "grants").contains(Inputs.app("agent").signer()));
        agent.send(Edition.ARGS, "7", "clock.now");
        assertTrue(agent.answer().succeeded());
        assertEquals("1", host.revoke(AGENT, "clock.now"));
        assertEquals("0", host.revoke(AGENT, "clock.now"));
        host.ask("ask", "on", false);
        agent.send(Edition.ARGS, "7", "clock.now");
        assertEquals("denied", agent.answer().token());
        assertEquals("unavailable", host.tokenOf("grant", "caller", "dev.nobody", "capability", "*"));
        assertEquals("unknown_capability", host.tokenOf("grant", "caller", AGENT, "capability", "none"));
    }

    @Test
    public void whatIsSwitchedOffIsDisabledForAll() {
        host.grant(AGENT, "*");
        host.ask("switch", "capability", "clock.now", "on", false);
        agent.send(Edition.ARGS, "7", "clock.now");
        assertEquals("disabled", agent.answer().token());
        phone.killShim();
        assertEquals("[\"clock.now\"]", host.text("status", "switched_off"));
        host.ask("switch", "capability", "clock.now", "on", true);
        agent.bind(dev.droidgate.shim.frontends.ToolService.class);
        agent.send(Edition.ARGS, "7", "clock.now");
        assertTrue(agent.answer().succeeded());
    }

    @Test
    public void theHistoryHoldsNoArgumentsAndIsCleared() {
        host.grant(AGENT, "*");
        for (int id = 0; id < 210; id++) {
            agent.send(Edition.ARGS, "i" + id, "desk.add", "a", "secret-word", "b", 1);
            assertEquals("invalid_argument", agent.answer().token());
        }
        String history = host.text("history", "calls");
        assertFalse(history.contains("secret-word"));
        assertEquals(200, host.histories());
        host.ask("clear-history");
        assertEquals(0, host.histories());
    }

    @Test
    public void aReceiverIsAskedForItsTools() {
        assertEquals(
                "[[\"forecast\",\"Say the weather.\",\"{\\\"place\\\":\\\"string\\\"}\"]]",
                host.discover("dev.droidgate.proof.radio/dev.droidgate.proof.apps.RadioReceiver"));
    }

    @Test
    public void longRequestsTravelInFrames() {
        Frames frames = new Frames(phone, host);
        String text = "x".repeat(60_000);
        Answer answer = frames.call(ID, Edition.ARGS, "desk.echo", "text", text);
        assertEquals(text, answer.outputs().get("result"));
        assertThrows(AssertionError.class, () -> frames.read(ID));
    }

    @Test
    public void aFrameIsCheckedToItsLastByte() {
        Frames frames = new Frames(phone, host);
        byte[] good = Frames.frame(Edition.ARGS.request("7", "clock.now", null));
        int id = 0;
        for (byte[] bad : Frames.spoiled(good)) {
            String name = String.format("%032x", ++id);
            frames.write(name, bad);
            assertArrayEquals(new byte[0], frames.payload(frames.read(name)));
        }
        assertTrue(ClockService.CALLS.isEmpty());
        assertThrows(AssertionError.class, () -> frames.read("../../grants.json"));
        assertThrows(AssertionError.class, () -> frames.read(ID));
    }
}
