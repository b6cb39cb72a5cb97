package dev.tools

import android.app.Activity
import android.content.Intent
import org.json.JSONObject

object Greeter {
    fun handle(toolName: String, parameters: JSONObject): String = when (toolName) {
        "greet", "welcome" -> "Hello, ${parameters.optString("name", "friend")}!"
        else -> throw IllegalArgumentException(toolName)
    }
}

class GreeterActivity : Activity() {
    private fun handleToolCall(intent: Intent) {
        val toolName = intent.getStringExtra("tool_name")
        if (toolName == "wave") {
            setResult(RESULT_OK)
        }
    }
}
