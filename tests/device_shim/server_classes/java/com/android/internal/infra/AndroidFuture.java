package com.android.internal.infra;

import java.util.concurrent.CompletableFuture;

/** In place of Android's, which needs a Looper for time limits. */
public class AndroidFuture<T> extends CompletableFuture<T> {
    public static <T> AndroidFuture<T> completedFuture(T value) {
        AndroidFuture<T> future = new AndroidFuture<>();
        future.complete(value);
        return future;
    }
}
