// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import skein.rt.Operation;
import skein.rt.World;
import skein.rt.block.Failures;
import skein.rt.block.Frame;

/**
 * The virtual threads of a simulation. The JDK calls {@link #execute} when one of them can run; the carrier runs its
 * continuation. A {@link Server} runs blocks and callbacks. If one of these blocks in the middle of a step, its server stays with
 * the task, which is then like a thread, and another server takes over.
 */
final class Threads {
    /** How long the JDK may take to wake a thread whose monitor has been released: its thread for that needs a processor. */
    private static final long UNBLOCKER_NANOS = 5_000_000_000L;

    private final Simulation sim;
    private final Thread carrier = Thread.currentThread();
    private final Map<Runnable, Task> byContinuation = new IdentityHashMap<>();
    private final List<Task> atMonitors = new ArrayList<>(0); // they wait for a monitor
    private final ConcurrentLinkedQueue<Outsider> outsiders = new ConcurrentLinkedQueue<>();
    private Server server; // null until it is needed
    private Task booting; // its thread is being started
    Runnable starting; // what another thread is being started with, if that is known
    private boolean switching; // the current thread yields at a point
    private boolean reading; // the carrier reads the stack of a thread that waits

    Threads(Simulation sim) {
        this.sim = sim;
    }

    // Servers

    /** Runs blocks and callbacks, one after the other, on a virtual thread. */
    private final class Server implements Runnable {
        Thread thread;
        Runnable continuation; // null until it has been started
        Task hand; // to be run
        Task serving;
        boolean idle = true; // it returns to the carrier by itself

        @Override
        public void run() {
            World.Stepper mine = new World.Stepper(sim);
            mine.begin();
            while (!sim.isOver()) {
                idle = false;
                for (Task t = hand; t != null; t = sim.take(false)) {
                    if (t.continuation != null) {
                        sim.goesNext(t);
                        break;
                    }
                    serving = t;
                    sim.serve(mine, t);
                    if (server != this) return; // it was left behind
                }
                hand = null;
                idle = true;
                Thread.yield();
            }
        }
    }

    /** Runs a block or callback, and what comes after it up to the next thread's turn. */
    void serve(Task t) {
        if (server == null) newServer();
        server.hand = t;
        run(server);
    }

    private void newServer() {
        Server fresh = new Server();
        fresh.thread = Carriers.virtual(sim, fresh, "sim-blocks");
        server = fresh;
        fresh.thread.start();
    }

    private void run(Server s) {
        s.continuation.run();
        if (server != s || s.idle) return;
        Task t = leaveBehind(s);
        if (!t.ready) blocks(t, t.thread.getState());
    }

    /** The server's task blocks, or lets others go first, in the middle of a step. */
    private Task leaveBehind(Server s) {
        Task t = s.serving;
        t.thread = s.thread;
        byContinuation.put(s.continuation, t);
        server = null;
        return t;
    }

    /** Ends the server. The simulation is over. */
    void end() {
        if (server != null) server.continuation.run();
    }

    // Threads

    void start(Task t, Runnable task) {
        booting = t;
        Carriers.virtual(sim, task, "sim-" + t).start();
    }

    void run(Task t) {
        Runnable continuation = t.continuation;
        t.continuation = null;
        sim.runs(t);
        continuation.run();
        Thread.State state = t.thread == null ? null : t.thread.getState();
        if (state == Thread.State.TERMINATED) {
            byContinuation.remove(continuation);
            if (t.kind == Task.Kind.THREAD) sim.end(t);
            t.thread = null;
        } else if (!t.ready) {
            blocks(t, state);
        }
    }

    /** The thread of {@code t} stops running. */
    private void blocks(Task t, Thread.State state) {
        boolean waits = state == Thread.State.WAITING || state == Thread.State.BLOCKED; // it may just have yielded
        if (waits && t.threadOperation == Operation.NONE) sim.parks(t);
        if (state == Thread.State.BLOCKED) atMonitors.add(t);
        else if (state == Thread.State.TIMED_WAITING && !sim.admitsOutside()) sim.fail(Verdict.Kind.REAL_TIME, t);
    }

    /** Lets the task that has been chosen go before the current thread. */
    void giveWay() {
        switching = true;
        Thread.yield();
        switching = false;
    }

    /** A virtual thread of the simulation can run. */
    void execute(Runnable continuation) {
        if (World.current() != sim || reading) wokenOutside(continuation, null);
        else if (!sim.isOver()) resume(continuation);
    }

    private void resume(Runnable continuation) {
        Server s = server;
        if (s != null && s.continuation == null) {
            s.continuation = continuation;
            return;
        }
        if (s != null && s.continuation == continuation) {
            if (s.idle) return;
            leaveBehind(s);
        }
        Task t = byContinuation.get(continuation);
        if (t == null) t = joins(continuation);
        t.continuation = continuation;
        if (t != sim.current) sim.wakes(t);
        if (t != sim.current || switching) sim.tasks.enqueue(t);
        else sim.tasks.rest(t);
    }

    private Task joins(Runnable continuation) {
        Task t = booting;
        booting = null;
        if (t == null) t = sim.newThread(starting);
        starting = null;
        t.thread = Carriers.threadOf(continuation);
        byContinuation.put(continuation, t);
        return t;
    }

    /** Returns the thread on which {@code t} runs. */
    Thread of(Task t) {
        if (t != null && t.thread != null) return t.thread;
        Server s = server;
        return t == null || s == null || s.serving != t ? carrier : s.thread;
    }

    /** Returns whether Skein's own code, and not the program's, has called the simulation. */
    static boolean inSkeinsCode() {
        return StackWalker.getInstance()
                .walk(frames -> frames.map(StackWalker.StackFrame::getClassName)
                        .filter(c -> !c.matches("(java|clojure|skein\\.sim\\.(rt|wrap))[.$].*"))
                        .findFirst()
                        .map(Failures::isMachinery)
                        .orElse(false));
    }

    // The outside

    /** Returns a task that waits for input or output, another process or an HTTP reply, or in Object.wait; or null. */
    Outsider waitsOutside() {
        for (Task t : sim.tasks.live()) {
            if (t.thread == null) continue;
            Outsider o = new Outsider(null, null, null, null, t, stack(t));
            if (o.atDevice() || o.inObjectWait()) return o;
        }
        return null;
    }

    /**
     * Returns the stack of a thread that waits. If another thread wakes it meanwhile, the JDK calls {@link #execute} on the thread
     * that reads, as if a member had woken it.
     */
    StackTraceElement[] stack(Task t) {
        reading = true;
        try {
            return t.thread.getStackTrace();
        } finally {
            reading = false;
        }
    }

    /** A thread that is not of the simulation has woken a thread or block. */
    void wokenOutside(Runnable continuation, Frame frame) {
        boolean known = frame == null && World.current() != sim; // a frame has passed through a worker
        Thread by = known ? Thread.currentThread() : null;
        outsiders.add(new Outsider(continuation, frame, by, known ? new Throwable("woken here") : null, null, null));
        LockSupport.unpark(carrier);
    }

    /** Returns whether only the carrier can tell which task runs next. */
    boolean needsCarrier() {
        return !atMonitors.isEmpty() || !outsiders.isEmpty();
    }

    /** Makes ready the tasks that have been woken from outside, and those whose monitor has been released. */
    void admitOutsiders() {
        if (!needsCarrier()) return;
        for (Task t : atMonitors) awaitUnblocker(t);
        List<Outsider> arrived = new ArrayList<>();
        for (Outsider o; (o = outsiders.poll()) != null; ) arrived.add(o);
        for (Task t : List.copyOf(atMonitors)) {
            Outsider o = find(arrived, t);
            if (o == null) continue;
            arrived.remove(o);
            atMonitors.remove(t);
            resume(o.continuation());
        }
        arrived.forEach(this::admit);
    }

    private Outsider find(Iterable<Outsider> arrived, Task t) {
        for (Outsider o : arrived) if (o.continuation() != null && byContinuation.get(o.continuation()) == t) return o;
        return null;
    }

    /** If the monitor that {@code t} waits for has been released, waits until the JDK has woken its thread. */
    private void awaitUnblocker(Task t) {
        if (!Carriers.isBeingUnblocked(t.thread)) return;
        long end = System.nanoTime() + UNBLOCKER_NANOS;
        while (find(outsiders, t) == null && System.nanoTime() < end) Thread.yield();
    }

    /** A thread outside of the simulation has woken a member. */
    private void admit(Outsider outsider) {
        if (!sim.admitsOutside()) sim.fail(Verdict.Kind.OUTSIDE, complete(outsider));
        if (outsider.frame() == null) resume(outsider.continuation());
        else sim.ready(outsider.frame());
    }

    private Outsider complete(Outsider o) {
        Task t = o.frame() != null ? (Task) World.member(o.frame()) : byContinuation.get(o.continuation());
        StackTraceElement[] waited = t == null || t.thread == null ? null : t.thread.getStackTrace();
        return new Outsider(o.continuation(), o.frame(), o.by(), o.where(), t, waited);
    }

    /** Waits at most {@code nanos} for a thread outside to wake a member. Returns whether one has. */
    boolean awaitOutsiders(long nanos) {
        long end = System.nanoTime() + nanos;
        while (outsiders.isEmpty() && System.nanoTime() < end) LockSupport.parkNanos(this, 100_000);
        return !outsiders.isEmpty();
    }
}
