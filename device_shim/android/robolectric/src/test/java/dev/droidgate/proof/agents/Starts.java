package dev.droidgate.proof.agents;

import static org.robolectric.Shadows.shadowOf;

import android.app.PendingIntent;
import android.app.Service;
import android.content.Intent;
import android.os.Bundle;
import dev.droidgate.proof.phone.Phone;
import dev.droidgate.shim.backends.TrampolineActivity;
import dev.droidgate.shim.frontends.ToolService;
import org.robolectric.Robolectric;
import org.robolectric.shadows.ShadowService;

/** Starts that no agent of the specification would make, and what became of the service. */
public final class Starts {
    /** The last start, which Android delivers again where it was not acknowledged. */
    static Intent last;

    private final Phone phone;
    private final ShadowService service;

    public Starts(Phone phone) {
        this.phone = phone;
        service = shadowOf((Service) phone.service(ToolService.class));
    }

    public void withoutCallback(String request) {
        phone.start(ToolService.class, intent(request));
    }

    public void withActivity(String request) {
        PendingIntent callback =
                PendingIntent.getActivity(phone.context(), 0, new Intent("evil"), PendingIntent.FLAG_MUTABLE);
        phone.start(ToolService.class, intent(request).putExtra("mcp_callback", callback));
    }

    private Intent intent(String request) {
        return new Intent()
                .setClassName(phone.context(), ToolService.class.getName())
                .putExtra(Edition.ARGS.requestExtra, request);
    }

    /** Delivers the last start once more, as Android does after the death of a process. */
    public void again() {
        phone.service(ToolService.class).onStartCommand(last, Service.START_FLAG_REDELIVERY, 99);
    }

    /** Ends the shim's process under its open window, which Android then makes anew. */
    public void dieAndComeBack() {
        Bundle saved = new Bundle();
        TrampolineActivity open = phone.shown(TrampolineActivity.class);
        Intent intent = open.getIntent();
        org.robolectric.util.ReflectionHelpers.callInstanceMethod(
                android.app.Activity.class,
                open,
                "performSaveInstanceState",
                org.robolectric.util.ReflectionHelpers.ClassParameter.from(Bundle.class, saved));
        phone.killShim();
        Robolectric.buildActivity(TrampolineActivity.class, intent).create(saved);
    }

    public void forbidForeground() {
        service.setThrowInStartForeground(new IllegalStateException("not from the background"));
    }

    public void timeOut() {
        phone.service(ToolService.class).onTimeout(1);
    }

    public boolean isForeground() {
        return service.getLastForegroundNotification() != null;
    }

    public boolean wasForeground() {
        return service.isForegroundStopped();
    }

    public boolean isStopped() {
        return service.isStoppedBySelf();
    }
}
