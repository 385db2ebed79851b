// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs one tally per worker over a source of slices, and merges them.
 *
 * <p>Workers are platform threads, because they never wait for anything but the disk. What a worker throws, its caller gets.
 * When nothing is left to read, the workers merge: each takes a part of the tallies, and merges it over all workers.
 */
public final class WideFinder {
    private final SliceSource source;
    private final Thread[] threads;
    private final Wf2[] tallies;     // written by its worker before it counts down `reading`
    private final CountDownLatch reading;
    private final AtomicInteger nextPart = new AtomicInteger();
    private int running;             // guarded by this
    private Throwable failure;       // guarded by this; the first one

    private WideFinder(SliceSource source, int workers) {
        this.source = source;
        threads = new Thread[workers];
        tallies = new Wf2[workers];
        reading = new CountDownLatch(workers);
        running = workers;
    }

    /**
     * Counts every line of {@code source} with {@code workers} threads.
     *
     * @throws IOException what a worker got from the source; likewise errors and unchecked exceptions
     * @throws InterruptedException when the calling thread is interrupted; the workers then stop by themselves
     */
    public static Wf2 run(SliceSource source, int workers) throws IOException, InterruptedException {
        if (workers < 1) throw new IllegalArgumentException("workers is " + workers + ", but must be 1 or more");
        WideFinder run = new WideFinder(source, workers);
        run.start();
        try {
            run.await();
        } finally {
            run.stop();
        }
        return run.tallies[0];
    }

    private void start() {
        for (int i = 0; i < threads.length; i++) {
            int n = i;
            threads[i] = new Thread(() -> work(n), "skein-wf-" + i);
            threads[i].setDaemon(true);
            threads[i].start();
        }
    }

    private void work(int n) {
        try {
            tallies[n] = read();
            reading.countDown();
            reading.await();  // for ever, if another worker fails; until stop() then
            merge();
            finished(null);
        } catch (Throwable e) {
            // The frame boundary of a worker: whatever it is, the caller shall see it.
            finished(e);
        }
    }

    private Wf2 read() throws IOException {
        Wf2 tally = new Wf2();
        Slice slice = new Slice();
        while (!Thread.currentThread().isInterrupted() && source.next(slice)) tally.add(slice);
        return tally;
    }

    private void merge() {
        for (int part; (part = nextPart.getAndIncrement()) < Wf2.PARTS; ) {
            for (int i = 1; i < tallies.length; i++) tallies[0].merge(tallies[i], part);
        }
    }

    private synchronized void finished(Throwable thrown) {
        if (failure == null) failure = thrown;
        running--;
        notifyAll();
    }

    private synchronized void await() throws IOException, InterruptedException {
        while (running > 0 && failure == null) wait();
        if (failure instanceof IOException e) throw e;
        if (failure instanceof RuntimeException e) throw e;
        if (failure instanceof Error e) throw e;
        if (failure != null) throw new IllegalStateException(failure);
    }

    /** Has no effect on workers that are finished, that is on any run that went well. */
    private void stop() {
        for (Thread thread : threads) thread.interrupt();
    }
}
