// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

import java.util.ArrayList;
import java.util.List;
import skein.rt.Channel;
import skein.rt.World;

/**
 * Calls the installed {@link Probe}s, {@link Conveyor}, {@link Inspector} and simulations at the events of a frame. If
 * none is installed, there is no Hooks object, and an event of a frame costs one null check.
 */
public final class Hooks {
    private static final Probe NO_PROBE = new Probe() {};
    private static final List<Probe> PROBES = new ArrayList<>(); // guarded by the class
    private static Conveyor carrier; // guarded by the class
    private static Inspector watching; // guarded by the class

    private static int alive; // guarded by the class; the number of simulations

    static volatile Hooks installed; // null unless one of these is installed; read by all threads

    private final Probe probe;
    private final Conveyor conveyor; // or null
    private final Inspector inspector; // or null
    final boolean worlds; // a simulation is alive

    private Hooks(Probe probe, Conveyor conveyor, Inspector inspector, boolean worlds) {
        this.probe = probe;
        this.conveyor = conveyor;
        this.inspector = inspector;
        this.worlds = worlds;
    }

    /** Installs one more probe. */
    public static synchronized void addProbe(Probe probe) {
        PROBES.add(probe);
        renew();
    }

    /** Removes a probe. */
    public static synchronized void removeProbe(Probe probe) {
        PROBES.remove(probe);
        renew();
    }

    /** Installs a conveyor, which carries thread context along with blocks; null removes it. */
    public static synchronized void conveyor(Conveyor c) {
        carrier = c;
        renew();
    }

    /** Installs an inspector, which keeps notes with blocks; null removes it. Blocks keep their notes until they end. */
    public static synchronized void inspector(Inspector i) {
        watching = i;
        renew();
    }

    /** A simulation has begun (1), or has ended (-1). */
    public static synchronized void simulations(int n) {
        alive += n;
        World.alive(alive);
        renew();
    }

    private static void renew() {
        Probe probe = PROBES.isEmpty() ? NO_PROBE : new Probes(PROBES);
        boolean none = PROBES.isEmpty() && carrier == null && watching == null && alive == 0;
        installed = none ? null : new Hooks(probe, carrier, watching, alive > 0);
    }

    /** Returns the inspector to call when the current thread waits, or null. */
    static Inspector inspectorOfThreads() {
        Hooks hooks = installed;
        return hooks == null || hooks.worlds && World.current() != null ? null : hooks.inspector;
    }

    /** Tells the inspector that the current thread runs code whose result {@code port} gets. */
    public static void makes(Channel port) {
        Inspector inspector = inspectorOfThreads();
        if (inspector != null) inspector.makes(port);
    }

    /** Tells the inspector that the code whose result {@code port} gets has ended. */
    public static void made(Channel port) {
        Inspector inspector = inspectorOfThreads();
        if (inspector != null) inspector.made(port);
    }

    /** Tells the probes that {@code frame} held up its worker on {@code thread}. */
    static void handedOff(Frame frame, Thread thread) {
        Hooks hooks = installed;
        if (hooks != null) hooks.probe.handedOff(frame, thread);
    }

    /** Returns the context for {@code frame} to carry. */
    Object spawned(Frame frame) {
        probe.spawned(frame);
        Object captured = conveyor == null ? null : conveyor.capture();
        World world = worlds ? World.current() : null;
        World.Member member = world == null ? null : world.spawned(frame);
        if (member == null) return inspector == null ? captured : inspector.note(frame, captured);
        member.conveyed = captured;
        return member;
    }

    /** Returns the argument for {@link #suspended}. */
    Object resumed(Frame frame) {
        Object captured = frame.context();
        if (captured instanceof World.Member m) captured = m.conveyed;
        else if (captured instanceof Note || inspector != null) captured = noted(frame, captured);
        Object outer = conveyor == null ? null : conveyor.install(captured);
        probe.resumed(frame);
        return outer;
    }

    /**
     * Tells the frame's note that the frame resumes; an inspector makes a missing note. Returns the context that the
     * note carries.
     */
    private Object noted(Frame frame, Object context) {
        Note note = context instanceof Note n ? n : inspector.note(frame, context);
        if (note != context) frame.context(note);
        if (inspector != null) note.resumed(frame);
        return note.conveyed;
    }

    void parking(Frame frame, int state, int op, Object port) {
        if (inspector != null && frame.context() instanceof Note note) note.parking(frame, state, op, port);
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
        if (frame.context() instanceof World.Member m) m.world().ended(m, thrown);
        else if (frame.context() instanceof Note note) note.ended();
    }

    void suspended(Frame frame, Object outer) {
        probe.suspended(frame);
        if (conveyor != null) conveyor.restore(outer);
    }
}
