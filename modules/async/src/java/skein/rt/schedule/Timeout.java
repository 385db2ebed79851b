// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import java.util.concurrent.TimeUnit;
import skein.rt.Channel;
import skein.rt.ChannelFactory;
import skein.rt.Role;
import skein.rt.World;

/** Makes a channel one that closes at a deadline. It belongs to one caller: closing it sooner cancels it. */
public final class Timeout extends Role implements World.Timer {
    final long deadline; // on the clock of Scheduler.nanoTime
    int place = -1; // index in Timers' heap, guarded by its lock; -1 if it is not in the heap
    private final Channel channel = ChannelFactory.INSTANCE.channel(null, this);

    Timeout(long deadline) {
        this.deadline = deadline;
    }

    /** Starts a timeout, which never fires early. Returns its channel, as does the next. */
    public static Channel after(long millis) {
        return at(Scheduler.nanoTime()
                + TimeUnit.MILLISECONDS.toNanos(Math.max(0, Math.min(millis, Long.MAX_VALUE / 4_000_000))));
    }

    /** Starts a timeout that fires when {@link Scheduler#nanoTime} has reached {@code deadlineNanos}. */
    public static Channel at(long deadlineNanos) {
        Timeout timeout = new Timeout(deadlineNanos);
        World world = World.current();
        if (world != null) world.at(timeout);
        else Timers.add(timeout);
        return timeout.channel;
    }

    @Override
    public Channel channel() {
        return channel;
    }

    /** Cancels the timer. A simulation drops a timeout that is closed. */
    @Override
    protected void closing() {
        if (World.current() == null) Timers.remove(this);
    }

    @Override
    public long deadlineNanos() {
        return deadline;
    }

    /** Returns how many timeouts have neither fired nor been cancelled. */
    public static int outstanding() {
        return Timers.outstanding();
    }
}
