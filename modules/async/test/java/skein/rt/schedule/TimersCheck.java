// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import clojure.lang.AFn;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import skein.rt.block.Callback;

/** Looks into the heap of {@link Timers} between additions and removals, and at the order in which timeouts fire. */
public final class TimersCheck {
    private static final long DEADLINE_SECONDS = 60;
    private static final long HOUR = TimeUnit.HOURS.toNanos(1);

    private TimersCheck() {}

    /** Returns a timeout that says that it has fired. */
    private static Timeout telling(long deadline, List<Long> fired, CountDownLatch left) {
        Timeout timeout = new Timeout(deadline);
        AFn tell = new AFn() {
            @Override
            public Object invoke(Object nil) {
                fired.add(deadline);
                left.countDown();
                return nil;
            }
        };
        timeout.channel().take(new Callback(tell, true), null);
        return timeout;
    }

    private static Object inside(String field) {
        try {
            Field f = Timers.class.getDeclaredField(field);
            f.setAccessible(true);
            return f.get(null);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** Adds and removes timeouts that are due in hours. Returns what is wrong, or null. */
    public static String fault(long seed) {
        Random random = new Random(seed);
        List<Timeout> there = new ArrayList<>();
        int before = Timers.outstanding();
        ReentrantLock lock = (ReentrantLock) inside("LOCK");
        lock.lock(); // no other timeout comes, goes or fires
        try {
            for (int i = 0; i < 3000; i++) {
                // At first more come than go, then more go than come.
                if (there.isEmpty() || random.nextInt(3000) > i) {
                    there.add(new Timeout(System.nanoTime() + HOUR + random.nextInt(1000)));
                    Timers.add(there.get(there.size() - 1));
                } else {
                    Timeout gone = there.remove(random.nextInt(there.size()));
                    Timers.remove(gone);
                    if (gone.place != -1) return "A removed timeout has a place";
                    Timers.remove(gone); // again has no effect
                }
                String fault = i % 16 == 0 ? faultOfHeap(before + there.size()) : null;
                if (fault != null) return "Seed " + seed + ", operation " + i + ": " + fault;
            }
            return null;
        } finally {
            there.forEach(Timers::remove);
            lock.unlock();
        }
    }

    private static String faultOfHeap(int size) {
        Timeout[] heap = (Timeout[]) inside("heap");
        if (Timers.outstanding() != size) return Timers.outstanding() + " are outstanding, not " + size;
        for (int i = 0; i < size; i++) {
            if (heap[i].place != i) return "place " + heap[i].place + " at " + i;
            if (i > 0 && heap[i].deadline - heap[i - 1 >> 2].deadline < 0) return "before its parent at " + i;
        }
        for (int i = size; i < heap.length; i++) if (heap[i] != null) return "something behind the end";
        return null;
    }

    /** Starts timeouts in any order. Returns whether they fire in the order of their deadlines, none too early. */
    public static boolean fireInOrder(long seed) throws InterruptedException {
        int n = 200;
        List<Long> fired = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch left = new CountDownLatch(n);
        ReentrantLock lock = (ReentrantLock) inside("LOCK");
        lock.lock(); // none fires before all are there
        long first = System.nanoTime();
        try {
            List<Timeout> all = new ArrayList<>();
            for (int i = 0; i < n; i++) all.add(telling(first + i * 10_000L, fired, left));
            Collections.shuffle(all, new Random(seed));
            all.forEach(Timers::add);
        } finally {
            lock.unlock();
        }
        if (!left.await(DEADLINE_SECONDS, TimeUnit.SECONDS)) return false;
        List<Long> sorted = new ArrayList<>(fired);
        Collections.sort(sorted);
        return sorted.equals(fired) && System.nanoTime() - first >= (n - 1) * 10_000L;
    }

    /** Returns whether a timeout fires that comes while the thread sleeps until a later one. */
    public static boolean wakesForTheFirst() throws InterruptedException {
        Timeout late = new Timeout(System.nanoTime() + HOUR);
        CountDownLatch left = new CountDownLatch(1);
        Timers.add(late);
        try {
            Timers.add(telling(System.nanoTime() + 1_000_000, Collections.synchronizedList(new ArrayList<>()), left));
            return left.await(DEADLINE_SECONDS, TimeUnit.SECONDS)
                    && !late.channel().isClosed();
        } finally {
            Timers.remove(late);
        }
    }
}
