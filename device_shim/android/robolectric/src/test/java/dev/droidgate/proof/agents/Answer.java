package dev.droidgate.proof.agents;

import java.util.Map;

/** A Mobile-MCP response as an agent reads it; the message is null where the call succeeded. */
public record Answer(String id, String message, Map<String, Object> outputs) {
    /** Returns the failure's token: what is before the message's first colon. */
    public String token() {
        return message == null ? null : message.split(":", 2)[0];
    }
}
