// SPDX-License-Identifier: Apache-2.0
package skein.inspect.rt;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import skein.rt.block.Sites;
import skein.rt.schedule.Timeout;

/**
 * The inspector's events for the JDK's flight recorder, if that records: long waits, blocks that were collected before they had
 * ended, and each second how many blocks there are. While a block waits there is no event object.
 */
final class Flight {
    /** Shorter waits are not reported. */
    static final int PARK_TICKS = 20 / Registry.TICK_MILLIS;

    /** Whether the recorder exists: a custom Java runtime may lack it. */
    private static final boolean IS_THERE =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private Flight() {}

    /** A block continues after a wait. */
    @Name("skein.Park")
    @Label("Park of a block")
    @Category("Skein")
    @StackTrace(false)
    static final class Park extends Event {
        @Label("Block")
        long block;

        @Label("Waited")
        @Timespan(Timespan.MILLISECONDS)
        long waited;

        @Label("Place")
        String place;
    }

    /** A block was collected before it had ended. */
    @Name("skein.Collected")
    @Label("Block that can never continue")
    @Description("The garbage collector has taken a block that had not ended")
    @Category("Skein")
    @StackTrace(false)
    static final class Collected extends Event {
        @Label("Block")
        long block;

        @Label("Place")
        String place;
    }

    /** How many blocks there are. */
    @Name("skein.Stats")
    @Label("Blocks")
    @Category("Skein")
    @Period("1 s")
    @StackTrace(false)
    static final class Stats extends Event {
        @Label("Blocks that have not ended")
        long blocks;

        @Label("Threads that wait in a channel")
        long threads;

        @Label("Blocks that were collected before they had ended")
        long collected;

        @Label("Timers")
        long timers;
    }

    private static final Runnable STATS = IS_THERE ? Flight::stats : null;

    private static void stats() {
        Registry registry = Registry.get();
        Stats e = new Stats();
        e.blocks = registry.liveCount();
        e.threads = registry.waiting().size();
        e.collected = registry.collected().count();
        e.timers = Timeout.outstanding();
        e.commit();
    }

    /** The inspector is on from now on. */
    static void start() {
        if (IS_THERE) FlightRecorder.addPeriodicEvent(Stats.class, STATS);
    }

    /** The inspector is off from now on. */
    static void stop() {
        if (IS_THERE) FlightRecorder.removePeriodicEvent(STATS);
    }

    private static boolean records() {
        return IS_THERE && FlightRecorder.isInitialized();
    }

    private static String place(Entry block) {
        Sites.Site site = block.site();
        return site == null ? "" : site.file() + ":" + site.line() + " " + site.form();
    }

    /** The block continues after so many ticks. */
    static void parked(Entry block, int ticks) {
        if (!records()) return;
        Park e = new Park();
        if (!e.isEnabled()) return;
        e.block = block.id;
        e.waited = (long) ticks * Registry.TICK_MILLIS;
        e.place = place(block);
        e.commit();
    }

    /** The block was collected before it had ended. */
    static void collected(Entry block) {
        if (!records()) return;
        Collected e = new Collected();
        if (!e.isEnabled()) return;
        e.block = block.id;
        e.place = place(block);
        e.commit();
    }
}
