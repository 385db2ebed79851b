// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import java.util.NoSuchElementException;

/** The four buffers of core.async's contract, and the one-value buffer of a block's result port. */
public final class Buffers {
    private Buffers() {}

    /**
     * A first-in first-out ring that starts small and doubles up to its capacity, so that a channel made
     * with a large buffer costs memory only once it is used. An expanding transducer may overfill it.
     */
    public static class Fixed implements Buffer {
        private static final int FIRST_LENGTH = 8;

        private final int capacity;
        private Object[] ring; // length is a power of two
        private int head; // index of the oldest value
        private int count;

        public Fixed(int capacity) {
            this.capacity = capacity;
            this.ring = new Object[Integer.highestOneBit(Math.max(1, Math.min(capacity, FIRST_LENGTH)))];
        }

        @Override
        public boolean full() {
            return count >= capacity;
        }

        @Override
        public int count() {
            return count;
        }

        @Override
        public int capacity() {
            return capacity;
        }

        @Override
        public Object remove() {
            if (count == 0) throw new NoSuchElementException("the buffer is empty");
            Object value = ring[head];
            ring[head] = null;
            head = (head + 1) & (ring.length - 1);
            count--;
            return value;
        }

        @Override
        public void add(Object value) {
            if (count == ring.length) grow();
            ring[(head + count) & (ring.length - 1)] = value;
            count++;
        }

        private void grow() {
            Object[] larger = new Object[ring.length * 2];
            int tail = ring.length - head;
            System.arraycopy(ring, head, larger, 0, tail);
            System.arraycopy(ring, 0, larger, tail, head);
            ring = larger;
            head = 0;
        }
    }

    /** Is never full: when it holds {@code capacity} values, it drops new ones. */
    public static class Dropping extends Fixed {
        public Dropping(int capacity) {
            super(capacity);
        }

        @Override
        public boolean full() {
            return false;
        }

        @Override
        public void add(Object value) {
            if (count() < capacity()) super.add(value);
        }
    }

    /** Is never full: when it holds {@code capacity} values, it drops the oldest. */
    public static class Sliding extends Fixed {
        public Sliding(int capacity) {
            super(capacity);
        }

        @Override
        public boolean full() {
            return false;
        }

        @Override
        public void add(Object value) {
            if (count() == capacity()) remove();
            super.add(value);
        }
    }

    /** Keeps its first value for ever and gives it to every take. If it is closed without a value, takes get nil. */
    public static class Promise implements Buffer {
        private static final Object UNDELIVERED = new Object();

        private Object value = UNDELIVERED;

        @Override
        public boolean full() {
            return false;
        }

        @Override
        public int count() {
            return value == UNDELIVERED ? 0 : 1;
        }

        @Override
        public int capacity() {
            return 1;
        }

        @Override
        public Object remove() {
            return value;
        }

        @Override
        public void add(Object v) {
            if (value == UNDELIVERED) value = v;
        }

        @Override
        public void close() {
            if (value == UNDELIVERED) value = null;
        }
    }

    /** The result of a finished block: one value that is taken once. */
    public static final class Result implements Buffer {
        private Object value;

        Result(Object value) {
            this.value = value;
        }

        @Override
        public boolean full() {
            return value != null;
        }

        @Override
        public int count() {
            return value == null ? 0 : 1;
        }

        @Override
        public int capacity() {
            return 1;
        }

        /** Returns the value without removing it. */
        Object peek() {
            return value;
        }

        @Override
        public Object remove() {
            Object v = value;
            value = null;
            return v;
        }

        @Override
        public void add(Object v) {
            value = v;
        }
    }
}
