package dev.droidgate.shim.core;

import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** The routes of a shim, as its builder wrote them (shim-engine.md 2). */
public final class RouteTable {
    private static final long FORMAT = 1;

    final Map<String, Type> definitions;
    private final Map<String, Route> routes = new LinkedHashMap<>();

    private RouteTable(Map<String, Object> json) throws MalformedJsonException {
        Json.check(Json.integerAt(json, "format", 0) == FORMAT, "format");
        Json.checkKeys(json, "format", "definitions", "routes");
        definitions = Type.mapOf(Json.objectAt(json, "definitions"));
        for (Type type : definitions.values()) {
            type.checkReferences(definitions);
        }
        Json.check(json.containsKey("routes"), "routes");
        for (Object item : Json.listAt(json, "routes")) {
            Route route = new Route(Json.objectOf(item, "a route"), definitions);
            Json.check(routes.put(route.id, route) == null, route.id);
        }
    }

    /**
     * Reads a table from parsed JSON.
     *
     * @throws MalformedJsonException the JSON is not a route table of this format
     */
    public static RouteTable of(Object json) throws MalformedJsonException {
        return new RouteTable(Json.objectOf(json, "the route table"));
    }

    /** Returns all routes in the order of the table. */
    public Collection<Route> all() {
        return Collections.unmodifiableCollection(routes.values());
    }

    /** Returns the route of a capability, null where there is none. */
    public Route find(String capability) {
        return routes.get(capability);
    }
}
