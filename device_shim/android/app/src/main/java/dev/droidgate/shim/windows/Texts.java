package dev.droidgate.shim.windows;

/** What people read. The builder owns the resources, which hold the source app's texts only. */
public final class Texts {
    static final String CALLS = "Calls";
    static final String QUESTIONS = "What calls need from you";
    public static final String WORKING = "Answering a call";
    public static final String TAP_TO_GO_ON = "Tap to let a call go on";
    public static final String TAP_TO_DECIDE = "Tap to decide about a call";
    public static final String CONSENT = "Allow this call?";
    public static final String UNNAMED_CALLER = "An unknown app";
    public static final String WANTS = " wants to use ";
    public static final String OF = " of ";
    public static final String OTHERS = "and %d more apps of the same developer";
    public static final String RECEIVER = "The answer goes to ";
    public static final String DETAILS = "Details";
    public static final String NOT_READ = "Scroll to the end to allow the call.";
    public static final String APP_SAYS = "The app describes it as";
    public static final String READS = "Only reads";
    public static final String CHANGES = "Changes something";
    public static final String DELETES = "May delete or overwrite something";
    public static final String EFFECT_UNKNOWN = "May change something";
    public static final String COVERED =
            "Another app covers this screen: only Deny works. Close the other app first.";
    public static final String NOTIFICATIONS = "Notifications";
    public static final String NO_NOTIFICATIONS =
            "Off: you cannot be asked about calls while another app is open.";
    public static final String ALLOW_NOTIFICATIONS = "Allow notifications";
    public static final String ARGUMENTS = "Arguments, as the caller wrote them:";
    public static final String NO_ARGUMENTS = "It sends no arguments.";
    public static final String DENY = "Deny";
    public static final String ONCE = "Once";
    public static final String ALWAYS = "Always";
    public static final String GRANTS = "Who may call";
    public static final String NO_GRANTS = "Nobody has been allowed to call anything.";
    public static final String ANY_APP = "Any app on this phone";
    public static final String EVERYTHING = "everything";
    public static final String REVOKE = "Revoke";
    public static final String SWITCHES = "What may be called";
    public static final String ASKING = "Ask me when an app without permission calls";
    public static final String HISTORY = "Calls so far";
    public static final String NO_HISTORY = "No calls yet.";
    public static final String CLEAR = "Clear";
    public static final String SUCCESS = "success";

    private Texts() {}
}
