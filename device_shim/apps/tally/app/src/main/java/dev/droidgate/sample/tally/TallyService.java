package dev.droidgate.sample.tally;

import android.content.Intent;
import android.os.IBinder;
import dev.droidgate.sample.mobilemcp.Descriptor;
import dev.droidgate.sample.mobilemcp.MobileMcpService;
import java.util.HashMap;
import java.util.Map;

/**
 * The Mobile-MCP service of an app that keeps state between calls: the points of a game, for as long as an
 * assistant is bound.
 *
 * <p>Android creates one service for all clients, and asks it for a binder once for each intent that differs
 * from the others (Intent.filterEquals); clients that bind with an equal one get that same binder. So the
 * points are kept for each such intent and, within it, for each uid that Android says a message comes from
 * (Message.sendingUid). What an assistant says about itself in a request decides nothing.
 */
public final class TallyService extends MobileMcpService {
    private final Map<Intent.FilterComparison, Map<Integer, Totals>> totalsByBinder = new HashMap<>();
    private Descriptor descriptor;

    public TallyService() {
        super(
                "Tally",
                android.R.drawable.ic_menu_sort_by_size,
                R.string.service_channel,
                R.string.service_notification);
    }

    @Override
    public void onCreate() {
        super.onCreate();
        descriptor = Descriptor.load(getResources(), R.xml.mcp_capabilities);
    }

    @Override
    public IBinder onBind(Intent intent) {
        Map<Integer, Totals> totalsByUid = new HashMap<>();
        // The compared parts identify the binder; the intent's other parts are not kept.
        totalsByBinder.put(new Intent.FilterComparison(intent.cloneFilter()), totalsByUid);
        return binderOf((request, uid) -> {
            Totals totals = totalsByUid.computeIfAbsent(uid, newUid -> new Totals());
            return new TallyEngine(descriptor, totals).answer(request);
        });
    }

    /**
     * The last client bound with this intent has unbound. While the service lives on for others, Android
     * returns the same binder again without asking, so the points kept for it begin anew.
     *
     * @return true: without it Android would not call onUnbind again
     */
    @Override
    public boolean onUnbind(Intent intent) {
        totalsByBinder.get(new Intent.FilterComparison(intent)).clear();
        return true;
    }

    /** Refuses a start: it leaves no client bound for whom points could be kept. */
    @Override
    protected String answerStarted(String request) {
        return new TallyEngine(descriptor, null).answer(request);
    }
}
