package dev.droidgate.proof.agents;

import java.util.Map;

/** A Mobile-MCP response as an agent reads it. */
public record Answer(String id, String capability, String status, String message, Map<String, Object> outputs) {
    /** Returns whether the call succeeded. */
    public boolean succeeded() {
        return "success".equals(status);
    }

    /** Returns the failure's token: what is before the message's first colon. */
    public String token() {
        return succeeded() || message == null ? null : message.split(":", 2)[0];
    }
}
