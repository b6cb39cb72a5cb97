// What the reader has to know of libraries that an app's sources use and do not hold: one section for each package.
// Facts of androidx.appfunctions (reference appfunctions 2.c) and of Android's own classes; no code.
package androidx.appfunctions

annotation class AppFunction(val isEnabled: Boolean = true, val isDescribedByKDoc: Boolean = false)
annotation class AppFunctionDeclaration(val isEnabled: Boolean = true, val isDescribedByKDoc: Boolean = false)
annotation class AppFunctionServiceEntryPoint(val serviceName: String, val appFunctionXmlFileName: String)
annotation class AppFunctionSignature(
    val scope: Int,
    val appFunctionXmlFileName: String,
    val isDescribedByKDoc: Boolean = false,
)
annotation class AppFunctionAccessLevel(val level: Int, val isCompatEnforcementEnabled: Boolean)
annotation class AppFunctionSerializable(val isDescribedByKDoc: Boolean = false)
annotation class AppFunctionSerializableInterface
annotation class AppFunctionSerializableProxy(val targetClass: KClass<*>)
annotation class AppFunctionSchemaDefinition(val name: String, val version: Int, val category: String)
annotation class AppFunctionSchemaCapability
annotation class AppFunctionOneOfType(val matchOneOf: Array<KClass<*>>)
annotation class AppFunctionInstruction(val instruction: String)
annotation class AppFunctionIntValueConstraint(val enumValues: IntArray)
annotation class AppFunctionStringValueConstraint(
    val enumValues: Array<String>,
    val patternMatchers: Array<AppFunctionPatternMatcher>,
    val pattern: String,
    val format: String,
)
annotation class AppFunctionPatternMatcher(val pattern: String, val type: Int)
annotation class AppFunctionUriValueConstraint(val allowedSchemes: Array<String>)

annotation class ExperimentalAppFunctionsApi

interface AppFunctionContext

abstract class AppFunctionService
abstract class ExtensionsAppFunctionService

@AppFunctionSchemaCapability
interface AppFunctionOpenable {
    val intentToOpen: android.app.PendingIntent
}

@AppFunctionSchemaCapability
interface AppFunctionResourceContainer {
    val resources: List<AppFunctionTextResource>
}

@AppFunctionSerializable(isDescribedByKDoc = true)
class AppFunctionTextResource(val mimeType: String, val content: String)

@AppFunctionSerializable
class AppFunctionUriGrant(val uri: android.net.Uri, val modeFlags: Int)

package androidx.appfunctions.service

annotation class AppFunction(val isEnabled: Boolean = true, val isDescribedByKDoc: Boolean = false)
annotation class AppFunctionEntryPoint(val serviceName: String, val appFunctionXmlFileName: String)

package androidx.appfunctions.metadata

class AppFunctionMetadata {
    companion object {
        const val ACCESS_LEVEL_SELF = "self"
        const val ACCESS_LEVEL_SYSTEM = "system"
        const val ACCESS_LEVEL_ANDROID_TRUSTED = "androidTrusted"
        const val SCOPE_GLOBAL = "global"
        const val SCOPE_ACTIVITY = "activity"
    }
}

package androidx.appfunctions.internal.serializableproxies

import androidx.appfunctions.AppFunctionSerializableProxy

@AppFunctionSerializableProxy(targetClass = java.time.LocalDate::class)
class AppFunctionLocalDate(val year: Int, val month: Int, val dayOfMonth: Int)

@AppFunctionSerializableProxy(targetClass = java.time.LocalTime::class)
class AppFunctionLocalTime(val hour: Int, val minute: Int, val second: Int, val nanoOfSecond: Int)

@AppFunctionSerializableProxy(targetClass = java.time.LocalDateTime::class)
class AppFunctionLocalDateTime(
    val year: Int,
    val month: Int,
    val dayOfMonth: Int,
    val hour: Int,
    val minute: Int,
    val second: Int,
    val nanoOfSecond: Int,
)

@AppFunctionSerializableProxy(targetClass = java.time.Instant::class)
class AppFunctionInstant(val epochSecond: Long, val nanoAdjustment: Int)

@AppFunctionSerializableProxy(targetClass = java.time.ZoneId::class)
class AppFunctionZoneId(val zoneID: String)

package android.os

interface Parcelable

class PatternMatcher : Parcelable {
    companion object {
        const val PATTERN_LITERAL = 0
        const val PATTERN_PREFIX = 1
        const val PATTERN_SIMPLE_GLOB = 2
        const val PATTERN_ADVANCED_GLOB = 3
        const val PATTERN_SUFFIX = 4
    }
}

class Bundle : Parcelable
class PersistableBundle : Parcelable
class Message : Parcelable
class Messenger : Parcelable
class ParcelFileDescriptor : Parcelable
class ParcelUuid : Parcelable
class ResultReceiver : Parcelable
class UserHandle : Parcelable

package android.app

import android.os.Parcelable

class PendingIntent : Parcelable
class Notification : Parcelable
class Person : Parcelable
class RemoteAction : Parcelable
class RemoteInput : Parcelable

package android.content

import android.os.Parcelable

class ClipData : Parcelable
class ClipDescription : Parcelable
class ComponentName : Parcelable
class ContentValues : Parcelable
class Intent : Parcelable
class IntentFilter : Parcelable
class IntentSender : Parcelable

package android.graphics

import android.os.Parcelable

class Bitmap : Parcelable
class Point : Parcelable
class PointF : Parcelable
class Rect : Parcelable
class RectF : Parcelable

package android.graphics.drawable

class Icon : android.os.Parcelable

package android.location

import android.os.Parcelable

class Address : Parcelable
class Location : Parcelable

package android.accounts

class Account : android.os.Parcelable

package android.widget

class RemoteViews : android.os.Parcelable

package android.net

class Uri : android.os.Parcelable

package java.time

class Duration
class Instant
class LocalDate
class LocalDateTime
class LocalTime
class OffsetDateTime
class OffsetTime
class Period
class Year
class YearMonth
class MonthDay
class ZonedDateTime
class ZoneId
class ZoneOffset
enum class DayOfWeek
enum class Month
