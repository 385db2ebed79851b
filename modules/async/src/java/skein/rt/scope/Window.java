// SPDX-License-Identifier: Apache-2.0
package skein.rt.scope;

import clojure.lang.IFn;
import clojure.lang.Var;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import skein.rt.Lock;
import skein.rt.Region;
import skein.rt.Runner;
import skein.rt.World;
import skein.rt.block.Failures;

/**
 * Calls a function on the items of an input, several at a time on virtual threads, for one reader of the results. The input
 * is an iterator that the threads read, or the reader offers items one by one.
 */
public final class Window extends Lock {
    /*
     * Invariants, whenever the lock is free:
     *
     *   V1  At most n calls of the function run.
     *   V2  At most n items are begun and not read; at most `ahead` while the reader waits for one that is not done.
     *   V3  Each item is begun once and its result is read once, in the order of the input if the window is ordered. In a
     *       window for effect no result is read, and the reader waits for the end.
     *   V4  The first call that throws ends the window: no item is begun after it, the threads are interrupted, and
     *       the reader gets the exception when all of them have ended.
     *
     *   OPEN -> CLOSED         a call threw, or cancel()
     *
     * A thread serves item after item, so that an item needs no thread of its own. It ends when the window is full or the
     * input has ended. Before that, one thread at a time spins, in case the reader soon makes room. A thread that gets an
     * item starts another thread if there is room, and so does the reader when it has made room. So a window that nobody
     * reads holds no thread, and is garbage when its reader is.
     *
     * The input is read under a lock of its own, since it is the user's code and may block; that lock comes first.
     */

    /** The value that {@link #read} returns when no more results will come. */
    public static final Object END = new Object();

    private static final ThreadFactory THREADS =
            Thread.ofVirtual().name("skein-window").factory();

    /** How long the reader and one thread spin for each other: less than a wake-up costs. */
    private static final long SPIN_NANOS = Runtime.getRuntime().availableProcessors() > 1 ? 25_000 : 0;

    /** A thread of the window's. */
    private final class Server implements Runnable {
        final Region region = Region.child(null);
        final Thread thread = THREADS.newThread(this);

        @Override
        public void run() {
            Var.resetThreadBindingFrame(bindings);
            region.cancellable().enter();
            for (Cells.Cell cell; (cell = begin(this)) != null; ) serve(cell);
            region.cancellable().exit();
        }
    }

    private final IFn function;
    private final Iterator<?> input; // null: items are offered
    private final ReentrantLock inputLock = new ReentrantLock();
    private final int n;
    private final int ahead;
    private final Object bindings = Var.cloneThreadBindingFrame();

    // All of these are guarded by the lock.
    private final List<Server> servers = new ArrayList<>();
    private final Cells cells;
    private boolean exhausted; // the input has ended, or failed
    private boolean closed;
    private Throwable inputFailure;
    private Throwable failure; // of the first call that threw
    private volatile Thread reader; // the reader while it waits for a result; volatile: read without the lock
    private boolean offers; // the reader waits for room as well
    private boolean lingers; // a thread spins for room
    private volatile boolean signalled; // volatile: read by the reader without the lock

    /**
     * @param function of one item
     * @param input read by the window's threads; null: items come by {@link #offer}
     * @param n how many calls run at once
     * @param ahead how many items may be begun and not read while the reader waits for a slow one
     * @param ordered whether results come in the order of the input; otherwise in the order in
     *     which calls end
     */
    public Window(IFn function, Iterator<?> input, int n, int ahead, boolean ordered) {
        this(function, input, n, ahead, ordered, true);
    }

    private Window(IFn function, Iterator<?> input, int n, int ahead, boolean ordered, boolean keeps) {
        World.allowsThreads();
        this.function = function;
        this.input = input;
        this.n = n;
        this.ahead = ahead;
        this.cells = new Cells(ordered, keeps);
    }

    /** Returns a window for effect, without results: the first read returns {@link #END}, or throws, when all calls are done. */
    public static Window forEffect(IFn function, Iterator<?> input, int n) {
        return new Window(function, input, n, n, false, false);
    }

    /** Calls the function with an item. */
    private void serve(Cells.Cell cell) {
        Object result = null;
        Throwable thrown = null;
        try {
            result = function.invoke(cell.value);
        } catch (Throwable t) { // an exception of the function goes to the reader
            thrown = t;
        }
        Thread.interrupted(); // it was for this call, not for the next
        end(cell, result, thrown);
    }

    /** Returns the next item for {@code server}, or null if its thread is not needed any more. */
    private Cells.Cell begin(Server server) {
        if (input == null) return beginOffered(server);
        if (mayLinger()) linger();
        inputLock.lock();
        try {
            return stays(server) ? pull(server) : null;
        } finally {
            inputLock.unlock();
        }
    }

    private Cells.Cell pull(Server server) {
        Cells.Cell cell = new Cells.Cell();
        boolean more = false;
        Throwable thrown = null;
        try {
            more = input.hasNext();
            if (more) cell.value = input.next();
        } catch (Throwable t) { // the user's code; the reader gets it after the results before it
            thrown = t;
            more = false;
        }
        return began(server, more ? cell : null, thrown);
    }

    private boolean stays(Server server) {
        Thread wake;
        lock();
        try {
            if (hasRoom()) return true;
            wake = leave(server);
        } finally {
            unlock();
        }
        LockSupport.unpark(wake);
        return false;
    }

    private boolean mayLinger() {
        lock();
        try {
            boolean may = SPIN_NANOS > 0 && World.current() == null && !lingers && !closed && !exhausted && !hasRoom();
            if (may) lingers = true;
            return may;
        } finally {
            unlock();
        }
    }

    private void linger() {
        long start = System.nanoTime();
        do {
            for (int i = 0; i < 32 && full(); i++) Thread.onSpinWait();
            Thread.yield(); // other virtual threads may need the carrier thread
        } while (full() && System.nanoTime() - start < SPIN_NANOS);
        lock();
        try {
            lingers = false;
        } finally {
            unlock();
        }
    }

    /** Returns, without the lock, whether there seems to be too little room. */
    private boolean full() {
        return cells.unread() >= (reader != null ? ahead : n) || !enoughRoom();
    }

    private Cells.Cell began(Server server, Cells.Cell cell, Throwable thrown) {
        Thread wake = null;
        Server another = null;
        boolean ends;
        lock();
        try {
            ends = cell == null || closed;
            if (ends) {
                exhausted = true;
                inputFailure = thrown;
                wake = leave(server);
            } else {
                cells.begin(cell);
                another = moreServers();
            }
        } finally {
            unlock();
        }
        LockSupport.unpark(wake);
        if (another != null) start(another);
        return ends ? null : cell;
    }

    private Cells.Cell beginOffered(Server server) {
        Thread wake = null;
        Server another = null;
        Cells.Cell cell;
        lock();
        try {
            cell = closed ? null : cells.beginOffered();
            if (cell == null) wake = leave(server);
            else another = moreServers();
        } finally {
            unlock();
        }
        LockSupport.unpark(wake);
        if (another != null) start(another);
        return cell;
    }

    private void end(Cells.Cell cell, Object result, Throwable thrown) {
        List<Server> interrupted = List.of();
        Thread wake;
        lock();
        try {
            if (thrown == null) {
                cells.end(cell, result);
            } else {
                cells.fail();
                if (failure == null && !closed) {
                    failure = thrown;
                    interrupted = close();
                } else if (failure != null && failure != thrown && !Region.isInterruption(thrown)) {
                    failure.addSuppressed(thrown);
                }
            }
            wake = wakeable();
        } finally {
            unlock();
        }
        LockSupport.unpark(wake);
        for (Server server : interrupted) server.region.cancel();
    }

    // The methods from here to close() are called under the lock.

    private boolean hasRoom() {
        return !closed && !exhausted && cells.unread() < (reader != null ? ahead : n);
    }

    private boolean hasRoomForOffer() {
        return cells.offered() + cells.calls() < n && cells.unread() < ahead;
    }

    private boolean readable() {
        return cells.ready() || ended() || offers && hasRoomForOffer();
    }

    /** Returns whether the window has ended: no call will begin, and no result is left to read. */
    private boolean ended() {
        return closed && servers.isEmpty() || exhausted && cells.unread() == 0;
    }

    /** Returns the reader if it waits and no longer needs to, or null. */
    private Thread wakeable() {
        if (reader == null || !readable()) return null;
        Thread wake = reader;
        reader = null;
        signalled = true;
        return wake;
    }

    private Thread leave(Server server) {
        servers.remove(server);
        return wakeable();
    }

    /** Returns one more thread if all existing ones have an item and there is room for another item, or null. */
    private Server moreServers() {
        if (servers.size() > cells.calls() || servers.size() >= n) return null;
        if (input == null ? closed || cells.offered() == 0 : !hasRoom()) return null;
        Server server = new Server();
        servers.add(server);
        return server;
    }

    private List<Server> close() {
        closed = true;
        cells.dropOffered();
        return new ArrayList<>(servers);
    }

    private void start(Server server) {
        try {
            server.thread.start();
        } catch (Throwable t) { // no memory for a thread: the others continue without it, and nobody waits for it
            if (alone(server)) throw t;
        }
    }

    /** Removes a server that has not started. Returns whether there is no other. */
    private boolean alone(Server server) {
        lock();
        try {
            servers.remove(server);
            return servers.isEmpty();
        } finally {
            unlock();
        }
    }

    /**
     * Returns the next result, or {@link #END}. Blocks until there is one; an interrupted read may be tried again.
     *
     * @throws Exception the exception of a call or of the input, after the results before it
     */
    public Object read() throws Exception {
        for (; ; ) {
            Object result = null;
            Server another = null;
            boolean ready;
            boolean ended;
            lock();
            try {
                ready = cells.ready();
                ended = !ready && ended();
                if (ready) {
                    result = cells.read();
                } else if (!ended) {
                    offers = false;
                    waits();
                }
                if (!ended && enoughRoom()) another = moreServers();
            } finally {
                unlock();
            }
            if (another != null) start(another);
            if (ready) return result;
            if (ended) return end();
            await();
        }
    }

    /** Returns whether calls may fill the room. While results are ready, they do so only once half is free. */
    private boolean enoughRoom() {
        return reader != null || 2 * (cells.unread() - cells.calls()) <= n;
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
        for (; ; ) {
            Server another = null;
            boolean taken;
            boolean readable;
            lock();
            try {
                taken = !closed && hasRoomForOffer();
                readable = !taken && (closed || cells.ready());
                if (taken) {
                    cells.offer(item);
                    another = moreServers();
                } else if (!readable) {
                    offers = true;
                    waits();
                }
            } finally {
                unlock();
            }
            if (another != null) start(another);
            if (taken) return true;
            if (readable) return false;
            await();
        }
    }

    /** No more items will be offered. */
    public void complete() {
        lock();
        try {
            exhausted = true;
        } finally {
            unlock();
        }
    }

    /** Returns whether a result can be read without waiting. */
    public boolean ready() {
        lock();
        try {
            return cells.ready();
        } finally {
            unlock();
        }
    }

    /** Ends the window without a result: interrupts its threads, and waits until they have ended, even if it is interrupted. */
    public void cancel() {
        List<Server> interrupted;
        lock();
        try {
            interrupted = closed ? List.of() : close();
        } finally {
            unlock();
        }
        for (Server server : interrupted) server.region.cancel();
        boolean flag = false;
        for (; ; ) {
            boolean ended;
            lock();
            try {
                ended = servers.isEmpty();
                cells.dropResults();
                if (!ended) {
                    offers = false;
                    waits();
                }
            } finally {
                unlock();
            }
            if (ended) break;
            try {
                await();
            } catch (InterruptedException e) {
                flag = true;
            }
        }
        if (flag) Thread.currentThread().interrupt();
    }

    private void waits() {
        signalled = false;
        reader = Thread.currentThread();
    }

    private void await() throws InterruptedException {
        Thread me = Thread.currentThread();
        if (!me.isVirtual()) spin();
        if (signalled) return;
        Runner.beforeBlocking();
        while (!signalled) {
            if (Thread.interrupted()) {
                lock();
                try {
                    reader = null;
                } finally {
                    unlock();
                }
                throw new InterruptedException();
            }
            LockSupport.park(this);
        }
    }

    private void spin() {
        long start = System.nanoTime();
        do {
            for (int i = 0; i < 32 && !signalled; i++) Thread.onSpinWait();
        } while (!signalled && System.nanoTime() - start < SPIN_NANOS);
    }
}
