package com.android.server;

import android.content.Intent;
import android.content.IntentFilter;
import android.content.pm.ActivityInfo;
import android.content.pm.ResolveInfo;
import com.android.server.pm.Computer;
import com.android.server.pm.resolution.ComponentResolver;
import java.util.ArrayList;
import java.util.List;

/** Android's own search among the filters of components; results have its order. */
public final class Resolutions extends IntentResolver<Resolutions.Declared, ResolveInfo> {
    /** A component with its filters, which a number names. */
    public record Component(int number, String app, boolean isSystem, List<IntentFilter> filters) {}

    /** One of its filters. */
    public record Declared(Component component, IntentFilter filter) {}

    @Override
    protected boolean isPackageForFilter(String name, Declared declared) {
        return true;
    }

    @Override
    protected Declared[] newArray(int size) {
        return new Declared[size];
    }

    @Override
    protected IntentFilter getIntentFilter(Declared declared) {
        return declared.filter;
    }

    // As ComponentResolver's resolvers do it: one result for each component.
    @Override
    protected boolean allowFilterResult(Declared declared, List<ResolveInfo> found) {
        return found.stream().noneMatch(each -> each.specificIndex == declared.component.number);
    }

    @Override
    protected ResolveInfo newResult(Computer computer, Declared declared, int match, int user, long flags) {
        ResolveInfo made = new ResolveInfo();
        made.activityInfo = new ActivityInfo();
        made.activityInfo.packageName = declared.component.app;
        made.system = declared.component.isSystem;
        made.specificIndex = declared.component.number;
        made.match = match;
        made.priority = declared.filter.getPriority();
        made.isDefault = declared.filter.hasCategory(Intent.CATEGORY_DEFAULT);
        return made;
    }

    @Override
    protected void sortResults(List<ResolveInfo> results) {
        results.sort(ComponentResolver.RESOLVE_PRIORITY_SORTER);
    }

    /** Returns what an intent finds among components. */
    public static List<ResolveInfo> found(List<Component> components, Intent intent, boolean onlyDefault) {
        Resolutions resolver = new Resolutions();
        ArrayList<Declared[]> listed = new ArrayList<>();
        for (Component component : components) {
            List<Declared> all = component.filters.stream().map(filter -> new Declared(component, filter)).toList();
            all.forEach(declared -> resolver.addFilter(null, declared));
            listed.add(all.toArray(Declared[]::new));
        }
        return intent.getPackage() == null
                ? resolver.queryIntent(null, intent, intent.getType(), onlyDefault, 0)
                : resolver.queryIntentFromList(null, intent, intent.getType(), onlyDefault, listed, 0, 0);
    }
}
