package dev.droidgate.shim.core;

import java.util.LinkedHashMap;
import java.util.Map;

/** The routes of a shim, as its builder wrote them (docs/shim-engine.md 2). */
public final class RouteTable {
    private static final long FORMAT = 1;

    final Map<String, Type> definitions;
    private final Map<String, Route> routes = new LinkedHashMap<>();

    private RouteTable(Map<String, Object> json) throws MalformedJsonException {
        if (Json.integerAt(json, "format", 0) != FORMAT) {
            throw new MalformedJsonException("the route table is of another format");
        }
        Json.checkKeys(json, " format definitions routes ");
        definitions = Type.mapOf(Json.objectAt(json, "definitions"));
        for (Type one : definitions.values()) {
            one.checkReferences(definitions);
        }
        if (!json.containsKey("routes")) {
            throw new MalformedJsonException("the route table has no routes");
        }
        for (Object one : Json.listAt(json, "routes")) {
            Route route = new Route(Json.objectOf(one, "a route"), definitions);
            if (routes.containsKey(route.id)) {
                throw new MalformedJsonException("the route " + route.id + " stands twice");
            }
            routes.put(route.id, route);
        }
    }

    /**
     * Reads a table from parsed JSON.
     *
     * @throws MalformedJsonException it is none, or of another format
     */
    public static RouteTable of(Object json) throws MalformedJsonException {
        return new RouteTable(Json.objectOf(json, "the route table"));
    }

    /** Returns the route of a capability, null where there is none. */
    public Route find(String capability) {
        return routes.get(capability);
    }
}
