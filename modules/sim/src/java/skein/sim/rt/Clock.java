// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import java.util.PriorityQueue;
import skein.rt.World;

/** The clock of a simulation, with the timeouts and work that are due later. */
final class Clock {
    /** A timeout, or other work, that is due at a time. If several are due at the same time, {@code order} decides. */
    record Due(long at, long order, World.Timer timeout, Runnable work) implements Comparable<Due> {
        @Override
        public int compareTo(Due other) {
            return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
        }

        boolean over() {
            return timeout != null && timeout.channel().isClosed();
        }
    }

    private final PriorityQueue<Due> later = new PriorityQueue<>();
    private long order;
    private int sweepAt = 1024;
    private long horizon; // it does not move by itself beyond that
    long now; // nanoseconds since the simulation began

    Clock(long horizon) {
        this.horizon = horizon;
    }

    void add(long at, World.Timer timeout, Runnable work) {
        if (later.size() >= sweepAt) { // so that closed timeouts with far deadlines do not pile up
            later.removeIf(Due::over);
            sweepAt = 1024 + 2 * later.size();
        }
        later.add(new Due(at, order++, timeout, work));
    }

    /** Returns the entry that is due first, or null. */
    private Due first() {
        for (Due due; (due = later.peek()) != null; later.poll()) if (!due.over()) return due;
        return null;
    }

    /** Removes and returns an entry that is due now, or returns null. */
    Due poll() {
        Due due = first();
        return due != null && due.at <= now ? later.poll() : null;
    }

    /** Returns whether an entry is due by a time. */
    boolean isDueBy(long at) {
        Due due = first();
        return due != null && due.at <= at;
    }

    /** Lets the clock move by itself up to a time. */
    void allow(long until) {
        horizon = Math.max(horizon, until);
    }

    /** Moves the clock to the next entry. Returns false if none is due before the horizon. */
    boolean jump() {
        return jump(horizon);
    }

    /** Moves the clock to the next entry, wherever the horizon is. Returns false if there is none. */
    boolean jumpBeyond() {
        return jump(Long.MAX_VALUE);
    }

    private boolean jump(long limit) {
        Due due = first();
        if (due == null || due.at > limit) return false;
        now = Math.max(now, due.at);
        return true;
    }
}
