// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.IFn;
import clojure.lang.Var;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileLockInterruptionException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicLong;
import skein.base.Cancelled;

/**
 * A period of a {@link Cancellable}'s execution that can be cancelled: a whole child, the body of a scope, or the body of a
 * timeout. Cancelling a region cancels the regions inside it too.
 */
public final class Region {
    /** The owner of a region, such as a scope. */
    public interface Owner {
        /** Returns its state for an inspector, as a map, or null. */
        default Object describe() {
            return null;
        }

        /** The region was cancelled. Adds to {@code more} the regions that must be cancelled too. */
        default void cancelled(Region region, Collection<Region> more) {}

        /**
         * The child with this region has thrown. Called before its result can be seen. Returns whether the owner will throw
         * the exception or drop it as a cancellation. If not, code must read it from the child's result.
         */
        default boolean failed(Region region, Throwable thrown) {
            return true;
        }

        /**
         * Returns the exception for the result of the child with this region, which has thrown. That is {@code thrown},
         * unless the owner has cancelled the child.
         */
        default Throwable cause(Region region, Throwable thrown) {
            return thrown;
        }

        /** Returns the exception for the code of this region, which has been cancelled. */
        default CancellationException cancellation(Region region) {
            return Cancelled.fromOutside("Cancelled.");
        }

        /**
         * The child has ended, and its result can be seen: {@code value}, unless {@code thrown} is not null. Code that reads
         * the exception here calls {@code read}, if it is not null.
         */
        default void ended(Region region, Object value, Throwable thrown, Runnable read) {}
    }

    /**
     * A dynamic var. While it is bound, blocks and threads of skein.async are children of a scope. Its value is a function that
     * makes the region of one. Blocks and threads inherit the binding, so blocks that they start are children too.
     */
    public static final Var CHILD = Var.create(null).setDynamic();

    static final int MAX_CAUSES = 20;

    private static final AtomicLong CHILDREN = new AtomicLong();

    private final Cancellable cancellable;
    final Owner owner; // or null
    private final long number; // of a child: ascends in the order in which the owner's children are made
    private final String name; // of a child, given by the program, or null
    private final String site; // of a child: where it was started, or null
    // All of these are guarded by the cancellable's monitor.
    Region outer;
    int shields; // how many shields were active when it was entered; they do not protect it
    volatile boolean requested; // volatile: read without the monitor
    long requestedAt; // on the JVM's clock
    boolean due; // it is requested, and what is cancelled together with it has been marked too
    boolean delivered;
    boolean left;
    int interruptsBeneath; // how many the thread had got, when it was entered, for code that had lent it the thread

    private Region(Cancellable cancellable, Owner owner, long number, String name, String site) {
        this.cancellable = cancellable;
        this.owner = owner;
        this.number = number;
        this.name = name;
        this.site = site;
        cancellable.push(this);
    }

    /** Enters a region of this thread, or of the block that it runs, until {@link #leave}. Returns it. */
    public static Region enter(Owner owner) {
        return new Region(Cancellable.current(), owner, 0, null, null);
    }

    /** Returns the region of a child that has not begun: a block by the goIn of skein.rt.block.Frame, or a {@link skein.rt.scope.Fork}. */
    public static Region child(Owner owner) {
        return child(owner, null, null);
    }

    /** Likewise, for a child with a name or a place in the source, such as {@code orders.clj:31}; both may be null. */
    public static Region child(Owner owner, String name, String site) {
        return new Region(new Cancellable(), owner, CHILDREN.incrementAndGet(), name, site);
    }

    /** Returns the region of a new child of the scope whose {@link #CHILD} is bound on this thread, or null. */
    public static Region childHere() {
        IFn make = (IFn) CHILD.deref();
        return make == null ? null : (Region) make.invoke();
    }

    /** Returns whether work that is started on this thread is a child of a scope. */
    public static boolean startsChildren() {
        return CHILD.deref() != null;
    }

    /** Ends the region, on the thread or block that entered it. */
    public void leave() {
        leave(null);
    }

    /** Ends the region with an exception, which delivers a cancellation of the region around it if it is an interruption. */
    public void leave(Throwable thrown) {
        cancellable.pop(this, thrown);
    }

    /** The scope whose body this is waits for its children from now on. A cancellation reaches them, but not the wait. */
    public void joins() {
        cancellable.joins(this);
    }

    /** Returns the cancellable of the thread or block that the region belongs to. */
    public Cancellable cancellable() {
        return cancellable;
    }

    /** Returns, for a child, a number that is higher than those of the owner's earlier children; otherwise 0. */
    public long number() {
        return number;
    }

    /** Returns the name that the program has given the child, or null. */
    public String name() {
        return name;
    }

    /** Returns the place where the child was started, such as {@code orders.clj:31}, or null. */
    public String site() {
        return site;
    }

    /** Returns the exception for its code, which has been cancelled. */
    CancellationException cancellation() {
        if (owner != null) return owner.cancellation(this);
        return number == 0 ? Cancelled.late() : Cancelled.fromOutside("Cancelled.");
    }

    /** Returns the owner of the region, or null. */
    public Owner owner() {
        return owner;
    }

    /** Cancels the region, the regions inside it, and those that owners add. Any thread may call it. A second call does nothing. */
    public void cancel() {
        cancelAll(List.of(this));
    }

    /** Cancels the regions together, as {@link #cancel} does. */
    public static void cancelAll(Collection<Region> regions) {
        // With a list, not by recursion: a tree of scopes may be deeper than the stack.
        List<Region> all = new ArrayList<>(regions);
        for (int i = 0; i < all.size(); i++) {
            Region region = all.get(i);
            if (region.cancellable.request(region, all) && region.owner != null) region.owner.cancelled(region, all);
        }
        // After all requests, so that a thread that runs a child of its own code is interrupted once.
        for (Region region : all) region.cancellable.deliverRequested();
    }

    /** Returns whether it has been cancelled. */
    public boolean isCancelled() {
        return requested;
    }

    /** Returns how long ago it was cancelled; only valid if {@link #isCancelled}. */
    public long nanosSinceCancelled() {
        synchronized (cancellable) {
            return System.nanoTime() - requestedAt;
        }
    }

    /** Returns whether {@code thrown} is how a cancellation of this thread or its block shows. */
    public static boolean isCancellation(Throwable thrown) {
        Region region = Cancellable.innermost();
        return region != null && region.isCancelled() && isInterruption(thrown);
    }

    /** Returns whether {@code thrown} is an exception by which a cancelled thread or block ends. */
    public static boolean isInterruption(Throwable thrown) {
        Throwable t = thrown;
        for (int i = 0; t != null && i < MAX_CAUSES; i++) {
            if (t instanceof CancellationException || isInterrupt(t)) return true;
            t = t.getCause();
        }
        return false;
    }

    /** Returns whether {@code t} itself, not its cause, is an exception by which an interrupt ends a blocking call. */
    static boolean isInterrupt(Throwable t) {
        return t instanceof InterruptedException
                || t instanceof ClosedByInterruptException
                || t instanceof FileLockInterruptionException
                || t instanceof InterruptedIOException && !(t instanceof SocketTimeoutException)
                || t instanceof SocketException && "Closed by interrupt".equals(t.getMessage());
    }
}
