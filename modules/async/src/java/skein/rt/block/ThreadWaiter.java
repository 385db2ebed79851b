// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import skein.rt.Alts;
import skein.rt.Channel;
import skein.rt.Runner;
import skein.rt.Waiter;
import skein.rt.World;
import skein.rt.schedule.Scheduler;
import skein.rt.schedule.Spins;

/**
 * A thread that blocks in {@code <!!}, {@code >!!} or {@code alts!!}.
 *
 * <pre>
 *   WAITING -> DONE        complete() stored the result
 * </pre>
 *
 * An interrupted thread withdraws its waiter under the channel's lock. If it is too late for that, the
 * operation has happened: the thread returns its result, with the interrupt flag set again.
 *
 * <p>While it spins, the thread returns its own stack when another thread requests it. The JVM reads the stack of a parked
 * thread in a few microseconds, but takes many times as long to stop a running one.
 */
public final class ThreadWaiter extends Waiter {
    /** How long a platform thread spins for the result before it parks: less than a wake-up costs. */
    private static final long SPIN_NANOS = 25_000;

    private static final Spins SPINS = new Spins();

    private final Thread thread = Thread.currentThread();
    private BooleanSupplier withdrawal; // for an alts; set before it can be claimed
    private volatile boolean done; // volatile: publishes value to the waiting thread
    private volatile boolean awake = !thread.isVirtual(); // volatile: read by the thread that requests the stack
    private volatile boolean asked; // volatile: requests the stack of the spinning thread
    private volatile StackTraceElement[] stack; // volatile: publishes the stack to the thread that requested it

    private ThreadWaiter() {}

    /** Blocks the thread until {@code channel} has a value. Returns it, or nil when the channel is closed and empty. */
    public static Object take(Channel channel) throws InterruptedException {
        Runner runner = Runner.current();
        Object v = channel.take(null, runner);
        if (v != Channel.NONE) return v;
        ThreadWaiter waiter = new ThreadWaiter();
        v = channel.take(waiter, runner);
        return v == Channel.NONE ? waiter.await(() -> channel.withdraw(waiter), channel) : v;
    }

    /** Blocks the thread until {@code channel} accepts the value. Returns true, or false when the channel is closed. */
    public static Object put(Channel channel, Object value) throws InterruptedException {
        Runner runner = Runner.current();
        Object accepted = channel.put(value, null, runner);
        if (accepted != Channel.NONE) return accepted;
        ThreadWaiter waiter = new ThreadWaiter();
        accepted = channel.put(value, waiter, runner);
        return accepted == Channel.NONE ? waiter.await(() -> channel.withdraw(waiter), channel) : accepted;
    }

    /** Does one of several operations, see {@link Alts#choose}, and blocks the thread until one is done. Returns {@code [value port]}. */
    public static Object alts(Object ports, Object options) throws InterruptedException {
        ThreadWaiter waiter = new ThreadWaiter();
        Object chosen = Alts.choose(ports, options, waiter, Runner.current());
        return chosen == null ? waiter.await(waiter.withdrawal, ports) : chosen;
    }

    @Override
    protected void complete(Object result, Runner runner) {
        value = result;
        done = true;
        LockSupport.unpark(thread);
    }

    /**
     * Waits for the result.
     *
     * @param withdraw withdraws an interrupted wait; returns whether it could
     * @param port the port that it waits for, or several in a vector
     */
    private Object await(BooleanSupplier withdraw, Object port) throws InterruptedException {
        if (!thread.isVirtual() && !World.awaits(() -> done)) spinIfItPays();
        if (!done) {
            Runner.beforeBlocking();
            Observer observer = Hooks.observer();
            observer.waits(this, port);
            try {
                park(withdraw);
            } finally {
                observer.goesOn(this);
            }
        }
        return value;
    }

    private void park(BooleanSupplier withdraw) throws InterruptedException {
        boolean interrupted = false;
        while (!done) {
            if (Thread.interrupted()) {
                if (!interrupted && withdraw.getAsBoolean()) throw new InterruptedException();
                interrupted = true; // too late: the result is about to come
            }
            LockSupport.park(this);
        }
        if (interrupted) Thread.currentThread().interrupt();
    }

    private void spinIfItPays() {
        if (SPINS.worthwhile()) {
            spin();
            SPINS.ended(done);
        }
        awake = false;
    }

    /** Spins, unless that would take a processor from the workers. */
    private void spin() {
        long start = System.nanoTime();
        while (!done && Scheduler.leavesProcessor() && System.nanoTime() - start < SPIN_NANOS) {
            for (int i = 0; i < 32 && !done; i++) Thread.onSpinWait();
            if (asked && stack == null) {
                stack = ownStack();
                start = System.nanoTime(); // the requesting thread is about to end the wait
            }
        }
    }

    private static StackTraceElement[] ownStack() {
        try {
            return new Throwable().getStackTrace();
        } catch (StackOverflowError | OutOfMemoryError e) { // it must not end the wait
            return new StackTraceElement[0];
        }
    }

    @Override
    public StackTraceElement[] stack() {
        asked = true;
        long start = System.nanoTime();
        while (awake && stack == null && System.nanoTime() - start < SPIN_NANOS) Thread.onSpinWait();
        StackTraceElement[] own = stack;
        return own == null ? thread.getStackTrace() : own;
    }

    @Override
    public Thread thread() {
        return thread;
    }

    @Override
    public void withdrawal(BooleanSupplier withdraw) {
        withdrawal = withdraw;
    }
}
