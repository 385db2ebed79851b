// SPDX-License-Identifier: Apache-2.0
package skein.rt.scope;

import clojure.lang.IFn;
import clojure.lang.Var;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import skein.rt.Region;
import skein.rt.Runner;
import skein.rt.World;
import skein.rt.block.Failures;

/**
 * Calls a function on the items of an input, several at a time on virtual threads, for one reader of the results. The input
 * is an iterator that the threads read, or the reader offers items one by one.
 */
public final class Window {
    /*
     *   offered -> begun -> done -> read     without offers an item begins when a thread goes to get it from the input;
     *                                        one whose call throws is never done
     *
     * Invariants, whenever the lock is free:
     *
     *   V1  At most n calls of the function run: there are at most n threads, and each runs one.
     *   V2  At most n items are begun and unread; at most `ahead` while the reader waits for one that is not done.
     *   V3  Each item is begun once and its result is read once, in the order of the input if the window is ordered.
     *   V4  The first call that throws closes the window, and so does cancel(): no item is begun any more, and the threads
     *       are interrupted. The reader gets the exception when all of them have ended.
     *   V5  If an item may begin, some thread is on its way to it. Only while results are ready need this not hold until
     *       half of n is free: so a reader that is faster than the calls does not start a thread for each item.
     *
     * A thread serves item after item, so that an item needs no thread of its own, and ends when none may begin. So a window
     * that nobody reads holds no thread, and is garbage when its reader is.
     *
     * The input is the user's code and may block, so it is read under a lock of its own, which is taken before the other.
     */

    /** The value that {@link #read} returns when no more results will come. */
    public static final Object END = new Object();

    /** An item, and later its result. */
    private static final class Cell {
        Object value; // belongs to the server that has begun it until it is done
        boolean done; // guarded by the lock
    }

    /** A thread of the window's. */
    private final class Server implements Runnable {
        final Region region = Region.child(null);
        final Thread thread =
                Thread.ofVirtual().name("skein-pmap-" + region.number()).unstarted(this);

        @Override
        public void run() {
            Var.resetThreadBindingFrame(bindings);
            region.cancellable().enter();
            for (Cell cell; (cell = next(this)) != null; ) serve(cell);
            region.cancellable().exit();
        }
    }

    private final IFn function;
    private final Iterator<?> input; // null: items are offered
    private final ReentrantLock inputLock = new ReentrantLock();
    private final int n;
    private final int ahead;
    private final boolean ordered;
    private final Object bindings = Var.cloneThreadBindingFrame();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    // All of these are guarded by the lock.
    private final List<Server> servers = new ArrayList<>();
    private final ArrayDeque<Cell> offered = new ArrayDeque<>(); // not begun
    private final ArrayDeque<Cell> results = new ArrayDeque<>(); // unread; if not ordered, only those that are done
    private int unread; // how many are offered or begun, and not read
    private int calls; // how many are begun, and not done
    private boolean exhausted; // the input has ended or failed, or there is none
    private volatile boolean closed; // volatile: read without the lock as well
    private Throwable inputFailure;
    private Throwable failure; // of the first call that threw
    private BooleanSupplier awaited; // what the reader waits for, or null

    /**
     * @param function of one item
     * @param input read by the window's threads; null: items come by {@link #offer}
     * @param n how many calls run at once
     * @param ahead how many items may be begun and not read while the reader waits for a slow one
     * @param ordered whether results come in the order of the input; otherwise in the order in
     *     which calls end
     */
    public Window(IFn function, Iterator<?> input, int n, int ahead, boolean ordered) {
        World.allowsThreads();
        this.function = function;
        this.input = input;
        this.n = n;
        this.ahead = ahead;
        this.ordered = ordered;
        this.exhausted = input == null;
    }

    // The threads

    /** Returns an item whose call this server has to make, or null if its thread is not needed any more. */
    private Cell next(Server server) {
        inputLock.lock();
        try {
            Cell cell = begin(server);
            if (cell == null || input == null) return cell;
            // Without the lock, as this may block. The lock of the input is held, so no later item can begin meanwhile.
            Throwable thrown = null;
            try {
                if (input.hasNext()) {
                    cell.value = input.next();
                    if (!closed) return cell; // otherwise a call threw while the input blocked
                }
            } catch (Throwable t) { // the user's code; the reader gets it after the results before it
                thrown = t;
            }
            unbegin(server, thrown);
            return null;
        } finally {
            inputLock.unlock();
        }
    }

    /** Returns a cell that begins now, for {@code server}, or null if none may. Its value is set if it was offered. */
    private Cell begin(Server server) {
        lock.lock();
        try {
            if (!mayBegin()) {
                leave(server);
                return null;
            }
            Cell cell = offered.poll();
            if (cell == null) cell = add(null); // before the item is there, so that V2 holds while the input is read
            calls++;
            grow();
            return cell;
        } finally {
            lock.unlock();
        }
    }

    /** There was no item for the cell that has begun last. */
    private void unbegin(Server server, Throwable thrown) {
        lock.lock();
        try {
            calls--;
            unread--;
            if (ordered) results.removeLast();
            exhausted = true;
            inputFailure = thrown;
            leave(server);
        } finally {
            lock.unlock();
        }
    }

    /** Calls the function with an item, and ends it. */
    private void serve(Cell cell) {
        Object result = null;
        Throwable thrown = null;
        try {
            result = function.invoke(cell.value);
        } catch (Throwable t) { // an exception of the function goes to the reader
            thrown = t;
        }
        Thread.interrupted(); // it was for this call, not for the next
        for (Server server : end(cell, result, thrown)) server.region.cancel();
    }

    /** Returns the servers to interrupt. */
    private List<Server> end(Cell cell, Object result, Throwable thrown) {
        lock.lock();
        try {
            calls--;
            if (thrown == null) {
                cell.value = result;
                cell.done = true;
                if (!ordered) results.add(cell);
                return List.of();
            }
            if (!closed) failure = thrown;
            else if (failure != null && failure != thrown && !Region.isInterruption(thrown))
                failure.addSuppressed(thrown);
            return close();
        } finally {
            wakeReader();
            lock.unlock();
        }
    }

    // The methods from here to wakeReader() are called under the lock.

    private Cell add(Object item) {
        Cell cell = new Cell();
        cell.value = item;
        if (ordered) results.add(cell); // its place; otherwise it gets one when it is done
        unread++;
        return cell;
    }

    private boolean mayBegin() {
        return !closed && (!offered.isEmpty() || !exhausted && unread < (awaited != null ? ahead : n));
    }

    /** Starts a thread if an item may begin. One is enough: it does the same when it begins its item. */
    private void grow() {
        if (servers.size() > calls || servers.size() >= n || !mayBegin()) return; // more than calls: one is on its way
        Server server = new Server();
        servers.add(server);
        try {
            server.thread.start();
        } catch (Throwable t) { // no memory for a thread
            servers.remove(server);
            if (servers.isEmpty()) throw t; // to the reader; otherwise the others go on without it
        }
    }

    private void leave(Server server) {
        servers.remove(server);
        wakeReader();
    }

    /** Closes the window. Returns the servers to interrupt without the lock, as that calls code of others. */
    private List<Server> close() {
        if (closed) return List.of();
        closed = true;
        offered.clear();
        return List.copyOf(servers);
    }

    private boolean ready() {
        return !results.isEmpty() && results.peek().done;
    }

    /** Returns whether no item will begin any more, and no result is left to read. */
    private boolean ended() {
        return closed && servers.isEmpty() || exhausted && unread == 0;
    }

    /** The reader waits until {@code condition} holds. */
    private void await(BooleanSupplier condition) throws InterruptedException {
        if (condition.getAsBoolean()) return;
        Runner.beforeBlocking(); // a block that reads would hold up the worker that runs it
        awaited = condition;
        try {
            grow(); // V2 allows more from now on, and nothing is ready, so V5 must hold
            while (awaited != null) changed.await();
        } finally {
            awaited = null;
        }
    }

    private void wakeReader() {
        if (awaited == null || !awaited.getAsBoolean()) return;
        awaited = null; // not only when the reader runs again: V2 speaks of a reader that still has to wait
        changed.signal();
    }

    // The reader

    /**
     * Returns the next result, or {@link #END}. Blocks until there is one; an interrupted read may be tried again.
     *
     * @throws Exception the exception of a call or of the input, after the results before it
     */
    public Object read() throws Exception {
        lock.lock();
        try {
            await(() -> ready() || ended());
            if (!ready()) return end();
            unread--;
            Object result = results.poll().value;
            if (2 * (unread - calls) <= n) grow();
            return result;
        } finally {
            lock.unlock();
        }
    }

    private Object end() throws Exception {
        Throwable thrown = failure != null ? failure : inputFailure;
        if (thrown != null) Failures.reached(thrown);
        if (thrown instanceof Error e) throw e;
        if (thrown != null) throw (Exception) thrown;
        return END;
    }

    /** Offers an item, and blocks until it is accepted or a result must be read first. Returns whether it was accepted. */
    public boolean offer(Object item) throws InterruptedException {
        lock.lock();
        try {
            await(() -> hasRoomForOffer() || ready() || closed);
            if (closed || !hasRoomForOffer()) return false;
            offered.add(add(item));
            grow();
            return true;
        } finally {
            lock.unlock();
        }
    }

    private boolean hasRoomForOffer() {
        return offered.size() + calls < n && unread < ahead;
    }

    /** Returns whether a result can be read without waiting. */
    public boolean isReady() {
        lock.lock();
        try {
            return ready();
        } finally {
            lock.unlock();
        }
    }

    /** Closes the window and drops its results. Waits until its threads have ended, even if this one is interrupted. */
    public void cancel() {
        List<Server> cancelled;
        lock.lock();
        try {
            cancelled = close();
        } finally {
            lock.unlock();
        }
        for (Server server : cancelled) server.region.cancel();
        lock.lock();
        try {
            awaitEnd();
            results.clear(); // a later read must find the end
        } finally {
            lock.unlock();
        }
    }

    private void awaitEnd() {
        boolean interrupted = false;
        while (!servers.isEmpty()) {
            try {
                await(servers::isEmpty);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) Thread.currentThread().interrupt();
    }
}
