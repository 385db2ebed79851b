// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import java.util.ArrayList;
import java.util.List;
import skein.rt.watch.Conveyor;
import skein.rt.watch.Probe;

/**
 * What the installed {@link Probe}s, an installed {@link Conveyor} and simulations add to the life of a frame. While
 * there is none of these there is no Hooks object, and a frame pays one null check for each event.
 */
public final class Hooks {
    private static final Probe NO_PROBE = new Probe() {};
    private static final List<Probe> PROBES = new ArrayList<>(); // guarded by the class
    private static Conveyor carrier; // guarded by the class

    private static int alive; // guarded by the class; how many simulations are

    static volatile Hooks installed; // null unless there is a probe, a conveyor or a simulation; read by all threads

    private final Probe probe;
    private final Conveyor conveyor; // or null
    final boolean worlds; // a simulation is alive

    private Hooks(Probe probe, Conveyor conveyor, boolean worlds) {
        this.probe = probe;
        this.conveyor = conveyor;
        this.worlds = worlds;
    }

    /** Installs one more probe. */
    public static synchronized void addProbe(Probe probe) {
        PROBES.add(probe);
        renew();
    }

    /** Takes out a probe. */
    public static synchronized void removeProbe(Probe probe) {
        PROBES.remove(probe);
        renew();
    }

    /** Installs what carries thread context along with blocks, or with null takes it out. */
    public static synchronized void conveyor(Conveyor c) {
        carrier = c;
        renew();
    }

    /** So many more simulations are alive. */
    static synchronized void worlds(int n) {
        alive += n;
        renew();
    }

    private static void renew() {
        Probe probe = PROBES.isEmpty() ? NO_PROBE : PROBES.size() == 1 ? PROBES.get(0) : new Probes(PROBES);
        boolean none = PROBES.isEmpty() && carrier == null && alive == 0;
        installed = none ? null : new Hooks(probe, carrier, alive > 0);
    }

    /** Tells the probes that {@code frame}, or a callback if null, held up its worker on {@code thread}. */
    public static void handedOff(Frame frame, Thread thread) {
        Hooks hooks = installed;
        if (hooks != null) hooks.probe.handedOff(frame, thread);
    }

    /** Returns the context for {@code frame} to carry. */
    Object spawned(Frame frame) {
        probe.spawned(frame);
        Object captured = conveyor == null ? null : conveyor.capture();
        World world = worlds ? World.current() : null;
        World.Member member = world == null ? null : world.spawned(frame);
        if (member == null) return captured;
        member.conveyed = captured;
        return member;
    }

    /** Returns what {@link #suspended} must be given. */
    Object resumed(Frame frame, Object context) {
        Object captured = context instanceof World.Member m ? m.conveyed : context;
        Object outer = conveyor == null ? null : conveyor.install(captured);
        probe.resumed(frame);
        return outer;
    }

    void parking(Frame frame, int state, Object port) {
        probe.parking(frame, state, port);
    }

    void finished(Frame frame, Object value) {
        probe.finished(frame, value);
        ended(frame, null);
    }

    void failed(Frame frame, Throwable thrown) {
        probe.failed(frame, thrown);
        ended(frame, thrown);
    }

    private static void ended(Frame frame, Throwable thrown) {
        if (frame.context() instanceof World.Member m) m.world.ended(m, thrown);
    }

    void suspended(Object outer) {
        if (conveyor != null) conveyor.restore(outer);
    }
}
