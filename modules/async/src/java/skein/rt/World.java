// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.Var;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import skein.rt.schedule.Scheduler;
import skein.rt.schedule.Timeout;

/**
 * A simulation: it runs the blocks, callbacks and timers of its members in an order of its own, on a clock of its own.
 * Many may be alive at once, each on its own thread. While none is, the runtime pays one null check, of
 * {@link Hooks#installed}, where it would have to ask.
 */
public abstract class World {
    public static final int NONE = 0;
    public static final int TAKE = 1;
    public static final int PUT = 2;
    public static final int ALTS = 3;

    private static volatile Function<Thread, World> ofThread = thread -> null;

    /** A block of a simulation. Its frame carries it; it remembers the operation that the frame is about to do. */
    public abstract static class Member implements BooleanSupplier {
        final World world;
        final Frame frame;
        Object conveyed; // what the conveyor has captured, or null
        int op; // the last one: what the frame does, waits in, or has put off
        Object port; // of an alts the ports
        private Object operand; // the value to put, or the options of an alts
        private boolean deferred;

        protected Member(World world, Frame frame) {
            this.world = world;
            this.frame = frame;
        }

        /** The simulation. */
        public final World world() {
            return world;
        }

        /** The block, or null where this is no block. */
        public final Frame frame() {
            return frame;
        }

        /** What the block does, waits in or has put off: {@link #TAKE}, {@link #PUT}, {@link #ALTS}, or at first NONE. */
        public final int operation() {
            return op;
        }

        /** The port of that, or the ports of an alts. */
        public final Object port() {
            return port;
        }

        /** The value of a put, while it is about to be done. */
        public final Object operand() {
            return operand;
        }

        /** Whether the operation is put off: not yet begun. */
        public final boolean isDeferred() {
            return deferred;
        }

        /** Whether the block is in a scope, or can be cancelled in another way. */
        public final boolean isCancellable() {
            return frame.cancellable() != null;
        }

        /** Takes the operation back, for a cancellation. Returns false when it is not put off any more. */
        @Override
        public final boolean getAsBoolean() {
            if (!deferred) return false;
            deferred = false;
            world.withdrawn(this);
            return true;
        }

        /** Does the operation now. Returns whether the block goes on, else it waits. */
        boolean perform() {
            deferred = false;
            Object v = operand;
            operand = null;
            return switch (op) {
                case TAKE -> frame.takeNow(port);
                case PUT -> frame.putNow(port, v);
                default -> frame.altsNow(port, v);
            };
        }
    }

    /** Runs members on the current thread, one after the other. */
    public static final class Stepper extends Runner {
        private final World world;
        private Object noBindings; // the Var binding frame of the thread

        public Stepper(World world) {
            this.world = world;
        }

        /** Makes the current thread one of the world's. */
        public void begin() {
            noBindings = installed = Var.getThreadBindingFrame();
            enter();
        }

        /** Ends what {@link #begin} began. */
        public void end() {
            Runner.leave();
            Var.resetThreadBindingFrame(noBindings);
        }

        /** Runs a block to its next park or its end, or calls something else. */
        public void step(Runnable work) {
            if (work instanceof Frame f) {
                f.resume(this);
                return;
            }
            if (installed != noBindings) {
                installed = noBindings;
                Var.resetThreadBindingFrame(noBindings);
            }
            work.run();
        }

        /** Runs others by {@code loop} from within a step. */
        public void nested(Runnable loop) {
            Object bindings = Var.getThreadBindingFrame();
            Object before = installed;
            try {
                loop.run();
            } finally {
                installed = before;
                Var.resetThreadBindingFrame(bindings);
            }
        }

        @Override
        protected void ready(Frame frame) {
            world.ready(frame);
        }
    }

    // What the runtime asks of a simulation. All is called by its members, on its thread.

    /** Sees to it that {@code work}, a frame or a callback, is run. A frame may be nobody's member. */
    public abstract void ready(Runnable work);

    /** The time, in nanoseconds from some origin. */
    public abstract long nanoTime();

    /** Calls {@link Timeout#fire} when the time has come, unless the timeout is closed by then. */
    public abstract void at(Timeout timeout);

    /** Returns a number below {@code bound}: which of so many comes first. */
    protected abstract int choose(int bound);

    /** Returns a random number from 0 to below 1. */
    protected abstract double random();

    /** A block has been made. Returns what its frame is to carry. */
    protected abstract Member spawned(Frame frame);

    /**
     * A block is about to do its operation. Returns whether the operation is put off: then the world has the member, and
     * runs its frame later, which does the operation first.
     *
     * @param mayDefer false where the block runs on the stack of its spawner
     */
    protected abstract boolean point(Member member, boolean mayDefer);

    /** A put-off operation has been taken back. */
    protected abstract void withdrawn(Member member);

    /** A block has ended, by {@code thrown} if that is not null. */
    protected abstract void ended(Member member, Throwable thrown);

    /** An exception that nobody can catch, unless {@link #rethrown} is called with it. */
    protected abstract void uncaught(Throwable thrown);

    /** An exception that is thrown where somebody asked for a result, before or after {@link #uncaught}. */
    protected abstract void rethrown(Throwable thrown);

    /** An exception that is kept until somebody asks for it; {@code observed} tells whether somebody has. */
    public abstract void kept(Throwable thrown, BooleanSupplier observed);

    /** Runs {@code task} on a thread of the simulation. */
    protected abstract void start(Runnable task);

    /** Throws if the simulation can't have threads. */
    protected abstract void checkThreads();

    /** A platform thread of the simulation blocks: runs others on it until {@code done}, or until it is interrupted. */
    protected abstract void await(BooleanSupplier done);

    /** Code that must not be interrupted by others begins ({@code n} = 1) or ends (-1). */
    protected abstract void hold(int n);

    /** A frame that belongs to this world has been woken on a thread that does not. */
    protected abstract void strayed(Frame frame);

    // What a simulation needs from the runtime

    /** Installs how to find the world of a virtual thread. */
    public static void ofThreads(Function<Thread, World> finder) {
        ofThread = finder;
    }

    /** A simulation is there (1), or has gone (-1). */
    public static void alive(int n) {
        Hooks.worlds(n);
    }

    /** What {@code frame} carries, or null when it is no simulation's. */
    public static Member member(Frame frame) {
        return frame.context() instanceof Member m ? m : null;
    }

    /** The value with which the frame goes on, once it is ready. */
    public static Object incoming(Frame frame) {
        return frame.value;
    }

    /** Has an outside frame run by the workers. */
    public static void outside(Runnable work) {
        Scheduler.submitToWorkers(work);
    }

    /**
     * Withdraws the operation in which the frame of {@code member} waits and throws {@code thrown} there. Returns false
     * when it waits nowhere, or in a port of another kind.
     */
    public static boolean abort(Member member, Throwable thrown) {
        Frame frame = member.frame;
        if (member.deferred) member.getAsBoolean();
        else if (frame.cancellable() != null ? !frame.cancellable().withdraw() : !Alts.withdraw(frame, member.port))
            return false;
        frame.throwAtPark(thrown);
        return true;
    }

    // What the runtime asks first

    /** The world that runs on this thread, or null. */
    public static World current() {
        Hooks hooks = Hooks.installed;
        return hooks == null || !hooks.worlds ? null : here();
    }

    private static World here() {
        if (Runner.current() instanceof Stepper stepper) return stepper.world;
        Thread thread = Thread.currentThread();
        return thread.isVirtual() ? ofThread.apply(thread) : null;
    }

    /** Whether {@code frame}, about to do an operation, has been put off. */
    static boolean defers(Frame frame, boolean mayDefer, int op, Object port, Object operand) {
        if (!(frame.context() instanceof Member m)) return false;
        m.op = op;
        m.port = port;
        m.operand = operand;
        if (!m.world.point(m, mayDefer)) return false;
        m.deferred = true;
        if (frame.cancellable() == null) return true;
        try {
            frame.cancellable().parks(m);
            return true;
        } catch (Throwable t) { // it has been cancelled
            m.getAsBoolean();
            throw t;
        }
    }

    /** Whether {@code frame} must not run on this thread, since it is in a simulation that runs elsewhere. */
    static boolean strays(Frame frame) {
        if (!(frame.context() instanceof Member m) || m.world == here()) return false;
        m.world.strayed(frame);
        return true;
    }

    /** Returns a random number from 0 to below {@code bound}; in a simulation that is a choice. */
    public static int draw(int bound) {
        World w = current();
        return w == null ? ThreadLocalRandom.current().nextInt(bound) : w.choose(bound);
    }

    /** Returns a random number from 0 to below 1; in a simulation the seed tells which. */
    public static double drawDouble() {
        World w = current();
        return w == null ? ThreadLocalRandom.current().nextDouble() : w.random();
    }

    /** Starts {@code task} on a thread of this thread's simulation. Returns false when there is none. */
    public static boolean starts(Runnable task) {
        World w = current();
        if (w == null) return false;
        w.start(task);
        return true;
    }

    /** Throws if this thread is in a simulation that can't have virtual threads. */
    public static void allowsThreads() {
        World w = current();
        if (w != null) w.checkThreads();
    }

    /** Waits in the simulation of this thread, which is no virtual one. Returns false when there is none. */
    static boolean awaits(BooleanSupplier done) {
        World w = current();
        if (w == null) return false;
        w.await(done);
        return true;
    }

    /** Whether this thread's simulation, if there is one, has been told of {@code thrown}. */
    public static boolean told(Throwable thrown) {
        World w = current();
        if (w == null) return false;
        w.uncaught(thrown);
        return true;
    }

    /** Tells this thread's simulation, if there is one, that {@code thrown} has reached who asked for a result. */
    public static void rethrows(Throwable thrown) {
        World w = current();
        if (w != null) w.rethrown(thrown);
    }

    /** The current thread has taken (1) or released (-1) a lock under which user code runs. */
    static void holds(int n) {
        World w = current();
        if (w != null) w.hold(n);
    }
}
