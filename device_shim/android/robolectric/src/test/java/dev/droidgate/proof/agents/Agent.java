package dev.droidgate.proof.agents;

import android.app.PendingIntent;
import android.app.Service;
import android.content.BroadcastReceiver;
import android.content.ComponentName;
import android.content.Context;
import android.content.Intent;
import android.content.IntentFilter;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import android.content.pm.ResolveInfo;
import android.content.res.Resources;
import android.content.res.XmlResourceParser;
import android.os.Bundle;
import android.os.Handler;
import android.os.IBinder;
import android.os.Looper;
import android.os.Message;
import android.os.Messenger;
import android.os.Parcel;
import android.os.RemoteException;
import android.os.TransactionTooLargeException;
import dev.droidgate.proof.phone.Inputs.App;
import dev.droidgate.proof.phone.Phone;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.json.JSONException;
import org.json.JSONObject;
import org.robolectric.shadow.api.Shadow;
import org.robolectric.shadows.ShadowBinder;
import org.robolectric.shadows.ShadowPendingIntent;
import org.xmlpull.v1.XmlPullParser;
import org.xmlpull.v1.XmlPullParserException;

/**
 * An agent that knows the Mobile-MCP specification and nothing of the shim.
 *
 * <p>Sections 2 and 3 of the specification, both editions; the names that it leaves open (the message's numbers,
 * the callback's extra) are the reference implementation's.
 */
public final class Agent {
    private static final String ACTION_ANSWER = "dev.droidgate.proof.ANSWER";

    /** Who Android says that this is. */
    public final App app;

    /** What came back, in its order. */
    public final List<Answer> answers = new ArrayList<>();

    /** The bundles that came back, as they were. */
    public final List<Bundle> raw = new ArrayList<>();

    private final Phone phone;
    private final Context context;
    private final String action;
    private IBinder binder;
    private IBinder lastReplyTo;

    public Agent(Phone phone, App app) {
        this.phone = phone;
        this.app = app;
        context = phone.context();
        action = ACTION_ANSWER + "." + app.name() + "." + UUID.randomUUID();
        context.registerReceiver(
                new BroadcastReceiver() {
                    @Override
                    public void onReceive(Context by, Intent intent) {
                        took(Edition.valueOf(intent.getStringExtra("edition")), intent.getExtras());
                    }
                },
                new IntentFilter(action));
    }

    // Section 2: discovery.

    /** Returns the tools of this phone. */
    public List<Tool> discover() {
        PackageManager packages = context.getPackageManager();
        List<Tool> tools = new ArrayList<>();
        for (ResolveInfo resolved :
                packages.queryIntentServices(new Intent("mobile.mcp.SERVICE"), PackageManager.GET_META_DATA)) {
            Bundle bundle = resolved.serviceInfo.metaData;
            try {
                ApplicationInfo info = packages.getApplicationInfo(resolved.serviceInfo.packageName, 0);
                Resources resources = packages.getResourcesForApplication(info);
                tools.add(
                        new Tool(
                                new ComponentName(resolved.serviceInfo.packageName, resolved.serviceInfo.name),
                                bundle.getString("mobile.mcp.tool.name"),
                                bundle.getString("mobile.mcp.tool.description"),
                                read(resources, bundle.getInt("mobile.mcp.tool.capabilities"))));
            } catch (PackageManager.NameNotFoundException | XmlPullParserException | IOException failed) {
                throw new AssertionError(resolved.serviceInfo.name, failed);
            }
        }
        return tools;
    }

    private static List<Tool.Capability> read(Resources resources, int id)
            throws XmlPullParserException, IOException {
        List<Tool.Capability> found = new ArrayList<>();
        Tool.Capability capability = null;
        List<Tool.Parameter> parameters = null;
        try (XmlResourceParser xml = resources.getXml(id)) {
            for (int event = xml.next(); event != XmlPullParser.END_DOCUMENT; event = xml.next()) {
                if (event != XmlPullParser.START_TAG) {
                    continue;
                }
                switch (xml.getName()) {
                    case "mobile-mcp-capabilities":
                        expect("1.0".equals(xml.getAttributeValue(null, "version")), "the version");
                        break;
                    case "capability":
                        capability =
                                new Tool.Capability(
                                        must(xml, "id"),
                                        must(xml, "description"),
                                        must(xml, "version"),
                                        new ArrayList<>(),
                                        new ArrayList<>());
                        found.add(capability);
                        break;
                    case "input":
                        parameters = capability.input();
                        break;
                    case "output":
                        parameters = capability.output();
                        break;
                    case "param":
                        boolean given = parameters == capability.input();
                        parameters.add(
                                new Tool.Parameter(
                                        must(xml, "name"),
                                        must(xml, "type"),
                                        given && Boolean.parseBoolean(must(xml, "required")),
                                        must(xml, "description")));
                        break;
                    default:
                        throw new AssertionError(xml.getName());
                }
            }
        }
        return found;
    }

    private static String must(XmlResourceParser xml, String name) {
        String value = xml.getAttributeValue(null, name);
        expect(value != null, xml.getName() + " " + name + ": " + value);
        return value;
    }

    private static void expect(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    // Section 3: invocation.

    /** Binds a tool's service, as {@code Context.bindService} with its component does. */
    public void bind(Class<? extends Service> type) {
        Service service = phone.service(type);
        Intent intent = new Intent().setClassName(phone.context(), type.getName());
        phone.as(app.uid(), () -> binder = service.onBind(intent));
        expect(binder != null, "the binding is null");
    }

    /** Sends a request over the binding; what comes back is in {@link #answers}. */
    public void send(Edition edition, String id, String capability, Object... arguments) {
        Bundle data = new Bundle();
        data.putString(edition.requestExtra, edition.request(id, capability, of(arguments)));
        send(edition, data);
    }

    /** Returns arguments of names and values in turn. */
    static JSONObject of(Object... arguments) {
        JSONObject given = new JSONObject();
        try {
            for (int index = 0; index < arguments.length; index += 2) {
                given.put((String) arguments[index], arguments[index + 1]);
            }
        } catch (JSONException impossible) {
            throw new IllegalStateException(impossible);
        }
        return given;
    }

    /** Sends any data over the binding. */
    public void send(Edition edition, Bundle data) {
        Message message = Message.obtain(null, 1);
        message.setData(data);
        message.replyTo =
                new Messenger(
                        new Handler(Looper.getMainLooper()) {
                            @Override
                            public void handleMessage(Message answer) {
                                expect(answer.what == 2, "an answer's number");
                                took(edition, answer.getData());
                            }
                        });
        lastReplyTo = message.replyTo.getBinder();
        phone.as(
                app.uid(),
                () -> {
                    try {
                        new Messenger(binder).send(message);
                    } catch (RemoteException gone) {
                        throw new AssertionError(gone);
                    }
                });
    }

    /** Ends this agent's process: Android says so to whoever has linked to the death of its last binder. */
    public void die() {
        ShadowBinder shadow = Shadow.extract(lastReplyTo);
        shadow.getDeathRecipients().forEach(IBinder.DeathRecipient::binderDied);
    }

    /** Starts a tool's service with a callback that takes no answer. */
    public void startImmutable(Class<? extends Service> type, Edition edition, String id, String capability) {
        PendingIntent callback =
                PendingIntent.getBroadcast(
                        context, 99, new Intent(action + ".immutable"), PendingIntent.FLAG_IMMUTABLE);
        ShadowPendingIntent shadow = Shadow.extract(callback);
        shadow.setCreatorPackage(app.packageName());
        shadow.setCreatorUid(app.uid());
        phone.start(
                type,
                new Intent()
                        .setClassName(phone.context(), type.getName())
                        .putExtra(edition.requestExtra, edition.request(id, capability, of()))
                        .putExtra("mcp_callback", callback));
    }

    /** Starts a tool's service with a request; the specification's intent names the component and no action. */
    public void start(
            Class<? extends Service> type, Edition edition, String id, String capability, Object... arguments) {
        Intent intent =
                new Intent()
                        .setClassName(phone.context(), type.getName())
                        .putExtra(edition.requestExtra, edition.request(id, capability, of(arguments)))
                        .putExtra("mcp_callback", callback(edition, id));
        Starts.last = new Intent(intent);
        phone.start(type, intent);
    }

    /** Returns the names of what the one answer holds, and forgets it. */
    public Set<String> keys() {
        Set<String> keys = new TreeSet<>(raw.get(0).keySet());
        answer();
        return keys;
    }

    /** Returns a callback of this agent. */
    public PendingIntent callback(Edition edition, String id) {
        Intent answer = new Intent(action).putExtra("edition", edition.name()).putExtra("mcp_request_id", id);
        PendingIntent callback =
                PendingIntent.getBroadcast(
                        context, id.hashCode(), answer, PendingIntent.FLAG_UPDATE_CURRENT | PendingIntent.FLAG_MUTABLE);
        ShadowPendingIntent shadow = Shadow.extract(callback);
        shadow.setCreatorPackage(app.packageName());
        shadow.setCreatorUid(app.uid());
        return callback;
    }

    /** Sends a request whose answers' binder takes no transaction of more bytes, as one that is nearly full. */
    public void sendToNarrow(Edition edition, String id, int room, String capability, Object... arguments) {
        Message message = Message.obtain(null, 1);
        Bundle data = new Bundle();
        data.putString(edition.requestExtra, edition.request(id, capability, of(arguments)));
        message.setData(data);
        IBinder narrow =
                (IBinder)
                        Proxy.newProxyInstance(
                                IBinder.class.getClassLoader(),
                                new Class<?>[] {IBinder.class},
                                (self, method, given) -> transacted(edition, room, method.getName(), given));
        message.replyTo = new Messenger(narrow);
        phone.as(app.uid(), () -> {
            try {
                new Messenger(binder).send(message);
            } catch (RemoteException gone) {
                throw new AssertionError(gone);
            }
        });
    }

    private Object transacted(Edition edition, int room, String method, Object[] given)
            throws TransactionTooLargeException {
        if (!method.equals("transact")) {
            return method.equals("unlinkToDeath") ? true : null;
        }
        Parcel parcel = (Parcel) given[1];
        if (parcel.dataSize() > room) {
            throw new TransactionTooLargeException();
        }
        parcel.setDataPosition(0);
        parcel.enforceInterface("android.os.IMessenger");
        expect(parcel.readInt() == 1, "a message");
        Message answer = Message.CREATOR.createFromParcel(parcel);
        expect(answer.what == 2, "an answer's number");
        answer.getData().setClassLoader(Agent.class.getClassLoader());
        took(edition, answer.getData());
        return true;
    }

    private void took(Edition edition, Bundle extras) {
        raw.add(extras);
        answers.add(edition.read(extras.getString(edition.responseExtra)));
    }

    // What every test wants.

    /** Waits for an answer, and returns and forgets it; that it is the only one is seen to. */
    public Answer answer() {
        phone.until("an answer to " + app.name(), () -> !answers.isEmpty());
        expect(answers.size() == 1, "there are " + answers.size() + " answers: " + answers);
        raw.clear();
        return answers.remove(0);
    }
}
