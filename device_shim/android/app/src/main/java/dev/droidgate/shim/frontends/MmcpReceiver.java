package dev.droidgate.shim.frontends;

import android.content.BroadcastReceiver;
import android.content.ComponentName;
import android.content.Context;
import android.content.Intent;
import android.content.pm.PackageManager;
import android.os.Bundle;
import dev.droidgate.shim.Caller;
import dev.droidgate.shim.Shim;
import dev.droidgate.shim.core.Json;
import dev.droidgate.shim.core.JsonReader;
import dev.droidgate.shim.core.JsonWriter;
import dev.droidgate.shim.core.MalformedJsonException;
import dev.droidgate.shim.platform.Extras;
import dev.droidgate.shim.platform.Names;
import dev.droidgate.shim.targets.TargetDigests;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.xmlpull.v1.XmlPullParserException;

/** The shim as an mMCP tool app for agents that send broadcasts (shim.md 2). */
public final class MmcpReceiver extends BroadcastReceiver {
    /** Agents wait ten seconds, and Android calls a receiver of a foreground broadcast dead after as many. */
    private static final long BROADCAST_MS = 9_000;

    /** What a discovery is answered with: the manifest of a process does not change. */
    private static Bundle known;

    /** The answer to a broadcast that is kept open. */
    private static final class BroadcastReply extends TextReply {
        private final PendingResult result;

        BroadcastReply(Shim shim, PendingResult result, String tool) {
            super(shim, Caller.NOBODY, false, tool);
            this.result = result;
        }

        @Override
        void reply(String text, boolean succeeded) {
            result.setResultCode(succeeded ? -1 : 0);
            result.setResultData(text);
            result.finish();
        }
    }

    @Override
    public void onReceive(Context context, Intent intent) {
        if (Names.MMCP_DISCOVERY.equals(intent.getAction())) {
            Bundle tools = known == null ? discovery(context) : known;
            known = tools;
            if (tools != null && isOrderedBroadcast()) {
                setResultExtras(tools);
            }
        } else if (Names.MMCP_INVOKE.equals(intent.getAction()) && isOrderedBroadcast()) {
            Shim shim = Shim.of(context);
            Bundle extras = intent.getExtras();
            BroadcastReply reply = new BroadcastReply(shim, goAsync(), Extras.text(extras, Names.TOOL));
            Runnable late = () -> shim.giveUp(reply);
            shim.main.postDelayed(late, BROADCAST_MS);
            reply.whenAnswered(() -> shim.main.removeCallbacks(late));
            reply.ask(UUID.randomUUID().toString(), Extras.text(extras, Names.PARAMS));
        }
    }

    private Bundle discovery(Context context) {
        ComponentName self = new ComponentName(context, MmcpReceiver.class);
        PackageManager packages = context.getPackageManager();
        try {
            String text =
                    new TargetDigests(context.getPackageManager(), Shim.of(context).discoveries)
                            .textOf(
                                    packages.getReceiverInfo(self, PackageManager.GET_META_DATA),
                                    Names.MMCP_MANIFEST);
            return text == null ? null : tools(text);
        } catch (PackageManager.NameNotFoundException
                | IOException
                | XmlPullParserException
                | MalformedJsonException none) {
            return null;
        }
    }

    private static Bundle tools(String manifest) throws MalformedJsonException {
        Map<String, Object> fields = Json.objectOf(JsonReader.parseOwn(manifest), "the manifest");
        List<String> names = new ArrayList<>();
        Bundle extras = new Bundle();
        for (Object item : Json.listAt(fields, Names.TOOLS)) {
            Map<String, Object> tool = Json.objectOf(item, "a tool");
            String name = Json.textAt(tool, "name");
            String description = Json.text(tool.get(Names.DESCRIPTION));
            names.add(name);
            extras.putString(name + '.' + Names.DESCRIPTION, description == null ? "" : description);
            extras.putString(
                    name + '.' + Names.PARAMETERS,
                    JsonWriter.write(Json.objectAt(tool, Names.PARAMETERS)));
        }
        extras.putStringArray(Names.TOOLS, names.toArray(new String[0]));
        return extras;
    }
}
