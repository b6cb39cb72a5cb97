package dev.droidgate.sample.clockin;

import android.content.Intent;
import android.os.IBinder;
import dev.droidgate.sample.mobilemcp.Descriptor;
import dev.droidgate.sample.mobilemcp.MobileMcpService;
import java.time.Clock;

/** The Mobile-MCP service of the app: one book for all assistants, bound or not. */
public final class ClockInService extends MobileMcpService {
    private ClockInEngine engine;
    private IBinder binder;

    public ClockInService() {
        super(
                "ClockIn",
                android.R.drawable.ic_menu_today,
                R.string.service_channel,
                R.string.service_notification);
    }

    @Override
    public void onCreate() {
        super.onCreate();
        Descriptor descriptor = Descriptor.load(getResources(), R.xml.mcp_capabilities);
        engine = new ClockInEngine(descriptor, new ClockInBook(this), Clock.systemDefaultZone());
        binder = binderOf((request, uid) -> engine.answer(request));
    }

    @Override
    public IBinder onBind(Intent intent) {
        return binder;
    }

    @Override
    protected String answerStarted(String request) {
        return engine.answer(request);
    }
}
