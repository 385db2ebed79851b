// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * A short lock in one field, for critical sections of a few dozen instructions that neither block nor
 * run user code, but for {@link #mayReenter}. Its subclass is the object it guards, so that the lock costs no object of its own.
 *
 * <p>Memory order: everything done before {@link #unlock} is visible after the next {@link #lock}.
 *
 * <p>A thread that finds the lock taken spins with growing pauses, so that the holder can do several operations in a row
 * while the data is in its cache. Then it yields. Finally it sleeps in small steps, in case the holder has lost its
 * processor. A sleep may use up an unpark that was meant for the caller, so the thread then unparks itself.
 */
public abstract class Lock {
    private static final int SPIN_ROUNDS = 12;
    private static final int YIELD_ROUNDS = 40;
    private static final int LONGEST_PAUSE = 256;
    private static final long SLEEP_NANOS = 50_000;
    private static final VarHandle TAKEN;

    static {
        try {
            TAKEN = MethodHandles.lookup().findVarHandle(Lock.class, "taken", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile int taken; // 0: free; else how often the holder has entered

    protected void lock() {
        if (!TAKEN.compareAndSet(this, 0, 1) && !reenter()) lockSlowly();
    }

    /** Takes the lock if it is free. */
    protected boolean tryLock() {
        return TAKEN.compareAndSet(this, 0, 1) || reenter();
    }

    protected void unlock() {
        TAKEN.setRelease(this, (int) TAKEN.get(this) - 1);
    }

    /** Returns whether this thread holds the lock and may take it again: only while it runs user code under the lock. */
    protected boolean mayReenter() {
        return false;
    }

    /** Counts one more entry if this thread may. Only tried after the lock was found taken, so it costs others nothing. */
    private boolean reenter() {
        if (!mayReenter()) return false;
        TAKEN.set(this, (int) TAKEN.get(this) + 1);
        return true;
    }

    private void lockSlowly() {
        int pause = 4;
        for (int round = 0; ; round++) {
            if (round < SPIN_ROUNDS) {
                for (int i = 0; i < pause; i++) Thread.onSpinWait();
                pause = Math.min(2 * pause, LONGEST_PAUSE);
            } else if (round < YIELD_ROUNDS) {
                Thread.yield();
            } else {
                LockSupport.parkNanos(SLEEP_NANOS);
                Thread.yield(); // an interrupted thread does not park
            }
            if (taken == 0 && TAKEN.compareAndSet(this, 0, 1)) {
                if (round >= YIELD_ROUNDS) LockSupport.unpark(Thread.currentThread());
                return;
            }
        }
    }
}
