// SPDX-License-Identifier: Apache-2.0
package skein.fold.memory;

import clojure.lang.IChunk;
import clojure.lang.IChunkedSeq;
import clojure.lang.IFn;
import clojure.lang.ISeq;
import clojure.lang.PersistentList;
import clojure.lang.RT;
import clojure.lang.Reduced;
import clojure.lang.Util;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.atomic.AtomicInteger;
import skein.fold.spi.Feed;
import skein.fold.spi.Span;

/** The elements of an iterator or a sequence. While one thread reads and waits, others may take what it has read. */
public final class Items implements Feed {
    private final Iterator<?> iterator;
    private final AutoCloseable owner; // closed at the end; null: nothing to close
    private long taken; // elements handed out or stepped on
    private Throwable broken; // the exception that ended the reading of a block that was returned
    private volatile Batch reading; // the block that is being read, or null

    /** The elements of {@code iterator}; {@code owner}, which may be null, is closed when the fold is over. */
    public Items(Iterator<?> iterator, AutoCloseable owner) {
        this.iterator = iterator;
        this.owner = owner;
    }

    /**
     * Returns the elements of anything that {@code seq} accepts. Elements are realized when they are needed; the head is
     * not held.
     */
    public static Items ofSeq(Object seq) {
        return new Items(new SeqIterator(seq), null);
    }

    @Override
    public boolean exhausted() {
        if (broken != null) throw Util.sneakyThrow(broken);
        return !iterator.hasNext();
    }

    @Override
    public long taken() {
        return taken;
    }

    @Override
    public Span next(int n) {
        Span rest = null;
        while (rest == null && !exhausted()) rest = read(n);
        return rest;
    }

    /** Reads up to {@code n} elements. Others may take them while this thread waits. Returns those that are left, or null. */
    private Span read(int n) {
        Span cells = iterator instanceof SeqIterator seq ? seq.cells(n) : null;
        if (cells != null) {
            taken += cells.size();
            return cells;
        }
        Batch batch = new Batch(n);
        reading = batch;
        try {
            do batch.add(iterator.next());
            while (batch.room() > 0 && iterator.hasNext());
        } catch (Throwable t) {
            // The elements before are returned first; but an interrupt can't wait.
            if (batch.room() == n || t instanceof InterruptedException) throw t;
            broken = t;
        } finally {
            reading = null;
        }
        taken += n - batch.room();
        return batch.take();
    }

    @Override
    public Span ready() {
        Batch batch = reading;
        return batch == null ? null : batch.take();
    }

    @Override
    public Object reduce(IFn step, Object acc, int n) {
        if (exhausted()) return acc;
        int left = n;
        do {
            left--;
            acc = step.invoke(acc, iterator.next());
        } while (!(acc instanceof Reduced) && left > 0 && iterator.hasNext());
        taken += n - left;
        return acc;
    }

    @Override
    public void close() {
        try {
            if (owner != null) owner.close();
        } catch (Exception e) {
            throw Util.sneakyThrow(e);
        }
    }

    /** Elements that one thread collects. While it waits for more, others may take those that are there. */
    static final class Batch {
        private final Object[] items;
        private final AtomicInteger filled = new AtomicInteger(); // released by the thread that collects
        private int handed; // guarded by this; how many of them have been taken

        Batch(int limit) {
            items = new Object[limit];
        }

        /** Adds an element. This method and the next one are for the thread that collects. */
        void add(Object x) {
            int i = filled.getPlain();
            items[i] = x;
            filled.setRelease(i + 1);
        }

        /** Returns how many elements there is room for. */
        int room() {
            return items.length - filled.getPlain();
        }

        /** Takes the elements that nobody has taken, or returns null if there are none. Any thread may call it. */
        synchronized Span take() {
            int n = filled.getAcquire();
            if (n == handed) return null;
            Span taken = Spans.ofObjects(items, handed, n);
            handed = n;
            return taken;
        }
    }

    /** Elements of a list, whose cells all exist. To go to the next cell takes less time than to pass an element on in an array. */
    private record Cells(PersistentList first, long size) implements Span {
        @Override
        public Object reduce(IFn step, Object acc, long from, long to) {
            ISeq cell = first;
            for (long i = 0; i < to && !(acc instanceof Reduced); i++, cell = cell.next())
                if (i >= from) acc = step.invoke(acc, cell.first());
            return acc;
        }
    }

    /** The elements of a sequence. Unlike clojure.lang.SeqIterator it makes no cell for an element of a chunk. */
    private static final class SeqIterator implements Iterator<Object> {
        private Object rest; // the next seq or, while it is used, the one that begins with this element or chunk
        private boolean used;
        private IChunk chunk; // null: none
        private int at; // within the chunk

        SeqIterator(Object seq) {
            rest = seq;
        }

        /** Finds a chunk with an element, or makes {@code rest} a seq without chunks. Returns false at the end. */
        @Override
        public boolean hasNext() {
            while (chunk == null) {
                // Only after its first element has been returned, because some seqs wait for the next element here.
                if (used) rest = rest instanceof IChunkedSeq chunked ? chunked.chunkedMore() : ((ISeq) rest).more();
                used = false;
                ISeq seq = RT.seq(rest);
                rest = seq;
                if (!(seq instanceof IChunkedSeq chunked)) return seq != null;
                used = true;
                at = 0;
                if (chunked.chunkedFirst().count() > 0) chunk = chunked.chunkedFirst();
            }
            return true;
        }

        /** Returns the next elements, {@code n} at most, if {@link #hasNext} has just found a list, or else null. */
        Cells cells(int n) {
            if (chunk != null || !(rest instanceof PersistentList first)) return null;
            int size = Math.min(n, first.count());
            ISeq last = first;
            for (int i = 1; i < size; i++) last = last.next();
            rest = last;
            used = true;
            return new Cells(first, size);
        }

        @Override
        public Object next() {
            if (!hasNext()) throw new NoSuchElementException();
            if (chunk == null) {
                used = true;
                return ((ISeq) rest).first();
            }
            Object x = chunk.nth(at++);
            if (at == chunk.count()) chunk = null;
            return x;
        }
    }
}
