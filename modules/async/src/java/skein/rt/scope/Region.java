// SPDX-License-Identifier: Apache-2.0
package skein.rt.scope;

import clojure.lang.IFn;
import clojure.lang.Var;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileLockInterruptionException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicLong;
import skein.rt.Frame;

/**
 * A stretch of a {@link Cancellable}'s life that can be cancelled: a child from its beginning to its end, the body of a
 * scope, what runs under a timeout. To cancel it cancels the regions inside it too.
 */
public final class Region {
    /** What a region belongs to. */
    public interface Owner {
        /** What an inspector is to know of it, as a map, or null. */
        default Object describe() {
            return null;
        }

        /** The region was cancelled. Adds to {@code more} the regions that must be cancelled likewise. */
        default void cancelled(Region region, Collection<Region> more) {}

        /** The child that the region is throws; told before anybody can see its result. */
        default void failed(Region region, Throwable thrown) {}

        /** The child has ended, and its result can be seen: {@code value}, unless {@code thrown} is not null. */
        default void ended(Region region, Object value, Throwable thrown) {}
    }

    /**
     * Where this is bound, blocks and threads of skein.async are children of a scope: a function that makes the region of one.
     * The binding goes with blocks and threads as others do, so what they start are children too.
     */
    public static final Var CHILD = Var.create(null).setDynamic();

    private static final int MAX_CAUSES = 20;

    private static final AtomicLong CHILDREN = new AtomicLong();

    private final Cancellable cancellable;
    final Owner owner; // or null
    private final long number; // of a child: those of one owner are ascending in the order of their making
    // All of these are guarded by the cancellable's monitor.
    Region outer;
    int shields; // how many were up when this was entered: they do not keep it
    volatile boolean requested; // volatile: read without the monitor
    long requestedAt; // on the JVM's clock
    boolean delivered;
    boolean left;

    private Region(Cancellable cancellable, Owner owner, long number) {
        this.cancellable = cancellable;
        this.owner = owner;
        this.number = number;
        cancellable.push(this);
    }

    /** A region of this thread, or of the block that it runs, from here to {@link #leave}. */
    public static Region enter(Owner owner) {
        return new Region(Cancellable.current(), owner, 0);
    }

    /** The region of a child that has not begun: a block by {@link Frame#goIn}, or a {@link Fork}. */
    public static Region child(Owner owner) {
        return new Region(new Cancellable(), owner, CHILDREN.incrementAndGet());
    }

    /** The region of one more child of the scope whose {@link #CHILD} is bound here, or null. */
    public static Region childHere() {
        IFn make = (IFn) CHILD.deref();
        return make == null ? null : (Region) make.invoke();
    }

    /** Ends the region, on the thread or block that entered it. */
    public void leave() {
        cancellable.pop(this, false);
    }

    /** As {@link #leave}, by an exception that tells the region outside, if it is cancelled too. */
    public void leaveCancelled() {
        cancellable.pop(this, true);
    }

    /** What the region is a stretch of. */
    public Cancellable cancellable() {
        return cancellable;
    }

    /** Of a child, a number that is higher than those of the owner's children before it; else 0. */
    public long number() {
        return number;
    }

    /** What the region belongs to, or null. */
    public Owner owner() {
        return owner;
    }

    /** Cancels the region, all inside it, and what their owners add. Any thread may; again has no effect. */
    public void cancel() {
        // By a list, not by recursion: a tree of scopes may be deeper than the stack.
        ArrayDeque<Region> todo = new ArrayDeque<>();
        todo.add(this);
        for (Region region; (region = todo.poll()) != null; ) {
            if (region.cancellable.cancel(region, todo) && region.owner != null) region.owner.cancelled(region, todo);
        }
    }

    /** Whether it has been cancelled. */
    public boolean isCancelled() {
        return requested;
    }

    /** How long ago it was cancelled; only where {@link #isCancelled}. */
    public long nanosSinceCancelled() {
        synchronized (cancellable) {
            return System.nanoTime() - requestedAt;
        }
    }

    /** Whether {@code thrown} is how a cancelled thread or block ends. */
    public static boolean isInterruption(Throwable thrown) {
        Throwable t = thrown;
        for (int i = 0; t != null && i < MAX_CAUSES; i++) {
            if (t instanceof InterruptedException
                    || t instanceof CancellationException
                    || t instanceof ClosedByInterruptException
                    || t instanceof FileLockInterruptionException
                    || t instanceof InterruptedIOException && !(t instanceof SocketTimeoutException)
                    || t instanceof SocketException && "Closed by interrupt".equals(t.getMessage())) {
                return true;
            }
            t = t.getCause();
        }
        return false;
    }
}
