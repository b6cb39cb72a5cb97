package dev.droidgate.runtime.shadows;

import android.app.Notification;
import android.app.Service;
import dev.droidgate.runtime.ProcessLink;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.annotation.RealObject;
import org.robolectric.shadows.ShadowService;

/**
 * Reports to the phone which starts a service is done with, and when it goes to the foreground and leaves it.
 */
@Implements(Service.class)
public final class ServicesOnPhone extends ShadowService {
    @RealObject private Service service;

    @Override
    @Implementation
    protected void stopSelf(int start) {
        ProcessLink process = ProcessLink.ownerOf(service);
        process.send("start_done", "class_name", service.getClass().getName(), "start", start);
    }

    @Override
    @Implementation
    protected void startForeground(int number, Notification notification) {
        ProcessLink.ownerOf(service).ask("start_foreground", "class_name", service.getClass().getName());
    }

    @Override
    @Implementation
    protected void stopForeground(int behaviour) {
        ProcessLink.ownerOf(service).send("stop_foreground", "class_name", service.getClass().getName());
    }
}
