// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/** Counts by number, for one thread: open addressing, at most half full. A key is not 0. */
final class LongTable {
    private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;

    private final Budget budget;
    private long[] keys;
    private long[] counts;
    private int size;

    LongTable(Budget budget, int capacity) {
        this.budget = budget;
        budget.takeLongs(2L * capacity);
        keys = new long[capacity];
        counts = new long[capacity];
    }

    /** Takes a key and its count. */
    interface Visitor {
        /** Called once for each key, in no order. */
        void visit(long key, long count);
    }

    /** Adds {@code n} to the count of {@code key}; returns whether the key is new. */
    boolean add(long key, long n) {
        int at = slot(key);
        counts[at] += n;
        return isNew(at, key);
    }

    /** Makes the count of {@code key} at least {@code n}. */
    void raise(long key, long n) {
        int at = slot(key);
        if (counts[at] < n) counts[at] = n;
        isNew(at, key);
    }

    private boolean isNew(int at, long key) {
        if (keys[at] == key) return false;
        keys[at] = key;
        if (++size > keys.length >> 1) rehash();
        return true;
    }

    /** Returns how many keys there are. */
    int size() {
        return size;
    }

    /** Shows {@code visitor} all keys. */
    void forEach(Visitor visitor) {
        for (int i = 0; i < keys.length; i++) if (keys[i] != 0) visitor.visit(keys[i], counts[i]);
    }

    /** Writes the keys and their counts, for {@link #readFrom}. */
    void writeTo(DataOutput out) throws IOException {
        out.writeInt(size);
        for (int i = 0; i < keys.length; i++) {
            if (keys[i] == 0) continue;
            out.writeLong(keys[i]);
            out.writeLong(counts[i]);
        }
    }

    /** Adds the keys that another table has written. */
    void readFrom(DataInput in) throws IOException {
        for (int n = in.readInt(); n > 0; n--) add(in.readLong(), in.readLong());
    }

    /** Gives the table's memory back; the table must not be used any more. */
    void close() {
        long longs = 2L * keys.length;
        keys = null;
        counts = null;
        budget.releaseLongs(longs);
    }

    /** Returns how often a key was counted. */
    long count(long key) {
        int at = slot(key);
        return keys[at] == key ? counts[at] : 0;
    }

    private int slot(long key) {
        int mask = keys.length - 1;
        int at = (int) ((key * MULTIPLIER) >>> 32) & mask;
        while (keys[at] != 0 && keys[at] != key) at = (at + 1) & mask;
        return at;
    }

    private void rehash() {
        if (keys.length > 1 << 29) throw new TooManyKeys(8L << 30);
        long[] oldKeys = keys;
        long[] oldCounts = counts;
        budget.takeLongs(4L * oldKeys.length);
        keys = new long[2 * oldKeys.length];
        counts = new long[2 * oldKeys.length];
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldKeys[i] == 0) continue;
            int at = slot(oldKeys[i]);
            keys[at] = oldKeys[i];
            counts[at] = oldCounts[i];
        }
        budget.releaseLongs(2L * oldKeys.length);
    }

    /** Returns all keys, in order. */
    long[] sortedKeys() {
        long[] sorted = new long[size];
        int n = 0;
        for (long key : keys) if (key != 0) sorted[n++] = key;
        Arrays.sort(sorted);
        return sorted;
    }
}
