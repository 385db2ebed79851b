// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.IOException;
import java.io.OutputStream;

/**
 * Writes a sample log: the same bytes for the same seed and size, whatever the machine and the number of threads.
 *
 * <p>A log consists of whole lines. It ends with the line that reaches {@code sizeBytes} bytes. So a small log is the beginning of a
 * larger one with the same seed. Each worker makes whole blocks of lines, and the workers write them in order.
 */
public final class SampleLog {
    private final OutputStream out;
    private final long seed;
    private final long sizeBytes;
    private final boolean odd;
    private final boolean finalLineFeed;
    private long nextBlock; // guarded by this; the next to be made
    private long turn; // guarded by this; the next to be written
    private long written; // guarded by this
    private boolean finished; // guarded by this
    private Throwable failure; // guarded by this; the first one

    /**
     * @param out gets large writes, and is neither flushed nor closed
     * @param sizeBytes 0 or more
     * @param odd whether odd lines are mixed in
     * @param finalLineFeed whether the last line has its line feed
     */
    public SampleLog(OutputStream out, long seed, long sizeBytes, boolean odd, boolean finalLineFeed) {
        this.out = out;
        this.seed = seed;
        this.sizeBytes = sizeBytes;
        this.odd = odd;
        this.finalLineFeed = finalLineFeed;
        finished = sizeBytes == 0;
    }

    /**
     * Writes the log with {@code workers} threads, 1 or more; returns how many bytes were written.
     *
     * @throws IOException what {@code out} has thrown
     */
    public long write(int workers) throws IOException, InterruptedException {
        Thread[] threads = new Thread[workers];
        for (int i = 0; i < workers; i++) {
            threads[i] = new Thread(this::work, "skein-sample-" + i);
            threads[i].setDaemon(true);
            threads[i].start();
        }
        try {
            for (Thread thread : threads) thread.join();
        } finally {
            stop(null);
        }
        return result();
    }

    private synchronized long result() throws IOException {
        if (failure instanceof IOException e) throw e;
        if (failure instanceof RuntimeException e) throw e;
        if (failure instanceof Error e) throw e;
        if (failure != null) throw new IllegalStateException(failure);
        return written;
    }

    private synchronized void stop(Throwable thrown) {
        if (failure == null) failure = thrown;
        finished = true;
        notifyAll();
    }

    private void work() {
        try {
            SampleLines lines = new SampleLines(seed, odd);
            for (long block; (block = claim()) >= 0; ) write(block, lines.block(block));
        } catch (Throwable e) {
            // Any exception of a worker must reach the caller.
            stop(e);
        }
    }

    private synchronized long claim() {
        return finished ? -1 : nextBlock++;
    }

    private synchronized void write(long block, Text text) throws IOException, InterruptedException {
        while (turn != block && !finished) wait();
        if (finished) return;
        int n = text.length;
        long missing = sizeBytes - written;
        if (missing <= n) {
            finished = true;
            n = (int) missing;
            while (text.bytes[n - 1] != '\n') n++;
            if (!finalLineFeed) n--;
        }
        out.write(text.bytes, 0, n);
        written += n;
        turn++;
        notifyAll();
    }
}
