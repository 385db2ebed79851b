// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * A finished tally, in its canonical order: value descending, then key ascending, bytewise and unsigned.
 *
 * <p>A ranking orders entries of a table by one of their values. It has the entries in which another value (or the same) has a bit
 * of a mask. The table must not change any more.
 */
public final class Ranking {
    /** A place in the ranking: the position of the entry, and the values that decide most comparisons. */
    private record Place(KeyTable table, int at, long value, long keyPrefix) implements Comparable<Place> {
        @Override
        public int compareTo(Place other) {
            int order = Long.compare(other.value, value);
            if (order == 0) order = Long.compareUnsigned(keyPrefix, other.keyPrefix);
            return order != 0 ? order : table.compareKeys(at, table, other.at);
        }
    }

    /** A key and its value. */
    public record Entry(String key, long value) {
        /** Returns the key's bytes as the code points U+0000 to U+00FF, so that nothing is lost and the order is the same. */
        public String key() {
            return key;
        }
    }

    /** Up to this number, places are kept in order by insertion; more are sorted. */
    private static final int MAX_INSERTED = 64;

    private final KeyTable table;
    private final int value;
    private final int presence;
    private final long mask;
    private int distinct;
    private Place[] sorted; // null until all are asked for

    public Ranking(KeyTable table, int value, int presence, long mask) {
        this.table = table;
        this.value = value;
        this.presence = presence;
        this.mask = mask;
        for (int at = present(table.first()); at < table.end(); at = present(table.next(at))) {
            distinct++;
        }
    }

    /** Returns the position of the first entry from {@code at} on that is in the ranking, or the end of the entries. */
    private int present(int at) {
        while (at < table.end() && (table.cells[at + presence] & mask) == 0) at = table.next(at);
        return at;
    }

    /** Returns how many keys there are. */
    public long distinct() {
        return distinct;
    }

    /**
     * Returns the sum of the values.
     *
     * @throws ArithmeticException if it is more than 2^63 - 1
     */
    public long total() {
        long total = 0;
        for (int at = present(table.first()); at < table.end(); at = present(table.next(at))) {
            total = Math.addExact(total, table.cells[at + value]);
        }
        return total;
    }

    /** Returns the first {@code limit} entries, or all there are. */
    public Entry[] top(long limit) {
        int[] at = topEntries(limit);
        Entry[] entries = new Entry[at.length];
        for (int i = 0; i < at.length; i++) {
            entries[i] =
                    new Entry(new String(table.key(at[i]), StandardCharsets.ISO_8859_1), table.cells[at[i] + value]);
        }
        return entries;
    }

    /** Returns the positions in the table of the first {@code limit} entries, or of all. */
    int[] topEntries(long limit) {
        int n = (int) Math.min(limit, distinct);
        Place[] places = n <= MAX_INSERTED && sorted == null ? first(n) : sorted();
        int[] at = new int[n];
        for (int i = 0; i < n; i++) at[i] = places[i].at;
        return at;
    }

    private Place place(int at) {
        return new Place(table, at, table.cells[at + value], table.keyPrefix(at));
    }

    private Place[] first(int limit) {
        Place[] places = new Place[limit];
        int n = 0;
        for (int at = present(table.first()); at < table.end() && limit > 0; at = present(table.next(at))) {
            if (n == limit && table.cells[at + value] < places[n - 1].value) continue;
            Place place = place(at);
            if (n == limit && place.compareTo(places[n - 1]) > 0) continue;
            int i = n < limit ? n++ : n - 1;
            for (; i > 0 && place.compareTo(places[i - 1]) < 0; i--) places[i] = places[i - 1];
            places[i] = place;
        }
        return places;
    }

    private Place[] sorted() {
        if (sorted == null) {
            sorted = new Place[distinct];
            int n = 0;
            for (int at = present(table.first()); at < table.end(); at = present(table.next(at)))
                sorted[n++] = place(at);
            Arrays.parallelSort(sorted);
        }
        return sorted;
    }

    /** Returns the SHA-256, in hexadecimal, of {@code VALUE TAB KEY LF} for every entry in order, keys as raw bytes. */
    public String checksum() {
        MessageDigest digest = sha256();
        byte[] line = new byte[64];
        for (Place place : sorted()) {
            byte[] number = Long.toString(place.value).getBytes(StandardCharsets.ISO_8859_1);
            int n = number.length + table.keyLength(place.at) + 2;
            if (n > line.length) line = new byte[Math.max(n, 2 * line.length)];
            System.arraycopy(number, 0, line, 0, number.length);
            line[number.length] = '\t';
            table.copyKey(place.at, line, number.length + 1);
            line[n - 1] = '\n';
            digest.update(line, 0, n);
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform must have SHA-256; this one has not", e);
        }
    }
}
