package com.android.server.appfunctions;

import android.app.appsearch.SearchResult;
import android.content.Context;
import android.util.ArrayMap;
import java.util.List;
import java.util.Map;

/** In place of Android's, which asks AppSearch: an index without documents. */
public final class AppFunctionDumpHelper {
    private AppFunctionDumpHelper() {}

    public static Map<String, List<SearchResult>> queryAppFunctionsStateForUser(
            Context context, String name, boolean waits) {
        return new ArrayMap<>();
    }
}
