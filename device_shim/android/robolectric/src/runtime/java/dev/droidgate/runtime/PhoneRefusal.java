package dev.droidgate.runtime;

import android.content.ActivityNotFoundException;

/** What the phone threw, where it is not an exception that an app distinguishes. */
final class PhoneRefusal extends RuntimeException {
    private static final long serialVersionUID = 1L;

    final String exception;

    private PhoneRefusal(String exception, String message) {
        super(message);
        this.exception = exception;
    }

    /** Returns Android's own exception of that name. */
    static RuntimeException of(String exception, String message) {
        switch (exception) {
            case "java.lang.SecurityException":
                return new SecurityException(message);
            case "java.lang.IllegalStateException":
                return new IllegalStateException(message);
            case "java.lang.IllegalArgumentException":
                return new IllegalArgumentException(message);
            case "android.content.ActivityNotFoundException":
                return new ActivityNotFoundException(message);
            default:
                return new PhoneRefusal(exception, message);
        }
    }
}
