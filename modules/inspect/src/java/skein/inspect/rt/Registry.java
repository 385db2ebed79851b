// SPDX-License-Identifier: Apache-2.0
package skein.inspect.rt;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import skein.rt.Cancellable;
import skein.rt.Channel;
import skein.rt.Kept;
import skein.rt.Lock;
import skein.rt.Operation;
import skein.rt.Result;
import skein.rt.Runner;
import skein.rt.Waiter;
import skein.rt.World;
import skein.rt.block.Frame;
import skein.rt.block.Hooks;
import skein.rt.block.Observer;

/**
 * The blocks that have not ended and the threads that wait in a channel, while the inspector is on.
 *
 * <pre>
 *   Registry --> stripe's list --> Entry - - weakly - -> frame
 *                                    ^
 *      frame --> Live (kept) --------+
 *                   |
 *                   +--> channel
 * </pre>
 *
 * <ul>
 *   <li>RG1 No object here holds a frame. What the frame keeps holds the ports of its last operation, and for an alts the
 *       values to put, until the next operation, the next step or the end of the block. The records of a waiting thread, and of
 *       one that makes a result, hold only what that thread holds too, and are removed when the wait or the code ends.
 *   <li>RG2 An entry is in the list of its stripe if and only if its fate is LIVES.
 *   <li>RG3 An entry becomes COLLECTED only if the collector has cleared it while it was in its list. The end of a block takes
 *       the entry out of the list while the frame is in use: a frame that ends reads its port and its cancellable
 *       after it has called {@link Observer#ended}. So no block that has ended, and none that runs, is COLLECTED. A block
 *       that a finalizer has brought back gets another entry when it continues, and the first one is dropped.
 *   <li>RG4 After {@link #collect} every block that this collection has found is COLLECTED. The queue alone does not ensure that: it has no
 *       order, so a mark may come out of it before the entries. But the collector clears all references before it enqueues one.
 * </ul>
 *
 * The collector proves which blocks wait for ever, because a block that can continue is reachable. The idea is from Go (golang/go#74609).
 */
public final class Registry implements Observer, Runnable {
    /** How long a tick is. */
    public static final int TICK_MILLIS = 10;

    private static final int STRIPES = 16;

    /** How many entries of collected blocks are kept. */
    private static final int KEPT = 1024;

    /** A list of entries, and the ids it has given. */
    private static final class Stripe extends Lock {
        Entry first; // guarded by lock
        int count; // guarded by lock; how many entries there are
        long lastId; // guarded by lock
        boolean off = true; // guarded by lock

        void link(Entry e) {
            e.next = first;
            if (first != null) first.prev = e;
            first = e;
            count++;
        }

        void unlink(Entry e) {
            if (e.prev != null) e.prev.next = e.next;
            else first = e.next;
            if (e.next != null) e.next.prev = e.prev;
            e.next = null;
            e.prev = null;
            count--;
        }

        @Override
        protected void lock() {
            super.lock();
        }

        @Override
        protected void unlock() {
            super.unlock();
        }
    }

    /** What a frame keeps. */
    private static final class Live extends Kept {
        Object port; // of the last operation; null once the block continues after it
        int refusals; // operations on the same port, one after the other, that found it closed
        Entry entry;

        Live(Entry entry) {
            this.entry = entry;
        }

        void parking(int state, Operation operation, Object p) {
            if (refusals != 0 && p != port) refusals = 0;
            Entry e = entry;
            e.state = state;
            e.op = operation;
            e.since = THE_ONE.tick;
            port = p;
        }

        void resumed(Frame frame) {
            if (entry.fate != Entry.Fate.LIVES) entry = THE_ONE.again(entry, frame);
            entry.runs++;
            int now = THE_ONE.tick;
            if (port != null && now - entry.since >= Flight.PARK_TICKS) Flight.parked(entry, now - entry.since);
            entry.since = now;
            port = null;
        }
    }

    /**
     * A thread that waits for {@code port}, or for several ports if that is a vector, since tick {@code since}; and its
     * cancellable, or null.
     */
    public record Waiting(Waiter waiter, Object port, int since, Cancellable cancellable) {}

    /** The blocks that were collected before they had ended: how many, and the last of them, oldest first. */
    public record Collected(long count, List<Entry> last) {}

    private static final Registry THE_ONE = new Registry();

    private final Stripe[] stripes = new Stripe[STRIPES];
    private final ReferenceQueue<Frame> cleared = new ReferenceQueue<>();
    private final Map<Waiter, Waiting> threads = new ConcurrentHashMap<>();
    private final Map<Channel, Thread> makers = new ConcurrentHashMap<>();
    private final ArrayDeque<Entry> collected = new ArrayDeque<>(); // guarded by itself; the last KEPT
    private long collectedCount; // guarded by collected
    private volatile int tick; // written by the clock's thread
    private Thread clock; // guarded by this; null while off
    private volatile CarrierWatch carriers = new CarrierWatch(); // a new one for each clock
    private Recorder recorder; // guarded by this; null unless steps are recorded

    private Registry() {
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe();
            stripes[i].lastId = i;
        }
    }

    /** Returns the registry of this process. */
    public static Registry get() {
        return THE_ONE;
    }

    /** Returns whether it is on. */
    public synchronized boolean isOn() {
        return clock != null;
    }

    /** Starts to record blocks. Blocks that exist already are recorded from their next step on. */
    public synchronized void start() {
        if (clock != null) return;
        clock = Thread.ofPlatform()
                .daemon()
                .name("skein-inspect")
                .inheritInheritableThreadLocals(false)
                .unstarted(this);
        carriers = new CarrierWatch();
        clock.setContextClassLoader(Registry.class.getClassLoader());
        clock.start();
        Flight.start();
        Hooks.add(this); // first: blocks are recorded from the next lines on, and none may end unnoticed
        for (Stripe s : stripes) {
            s.lock();
            s.off = false;
            s.unlock();
        }
    }

    /** Starts or stops recording the steps of blocks. Stopping drops what was recorded. */
    public synchronized void record(boolean on) {
        if (on == (recorder != null)) return;
        if (on) Hooks.add(recorder = new Recorder());
        else {
            Hooks.remove(recorder);
            recorder = null;
        }
    }

    /** Returns the recorder of steps, or null. */
    public synchronized Recorder recorder() {
        return recorder;
    }

    /** Drops everything except what blocks keep until they end. */
    public synchronized void stop() {
        if (clock == null) return;
        record(false);
        Flight.stop();
        Hooks.remove(this);
        clock.interrupt();
        clock = null;
        for (Stripe s : stripes) {
            s.lock();
            s.off = true;
            for (Entry e; (e = s.first) != null; ) {
                s.unlink(e);
                e.fate = Entry.Fate.GONE;
                e.clear();
            }
            s.unlock();
        }
        threads.clear();
        makers.clear();
        synchronized (collected) {
            collected.clear();
            collectedCount = 0;
        }
    }

    // Blocks and threads of a simulation are the simulation's.

    @Override
    public void spawned(Frame frame) {
        if (!(frame.kept() instanceof World.Member)) frame.keep(new Live(enter(frame)));
    }

    @Override
    public void resumed(Frame frame) {
        if (!(frame.kept() instanceof Live)) spawned(frame); // it is older
        if (frame.kept() instanceof Live live) live.resumed(frame);
    }

    @Override
    public void parking(Frame frame, Operation operation, Object port) {
        if (frame.kept() instanceof Live live) live.parking(frame.state, operation, port);
    }

    @Override
    public void refused(Frame frame) {
        if (frame.kept() instanceof Live live) live.refusals++;
    }

    @Override
    public void ended(Frame frame, Object value, Throwable thrown) {
        if (frame.kept() instanceof Live live) leave(live.entry);
    }

    @Override
    public void waits(Waiter waiter, Object port) {
        if (World.current() != null) return;
        threads.put(waiter, new Waiting(waiter, port, tick, Cancellable.of(Runner.current())));
    }

    @Override
    public void goesOn(Waiter waiter) {
        threads.remove(waiter);
    }

    @Override
    public void makes(Channel port) {
        if (World.current() != null) return;
        makers.put(port, Thread.currentThread());
    }

    @Override
    public void made(Channel port) {
        makers.remove(port);
    }

    private Entry enter(Frame frame) {
        Runner runner = Runner.current();
        Frame spawner = runner == null ? null : (Frame) runner.block;
        Entry parent = spawner != null && spawner != frame && spawner.kept() instanceof Live live ? live.entry : null;
        Stripe s = stripes[(int) Thread.currentThread().threadId() & STRIPES - 1];
        s.lock();
        Entry e;
        try {
            long id = s.lastId += STRIPES;
            e = OwnEntry.isFor(frame)
                    ? new OwnEntry(frame, cleared, id, parent, tick)
                    : new Entry(frame, cleared, id, parent, tick);
            if (s.off) e.fate = Entry.Fate.GONE; // the inspector is being stopped
            else s.link(e);
        } finally {
            s.unlock();
        }
        Result.block(frame.port(), e);
        return e;
    }

    /** Makes an entry for a block that continues without a valid one: the inspector was off, or a finalizer has revived the block. */
    private Entry again(Entry e, Frame frame) {
        if (e.fate == Entry.Fate.COLLECTED) {
            synchronized (collected) {
                if (collected.remove(e)) collectedCount--;
            }
        }
        return enter(frame);
    }

    private void leave(Entry e) {
        if (end(e, Entry.Fate.GONE)) e.clear();
    }

    /** Takes the entry out of its list. Returns whether it was there. */
    private boolean end(Entry e, Entry.Fate fate) {
        Stripe s = stripes[stripeOf(e)];
        s.lock();
        try {
            if (e.fate != Entry.Fate.LIVES) return false;
            e.fate = fate;
            s.unlink(e);
            return true;
        } finally {
            s.unlock();
        }
    }

    /** The clock thread, which also receives the references that the collector has cleared. */
    @Override
    public void run() {
        long start = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos((long) tick * TICK_MILLIS);
        CarrierWatch mine = carriers;
        while (isMine()) {
            mine.look();
            try {
                Reference<?> r = cleared.remove(TICK_MILLIS);
                if (r instanceof Entry e) cleared(e);
                else if (r instanceof Mark mark) mark.reached.countDown();
            } catch (InterruptedException e) {
                continue; // stopped
            }
            tick = (int) ((System.nanoTime() - start) / TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS));
        }
    }

    private synchronized boolean isMine() {
        return clock == Thread.currentThread();
    }

    /** The collector has cleared the entry. Does nothing if that is known already, or if the block has ended. */
    public void cleared(Entry e) {
        synchronized (collected) {
            if (!end(e, Entry.Fate.COLLECTED)) return;
            if (collected.size() == KEPT) collected.removeFirst();
            collected.addLast(e);
            collectedCount++;
        }
        Flight.collected(e);
    }

    /** A reference to an object that is garbage at once: when it comes out of the queue, the collector has run. */
    private static final class Mark extends WeakReference<Frame> {
        final CountDownLatch reached = new CountDownLatch(1);

        Mark(ReferenceQueue<Frame> queue) {
            super(new Frame(null), queue);
        }
    }

    /**
     * Runs the garbage collector, and waits until its results have arrived.
     *
     * @return false if it did not run in time, as under -XX:+DisableExplicitGC, or the registry is off
     */
    public boolean collect(long timeoutMillis) throws InterruptedException {
        if (!isOn()) return false;
        Mark mark = new Mark(cleared);
        System.gc();
        if (!mark.reached.await(timeoutMillis, TimeUnit.MILLISECONDS)) return false;
        for (Entry e : live()) if (e.refersTo(null)) cleared(e); // one that has ended is in no list: see RG2
        return true;
    }

    /** Returns whether virtual threads get carriers. */
    public CarrierWatch carriers() {
        return carriers;
    }

    /** Returns the time, in ticks since the registry was started first. */
    public int tick() {
        return tick;
    }

    /** Returns the blocks that have not ended, each once. The collector may have cleared some; see {@link #cleared}. */
    public List<Entry> live() {
        List<Entry> all = new ArrayList<>();
        for (Stripe s : stripes) {
            s.lock();
            try {
                for (Entry e = s.first; e != null; e = e.next) all.add(e);
            } finally {
                s.unlock();
            }
        }
        return all;
    }

    /** Returns how many blocks have not ended. */
    public int liveCount() {
        int n = 0;
        for (Stripe s : stripes) {
            s.lock();
            n += s.count;
            s.unlock();
        }
        return n;
    }

    /** Returns how many blocks were collected before they had ended, and the last of them, oldest first. */
    public Collected collected() {
        synchronized (collected) {
            return new Collected(collectedCount, List.copyOf(collected));
        }
    }

    /** Returns the threads that wait in channels. */
    public List<Waiting> waiting() {
        return new ArrayList<>(threads.values());
    }

    /** Returns whether the thread of {@code waiter} still waits. */
    public boolean isWaiting(Waiter waiter) {
        return threads.containsKey(waiter);
    }

    /** Returns the thread whose result the channel gets, or null. */
    public Thread maker(Channel port) {
        return makers.get(port);
    }

    /** Returns the port of the last operation in a block's latest step: a vector if there are several, or null if it is not known. */
    public static Object port(Frame frame) {
        return frame.kept() instanceof Live live ? live.port : null;
    }

    /** Returns how many operations of a block in a row, up to the last, have found the same port closed. */
    public static int refusals(Frame frame) {
        return frame.kept() instanceof Live live ? live.refusals : 0;
    }

    /** Returns the entry of a block, or null. */
    public static Entry entry(Frame frame) {
        return frame.kept() instanceof Live live ? live.entry : null;
    }

    /** Returns the last id that each part of the registry has given: blocks made later have greater ones. */
    public long[] mark() {
        long[] last = new long[STRIPES];
        for (int i = 0; i < STRIPES; i++) {
            stripes[i].lock();
            last[i] = stripes[i].lastId;
            stripes[i].unlock();
        }
        return last;
    }

    /** Returns whether {@link #mark} can have returned {@code x}. */
    public static boolean isMark(Object x) {
        return x instanceof long[] mark && mark.length == STRIPES;
    }

    /** Returns whether the block was made after {@code mark} was taken. */
    public static boolean isAfter(Entry e, long[] mark) {
        return e.id > mark[stripeOf(e)];
    }

    /** Returns the stripe of an entry: stripe i gives the ids i, i + n, i + 2 n and so on. */
    private static int stripeOf(Entry e) {
        return (int) e.id & STRIPES - 1;
    }
}
