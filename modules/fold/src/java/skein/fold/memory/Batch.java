// SPDX-License-Identifier: Apache-2.0
package skein.fold.memory;

import java.util.concurrent.atomic.AtomicInteger;
import skein.fold.spi.Span;

/** Elements that one thread collects. While it waits for more, others may take those that are there. */
public final class Batch {
    private final Object[] items;
    private final AtomicInteger filled =
            new AtomicInteger(); // how many there are; released by the thread that collects
    private int handed; // guarded by this; how many of them have been taken

    /** Makes an empty batch for {@code limit} elements at most. */
    public Batch(int limit) {
        items = new Object[limit];
    }

    /** Adds an element. This method and the next two are for the thread that collects. */
    public void add(Object x) {
        int i = filled.getPlain();
        items[i] = x;
        filled.setRelease(i + 1);
    }

    /** Returns how many elements have been added. */
    public int size() {
        return filled.getPlain();
    }

    /** Returns whether there is no room for more. */
    public boolean isFull() {
        return size() == items.length;
    }

    /** Takes the elements that nobody has taken, or returns null if there are none. Any thread may call it. */
    public synchronized Span take() {
        int n = filled.getAcquire();
        if (n == handed) return null;
        Span taken = Spans.ofObjects(items, handed, n);
        handed = n;
        return taken;
    }
}
