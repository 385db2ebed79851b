// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import clojure.lang.IFn;
import java.util.concurrent.TimeUnit;
import skein.rt.Callback;
import skein.rt.Channel;
import skein.rt.ChannelFactory;
import skein.rt.World;

/** A channel that closes at its deadline. It belongs to one caller: closing it sooner cancels it. */
public class Timeout extends Channel {
    final long deadline; // on the clock of Scheduler.nanoTime
    int place = -1; // index in Timers' heap, guarded by its lock; -1 if it is not in the heap

    /** For {@link ChannelFactory}; the timeout is not started. */
    public Timeout(long deadline) {
        super(null);
        this.deadline = deadline;
    }

    /** Starts a timeout; it never fires early. */
    public static Timeout after(long millis) {
        return at(Scheduler.nanoTime()
                + TimeUnit.MILLISECONDS.toNanos(Math.max(0, Math.min(millis, Long.MAX_VALUE / 4_000_000))));
    }

    /** Starts a timeout that calls {@code action}, with one argument, when it fires or is closed. */
    public static Timeout calling(long millis, IFn action) {
        Timeout timeout = after(millis);
        boolean over = timeout.take(new Callback(action, true), null) != NONE; // it may have fired before the take
        if (over) action.invoke(null);
        return timeout;
    }

    /** Starts a timeout that fires when {@link Scheduler#nanoTime} has reached {@code deadlineNanos}. */
    public static Timeout at(long deadlineNanos) {
        Timeout timeout = ChannelFactory.INSTANCE.timeout(deadlineNanos);
        World world = World.current();
        if (world != null) world.at(timeout);
        else Timers.add(timeout);
        return timeout;
    }

    /** Closes the channel at its deadline. */
    public void fire() {
        super.close();
    }

    /** Cancels the timer and closes the channel. */
    @Override
    public void close() {
        if (!isClosed()) cancel();
        super.close();
    }

    @Override
    public void close(Throwable cause) {
        if (!isClosed()) cancel();
        super.close(cause);
    }

    /** A simulation drops a timeout that is closed. */
    private void cancel() {
        if (World.current() == null) Timers.remove(this);
    }

    /** Returns when it fires, on the clock of {@link Scheduler#nanoTime}. */
    public long deadlineNanos() {
        return deadline;
    }

    /** Returns how many timeouts have neither fired nor been cancelled. */
    public static int outstanding() {
        return Timers.outstanding();
    }
}
