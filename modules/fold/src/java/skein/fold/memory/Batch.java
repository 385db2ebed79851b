// SPDX-License-Identifier: Apache-2.0
package skein.fold.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import skein.fold.spi.Span;

/** Elements that one thread collects. While it waits for more, others may take those that are there. */
public final class Batch {
    private static final int FIRST_SIZE = 1024;
    private static final VarHandle FILLED;

    static {
        try {
            FILLED = MethodHandles.lookup().findVarHandle(Batch.class, "filled", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int limit;
    private Object[] items; // replaced under this
    private int filled; // how many there are; released by the thread that collects
    private int handed; // guarded by this; how many of them have been taken

    /** Makes an empty batch for {@code limit} elements at most. */
    public Batch(int limit) {
        this.limit = limit;
        items = new Object[Math.min(limit, FIRST_SIZE)];
    }

    /** Adds an element. The next two methods, too, are for the thread that collects. */
    public void add(Object x) {
        int i = filled;
        if (i == items.length) grow();
        items[i] = x;
        FILLED.setRelease(this, i + 1);
    }

    /** Returns how many elements have been added. */
    public int size() {
        return filled;
    }

    /** Returns whether there is no room for more. */
    public boolean isFull() {
        return filled == limit;
    }

    private synchronized void grow() {
        items = Arrays.copyOf(items, (int) Math.min(limit, 4L * items.length));
    }

    /** Takes the elements that nobody has taken, or returns null if there are none. Any thread may call it. */
    public synchronized Span take() {
        int n = (int) FILLED.getAcquire(this);
        if (n == handed) return null;
        Span taken = Spans.ofObjects(items, handed, n);
        handed = n;
        return taken;
    }
}
