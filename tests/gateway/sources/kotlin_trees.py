"""A small app with Kotlin functions, typed by hand after Jetpack's guide to AppFunctions."""

APP = """plugins { id("com.android.application") }
android {
    namespace = "dev.notes"
    defaultConfig { applicationId = "dev.notes"; minSdk = 36; targetSdk = 36 }
}
dependencies { implementation(project(":shared")) }
"""
LIBRARY = 'plugins { id("com.android.library") }\nandroid { namespace = "dev.shared" }\n'
MANIFEST = """<manifest xmlns:android="http://schemas.android.com/apk/res/android">
    <application android:label="Notes">
    </application>
</manifest>
"""
FUNCTIONS = """package dev.notes

import androidx.appfunctions.AppFunctionContext
import androidx.appfunctions.service.AppFunction
import dev.shared.Note

class Notes {
    /**
     * Adds a note.
     *
     * @param title The title of the note.
     */
    @AppFunction(isDescribedByKDoc = true)
    suspend fun addNote(context: AppFunctionContext, title: String): Note = Note(title)
}
"""
NOTE = """package dev.shared

import androidx.appfunctions.AppFunctionSerializable

@AppFunctionSerializable
data class Note(val title: String)
"""
ADD_NOTE = "dev.notes.Notes#addNote"


ENTRY_POINT = """package dev.notes

import androidx.appfunctions.AppFunction
import androidx.appfunctions.AppFunctionService
import androidx.appfunctions.AppFunctionServiceEntryPoint

@AppFunctionServiceEntryPoint(serviceName = "NotesService", appFunctionXmlFileName = "notes")
abstract class BaseNotes : AppFunctionService() {
    @AppFunction suspend fun deleteNote(title: String): Boolean = true
}
"""
DELETE_NOTE = "dev.notes.BaseNotes#deleteNote"
ENTRY_POINT_PATH = "app/src/main/java/dev/notes/BaseNotes.kt"


def kotlin_tree() -> dict[str, str | bytes]:
    """Return the app, whose function returns a class of a library module."""
    return {
        "settings.gradle.kts": 'include(":app", ":shared")\n',
        "app/build.gradle.kts": APP,
        "app/src/main/AndroidManifest.xml": MANIFEST,
        "app/src/main/java/dev/notes/Notes.kt": FUNCTIONS,
        "shared/build.gradle.kts": LIBRARY,
        "shared/src/main/kotlin/dev/shared/Note.kt": NOTE,
    }


def entry_point_tree() -> dict[str, str | bytes]:
    """Return the app with a service entry point next to the function outside of it."""
    return {**kotlin_tree(), ENTRY_POINT_PATH: ENTRY_POINT}
