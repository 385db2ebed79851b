// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

import java.util.ArrayList;
import java.util.List;
import skein.rt.Channel;
import skein.rt.World;

/**
 * The installed {@link Observer}s and {@link Conveyor}, and whether there is a simulation. If there is nothing of the
 * kind, there is no Hooks object, and an event of a block costs one null check.
 */
public final class Hooks {
    private static final Observer NOBODY = new Observer() {};
    private static final List<Observer> OBSERVERS = new ArrayList<>(); // guarded by the class
    private static Conveyor carrier; // guarded by the class
    private static int simulations; // guarded by the class; how many are alive

    static volatile Hooks installed; // null unless one of these is installed; read by all threads

    final Observer observer; // all observers
    final Conveyor conveyor; // or null
    final boolean simulated; // a simulation is alive

    private Hooks(Observer observer, Conveyor conveyor, boolean simulated) {
        this.observer = observer;
        this.conveyor = conveyor;
        this.simulated = simulated;
    }

    /** Installs one more observer. It hears of older blocks from their next step on. */
    public static synchronized void add(Observer observer) {
        OBSERVERS.add(observer);
        renew();
    }

    /** Removes an observer. Blocks keep what it has kept with them until they end. */
    public static synchronized void remove(Observer observer) {
        OBSERVERS.remove(observer);
        renew();
    }

    /** Installs a conveyor, which carries thread context along with blocks; null removes it. */
    public static synchronized void conveyor(Conveyor c) {
        carrier = c;
        renew();
    }

    /** A simulation has begun (1), or has ended (-1). */
    public static synchronized void simulations(int n) {
        simulations += n;
        World.alive(simulations);
        renew();
    }

    private static void renew() {
        boolean none = OBSERVERS.isEmpty() && carrier == null && simulations == 0;
        Observer all = OBSERVERS.isEmpty() ? NOBODY : new Observers(OBSERVERS);
        installed = none ? null : new Hooks(all, carrier, simulations > 0);
    }

    /** Returns all observers. */
    static Observer observer() {
        Hooks hooks = installed;
        return hooks == null ? NOBODY : hooks.observer;
    }

    /** Tells the observers that the current thread runs code whose result {@code port} gets. */
    public static void makes(Channel port) {
        observer().makes(port);
    }

    /** Tells the observers that the code whose result {@code port} gets has ended. */
    public static void made(Channel port) {
        observer().made(port);
    }
}
