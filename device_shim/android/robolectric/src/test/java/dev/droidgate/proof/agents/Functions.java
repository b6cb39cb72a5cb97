package dev.droidgate.proof.agents;

import android.app.appfunctions.ExecuteAppFunctionRequest;
import android.app.appsearch.GenericDocument;
import android.os.RemoteException;
import dev.droidgate.proof.apps.Behaviour;
import dev.droidgate.proof.phone.FunctionStatesOnPhone;
import dev.droidgate.proof.phone.FunctionsOnPhone;
import dev.droidgate.proof.phone.Phone;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/** The app functions of a phone with Android 16, for tests that may name no newer class themselves. */
public final class Functions {
    private final FunctionsOnPhone service;

    public Functions(Phone phone) {
        service = FunctionsOnPhone.install();
    }

    public void behave(Behaviour behaviour) {
        FunctionsOnPhone.behaviour = behaviour;
    }

    public void refuse(int code) {
        FunctionsOnPhone.behaviour = Behaviour.REFUSE;
        FunctionsOnPhone.code = code;
    }

    /** Null for a function that nobody knows. */
    public void enabled(Boolean state) {
        FunctionStatesOnPhone.state = state;
    }

    public int count() {
        return FunctionsOnPhone.CALLS.size();
    }

    public boolean isCancelled() {
        return FunctionsOnPhone.cancelled;
    }

    public void done() {
        try {
            service.done();
        } catch (RemoteException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Returns a call as text: package, function and parameters. */
    public String request(int index) {
        ExecuteAppFunctionRequest request = FunctionsOnPhone.CALLS.get(index);
        GenericDocument parameters = request.getParameters();
        Map<String, String> fields = new TreeMap<>();
        for (String name : parameters.getPropertyNames()) {
            fields.put(name, Arrays.deepToString((Object[]) parameters.getProperty(name)));
        }
        return request.getTargetPackageName() + "/" + request.getFunctionIdentifier() + fields;
    }
}
