import dev.droidgate.shim.core.AppCaller;
import dev.droidgate.shim.core.CallFailure;
import dev.droidgate.shim.core.CallPermission;
import dev.droidgate.shim.core.Engine;
import dev.droidgate.shim.core.Incoming;
import dev.droidgate.shim.core.JsonReader;
import dev.droidgate.shim.core.Outgoing;
import dev.droidgate.shim.core.Policy;
import dev.droidgate.shim.core.Questions;
import dev.droidgate.shim.core.Route;
import dev.droidgate.shim.core.RouteTable;
import dev.droidgate.shim.core.Target;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** One approved request whose target takes longer to look at than the call may; prints what becomes of it. */
public final class LateTarget {
    private static long now;

    public static void main(String[] files) throws Exception {
        RouteTable routes = RouteTable.of(JsonReader.parseOwn(Files.readString(Path.of(files[0]))));
        AppCaller apps =
                new AppCaller() {
                    @Override
                    public Target installed(Route route) {
                        now += Long.parseLong(files[2]);
                        return route.target;
                    }

                    @Override
                    public String newRequestId() {
                        return "1";
                    }

                    @Override
                    public void call(long call, Object replyTo, CallPermission permission, Outgoing outgoing) {
                        System.out.println("goes out");
                    }
                };
        Questions nobody =
                new Questions() {
                    @Override
                    public boolean isAsking() {
                        return false;
                    }

                    @Override
                    public CallFailure ask(
                            long call,
                            Object replyTo,
                            Route route,
                            Map<String, Object> arguments,
                            long deadline) {
                        throw new IllegalStateException();
                    }
                };
        Engine engine =
                new Engine(
                        routes,
                        Policy.of(JsonReader.parse("{}")),
                        () -> now,
                        apps,
                        nobody,
                        (replyTo, extras, token) -> System.out.println(token));
        Map<String, String> extras = Map.of("mobile-mcp-request", Files.readString(Path.of(files[1])));
        engine.receive(Incoming.read(true, extras), true, 7, "me");
        now += 1_000_000;
        engine.expire();
    }
}
