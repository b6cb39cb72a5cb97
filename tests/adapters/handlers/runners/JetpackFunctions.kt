// What functions of an app name of Jetpack (androidx.appfunctions 1.0.0-alpha05), as far as the sources here use it.
package androidx.appfunctions

interface AppFunctionContext {
    val context: android.content.Context
    val callingPackageName: String
}

@Target(AnnotationTarget.CLASS)
annotation class AppFunctionSerializable(val isDescribedByKDoc: Boolean = false)

@Target(AnnotationTarget.FUNCTION)
annotation class AppFunction(val isEnabled: Boolean = true, val isDescribedByKDoc: Boolean = false)
