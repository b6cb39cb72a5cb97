package dev.droidgate.shim.core;

import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * What a route calls; each kind writes its calls and reads its answers (shim-engine.md 2 and 4).
 *
 * <p>An interface, not a class: what dex2jar makes of a choice between the kinds is an Object, which a JVM
 * takes for an interface only.
 */
public interface Backend {
    static Backend of(Map<String, Object> json) throws MalformedJsonException {
        String kind = Json.textAt(json, "kind");
        switch (kind) {
            case "mmcp-activity":
            case "mmcp-broadcast":
                return new ToolBackend(json, kind);
            case "app-function":
                return new FunctionBackend(json);
            case "mobile-mcp":
                return new CapabilityBackend(json);
            default:
                Json.check("app-action".equals(kind), kind);
                return new AppActionBackend(json);
        }
    }

    /**
     * Returns what goes out for a call.
     *
     * @throws CallFailure {@code invalid_argument}: the backend's form cannot say it
     */
    Outgoing writeCall(
            Route route, Map<String, Object> arguments, Map<String, Type> definitions, String newId)
            throws CallFailure;

    /**
     * Returns the value that it answered with.
     *
     * @throws CallFailure the failure that it reported
     */
    Object readAnswer(BackendAnswer answer, Route route, Map<String, Type> definitions) throws CallFailure;

    /** Returns the failure of a call whose answer is of another kind of backend. */
    static CallFailure otherForm() {
        return new CallFailure(
                FailureTokens.MALFORMED_RESPONSE, "the answer is of another form than the backend's");
    }

    /** A tool of an mMCP app. */
    final class ToolBackend implements Backend {
        /** Whether it is a receiver, else an activity. */
        public final boolean isBroadcast;

        private final String tool;

        ToolBackend(Map<String, Object> json, String kind) throws MalformedJsonException {
            Json.checkKeys(json, "kind", "component", "tool");
            tool = Json.nameAt(json, "tool");
            isBroadcast = "mmcp-broadcast".equals(kind);
        }

        @Override
        public Outgoing writeCall(
                Route route, Map<String, Object> arguments, Map<String, Type> definitions, String newId)
                throws CallFailure {
            Map<String, Object> renamed = route.renamed(arguments);
            return new Outgoing.ExtrasCall(
                    isBroadcast
                            ? MmcpWire.writeBroadcastCall(tool, renamed)
                            : MmcpWire.writeActivityCall(tool, renamed),
                    null);
        }

        @Override
        public Object readAnswer(BackendAnswer answer, Route route, Map<String, Type> definitions)
                throws CallFailure {
            if (isBroadcast && answer instanceof BackendAnswer.BroadcastAnswer) {
                BackendAnswer.BroadcastAnswer broadcast = (BackendAnswer.BroadcastAnswer) answer;
                return MmcpWire.readBroadcastResult(broadcast.code, broadcast.data);
            }
            if (!isBroadcast && answer instanceof BackendAnswer.ActivityAnswer) {
                BackendAnswer.ActivityAnswer activity = (BackendAnswer.ActivityAnswer) answer;
                return MmcpWire.readActivityResult(activity.code, activity.extras);
            }
            throw Backend.otherForm();
        }
    }

    /** An app function. */
    final class FunctionBackend implements Backend {
        private final String function;

        FunctionBackend(Map<String, Object> json) throws MalformedJsonException {
            Json.checkKeys(json, "kind", "package", "function");
            function = Json.nameAt(json, "function");
        }

        @Override
        public Outgoing writeCall(
                Route route, Map<String, Object> arguments, Map<String, Type> definitions, String newId)
                throws CallFailure {
            // Types go by the shim's names, so the document is renamed, not the value.
            Map<String, Object> document = DocumentWriter.write(arguments, route.input, definitions);
            Map<String, Object> properties = Json.object(document.get(DocumentTypes.PROPERTIES));
            document.put(DocumentTypes.PROPERTIES, route.renamed(properties));
            return new Outgoing.AppFunctionCall(function, document);
        }

        @Override
        public Object readAnswer(BackendAnswer answer, Route route, Map<String, Type> definitions)
                throws CallFailure {
            if (!(answer instanceof BackendAnswer.FunctionAnswer)) {
                throw Backend.otherForm();
            }
            BackendAnswer.FunctionAnswer returned = (BackendAnswer.FunctionAnswer) answer;
            if (returned.document == null) {
                boolean isEmpty = returned.message == null || returned.message.isEmpty();
                String text = isEmpty ? "gave no message" : returned.message;
                throw new CallFailure(FailureTokens.ofCode(returned.code), returned.code + " " + text);
            }
            Object value = DocumentReader.read(returned.document, route.output, definitions);
            return value == null && route.output == null ? MobileMcpResponse.MISSING : value;
        }
    }

    /** A capability of a Mobile-MCP tool app, called in one of the wire dialects. */
    final class CapabilityBackend implements Backend {
        private final String capability;
        private final WireDialect dialect;

        CapabilityBackend(Map<String, Object> json) throws MalformedJsonException {
            Json.checkKeys(json, "kind", "component", "capability", "dialect");
            capability = Json.nameAt(json, "capability");
            String named = Json.optionalTextAt(json, "dialect");
            dialect = named == null ? WireDialect.S0 : WireDialect.of(named);
            Json.check(dialect != null, named);
        }

        @Override
        public Outgoing writeCall(
                Route route, Map<String, Object> arguments, Map<String, Type> definitions, String newId)
                throws CallFailure {
            return new Outgoing.ExtrasCall(
                    MobileMcpWire.writeRequest(dialect, newId, capability, route.renamed(arguments)), newId);
        }

        @Override
        public Object readAnswer(BackendAnswer answer, Route route, Map<String, Type> definitions)
                throws CallFailure {
            if (!(answer instanceof BackendAnswer.ResponseAnswer)) {
                throw Backend.otherForm();
            }
            return ((BackendAnswer.ResponseAnswer) answer).response().identifiedValue();
        }
    }

    /** Screens of an app, of which the first that takes the arguments opens. */
    final class AppActionBackend implements Backend {
        /** {@code values} and {@code starts}, as the table has them. */
        private final Map<String, Object> json;

        AppActionBackend(Map<String, Object> json) throws MalformedJsonException {
            Json.checkKeys(json, "kind", "package", "action", "values", "starts");
            Json.nameAt(json, "action");
            List<Object> starts = Json.listAt(json, "starts");
            Json.check(!starts.isEmpty(), "starts");
            this.json = json;
        }

        @Override
        public Outgoing writeCall(
                Route route, Map<String, Object> arguments, Map<String, Type> definitions, String newId)
                throws CallFailure {
            String intent = ScreenStarts.write(json, route.renamed(arguments));
            return new Outgoing.ExtrasCall(Collections.singletonMap("intent", intent), null);
        }

        @Override
        public Object readAnswer(BackendAnswer answer, Route route, Map<String, Type> definitions)
                throws CallFailure {
            if (!(answer instanceof BackendAnswer.ActivityAnswer)) {
                throw Backend.otherForm();
            }
            return "The screen was opened. The app does not report what it does with the call.";
        }
    }
}
