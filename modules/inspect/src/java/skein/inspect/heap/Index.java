// SPDX-License-Identifier: Apache-2.0
package skein.inspect.heap;

/** A hash table with linear probing, from the id of each object to the place of its record in the file. */
final class Index {
    private long[] ids = new long[1 << 16]; // 0: free
    private long[] places = new long[1 << 16];
    private int size;

    private int slot(long id) {
        int mask = ids.length - 1;
        int slot = (int) (id * 0x9E3779B97F4A7C15L >>> 32) & mask;
        while (ids[slot] != 0 && ids[slot] != id) slot = slot + 1 & mask;
        return slot;
    }

    void put(long id, long place) {
        if (size > ids.length / 8 * 5) grow();
        int slot = slot(id);
        if (ids[slot] == 0) size++;
        ids[slot] = id;
        places[slot] = place;
    }

    private void grow() {
        if (ids.length == 1 << 30) throw new OutOfMemoryError("too many objects");
        long[] oldIds = ids;
        long[] oldPlaces = places;
        ids = new long[oldIds.length * 2];
        places = new long[oldIds.length * 2];
        for (int i = 0; i < oldIds.length; i++) {
            if (oldIds[i] == 0) continue;
            int slot = slot(oldIds[i]);
            ids[slot] = oldIds[i];
            places[slot] = oldPlaces[i];
        }
    }

    /** Returns the slot of an object, below {@link #slots}, or -1. */
    int find(long id) {
        if (id == 0) return -1;
        int slot = slot(id);
        return ids[slot] == 0 ? -1 : slot;
    }

    int slots() {
        return ids.length;
    }

    int size() {
        return size;
    }

    /** Returns the id of the object in a slot, or 0. */
    long id(int slot) {
        return ids[slot];
    }

    long place(int slot) {
        return places[slot];
    }
}
