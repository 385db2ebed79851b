// SPDX-License-Identifier: Apache-2.0
package skein.fold.spi;

import clojure.lang.IFn;

/**
 * A source that can only be read in order: a lazy sequence, an iterator, a stream. One thread at a time reads it, so its elements are
 * produced serially while the steps on them run in parallel. Only {@link #ready} is called while another thread reads.
 */
public interface Feed extends AutoCloseable {
    /**
     * Reads and returns the next elements, about {@code n} units of them at most, or null if there are none left. When the source makes
     * it wait, it returns the elements that it has, or offers them by {@link #ready}. A returned span may be empty.
     */
    Span next(int n);

    /**
     * Returns the elements that a waiting {@link #next}, in another thread, has read so far, or null if there are none. What
     * {@code next} returns comes after them. One thread at a time calls this.
     */
    default Span ready() {
        return null;
    }

    /** Feeds the next elements, about {@code n} units at most, to {@code step}, each before the next is read; see {@link Span#reduce}. */
    default Object reduce(IFn step, Object acc, int n) {
        Span block = next(n);
        return block == null ? acc : block.reduce(step, acc, 0, block.size());
    }

    /** Returns whether there are no more elements. May read one to find out, which {@link #next} will return. */
    boolean exhausted();

    /** Returns how many units {@link #next} and {@link #reduce} have read so far, or -1 if the feed does not count. */
    default long taken() {
        return -1;
    }

    /** Returns the most units to read at a time. It limits how far the source is read ahead. */
    default int maxBlock() {
        return 4096;
    }

    /** Returns the name of the units: elements, bytes. */
    default String unit() {
        return "elements";
    }

    /** Frees what the feed holds. Called once, when the fold is over. */
    @Override
    default void close() {}
}
