// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.Reduced;
import clojure.lang.Util;
import clojure.lang.Var;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * One fold on several threads: the list of its parts, its helpers, and how it ends.
 *
 * <p>Invariants:
 * <ul>
 * <li>RN1: the parts in the list stand in the source's order, and they and their accumulators stand for all of the source up to
 *     the first {@code Reduced} or exception.
 * <li>RN2: of two neighbours that are done, and may be combined, the right one has thrown. The thread that finishes a part
 *     combines it with its neighbours, outside the lock.
 * <li>RN3: no step runs after {@link #execute} has returned or thrown: it waits until every helper has left.
 * <li>RN4: a thread waits only for helpers that run, never for one that may come; so nested folds can't deadlock.
 * </ul>
 *
 * <p>A {@code Reduced} or an exception of a part ends the parts to its right: they are dropped, and interrupted. The parts to its left
 * continue, so that the value or the exception is the sequential one. An interrupt of the caller, which belongs to no part, drops all
 * parts. So does any exception of an unordered fold; the caller gets that exception.
 */
abstract class Run {
    private static final int SPINS = 2000;

    final Fold fold;
    final Object lock = new Object();
    private final Object bindings = Var.cloneThreadBindingFrame();
    private final Thread caller = Thread.currentThread();
    /** What the task in a pool refers to: this run while it wants help, then null. So a pool that keeps the task keeps no run. */
    private final AtomicReference<Run> wanted = new AtomicReference<>(this);

    private final AtomicBoolean invited = new AtomicBoolean(); // a helper was asked for and has not started
    private final List<Thread> helpers = new ArrayList<>(); // guarded by lock; those at work

    private Part head; // guarded by lock
    private Part tail; // guarded by lock
    private Throwable failure; // guarded by lock
    private volatile int helperCount; // how many helpers there are, to be read without the lock
    private volatile boolean failed; // written under lock; all parts are dropped
    private volatile boolean over; // no more helpers are wanted
    volatile long combineNanos; // how long the last combination took

    Run(Fold fold, Part root) {
        this.fold = fold;
        head = root;
        tail = root;
    }

    /** Works on the first part, and does everything else that the caller does first. Called by the caller. */
    abstract void workOnRoot(Part root) throws InterruptedException;

    /** Looks for work and does it, until there is none. */
    abstract void work() throws InterruptedException;

    /** Drops what belongs to no part, since no more of the source is wanted. Under the lock. */
    void shut() {}

    /** Runs the fold; returns its accumulator, complete and combined. */
    final Object execute() {
        if (fold.options.pool() == null) Crew.OWN.reserve(maxHelpers());
        invite();
        try {
            workOnRoot(head());
            work();
        } catch (Throwable t) { // the caller gets every exception of a step, Errors too
            fail(t);
        } finally {
            awaitHelpers();
            wanted.set(null);
        }
        synchronized (lock) {
            if (failure != null) throw Util.sneakyThrow(withCaller(failure));
            return result();
        }
    }

    /** Returns the value of a run that has not failed, or throws what its leftmost failed part has thrown. Under the lock. */
    Object result() {
        if (tail.thrown != null && (head == tail || head.done && head.right == tail))
            throw Util.sneakyThrow(withCaller(tail.thrown));
        if (head != tail || !head.done) throw new AssertionError("parts are left");
        return head.acc;
    }

    /** Returns {@code thrown}. If it comes from a helper, this thread's stack is in a suppressed exception: it says which fold has failed. */
    static Throwable withCaller(Throwable thrown) {
        for (StackTraceElement e : thrown.getStackTrace()) {
            if (e.getMethodName().equals("help") && e.getClassName().equals(Run.class.getName())) {
                thrown.addSuppressed(new Throwable("the thread that called the fold"));
                break;
            }
        }
        return thrown;
    }

    // Helpers.

    private int maxHelpers() {
        return fold.options.workers() - 1;
    }

    private boolean wantsHelp() {
        return !over && !failed && helperCount < maxHelpers();
    }

    final boolean isHelped() {
        return helperCount > 0;
    }

    final boolean hasFailed() {
        return failed;
    }

    /** Asks for one more helper: at first, and when a thread has found work. */
    final void invite() {
        if (!wantsHelp() || !invited.compareAndSet(false, true)) return;
        Executor pool = fold.options.pool();
        try {
            (pool == null ? Crew.OWN : pool).execute(invitation(wanted));
        } catch (RejectedExecutionException | OutOfMemoryError e) { // the latter: the system has no thread left
            invited.set(false); // no helper comes, so the caller does the work
        }
    }

    private static Runnable invitation(AtomicReference<Run> wanted) {
        return () -> {
            Run run = wanted.get();
            if (run != null) run.help();
        };
    }

    private void help() {
        invited.set(false);
        if (!join()) return;
        Object before = Var.getThreadBindingFrame();
        Var.resetThreadBindingFrame(bindings);
        try {
            work();
            over = true; // nothing is left to take, and nothing will be
        } catch (Throwable t) { // as in execute
            fail(t);
        } finally {
            Var.resetThreadBindingFrame(before);
            leave();
        }
    }

    private boolean join() {
        synchronized (lock) {
            Thread visitor = Thread.currentThread();
            // A pool that runs a task at once, on the thread that submits it, is no help.
            if (!wantsHelp() || visitor == caller || helpers.contains(visitor)) return false;
            helpers.add(visitor);
            helperCount = helpers.size();
            return true;
        }
    }

    private void leave() {
        synchronized (lock) {
            helpers.remove(Thread.currentThread());
            helperCount = helpers.size();
            if (helperCount > 0) return;
        }
        LockSupport.unpark(caller);
    }

    /** Waits until all helpers have left; no more can come. */
    private void awaitHelpers() {
        over = true;
        boolean interrupted = false;
        for (int spins = SPINS; helpersWork(); spins--) {
            if (spins > 0) Thread.onSpinWait();
            else LockSupport.park(this);
            if (Thread.interrupted()) {
                interrupted = true;
                fail(Fold.interruption());
            }
        }
        // If the caller gets another exception, the interrupt must not be lost.
        if (interrupted && !(failure instanceof InterruptedException)) caller.interrupt();
    }

    private boolean helpersWork() {
        synchronized (lock) {
            return helperCount > 0;
        }
    }

    /** Ends the run with {@code t}: drops everything. */
    final void fail(Throwable t) {
        synchronized (lock) {
            if (failure != null) return;
            failure = t;
            failed = true;
            for (Part p = head; p != null; p = p.right) p.drop();
            shut();
            lock.notifyAll();
        }
    }

    /** Called between two blocks. Helpers need not pause: only the engine interrupts them, and its crew has no virtual threads. */
    final void pause() {
        if (Thread.currentThread() == caller) fold.pause();
    }

    // The list of parts.

    final Part head() {
        synchronized (lock) {
            return head;
        }
    }

    final Part tail() {
        synchronized (lock) {
            return tail;
        }
    }

    /** Puts {@code part} right of {@code of}. Under the lock. */
    final void insertAfter(Part of, Part part) {
        part.left = of;
        part.right = of.right;
        if (of.right == null) tail = part;
        else of.right.left = part;
        of.right = part;
    }

    /** Takes {@code part} out of the list, and clears its references: otherwise the first part, which stays, would keep all others. */
    private void unlink(Part part) {
        if (part.left == null) head = part.right;
        else part.left.right = part.right;
        if (part.right == null) tail = part.left;
        else part.right.left = part.left;
        part.left = part.right = null;
        part.acc = null;
    }

    /** Ends the fold at {@code part}: drops the parts to its right, or in an unordered fold the units that nobody has taken. */
    final void endAfter(Part part) {
        synchronized (lock) {
            if (part.isDropped()) return;
            shut();
            if (!fold.options.ordered()) {
                for (Part p = head; p != null; p = p.right) p.close();
            } else {
                for (Part p = part.right; p != null; p = p.right) p.drop();
                part.right = null;
                tail = part;
            }
            lock.notifyAll();
        }
    }

    // Work on a part.

    private boolean isStopped(Part part) {
        return failed || part.isDropped();
    }

    /** Does {@code work}, which calls the user's functions for {@code part}. Returns whether the part goes on. */
    final boolean attempt(Part part, Runnable work) {
        if (failed || !part.enter()) return false;
        try {
            work.run();
            return !isStopped(part);
        } catch (Throwable t) { // the caller gets every exception of a step, Errors too
            thrown(part, t);
            return false;
        } finally {
            part.leave();
        }
    }

    /** Ends {@code part} with what it has thrown. */
    private void thrown(Part part, Throwable t) {
        if (!fold.options.ordered() || isCancellation(part, t)) {
            fail(t);
            return;
        }
        synchronized (lock) {
            if (isStopped(part)) return;
            part.thrown = t;
            part.done = true;
            part.close();
            endAfter(part);
        }
    }

    /** Returns whether {@code t}, which work for {@code claim} has thrown, means that the caller was interrupted. */
    final boolean isCancellation(Claim claim, Throwable t) {
        return t instanceof InterruptedException && Thread.currentThread() == caller && !claim.isInterrupted();
    }

    /** Records that {@code t} was thrown after all that {@code part} has done. */
    final void throwAfter(Part part, Throwable t) {
        synchronized (lock) {
            if (isStopped(part)) return;
            Part end = new Part(null);
            insertAfter(part, end);
            thrown(end, t);
        }
    }

    /** Ends the fold at {@code part} if its last step was reduced. */
    final void endIfReduced(Part part) {
        if (!(part.acc instanceof Reduced reduced)) return;
        part.acc = reduced.deref();
        part.close();
        endAfter(part);
    }

    /** Records that a block of {@code part}, begun at {@code before}, has ended. Returns the present time. */
    final long note(Part part, long units, long before) {
        long now = System.nanoTime();
        fold.watch.note(part, units, now - before);
        return now;
    }

    /** Ends {@code part}: completes its accumulator and combines it with neighbours that are done. */
    final void complete(Part part) {
        attempt(part, () -> finish(part, completed(part)));
    }

    /** Returns the accumulator of {@code part}, complete. */
    Object completed(Part part) {
        return fold.complete(part.step, part.acc);
    }

    /** Ends {@code part} with the complete accumulator {@code acc}: combines it with neighbours that are done. */
    private void finish(Part part, Object acc) {
        part.acc = null;
        for (; ; pause()) {
            boolean withLeft;
            Object neighbours;
            synchronized (lock) {
                if (isStopped(part)) return;
                withLeft = part.left != null && part.left.done && isCombinable(part.left);
                Part other = withLeft ? part.left : part.right;
                if (!withLeft && (other == null || !other.done || other.thrown != null || !isCombinable(part))) {
                    part.acc = acc;
                    part.done = true;
                    lock.notifyAll();
                    return;
                }
                neighbours = other.acc;
                unlink(other);
                lock.notifyAll();
            }
            acc = withLeft ? combine(neighbours, acc) : combine(acc, neighbours);
            if (acc instanceof Reduced reduced) {
                acc = reduced.deref();
                endAfter(part);
            }
        }
    }

    /** Returns whether {@code part}, which is done, may be combined with its right neighbour when that is done. Under the lock. */
    boolean isCombinable(Part part) {
        return true;
    }

    Object combine(Object left, Object right) {
        long start = System.nanoTime();
        Object combined = fold.combine.invoke(left, right);
        combineNanos = System.nanoTime() - start;
        return combined;
    }
}
