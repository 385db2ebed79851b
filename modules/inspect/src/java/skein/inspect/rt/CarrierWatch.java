// SPDX-License-Identifier: Apache-2.0
package skein.inspect.rt;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Checks that virtual threads get carrier threads. Each second the registry's clock starts a virtual thread that does nothing. If that
 * thread does not run, the clock counts its own ticks, so a time in which the whole process stood still does not count. If the carriers
 * use next to no processor time meanwhile, they don't compute: blocked threads hold all of them.
 */
public final class CarrierWatch {
    private static final int LOOKS_A_SECOND = 1000 / Registry.TICK_MILLIS;

    /** For how many looks a virtual thread must have waited for a carrier. */
    private static final int STARVED_LOOKS = 5 * LOOKS_A_SECOND;

    /** The processor time that idle carriers may have used meanwhile. */
    private static final long IDLE_NANOS = 50_000_000;

    private static final String CARRIER = "jdk.internal.misc.CarrierThread";

    private volatile boolean begun = true; // the last thread that was started has run
    private volatile int looks; // since it was started; written by the clock's thread
    private long computed; // guarded by this; the carriers' processor time one second after that thread was started

    /** Called by the clock. */
    void look() {
        int n = looks + 1;
        if (n == LOOKS_A_SECOND && !begun) computes(true);
        if (n < LOOKS_A_SECOND || !begun) {
            looks = n;
            return;
        }
        begun = false;
        looks = 0;
        Thread.ofVirtual()
                .name("skein-inspect-carrier")
                .inheritInheritableThreadLocals(false)
                .start(() -> begun = true);
    }

    /** Returns how much processor time the carriers have used since {@code start} was true. */
    private synchronized long computes(boolean start) {
        ThreadMXBean bean = ManagementFactory.getThreadMXBean();
        long nanos = 0;
        for (Thread t : Thread.getAllStackTraces().keySet()) {
            if (t.getClass().getName().equals(CARRIER)) nanos += Math.max(0, bean.getThreadCpuTime(t.threadId()));
        }
        if (start) computed = nanos;
        return nanos - computed;
    }

    /** Returns for how many ms no virtual thread has got a carrier although no carrier computes, or 0 if less than five seconds. */
    public long starvedMillis() {
        int n = looks;
        if (begun || n < STARVED_LOOKS || computes(false) > IDLE_NANOS || begun) return 0;
        return (long) n * Registry.TICK_MILLIS;
    }
}
