package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;

import android.content.Intent;
import dev.droidgate.sample.tally.TallyService;
import java.util.Map;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.annotation.Config;
import org.robolectric.util.ReflectionHelpers;

/** What the tally app does about its binders, which a shim's bindings count on. */
@RunWith(RobolectricTestRunner.class)
@Config(sdk = {29, 36})
public final class TallyServiceTest {
    @Test
    public void eachIdentifierHasABinderOfItsOwnAndIsToldOfTheNextTime() {
        TallyService service = new TallyService();
        Intent first = new Intent("bind").setIdentifier("one");
        Intent other = new Intent("bind").setIdentifier("other");
        assertNotEquals(service.onBind(first), service.onBind(other));
        // Android comes with an intent of its own each time.
        assertTrue(service.onUnbind(new Intent(first)));
        service.onRebind(new Intent(first));
        assertTrue(service.onUnbind(new Intent(first)));
        assertTrue(service.onUnbind(new Intent(other)));
    }

    @Test
    public void nothingIsKeptOfWhatSomebodyBindsWithButWhatIsCompared() {
        TallyService service = new TallyService();
        service.onBind(new Intent("bind").setIdentifier("one").putExtra("load", new byte[1_000]));
        Map<Intent.FilterComparison, ?> totals = ReflectionHelpers.getField(service, "totalsByBinder");
        Intent kept = totals.keySet().iterator().next().getIntent();
        assertEquals("one", kept.getIdentifier());
        assertEquals(null, kept.getExtras());
    }
}
