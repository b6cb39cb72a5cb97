package dev.droidgate.shim.storage;

import android.content.Context;
import android.content.pm.PackageManager;
import dev.droidgate.shim.Caller;
import dev.droidgate.shim.core.Json;
import dev.droidgate.shim.core.MalformedJsonException;
import dev.droidgate.shim.core.Policy;
import dev.droidgate.shim.platform.Certificates;
import dev.droidgate.shim.platform.Names;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Who may call what, and what is switched off: deny unless granted (shim.md 3). */
public final class Grants {
    private final PackageManager packages;
    private final Certificates certificates;
    private final JsonFile grantsFile;
    private final JsonFile switchesFile;

    /** The builder's policy, without what only the app reads. */
    private final Map<String, Object> built;

    private final List<Map<String, Object>> grants = new ArrayList<>();
    private final Set<Object> switchedOff = new TreeSet<>();
    private boolean asking = true;

    public Grants(Context context, Certificates certificates, Map<String, Object> policy) {
        packages = context.getPackageManager();
        this.certificates = certificates;
        grantsFile = new JsonFile(context, "grants.json");
        switchesFile = new JsonFile(context, "switches.json");
        built = new LinkedHashMap<>(policy);
        built.remove("app");
        try {
            read();
        } catch (MalformedJsonException unreadable) {
            // What cannot be read grants nothing.
            grants.clear();
        }
    }

    private void read() throws MalformedJsonException {
        switchedOff.addAll(Json.listAt(built, "switched_off"));
        Map<String, Object> switches = Json.members(switchesFile.read());
        if (switches.get("switched_off") != null) {
            List<Object> off = Json.listAt(switches, "switched_off");
            switchedOff.clear();
            for (Object item : off) {
                switchedOff.add(String.valueOf(item));
            }
        }
        asking = switches.get("asking") == null || Json.flagAt(switches, "asking");
        List<Object> stored = Json.list(grantsFile.read());
        if (stored != null) {
            for (Object item : stored) {
                Map<String, Object> grant = Json.objectOf(item, "a grant");
                Json.textAt(grant, "capability");
                callerOf(grant);
                grants.add(grant);
            }
        }
    }

    /** Returns the package and certificate of a grant's caller, null for any app. */
    private static Map<String, Object> callerOf(Map<String, Object> grant)
            throws MalformedJsonException {
        if (Names.ANY_APP.equals(grant.get("caller"))) {
            return null;
        }
        Map<String, Object> caller = Json.objectOf(grant.get("caller"), "a caller");
        Json.textAt(caller, "package");
        Json.textAt(caller, "signer");
        return caller;
    }

    /** Returns a caller with its packages, which are looked up where only the uid is known. */
    public Caller resolve(Caller caller) {
        return caller.uid >= 0 && caller.packages.isEmpty() ? caller(caller.uid) : caller;
    }

    /** Resolves a uid; the first package is the one that is shown. */
    public Caller caller(long uid) {
        String[] named = uid < 0 ? null : packages.getPackagesForUid((int) uid);
        if (named == null || named.length == 0) {
            return uid < 0
                    ? Caller.NOBODY
                    : new Caller(uid, new ArrayList<String>(), new ArrayList<String>());
        }
        Arrays.sort(named);
        List<String> signers = new ArrayList<>();
        for (String name : named) {
            signers.add(certificates.signerOf(name));
        }
        return new Caller(uid, Arrays.asList(named), signers);
    }

    /** Returns the policy for a request of a caller, whose packages and certificates are looked up now. */
    public Policy policyFor(Caller caller) {
        List<Map<String, Object>> all;
        List<Object> off;
        synchronized (this) {
            all = new ArrayList<>(grants);
            off = new ArrayList<>(switchedOff);
        }
        List<Object> written = new ArrayList<>();
        for (String capability : capabilitiesOf(caller, all)) {
            written.add(grant(caller.uid, capability));
        }
        for (Map<String, Object> item : all) {
            if (Names.ANY_APP.equals(item.get("caller"))) {
                written.add(grant(Names.ANY_APP, item.get("capability")));
            }
        }
        Map<String, Object> policy = new LinkedHashMap<>(built);
        policy.put("grants", written);
        policy.put("switched_off", off);
        try {
            return Policy.of(policy);
        } catch (MalformedJsonException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static Map<String, Object> grant(Object caller, Object capability) {
        Map<String, Object> grant = new LinkedHashMap<>();
        grant.put("caller", caller);
        grant.put("capability", capability);
        return grant;
    }

    /** Packages of one uid act as one, so each of them needs the grant. */
    private Set<String> capabilitiesOf(Caller caller, List<Map<String, Object>> all) {
        Set<String> common = null;
        for (String name : caller.packages) {
            Set<String> own = capabilitiesOf(name, caller.vouched, all);
            common = common == null ? own : inBoth(common, own);
        }
        return common == null ? new LinkedHashSet<String>() : common;
    }

    private static Set<String> inBoth(Set<String> left, Set<String> right) {
        Set<String> both = new LinkedHashSet<>(left);
        both.addAll(right);
        both.removeIf(item -> !covers(left, item) || !covers(right, item));
        return both;
    }

    private static boolean covers(Set<String> granted, String capability) {
        return granted.contains(capability) || granted.contains(Names.EVERYTHING);
    }

    private Set<String> capabilitiesOf(String name, Set<String> vouched, List<Map<String, Object>> all) {
        Set<String> own = new LinkedHashSet<>();
        for (Map<String, Object> item : all) {
            Map<String, Object> caller = Json.object(item.get("caller"));
            if (caller != null
                    && name.equals(caller.get("package"))
                    && isBy(name, vouched, (String) caller.get("signer"))) {
                own.add((String) item.get("capability"));
            }
        }
        return own;
    }

    private boolean isBy(String name, Set<String> vouched, String signer) {
        return vouched.isEmpty() ? certificates.isBy(name, signer) : vouched.contains(signer);
    }

    /**
     * Grants a capability, or everything, to any app or to a package as it is signed now.
     *
     * @param expected the signer that a caller who sees the package reports, null where none does: from
     *     Android 11 on this app sees only whom it queries and who has called it
     * @return the grant, null where no signer is known or another is expected
     */
    public synchronized Map<String, Object> add(String caller, String capability, String expected) {
        Object subject = Names.ANY_APP;
        if (!Names.ANY_APP.equals(caller)) {
            String signer = certificates.signerOf(caller);
            if (signer.isEmpty() && expected != null) {
                signer = expected;
            }
            if (signer.isEmpty() || expected != null && !expected.equals(signer)) {
                return null;
            }
            Map<String, Object> named = new LinkedHashMap<>();
            named.put("package", caller);
            named.put("signer", signer);
            subject = named;
        }
        Map<String, Object> grant = grant(subject, capability);
        for (Map<String, Object> item : grants) {
            if (subject.equals(item.get("caller")) && capability.equals(item.get("capability"))) {
                return item;
            }
        }
        grant.put("since", System.currentTimeMillis());
        grants.add(grant);
        grantsFile.write(grants);
        return grant;
    }

    /** Revokes a capability, or everything, of a package or any app; returns how many grants it was. */
    public synchronized long remove(String caller, String capability) {
        int before = grants.size();
        grants.removeIf(
                grant -> {
                    Map<String, Object> named = Json.object(grant.get("caller"));
                    Object who = named == null ? grant.get("caller") : named.get("package");
                    boolean all = Names.EVERYTHING.equals(capability);
                    return caller.equals(who) && (all || capability.equals(grant.get("capability")));
                });
        grantsFile.write(grants);
        return before - grants.size();
    }

    public synchronized List<Object> all() {
        return new ArrayList<Object>(grants);
    }

    public synchronized List<Object> switchedOff() {
        return new ArrayList<>(switchedOff);
    }

    public synchronized boolean isAsking() {
        return asking;
    }

    public synchronized void ask(boolean on) {
        asking = on;
        writeSwitches();
    }

    public synchronized void turn(String capability, boolean on) {
        if (on ? switchedOff.remove(capability) : switchedOff.add(capability)) {
            writeSwitches();
        }
    }

    private void writeSwitches() {
        Map<String, Object> switches = new LinkedHashMap<>();
        switches.put("switched_off", new ArrayList<>(switchedOff));
        switches.put("asking", asking);
        switchesFile.write(switches);
    }
}
