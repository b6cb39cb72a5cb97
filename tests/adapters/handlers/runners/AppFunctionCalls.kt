package dev.tools

import android.app.appfunctions.AppFunctionException
import android.app.appfunctions.ExecuteAppFunctionRequest
import android.app.appfunctions.ExecuteAppFunctionResponse
import android.content.pm.SigningInfo
import android.os.CancellationSignal
import android.os.OutcomeReceiver
import kotlinx.coroutines.runBlocking
import org.json.JSONObject

/** Prints what the functions of a service that Jetpack's compiler would finish return. */
object AppFunctionCalls {
    @JvmStatic
    fun main(arguments: Array<String>) = runBlocking {
        val service = object : BaseAppFunctionService() {
            override fun onExecuteFunction(
                request: ExecuteAppFunctionRequest,
                callingPackage: String,
                signers: SigningInfo,
                signal: CancellationSignal,
                callback: OutcomeReceiver<ExecuteAppFunctionResponse, AppFunctionException>,
            ) = throw UnsupportedOperationException()
        }
        println(JSONObject().put("result", service.add(1, null).result))
        println(JSONObject().put("result", service.greet("Ada").result))
    }
}
