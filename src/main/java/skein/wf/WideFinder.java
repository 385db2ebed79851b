// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.IOException;

/**
 * Runs one tally per worker over a source of slices, and merges them.
 *
 * <p>Workers are platform threads, because they never wait for anything but the disk. What a worker throws, its caller gets.
 */
public final class WideFinder {
    private final SliceSource source;
    private final Thread[] threads;
    private final Wf2[] tallies;
    private int running;        // guarded by this
    private Throwable failure;  // guarded by this; the first one

    private WideFinder(SliceSource source, int workers) {
        this.source = source;
        threads = new Thread[workers];
        tallies = new Wf2[workers];
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
        return run.merged();
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
            Wf2 tally = new Wf2();
            Slice slice = new Slice();
            while (!Thread.currentThread().isInterrupted() && source.next(slice)) tally.add(slice);
            finished(n, tally, null);
        } catch (Throwable e) {
            // The frame boundary of a worker: whatever it is, the caller shall see it.
            finished(n, null, e);
        }
    }

    private synchronized void finished(int n, Wf2 tally, Throwable thrown) {
        tallies[n] = tally;
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

    private Wf2 merged() {
        Wf2 all = tallies[0];
        for (int i = 1; i < tallies.length; i++) all.merge(tallies[i]);
        return all;
    }
}
