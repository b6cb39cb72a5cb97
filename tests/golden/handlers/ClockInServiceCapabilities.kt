package dev.made.app

import android.content.Context
import org.json.JSONObject

/** What the app does when a capability is called. A later migration leaves this file as it is. */
class ClockInServiceCapabilities(private val context: Context) : ClockInServiceCalls.Capabilities {

    /** Records that the user is at work today. Doing it twice on one day changes nothing. */
    override fun clockInToday(): Any? {
        throw ClockInServiceCalls.CallException("unavailable", "clock_in_today is not implemented yet")
    }

    /**
     * Adds a clock-in for one earlier day that the user forgot to record. Days that are still to
     * come are refused.
     */
    override fun makeUpClockIn(date: String): Any? {
        throw ClockInServiceCalls.CallException("unavailable", "make_up_clock_in is not implemented yet")
    }

    /** Tells whether the user clocked in on a given day. Without a date the answer is about today. */
    override fun queryClockIn(date: String?): JSONObject {
        // Returns an object with "date" (string), "has_clocked_in" (boolean).
        throw ClockInServiceCalls.CallException("unavailable", "query_clock_in is not implemented yet")
    }
}
