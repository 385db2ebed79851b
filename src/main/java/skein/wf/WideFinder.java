// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Runs one accumulator per worker over a source of slices, and merges them: the parallel driver, and the only place that knows
 * of threads.
 *
 * <p>Workers are platform threads, because they never wait for anything but the disk. What a worker throws, its caller gets.
 * When nothing is left to read, the workers merge: each takes a part of the tallies, and merges it over all workers.
 *
 * @param <A> the accumulators
 */
public final class WideFinder<A extends Accumulator<A>> {
    private final SliceSource source;
    private final Supplier<A> newAccumulator;
    private final Thread[] threads;
    private final List<A> results;   // each written by its worker before it counts down `reading`
    private final CountDownLatch reading;
    private final AtomicInteger nextPart = new AtomicInteger();
    private int running;             // guarded by this
    private Throwable failure;       // guarded by this; the first one

    private WideFinder(SliceSource source, int workers, Supplier<A> newAccumulator) {
        this.source = source;
        this.newAccumulator = newAccumulator;
        threads = new Thread[workers];
        results = new ArrayList<>(Collections.nCopies(workers, null));
        reading = new CountDownLatch(workers);
        running = workers;
    }

    /**
     * Counts every line of {@code source} with {@code workers} threads, each with an accumulator of its own.
     *
     * @throws IOException what a worker got from the source; likewise errors and unchecked exceptions
     * @throws InterruptedException when the calling thread is interrupted; the workers then stop by themselves
     */
    public static <A extends Accumulator<A>> A run(SliceSource source, int workers, Supplier<A> newAccumulator)
        throws IOException, InterruptedException {
        if (workers < 1) throw new IllegalArgumentException("workers is " + workers + ", but must be 1 or more");
        WideFinder<A> run = new WideFinder<>(source, workers, newAccumulator);
        run.start();
        try {
            run.await();
        } finally {
            run.stop();
        }
        return run.results.get(0);
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
            results.set(n, read());
            reading.countDown();
            reading.await();  // for ever, if another worker fails; until stop() then
            merge();
            finished(null);
        } catch (Throwable e) {
            // The frame boundary of a worker: whatever it is, the caller shall see it.
            finished(e);
        }
    }

    private A read() throws IOException {
        A accumulator = newAccumulator.get();
        Slice slice = new Slice();
        while (!Thread.currentThread().isInterrupted() && source.next(slice)) accumulator.add(slice);
        return accumulator;
    }

    private void merge() {
        A first = results.get(0);
        for (int part; (part = nextPart.getAndIncrement()) < first.parts(); ) {
            for (int i = 1; i < results.size(); i++) first.merge(results.get(i), part);
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
