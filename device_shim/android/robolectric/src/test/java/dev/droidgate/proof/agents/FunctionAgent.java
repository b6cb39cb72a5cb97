package dev.droidgate.proof.agents;

import android.app.appfunctions.AppFunctionException;
import android.app.appfunctions.ExecuteAppFunctionRequest;
import android.app.appfunctions.ExecuteAppFunctionResponse;
import android.app.appfunctions.IAppFunctionService;
import android.app.appfunctions.ICancellationCallback;
import android.app.appfunctions.IExecuteAppFunctionCallback;
import android.app.appsearch.GenericDocument;
import android.content.pm.Signature;
import android.content.pm.SigningInfo;
import android.os.IBinder;
import android.os.ICancellationSignal;
import android.os.RemoteException;
import dev.droidgate.proof.phone.Inputs.App;
import dev.droidgate.proof.phone.Phone;
import dev.droidgate.shim.frontends.FunctionService;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.robolectric.shadow.api.Shadow;
import org.robolectric.shadows.ShadowSigningInfo;

/** Android 16's app function service as the shim's caller: it binds the service and vouches for the package. */
public final class FunctionAgent {
    private static final int SYSTEM = 1_000;

    private final Phone phone;
    private final IBinder binder;

    /** With which the system vouches for the calling package; at first it knows none. */
    private final SigningInfo signing = Shadow.newInstanceOf(SigningInfo.class);

    public FunctionAgent(Phone phone) {
        this.phone = phone;
        phone.permit(SYSTEM, "android.permission.BIND_APP_FUNCTION_SERVICE");
        binder = phone.service(FunctionService.class).onBind(null);
    }

    /** Lets the system vouch for callers with an app's certificate. */
    public void vouch(App app) {
        ShadowSigningInfo shadow = Shadow.extract(signing);
        shadow.setSignatures(new Signature[] {new Signature(app.certificate())});
    }

    /** Calls a function; returns the outputs, or the error's code. */
    public String call(String callingPackage, String function, Object... arguments) {
        return callAs(SYSTEM, callingPackage, function, arguments);
    }

    /** Calls as a uid; null where the service lets it not in. */
    public String callAs(int uid, String callingPackage, String function, Object... arguments) {
        GenericDocument.Builder<?> given = new GenericDocument.Builder<>("", "", "");
        for (int index = 0; index < arguments.length; index += 2) {
            given.setPropertyString((String) arguments[index], (String) arguments[index + 1]);
        }
        ExecuteAppFunctionRequest request =
                new ExecuteAppFunctionRequest.Builder("dev.droidgate.shim", function)
                        .setParameters(given.build())
                        .build();
        List<String> answers = new ArrayList<>();
        boolean[] refused = new boolean[1];
        phone.as(
                uid,
                () -> {
                    try {
                        IAppFunctionService.Stub.asInterface(binder)
                                .executeAppFunction(
                                        request,
                                        callingPackage,
                                        signing,
                                        new Cancellations(),
                                        new Answers(answers));
                    } catch (SecurityException notAllowed) {
                        refused[0] = true;
                    } catch (RemoteException gone) {
                        throw new AssertionError(gone);
                    }
                });
        if (refused[0]) {
            return null;
        }
        phone.until("an answer of " + function, () -> !answers.isEmpty());
        phone.quiet();
        if (answers.size() != 1) {
            throw new AssertionError(answers);
        }
        return answers.get(0);
    }

    private static final class Cancellations extends ICancellationCallback.Stub {
        @Override
        public void sendCancellationTransport(ICancellationSignal transport) {}
    }

    private static final class Answers extends IExecuteAppFunctionCallback.Stub {
        private final List<String> answers;

        Answers(List<String> answers) {
            this.answers = answers;
        }

        @Override
        public void onSuccess(ExecuteAppFunctionResponse response) {
            GenericDocument document = response.getResultDocument();
            answers.add(
                    fieldsOf(document.getPropertyDocument(ExecuteAppFunctionResponse.PROPERTY_RETURN_VALUE))
                            .toString());
        }

        @Override
        public void onError(AppFunctionException error) {
            answers.add(String.valueOf(error.getErrorCode()));
        }

        private static Map<String, Object> fieldsOf(GenericDocument document) {
            Map<String, Object> fields = new TreeMap<>();
            for (String name : document.getPropertyNames()) {
                Object values = document.getProperty(name);
                List<Object> list = new ArrayList<>();
                for (int index = 0; index < Array.getLength(values); index++) {
                    list.add(Array.get(values, index));
                }
                fields.put(name, list);
            }
            return fields;
        }
    }
}
