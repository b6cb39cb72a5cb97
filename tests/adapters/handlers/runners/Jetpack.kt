// The shape of Jetpack's annotations (androidx.appfunctions 1.0.0-rc01), as far as generated code uses them.
package androidx.appfunctions

@Target(AnnotationTarget.CLASS)
annotation class AppFunctionServiceEntryPoint(val serviceName: String, val appFunctionXmlFileName: String)

@Target(AnnotationTarget.FUNCTION)
annotation class AppFunctionDeclaration(val isEnabled: Boolean = true, val isDescribedByKDoc: Boolean = false)

@Target(AnnotationTarget.CLASS)
annotation class AppFunctionSerializable(val isDescribedByKDoc: Boolean = false)

@Target(AnnotationTarget.FUNCTION, AnnotationTarget.VALUE_PARAMETER, AnnotationTarget.PROPERTY)
annotation class AppFunctionStringValueConstraint(val enumValues: Array<String> = [], val format: String = "")

@Target(AnnotationTarget.FUNCTION, AnnotationTarget.VALUE_PARAMETER, AnnotationTarget.PROPERTY)
annotation class AppFunctionIntValueConstraint(val enumValues: IntArray = [])

abstract class AppFunctionService : android.app.appfunctions.AppFunctionService()
