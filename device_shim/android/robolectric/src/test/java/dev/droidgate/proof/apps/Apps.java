package dev.droidgate.proof.apps;

import dev.droidgate.proof.phone.Phone;

/** All tool apps of the tests together. */
public final class Apps {
    private Apps() {}

    /** Makes all of them behave, and forget what came. */
    public static void begin(Phone phone) {
        all(Behaviour.ANSWER);
        DeskActivity.CALLS.clear();
        RadioReceiver.CALLS.clear();
        ClockService.CALLS.clear();
        LampService.CALLS.clear();
        RadioReceiver.description = "Say the weather.";
        phone.listen(new RadioReceiver());
    }

    /** Makes all of them behave in one way. */
    public static void all(Behaviour behaviour) {
        DeskActivity.behaviour = behaviour;
        RadioReceiver.behaviour = behaviour;
        ClockService.behaviour = behaviour;
        LampService.behaviour = behaviour;
    }
}
