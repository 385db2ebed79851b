// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.Operation;

/**
 * Lincheck: two run queues between which work is stolen. Checks Q1 and Q2: what is pushed is polled or stolen
 * once, and stealing leaves the next slot alone.
 */
public class RunQueueCheck {
    private final RunQueue mine = new RunQueue();
    private final RunQueue other = new RunQueue();
    private final AtomicInteger names = new AtomicInteger();

    /** Something to be queued. */
    private record Work(int name) implements Runnable {
        @Override
        public void run() {}
    }

    /** Each piece of work counts one; what matters is that none is lost or seen twice. */
    private static int count(Runnable work) {
        return work == null ? 0 : 1;
    }

    @Operation
    public void push() {
        other.push(new Work(names.incrementAndGet()));
    }

    @Operation
    public boolean pushNext() {
        return other.pushNext(new Work(names.incrementAndGet()));
    }

    @Operation
    public int poll() {
        return count(other.pollForSure());
    }

    @Operation(nonParallelGroup = "thief")
    public int stealOne() {
        return count(mine.stealHalf(other, 1));
    }

    @Operation
    public void expose() {
        other.exposeNext();
    }

    /** A counter for the queue and a flag for the next slot. */
    public static class Model {
        private int queued;
        private boolean next;

        public void push() {
            queued++;
        }

        public boolean pushNext() {
            boolean old = next;
            if (old) queued++;
            next = true;
            return old;
        }

        public int poll() {
            if (next) next = false;
            else if (queued > 0) queued--;
            else return 0;
            return 1;
        }

        public int stealOne() {
            if (queued == 0) return 0;
            queued--;
            return 1;
        }

        public void expose() {
            if (next) queued++;
            next = false;
        }
    }
}
