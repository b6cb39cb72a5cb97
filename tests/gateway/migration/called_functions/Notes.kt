package dev.notes

import android.content.Context
import androidx.appfunctions.AppFunction
import androidx.appfunctions.AppFunctionContext
import androidx.appfunctions.AppFunctionSerializable
import java.time.LocalDateTime

@AppFunctionSerializable
data class Note(
    val id: Long,
    val title: String,
    val tags: List<String>,
    val weights: FloatArray,
    val isOpen: Boolean,
    val next: Note?,
    val at: LocalDateTime,
    val `class`: Int?,
)

/** What a caller did wrong: a checked exception, as Jetpack's are. */
class Refused(message: String) : Exception(message)

class Notes {
    @AppFunction
    suspend fun suspended(context: AppFunctionContext, title: String, count: Int): Note = note(title, count)

    @AppFunction
    fun nested(context: AppFunctionContext, title: String): Note? =
        if (title.isEmpty()) null else note(title, 2)

    @AppFunction
    fun several(context: AppFunctionContext, titles: List<String>?): List<Note>? = titles?.map { note(it, 1) }

    @AppFunction
    fun scalars(
        context: AppFunctionContext,
        flag: Boolean,
        small: Int,
        large: Long,
        single: Float,
        double: Double,
        text: String?,
        data: ByteArray,
        numbers: IntArray,
        limit: Int = 5,
        longLimit: Long = 6,
        name: String? = "none",
    ): String = listOf(
        flag, small, large, single, double, text, data.toList(), numbers.toList(), limit, longLimit, name,
    ).joinToString("|")

    @AppFunction
    fun bytes(context: AppFunctionContext, result: String): ByteArray = result.toByteArray()

    @AppFunction
    fun numbers(context: AppFunctionContext, item: Int): IntArray = IntArray(item) { it }

    @AppFunction
    fun float(context: AppFunctionContext, value: Float): Float = value

    @AppFunction
    fun nothing(context: AppFunctionContext) { }

    @AppFunction
    fun fails(context: AppFunctionContext, how: String): Int =
        throw if (how == "checked") Refused("not $how") else IllegalStateException(how)

    @AppFunction
    fun caller(context: AppFunctionContext): String = context.callingPackageName

    @AppFunction
    fun contextClass(context: AppFunctionContext): String = context.context.javaClass.simpleName

    @AppFunction
    fun takesNote(context: AppFunctionContext, note: Note): String = note.title

    @AppFunction(isEnabled = false)
    fun disabled(context: AppFunctionContext): Int = 1

    private fun note(title: String, count: Int): Note = Note(
        id = 1L shl 40,
        title = title,
        tags = listOf("a", "b"),
        weights = floatArrayOf(0.5f),
        isOpen = true,
        next = if (count > 1) note(title, count - 1) else null,
        at = LocalDateTime.of(2026, 2, 14, 1, 2, 3, 4),
        `class` = null,
    )
}

object Shared {
    @AppFunction
    fun inObject(context: AppFunctionContext, value: Double?): Double? = value
}

class WithContext(private val context: Context) {
    @AppFunction
    fun withContext(call: AppFunctionContext): String = context.javaClass.simpleName
}

class WithDefaults(private val suffix: String = "!") {
    @AppFunction
    fun withDefaults(call: AppFunctionContext, text: String): String = text + suffix
}

class WithStore(private val store: Map<String, Int>) {
    @AppFunction
    fun stored(context: AppFunctionContext, key: String): Int = store.getValue(key)
}
