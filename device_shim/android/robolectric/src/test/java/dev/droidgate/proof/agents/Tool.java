package dev.droidgate.proof.agents;

import android.content.ComponentName;
import java.util.List;

/** A Mobile-MCP tool as an agent finds it. */
public record Tool(ComponentName service, String name, String description, List<Capability> capabilities) {
    /** What a tool can do. */
    public record Capability(
            String id, String description, String version, List<Parameter> input, List<Parameter> output) {}

    /** What goes in or comes out; an output is never required. */
    public record Parameter(String name, String type, boolean required, String description) {}
}
