package PACKAGE;

import android.app.appfunctions.AppFunctionException;
import android.app.appfunctions.ExecuteAppFunctionRequest;
import android.app.appfunctions.ExecuteAppFunctionResponse;
import android.app.appsearch.GenericDocument;
import android.os.CancellationSignal;
import android.os.OutcomeReceiver;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.json.JSONObject;

/** Calls the whole service: an id and one text parameter a line; a line that begins with - is canceled beforehand. */
public final class ServiceRunner {
    public static void main(String[] arguments) throws Exception {
        PREFIX service = new PREFIX();
        service.onCreate();
        BlockingQueue<JSONObject> outcomes = new LinkedBlockingQueue<>();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] parts = line.split(" ");
            CancellationSignal signal = new CancellationSignal();
            if (parts[0].equals("-")) {
                signal.cancel();
            }
            GenericDocument parameters = new GenericDocument.Builder<>("", "", "")
                    .setPropertyString(parts[2], parts[3]).build();
            service.onExecuteFunction(
                    new ExecuteAppFunctionRequest.Builder("dev.made.app", parts[1]).setParameters(parameters).build(),
                    "dev.caller", null, signal, new OutcomeReceiver<ExecuteAppFunctionResponse, AppFunctionException>() {
                        @Override
                        public void onResult(ExecuteAppFunctionResponse response) {
                            GenericDocument document = response.getResultDocument();
                            outcomes.add(new JSONObject(java.util.Collections.singletonMap("result",
                                    String.valueOf(document.getPropertyString("androidAppfunctionsReturnValue")))));
                        }

                        @Override
                        public void onError(AppFunctionException error) {
                            outcomes.add(new JSONObject(java.util.Collections.singletonMap(
                                    "error", error.getErrorCode() + " " + error.getErrorMessage())));
                        }
                    });
            System.out.println(outcomes.poll(10, TimeUnit.SECONDS));
        }
        Thread.sleep(100);
        if (!outcomes.isEmpty()) {
            throw new IllegalStateException("more than one outcome: " + outcomes);
        }
        service.onDestroy();
    }
}
