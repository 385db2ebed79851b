// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** What happens to a detached step when virtual threads compute on all carriers. */
public final class DetachedCheck {
    private static final long DEADLINE_SECONDS = 20;

    private volatile boolean stop;

    private DetachedCheck() {}

    /** Returns whether detached work is done while the carriers are held. */
    public static boolean runsWithoutCarrier() throws InterruptedException {
        return new DetachedCheck().run();
    }

    private boolean run() throws InterruptedException {
        int carriers = Integer.getInteger(
                "jdk.virtualThreadScheduler.parallelism", Runtime.getRuntime().availableProcessors());
        CountDownLatch held = new CountDownLatch(carriers);
        CountDownLatch done = new CountDownLatch(2);
        for (int i = 0; i < carriers; i++) {
            Thread.startVirtualThread(() -> {
                held.countDown();
                while (!stop) Thread.onSpinWait();
            });
        }
        try {
            if (!held.await(DEADLINE_SECONDS, TimeUnit.SECONDS)) return false;
            Detached.start(done::countDown);
            Scheduler.submit(done::countDown); // wakes the monitor, which is awake whenever it detaches a step itself
            return done.await(DEADLINE_SECONDS, TimeUnit.SECONDS);
        } finally {
            stop = true;
        }
    }
}
