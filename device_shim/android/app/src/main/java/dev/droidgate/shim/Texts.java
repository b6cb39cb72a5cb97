package dev.droidgate.shim;

/** What people read. The builder owns the resources, which hold the source app's texts only. */
final class Texts {
    static final String CALLS = "Calls";
    static final String QUESTIONS = "What calls need from you";
    static final String WORKING = "Answering a call";
    static final String TAP_TO_GO_ON = "Tap to let a call go on";
    static final String TAP_TO_DECIDE = "Tap to decide about a call";
    static final String CONSENT = "Allow this call?";
    static final String CALLER = "Called by";
    static final String UNNAMED_CALLER = "an unknown app";
    static final String RECEIVER = "The answer goes to";
    static final String SHOW_CERTIFICATE = "Show the whole certificate";
    static final String EFFECT = "What the call does";
    static final String APP_SAYS = "The app describes it as";
    static final String READS = "Only reads";
    static final String CHANGES = "Changes something";
    static final String DELETES = "May delete or overwrite something";
    static final String EFFECT_UNKNOWN = "May change something";
    static final String COVERED = "Another app covers this screen: only Deny works. Close the other app first.";
    static final String NOTIFICATIONS = "Notifications";
    static final String NO_NOTIFICATIONS = "Off: you cannot be asked about calls while another app is open.";
    static final String ALLOW_NOTIFICATIONS = "Allow notifications";
    static final String CAPABILITY = "Capability";
    static final String SOURCE = "Of the app";
    static final String ARGUMENTS = "With";
    static final String DENY = "Deny";
    static final String ONCE = "Once";
    static final String ALWAYS = "Always";
    static final String GRANTS = "Who may call";
    static final String NO_GRANTS = "Nobody has been allowed to call anything.";
    static final String ANY_APP = "Any app on this phone";
    static final String EVERYTHING = "everything";
    static final String REVOKE = "Revoke";
    static final String SWITCHES = "What may be called";
    static final String ASKING = "Ask me when an app without permission calls";
    static final String HISTORY = "Calls so far";
    static final String NO_HISTORY = "No calls yet.";
    static final String CLEAR = "Clear";
    static final String SUCCESS = "success";

    private Texts() {}
}
