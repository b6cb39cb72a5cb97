package dev.tools

import org.json.JSONObject

/** What Tools.java does, as an object that returns text. */
object Tools {
    fun run(tool: String, given: JSONObject): String = when (tool) {
        "add" -> "${given.getLong("first_term") + given.optLong("second_term", 10)}"
        "who" -> "Tools"
        "greet", "welcome" -> "Hello, ${given.optString("name", "friend")}!"
        "fail" -> throw IllegalArgumentException("no ${given.getString("thing")}")
        else -> throw IllegalStateException(tool)
    }
}
