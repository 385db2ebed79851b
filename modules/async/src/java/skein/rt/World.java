// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.Var;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * A simulation: it runs the blocks, callbacks and timers of its members in an order of its own, on a clock of its own.
 * Many may be alive at once, each on its own thread. While there is none, each of the runtime's calls costs one null
 * check or a read of a number.
 */
public abstract class World {
    /** A timer, as a simulation keeps it. */
    public interface Timer {
        /** Returns when it fires, on the clock of {@link World#nanoTime}. */
        long deadlineNanos();

        /** Returns the channel that is closed then. It may be closed before. */
        Channel channel();
    }

    private static volatile int alive; // how many simulations are; written under the lock of Hooks
    private static volatile Function<Thread, World> ofThread = thread -> null;

    /** A block of a simulation. The block carries it; it remembers the operation that the block is about to do. */
    public abstract static class Member extends Kept implements BooleanSupplier {
        private final World world;
        private final Block block;
        private Operation operation = Operation.NONE; // the last: the block does it, waits in it, or has deferred it
        private Object port; // for an alts, the ports
        private Object operand; // the value to put, or the options of an alts
        private boolean deferred;

        protected Member(World world, Block block) {
            this.world = world;
            this.block = block;
        }

        /** Returns the simulation. */
        public final World world() {
            return world;
        }

        /** Returns the block, or null if this is not a block. */
        public final Block block() {
            return block;
        }

        /** Returns the block's last operation. */
        public final Operation operation() {
            return operation;
        }

        /** Returns the port of that operation, or the ports of an alts. */
        public final Object port() {
            return port;
        }

        /** Returns the value of a put that is not yet done. */
        public final Object operand() {
            return operand;
        }

        /** Returns whether the operation is deferred: not yet begun. */
        public final boolean isDeferred() {
            return deferred;
        }

        /** Returns whether the block is in a scope, or can be cancelled in another way. */
        public final boolean isCancellable() {
            return block.cancellable() != null;
        }

        /** Withdraws the operation, for a cancellation. Returns false if it is no longer deferred. */
        @Override
        public final boolean getAsBoolean() {
            if (!deferred) return false;
            deferred = false;
            world.withdrawn(this);
            return true;
        }

        /**
         * The block is about to do this operation. Returns whether the operation has been deferred.
         *
         * @param mayDefer false if the block runs on the stack of its spawner
         */
        public final boolean defers(boolean mayDefer, Operation next, Object source, Object with) {
            operation = next;
            port = source;
            operand = with;
            if (!world.point(this, mayDefer)) return false;
            deferred = true;
            if (block.cancellable() == null) return true;
            try {
                block.cancellable().parks(this);
                return true;
            } catch (Throwable t) { // it has been cancelled
                getAsBoolean();
                throw t;
            }
        }

        /** The block does the deferred operation now. Returns its operand. */
        public final Object undefer() {
            deferred = false;
            Object v = operand;
            operand = null;
            return v;
        }
    }

    /** Runs members on the current thread, one after the other. */
    public static final class Stepper extends Runner {
        private final World world;
        private Object noBindings; // the Var binding frame of the thread
        private Runner outside; // the thread's runner before, or null

        public Stepper(World world) {
            this.world = world;
        }

        /** Makes the current thread a thread of the world. */
        public void begin() {
            noBindings = installed = Var.getThreadBindingFrame();
            outside = Runner.current();
            enter();
        }

        /** Undoes {@link #begin}. */
        public void end() {
            if (outside == null) Runner.leave();
            else outside.enter();
            Var.resetThreadBindingFrame(noBindings);
        }

        /** Runs a block to its next park or its end, or runs other work. */
        public void step(Runnable work) {
            if (work instanceof Block b) {
                b.resume(this);
                return;
            }
            if (installed != noBindings) {
                installed = noBindings;
                Var.resetThreadBindingFrame(noBindings);
            }
            work.run();
        }

        /** Runs other members, by {@code loop}, from within a step. */
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
        public void ready(Block block) {
            world.ready(block);
        }
    }

    // Methods that the runtime calls, for members and on the simulation's thread.

    /** Schedules {@code work}, a block or a callback. A block need not be a member. */
    public abstract void ready(Runnable work);

    /** Returns the time, in nanoseconds from some origin. */
    public abstract long nanoTime();

    /** Closes the timer's channel at its deadline, unless it is closed by then. */
    public abstract void at(Timer timer);

    /** Chooses a number from 0 to {@code bound - 1}. */
    protected abstract int choose(int bound);

    /** Returns a random number from 0 to below 1. */
    protected abstract double random();

    /** A block has been made. Returns its member. */
    public abstract Member spawned(Block block);

    /**
     * A block is about to do its operation. Returns whether the operation is deferred. Then the world runs the
     * block later, which does the operation first.
     *
     * @param mayDefer false if the block runs on the stack of its spawner
     */
    protected abstract boolean point(Member member, boolean mayDefer);

    /** A deferred operation has been withdrawn. */
    protected abstract void withdrawn(Member member);

    /** A block has ended, by {@code thrown} if that is not null. */
    public abstract void ended(Member member, Throwable thrown);

    /** No code can catch {@code thrown}, unless {@link #rethrown} is called with it. */
    protected abstract void uncaught(Throwable thrown);

    /** {@code thrown} is rethrown to code that takes a result, before or after {@link #uncaught}. */
    protected abstract void rethrown(Throwable thrown);

    /** {@code thrown} is kept until code takes it; {@code observed} returns whether that has happened. */
    public abstract void kept(Throwable thrown, BooleanSupplier observed);

    /** Runs {@code task} on a thread of the simulation. */
    protected abstract void start(Runnable task);

    /** Throws if the simulation can't have threads. */
    protected abstract void checkThreads();

    /** A platform thread of the simulation blocks: runs other members on it until {@code done} or an interrupt. */
    protected abstract void await(BooleanSupplier done);

    /** Code during which no other member may run begins ({@code n} = 1) or ends (-1). */
    protected abstract void hold(int n);

    /** A block of this world has been woken on a thread outside of it. */
    protected abstract void strayed(Block block);

    // Methods that simulations call

    /** Installs the function that returns the world of a virtual thread. */
    public static void ofThreads(Function<Thread, World> finder) {
        ofThread = finder;
    }

    /** Sets how many simulations are alive. For Hooks, which has to know it too. */
    public static void alive(int n) {
        alive = n;
    }

    /** Returns the member of {@code block}, or null if it is not in a simulation. */
    public static Member member(Block block) {
        return block.kept() instanceof Member m ? m : null;
    }

    /** Returns the value with which the block, which is ready, will continue. */
    public static Object incoming(Block block) {
        return block.value;
    }

    /**
     * Withdraws the operation in which the block of {@code member} waits and throws {@code thrown} there. Returns false
     * if it does not wait, or waits in a port of another kind.
     */
    public static boolean abort(Member member, Throwable thrown) {
        Block block = member.block;
        if (member.deferred) member.getAsBoolean();
        else if (block.cancellable() != null ? !block.cancellable().withdraw() : !Alts.withdraw(block, member.port))
            return false;
        block.throwAtPark(thrown);
        return true;
    }

    // Calls of the runtime, which do nothing outside of a simulation

    /** Returns the world that runs on this thread, or null. */
    public static World current() {
        return alive == 0 ? null : here();
    }

    private static World here() {
        if (Runner.current() instanceof Stepper stepper) return stepper.world;
        Thread thread = Thread.currentThread();
        return thread.isVirtual() ? ofThread.apply(thread) : null;
    }

    /** Returns whether {@code block} must not run on this thread, because its simulation runs on another. */
    public static boolean strays(Block block) {
        if (!(block.kept() instanceof Member m) || m.world == here()) return false;
        m.world.strayed(block);
        return true;
    }

    /** Returns a random number from 0 to below {@code bound}; in a simulation that is a choice. */
    public static int draw(int bound) {
        World w = current();
        return w == null ? ThreadLocalRandom.current().nextInt(bound) : w.choose(bound);
    }

    /** Returns a random number from 0 to below 1; in a simulation the seed determines it. */
    public static double drawDouble() {
        World w = current();
        return w == null ? ThreadLocalRandom.current().nextDouble() : w.random();
    }

    /** Starts {@code task} on a thread of this thread's simulation. Returns false if there is none. */
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

    /** Waits in the simulation of this thread, a platform thread. Returns false if there is none. */
    public static boolean awaits(BooleanSupplier done) {
        World w = current();
        if (w == null) return false;
        w.await(done);
        return true;
    }

    /** Returns whether this thread's simulation, if there is one, has been told of {@code thrown}. */
    public static boolean told(Throwable thrown) {
        World w = current();
        if (w == null) return false;
        w.uncaught(thrown);
        return true;
    }

    /** Tells this thread's simulation, if there is one, that {@code thrown} is rethrown to code that takes a result. */
    public static void rethrows(Throwable thrown) {
        World w = current();
        if (w != null) w.rethrown(thrown);
    }

    /**
     * Runs {@code task}, which loads code at its first use. A simulation does not see this, so that its first run is like the
     * others.
     */
    public static void unseen(Runnable task) {
        holds(1);
        try {
            task.run();
        } finally {
            holds(-1);
        }
    }

    /** The current thread has taken (1) or released (-1) a lock under which user code runs. */
    static void holds(int n) {
        World w = current();
        if (w != null) w.hold(n);
    }
}
