// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import skein.rt.schedule.Scheduler;
import skein.rt.schedule.Spins;
import skein.rt.watch.Inspector;

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
final class ThreadWaiter extends Waiter {
    /** How long a platform thread spins for the result before it parks: less than a wake-up costs. */
    private static final long SPIN_NANOS = 25_000;

    private static final Spins SPINS = new Spins();

    private final Thread thread = Thread.currentThread();
    private BooleanSupplier withdrawal; // for an alts; set before it can be claimed
    private volatile boolean done; // volatile: publishes value to the waiting thread
    private volatile boolean awake = !thread.isVirtual(); // volatile: read by the thread that requests the stack
    private volatile boolean asked; // volatile: requests the stack of the spinning thread
    private volatile StackTraceElement[] stack; // volatile: publishes the stack to the thread that requested it

    @Override
    void complete(Object result, Runner runner) {
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
    Object await(BooleanSupplier withdraw, Object port) throws InterruptedException {
        if (!thread.isVirtual() && !World.awaits(() -> done)) spinIfItPays();
        if (!done) {
            Runner.beforeBlocking();
            Inspector inspector = Hooks.inspectorOfThreads();
            if (inspector != null) inspector.waits(this, port);
            try {
                block(withdraw);
            } finally {
                if (inspector != null) inspector.goesOn(this);
            }
        }
        return value;
    }

    private void block(BooleanSupplier withdraw) throws InterruptedException {
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

    /** Waits for the result of an alts. */
    Object await(Object ports) throws InterruptedException {
        return await(withdrawal, ports);
    }

    @Override
    public void withdrawal(BooleanSupplier withdraw) {
        withdrawal = withdraw;
    }
}
