// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import skein.fold.files.Bytes;

/**
 * A hash table for one thread, from keys, which are bytes, to numbers.
 *
 * <p>Entries follow each other in one array, in the order in which their keys were first seen, so the most frequent keys
 * share few cache lines. A second array finds them, by open addressing:
 * <pre>
 *   slots   | hash (32 bits), position of the entry in cells (32 bits) | ...
 *   cells   | value 0 | value 1 ... | length | key, eight bytes to a cell ... | value 0 of the next ...
 * </pre>
 *
 * Invariants:
 * <ul>
 * <li>K1: a slot of 0 is free; no entry is at position 0.</li>
 * <li>K2: at most half of the slots are taken, so every probe ends.</li>
 * <li>K3: two keys are the same when their lengths and cells are; a key's last cell is filled up with zeros.</li>
 * <li>K4: all hashes in the slots were made in the same way, quickly or thoroughly.</li>
 * </ul>
 */
public final class KeyTable {
    private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;
    /** The quick hash takes only a part of longer keys. */
    private static final int QUICK_BYTES = 32;
    /** More keys than this don't share a hash by chance. */
    private static final int MAX_COLLISIONS = 4;

    private static final int MAX_CELLS = Integer.MAX_VALUE - 16;

    /** The entries; valid until the next {@code find}. Values are read and written here. */
    long[] cells;

    private final int width;
    private final Budget budget;
    private int used = 1;
    private long[] slots;
    private int size;
    private boolean thorough; // whether all of a key is hashed
    private int[] hashes = {};
    private boolean[] same = {}; // whether a key is the one before it
    private long ignored; // a sum that keeps the compiler from removing the loads

    /**
     * A table with {@code width} values to an entry, and {@code capacity} slots, a power of two, to begin with, whose memory
     * comes out of {@code budget}.
     */
    public KeyTable(int width, int capacity, Budget budget) {
        this.width = width;
        this.budget = budget;
        budget.takeLongs(3L * capacity);
        slots = new long[capacity];
        cells = new long[2 * capacity];
    }

    /** Returns the cells, which hold the values of the entries. The array changes when the table grows. */
    public long[] cells() {
        return cells;
    }

    /**
     * Finds {@code n} keys at once, {@code bytes[from[i], to[i])}, and puts the positions of their entries in
     * {@link #cells} into {@code entries}. A new entry has zeros for values.
     *
     * <p>Rare keys are not in the cache. So a first pass loads all slots and a second pass all entries. These loads don't
     * depend on each other, so the processor waits for many of them at a time, and the third pass finds everything in the
     * cache. Neighbours often have the same key, such as a status or an hour; it is looked up once.
     */
    public void findAll(byte[] bytes, int[] from, int[] to, int n, int[] entries) {
        if (hashes.length < n) {
            hashes = new int[n];
            same = new boolean[n];
        }
        int mask = slots.length - 1;
        for (int i = 0; i < n; i++) {
            same[i] = i > 0 && isSame(bytes, from[i - 1], to[i - 1], from[i], to[i]);
            hashes[i] = same[i] ? hashes[i - 1] : hash(bytes, from[i], to[i]);
        }
        for (int i = 0; i < n; i++) entries[i] = (int) slots[hashes[i] & mask];
        long touched = 0;
        for (int i = 0; i < n; i++) touched += cells[entries[i] + width];
        ignored = touched;
        boolean before = thorough;
        for (int i = 0; i < n; i++) {
            int hash = thorough == before ? hashes[i] : hash(bytes, from[i], to[i]);
            entries[i] = same[i] ? entries[i - 1] : find(bytes, from[i], to[i], hash);
        }
    }

    /** Returns whether two keys are known to be equal without a long comparison: both are in the same place, or have 1 to 16 equal bytes. */
    private static boolean isSame(byte[] bytes, int before, int beforeTo, int from, int to) {
        int length = to - from;
        if (length != beforeTo - before) return false;
        if (before == from) return true;
        if (length > 16 || length == 0) return false;
        if (length <= 8) return Bytes.load(bytes, before, length) == Bytes.load(bytes, from, length);
        return Bytes.load(bytes, to - 8) == Bytes.load(bytes, beforeTo - 8)
                && Bytes.load(bytes, before) == Bytes.load(bytes, from);
    }

    private int find(byte[] bytes, int from, int to, int hash) {
        int mask = slots.length - 1;
        int collisions = 0;
        for (int at = hash & mask; ; at = (at + 1) & mask) {
            long slot = slots[at];
            if (slot == 0) return add(at, hash, bytes, from, to);
            if ((int) (slot >>> 32) != hash) continue;
            if (holds((int) slot, bytes, from, to)) return (int) slot;
            if (++collisions == MAX_COLLISIONS && !thorough) {
                hashThoroughly();
                return find(bytes, from, to, hash(bytes, from, to));
            }
        }
    }

    /** Returns the position of the entry of a key, or 0 when there is none. */
    int lookUp(byte[] bytes, int from, int to) {
        int hash = hash(bytes, from, to);
        int mask = slots.length - 1;
        for (int at = hash & mask; ; at = (at + 1) & mask) {
            long slot = slots[at];
            if (slot == 0 || (int) (slot >>> 32) == hash && holds((int) slot, bytes, from, to)) return (int) slot;
        }
    }

    private int hash(byte[] bytes, int from, int to) {
        if (to - from > QUICK_BYTES && !thorough) return quickHash(bytes, from, to);
        long hash = 0;
        for (; from + 8 < to; from += 8) hash = mix(hash, Bytes.load(bytes, from));
        if (from < to) hash = mix(hash, Bytes.load(bytes, from, to - from));
        return (int) (hash >>> 32);
    }

    /** Returns a hash of four of the words of a long key, including the last two, and of its length. */
    private static int quickHash(byte[] bytes, int from, int to) {
        int words = wordCount(to - from);
        int last = from + (words - 1 << 3);
        long hash = mix(to - from, Bytes.load(bytes, from));
        hash = mix(hash, Bytes.load(bytes, from + (words >> 1 << 3)));
        hash = mix(hash, Bytes.load(bytes, last - 8));
        return (int) (mix(hash, Bytes.load(bytes, last, to - last)) >>> 32);
    }

    private static long mix(long hash, long word) {
        return (Long.rotateLeft(hash, 23) ^ word) * MULTIPLIER;
    }

    private boolean holds(int entry, byte[] bytes, int from, int to) {
        int cell = entry + width;
        if (cells[cell] != to - from) return false;
        while (from + 8 < to) {
            if (cells[++cell] != Bytes.load(bytes, from)) return false;
            from += 8;
        }
        return from >= to || cells[cell + 1] == Bytes.load(bytes, from, to - from);
    }

    private int add(int at, int hash, byte[] bytes, int from, int to) {
        int entry = newEntry(at, hash, to - from);
        int cell = entry + width;
        for (; from + 8 < to; from += 8) cells[++cell] = Bytes.load(bytes, from);
        if (from < to) cells[cell + 1] = Bytes.load(bytes, from, to - from);
        return entry;
    }

    /** Takes the free slot {@code at} for a new entry with everything but its key. */
    private int newEntry(int at, int hash, int length) {
        int entry = used;
        reserve((long) entry + width + 1 + wordCount(length));
        cells[entry + width] = length;
        slots[at] = slot(hash, entry);
        if (++size > slots.length >> 1) rehash();
        return entry;
    }

    private static long slot(int hash, int entry) {
        return (long) hash << 32 | entry;
    }

    private static int wordCount(int length) {
        return (int) (length + 7L >>> 3);
    }

    private void reserve(long end) {
        if (end > cells.length) {
            if (end > MAX_CELLS) throw new TooManyKeys((long) MAX_CELLS << 3);
            int length = (int) Math.min(MAX_CELLS, end + (end >>> 1));
            int before = cells.length;
            budget.takeLongs(length);
            cells = Arrays.copyOf(cells, length);
            budget.releaseLongs(before);
        }
        used = (int) end;
    }

    private void rehash() {
        long[] old = slots;
        if (old.length > 1 << 29) throw new TooManyKeys((long) old.length << 3);
        budget.takeLongs(2L * old.length);
        slots = new long[2 * old.length];
        for (long slot : old) {
            if (slot != 0) slots[free((int) (slot >>> 32))] = slot;
        }
        budget.releaseLongs(old.length);
    }

    /**
     * Hashes all bytes of every key from now on. Keys that differ only in bytes that the quick hash skips would make every search
     * long, by chance or by an attack.
     */
    private void hashThoroughly() {
        thorough = true;
        Arrays.fill(slots, 0);
        for (int at = first(); at < end(); at = next(at)) {
            int hash = hash(at, this);
            slots[free(hash)] = slot(hash, at);
        }
    }

    /** Writes the entries, for {@link #readFrom}. */
    public void writeTo(DataOutput out) throws IOException {
        out.writeBoolean(thorough);
        out.writeInt(used);
        for (int at = first(); at < used; at++) out.writeLong(cells[at]);
    }

    /** Reads the entries of a table of the same width into this one, which has none. They get the places that they had there. */
    public void readFrom(DataInput in) throws IOException {
        thorough = in.readBoolean();
        reserve(in.readInt());
        for (int at = first(); at < used; at++) cells[at] = in.readLong();
        for (int at = first(); at < used; at = next(at)) {
            int hash = hash(at, this);
            slots[free(hash)] = slot(hash, at);
            if (++size > slots.length >> 1) rehash();
        }
    }

    /** Gives the table's memory back; the table must not be used any more. */
    void close() {
        long longs = (long) cells.length + slots.length;
        cells = null;
        slots = null;
        budget.releaseLongs(longs);
    }

    /** Returns how many entries there are. */
    int size() {
        return size;
    }

    private int free(int hash) {
        int at = hash & slots.length - 1;
        while (slots[at] != 0) at = (at + 1) & slots.length - 1;
        return at;
    }

    /** Returns the position of the entry with the same key as an entry of {@code other}. A new entry has zeros for values. */
    public int find(KeyTable other, int otherEntry) {
        if (other.thorough && !thorough) hashThoroughly();
        int hash = other.hash(otherEntry, this);
        int mask = slots.length - 1;
        for (int at = hash & mask; ; at = (at + 1) & mask) {
            long slot = slots[at];
            if (slot == 0) return add(at, hash, other, otherEntry);
            if ((int) (slot >>> 32) == hash && compareKeys((int) slot, other, otherEntry) == 0) return (int) slot;
        }
    }

    /** Returns the same hash as {@code table} has for the key's bytes. */
    private int hash(int entry, KeyTable table) {
        int length = keyLength(entry);
        if (length > QUICK_BYTES && !table.thorough) return quickHash(entry + width + 1, length);
        long hash = 0;
        for (int cell = entry + width + 1, end = next(entry); cell < end; cell++) hash = mix(hash, cells[cell]);
        return (int) (hash >>> 32);
    }

    private int quickHash(int cell, int length) {
        int words = wordCount(length);
        long hash = mix(mix(length, cells[cell]), cells[cell + (words >> 1)]);
        return (int) (mix(mix(hash, cells[cell + words - 2]), cells[cell + words - 1]) >>> 32);
    }

    private int add(int at, int hash, KeyTable other, int otherEntry) {
        int length = other.keyLength(otherEntry);
        int entry = newEntry(at, hash, length);
        System.arraycopy(other.cells, otherEntry + other.width + 1, cells, entry + width + 1, wordCount(length));
        return entry;
    }

    /** Returns the position of the first entry, if there is one. */
    public int first() {
        return 1;
    }

    /** Returns the position of the entry after this one, if there is one. */
    public int next(int entry) {
        return entry + width + 1 + wordCount(keyLength(entry));
    }

    /** Returns where the entries end. */
    public int end() {
        return used;
    }

    /** Returns how many bytes an entry's key has. */
    int keyLength(int entry) {
        return (int) cells[entry + width];
    }

    /** Compares the keys of an entry and of an entry of {@code other}, bytewise and unsigned. */
    int compareKeys(int entry, KeyTable other, int otherEntry) {
        int left = entry + width + 1;
        int right = otherEntry + other.width + 1;
        int length = keyLength(entry);
        int otherLength = other.keyLength(otherEntry);
        for (int n = wordCount(Math.min(length, otherLength)); n > 0; n--) {
            long word = cells[left++];
            long otherWord = other.cells[right++];
            if (word != otherWord) return Long.compareUnsigned(Long.reverseBytes(word), Long.reverseBytes(otherWord));
        }
        // Equal so far, and zeros fill the last cell up: the shorter key is the beginning of the longer.
        return Integer.compare(length, otherLength);
    }

    /** Returns a hash of 64 bits of an entry's key, which differs from the hash in the slots. */
    long longHash(int entry) {
        long hash = keyLength(entry);
        for (int cell = entry + width + 1, end = next(entry); cell < end; cell++)
            hash = mix(hash, cells[cell]) ^ hash >>> 29;
        hash = (hash ^ hash >>> 32) * MULTIPLIER;
        return hash ^ hash >>> 29;
    }

    /** Returns an entry's key. */
    byte[] key(int entry) {
        byte[] key = new byte[keyLength(entry)];
        copyKey(entry, key, 0);
        return key;
    }

    /** Returns the positions of all entries, in the order of their keys, bytewise and unsigned. */
    List<Integer> entriesByKey() {
        List<Integer> entries = new ArrayList<>(size);
        for (int at = first(); at < end(); at = next(at)) entries.add(at);
        entries.sort((a, b) -> compareKeys(a, this, b));
        return entries;
    }

    /** Returns the first eight bytes of an entry's key as a number that orders, unsigned, as the bytes do. */
    long keyPrefix(int entry) {
        return keyLength(entry) == 0 ? 0 : Long.reverseBytes(cells[entry + width + 1]);
    }

    /** Writes an entry's key into {@code to} at {@code index}. */
    void copyKey(int entry, byte[] to, int index) {
        int cell = entry + width + 1;
        for (int i = 0; i < keyLength(entry); i++) to[index + i] = (byte) (cells[cell + (i >>> 3)] >>> (i << 3));
    }
}
