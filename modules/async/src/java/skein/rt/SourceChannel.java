// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.IFn;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The channel of a source of one result, such as a future. Takes wait here, get the result, and can be withdrawn. An
 * alts returns the source itself as the port that it chose.
 *
 * <p>A source has one such channel at a time, as long as a take waits and the source holds the channel. So a loop that
 * waits in many alts for one pending future does not add a callback each time.
 */
public final class SourceChannel extends Channel {
    /** A source, by identity. */
    private static final class Key extends WeakReference<Object> {
        private final int hash;

        Key(Object source, ReferenceQueue<Object> queue) {
            super(source, queue);
            hash = System.identityHashCode(source);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(Object other) {
            if (this == other) return true;
            Object source = get();
            return source != null && other instanceof Key key && key.refersTo(source);
        }
    }

    /** Finds the key of a source, without another weak reference for the garbage collector to process. */
    private record Lookup(Object source) {
        @Override
        public int hashCode() {
            return System.identityHashCode(source);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Key key && key.refersTo(source);
        }
    }

    private static final ConcurrentHashMap<Object, WeakReference<SourceChannel>> PENDING = new ConcurrentHashMap<>();
    private static final ReferenceQueue<Object> GONE = new ReferenceQueue<>();

    private Key key; // of the map entry with this channel, written before the entry is added; null if there was none

    private SourceChannel(Object source) {
        super(new Buffers.Promise(), new Unlimited(source));
    }

    /** Returns a channel for a {@code source} whose result is there; see {@link #settle}. */
    public static SourceChannel settled(Object source, Object value, Throwable thrown) {
        SourceChannel channel = new SourceChannel(source);
        channel.settle(value, thrown);
        return channel;
    }

    /**
     * Returns the channel of a {@code source} whose result is not there yet.
     *
     * @param start called with a new channel; it must arrange that {@link #settle} is called, and that the channel is
     *     held until then
     */
    public static SourceChannel pending(Object source, IFn start) {
        for (Reference<?> gone; (gone = GONE.poll()) != null; ) PENDING.remove(gone);
        WeakReference<SourceChannel> known = PENDING.get(new Lookup(source));
        SourceChannel existing = known == null ? null : known.get();
        if (existing != null) return existing;
        SourceChannel channel = new SourceChannel(source);
        WeakReference<SourceChannel> mine = new WeakReference<>(channel);
        channel.key = new Key(source, GONE);
        for (; ; ) {
            WeakReference<SourceChannel> theirs = PENDING.putIfAbsent(channel.key, mine);
            if (theirs == null) break;
            existing = theirs.get();
            if (existing != null) return existing;
            if (PENDING.replace(channel.key, theirs, mine)) break;
        }
        try {
            start.invoke(channel);
        } catch (Throwable t) { // those that found the channel meanwhile must not wait for ever
            channel.settle(null, t);
            Cancellable.restoreInterrupt(t);
        }
        return channel;
    }

    /** Gives the result to the takes that wait now or come later: {@code value}, or nil and the exception {@code thrown}. */
    public void settle(Object value, Throwable thrown) {
        if (value != null) put(value, null, null);
        if (thrown == null) close();
        else close(thrown);
        if (key != null) PENDING.computeIfPresent(key, (k, held) -> held.refersTo(this) ? null : held);
    }

    @Override
    Object asPort() {
        return label();
    }
}
