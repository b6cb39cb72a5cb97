package dev.made.app

import android.annotation.TargetApi
import androidx.appfunctions.AppFunctionDeclaration
import androidx.appfunctions.AppFunctionSerializable
import androidx.appfunctions.AppFunctionServiceEntryPoint
import androidx.appfunctions.AppFunctionStringValueConstraint

/** The app functions: put the app's work in place of each TODO(). */
@TargetApi(36)
@AppFunctionServiceEntryPoint(
    serviceName = "NotesService",
    appFunctionXmlFileName = "notes_service",
)
abstract class BaseNotesService : androidx.appfunctions.AppFunctionService() {

    /**
     * Add items to the end of a note's checklist. Items may hold further items, five levels deep at
     * most.
     * @param noteId The identifier of the note, as given by createNote or findNotes.
     * @param items The items to add, in order; at least one.
     * @return The note with its new checklist.
     */
    @AppFunctionDeclaration(isDescribedByKDoc = true)
    suspend fun addChecklistItems(
        noteId: String,
        items: List<ChecklistItem>,
    ): Note {
        TODO("dev.droidgate.sample.notes.NotesService#addChecklistItems is not implemented yet")
    }

    /**
     * Move a note to the archive.
     * @param noteId The identifier of the note, as given by createNote or findNotes.
     */
    @Deprecated("Use setNoteState with the state ARCHIVED instead.")
    @AppFunctionDeclaration(isDescribedByKDoc = true)
    suspend fun archiveNote(
        noteId: String,
    ) {
        TODO("dev.droidgate.sample.notes.NotesService#archiveNote is not implemented yet")
    }

    /**
     * Write a new note. Use it only when the user asked for something to be kept; to change a note
     * that exists, find it first.
     * @param title The heading, 1 to 120 characters.
     * @param content The text below the heading; empty when it is left out.
     * @param labels Up to ten words to file the note under.
     * @param priority How pressing the note is; NORMAL when it is left out.
     * @param reminder When or where to remind the user; leave it out if the user named neither.
     * @return The note as it was kept.
     */
    @AppFunctionDeclaration(isDescribedByKDoc = true)
    suspend fun createNote(
        title: String,
        content: String? = null,
        labels: List<String>? = null,
        @AppFunctionStringValueConstraint(enumValues = ["LOW", "NORMAL", "HIGH"])
        priority: String? = null,
        reminder: Reminder? = null,
    ): Note {
        TODO("dev.droidgate.sample.notes.NotesService#createNote is not implemented yet")
    }

    /**
     * Delete a note for good. Ask the user before: it cannot be brought back.
     * @param noteId The identifier of the note, as given by createNote or findNotes.
     * @return true when there was such a note, false when there was none.
     */
    @AppFunctionDeclaration(isDescribedByKDoc = true)
    suspend fun deleteNote(
        noteId: String,
    ): Boolean {
        TODO("dev.droidgate.sample.notes.NotesService#deleteNote is not implemented yet")
    }

    /**
     * Find notes, the newest first.
     * @param query What to look for; null finds every note that is not archived.
     * @param limit How many notes to return at most, from 1 to 100; 20 when it is left out.
     * @return The notes found; empty when there is none.
     */
    @AppFunctionDeclaration(isDescribedByKDoc = true)
    suspend fun findNotes(
        query: NoteQuery?,
        limit: Int? = null,
    ): List<Note> {
        TODO("dev.droidgate.sample.notes.NotesService#findNotes is not implemented yet")
    }

    /**
     * Read one note.
     * @param noteId The identifier of the note, as given by createNote or findNotes.
     * @return The note, or null when there is no note with this identifier.
     */
    @AppFunctionDeclaration(isDescribedByKDoc = true)
    suspend fun getNote(
        noteId: String,
    ): Note? {
        TODO("dev.droidgate.sample.notes.NotesService#getNote is not implemented yet")
    }

    /**
     * Pin a note to the top, put it into the archive, or make it an ordinary note again.
     * @param noteId The identifier of the note, as given by createNote or findNotes.
     * @param state Where the note shall be shown.
     * @return The note in its new state.
     */
    @AppFunctionDeclaration(isDescribedByKDoc = true)
    suspend fun setNoteState(
        noteId: String,
        @AppFunctionStringValueConstraint(enumValues = ["ACTIVE", "PINNED", "ARCHIVED"])
        state: String,
    ): Note {
        TODO("dev.droidgate.sample.notes.NotesService#setNoteState is not implemented yet")
    }

    /**
     * Count the notes and their words.
     * @return The figures.
     */
    @AppFunctionDeclaration(isDescribedByKDoc = true)
    suspend fun summarizeNotes(
    ): NoteStatistics {
        TODO("dev.droidgate.sample.notes.NotesService#summarizeNotes is not implemented yet")
    }
}

/** One line of a checklist; it may have a checklist of its own. */
@AppFunctionSerializable(isDescribedByKDoc = true)
data class ChecklistItem(
    /** What is to be done. */
    val text: String,
    /** Whether it is done. */
    val done: Boolean,
    /** The steps of this item, in order; empty for a single step. */
    val children: List<ChecklistItem>,
)

/** A note as the app keeps it. */
@AppFunctionSerializable(isDescribedByKDoc = true)
data class Note(
    /** The note's identifier in this app. */
    val noteId: String,
    /** The heading. */
    val title: String,
    /** The text below the heading. */
    val content: String,
    /** Where the note is shown. */
    @AppFunctionStringValueConstraint(enumValues = ["ACTIVE", "PINNED", "ARCHIVED"])
    val state: String,
    /** How pressing the note is. */
    @AppFunctionStringValueConstraint(enumValues = ["LOW", "NORMAL", "HIGH"])
    val priority: String,
    /** The words the note is filed under. */
    val labels: List<String>,
    /** Things to tick off, in order. */
    val checklist: List<ChecklistItem>,
    /** When or where the user wants to be reminded; null for a note without reminder. */
    val reminder: Reminder?,
    /** When the note was written, in local time. */
    val createdAt: LocalDateTime,
    /** How many words heading and text have together. */
    val wordCount: Int,
)

/** What a note must fulfil to be found; parts that are null do not count. */
@AppFunctionSerializable(isDescribedByKDoc = true)
data class NoteQuery(
    /** Words that stand in the heading or the text, one after the other. */
    val text: String?,
    /** A label the note carries. */
    val label: String?,
    /** The state the note is in. */
    @AppFunctionStringValueConstraint(enumValues = ["ACTIVE", "PINNED", "ARCHIVED"])
    val state: String?,
    /** The note is younger than this. */
    val createdAfter: LocalDateTime?,
)

/** Figures about all notes. */
@AppFunctionSerializable(isDescribedByKDoc = true)
data class NoteStatistics(
    /** How many notes there are. */
    val total: Int,
    /** How many of them are archived. */
    val archived: Int,
    /** How many words they hold together. */
    val words: Long,
    /** Words per note; 0 when there is no note. */
    val averageWords: Double,
    /** Every label in use, sorted. */
    val labels: List<String>,
)

/** A reminder, bound to a time or to a place. */
@AppFunctionSerializable(isDescribedByKDoc = true)
sealed interface Reminder

/** Remind the user on arrival at a place. */
@AppFunctionSerializable(isDescribedByKDoc = true)
data class AtPlace(
    /** The place in the user's words, such as "the office". */
    val place: String,
    /** How near counts as arrival, in metres, from 50 to 5000. */
    val radiusMeters: Double,
) : Reminder

/** Remind the user at a time. */
@AppFunctionSerializable(isDescribedByKDoc = true)
data class AtTime(
    /** The local time of the reminder. */
    val time: LocalDateTime,
) : Reminder

@AppFunctionSerializable(isDescribedByKDoc = true)
data class LocalDateTime(
    val year: Int,
    val month: Int,
    val dayOfMonth: Int,
    val hour: Int,
    val minute: Int,
    val second: Int,
    val nanoOfSecond: Int,
)
