package dev.droidgate.sample.tally;

import dev.droidgate.sample.mobilemcp.Descriptor;
import dev.droidgate.sample.mobilemcp.RequestEngine;
import org.json.JSONObject;

/** The capabilities of the app, over the sender's totals. */
final class TallyEngine extends RequestEngine {
    private final Totals totals;

    /** An engine without totals answers where no client is bound for whom they could be kept. */
    TallyEngine(Descriptor descriptor, Totals totals) {
        super("Tally", descriptor);
        this.totals = totals;
    }

    @Override
    protected Answer run(String capabilityId, JSONObject args) throws Refusal {
        if (totals == null) {
            throw new Refusal("unavailable", "points are kept only for an assistant that binds this service");
        }
        String player = args.optString("player");
        switch (capabilityId) {
            case "add_points":
                String problem = totals.add(player, args.optLong("points"));
                if (problem != null) {
                    throw new Refusal("invalid_argument", problem);
                }
                return totalOf(player);
            case "read_total":
                return totalOf(player);
            case "start_over":
                totals.clear();
                return new Answer("Every total is 0 again.");
            default:
                throw new IllegalStateException("declared but not written: " + capabilityId);
        }
    }

    private Answer totalOf(String player) {
        long total = totals.of(player);
        Answer answer = new Answer(player + " has " + total + ".");
        answer.outputs.put("player", player);
        answer.outputs.put("total", total);
        return answer;
    }
}
