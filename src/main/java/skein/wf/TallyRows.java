// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.ArrayList;
import java.util.List;

/** A finished tally, in order. The tally must not change while this is used. */
public final class TallyRows {
    /** Numbers of bytes, for {@link #percentile}. */
    public static final int SIZES = 0;
    /** Durations, for {@link #percentile}. */
    public static final int TIMES = 1;

    /**
     * A key and its values.
     *
     * @param key the parts of the key
     * @param values by the numbers that {@link Tally} gives them
     * @param entry where it is, for {@link TallyRows#percentile}
     */
    public record Row(byte[][] key, long[] values, int entry) { }

    private final Tally tally;
    private final KeyTable table;
    private final int parts;

    /** The rows of {@code tally}. */
    public TallyRows(Tally tally) {
        this.tally = tally;
        table = tally.table;
        parts = tally.plan.key().size();
    }

    /** The {@code limit} rows with the largest of the values numbered {@code rank}; where they are equal, by key. */
    public List<Row> top(int rank, long limit) {
        List<Row> rows = new ArrayList<>();
        for (int at : new Ranking(table, rank, Tally.HITS, -1).topEntries(limit)) rows.add(row(at));
        return rows;
    }

    /** All rows, by key. */
    public List<Row> byKey() {
        return new ArrayList<>(table.entriesByKey().stream().map(this::row).toList());
    }

    private Row row(int at) {
        long[] values = new long[Tally.WIDTH];
        System.arraycopy(table.cells, at, values, 0, Tally.WIDTH);
        byte[] key = table.key(at);
        return new Row(parts == 1 ? new byte[][] {key} : parts == 0 ? new byte[0][] : Keys.split(key, parts), values, at);
    }

    /** Computes the mean duration of every key into {@link Tally#COMPUTED}. */
    public void computeMeans() {
        long[] cells = table.cells;
        for (int at = table.first(); at < table.end(); at = table.next(at)) {
            cells[at + Tally.COMPUTED] = cells[at + Tally.TIMED] == 0 ? 0 : cells[at + Tally.TIME] / cells[at + Tally.TIMED];
        }
    }

    /** Computes a percentile of every key into {@link Tally#COMPUTED}. */
    public void computePercentiles(int of, double part) {
        LongTable buckets = tally.buckets(of);
        for (int at = table.first(); at < table.end(); at = table.next(at)) table.cells[at + Tally.COMPUTED] = 0;
        long[] keys = buckets.sortedKeys();
        for (int from = 0, to; from < keys.length; from = to) {
            long entry = keys[from] / Buckets.COUNT;
            long total = 0;
            for (to = from; to < keys.length && keys[to] / Buckets.COUNT == entry; to++) total += buckets.count(keys[to]);
            table.cells[(int) entry + Tally.COMPUTED] = Math.max(0, reach(buckets, keys, from, rank(part, total)));
        }
    }

    private static long reach(LongTable buckets, long[] keys, int at, long rank) {
        long seen = 0;
        for (; ; at++) {
            seen += buckets.count(keys[at]);
            if (seen >= rank) return Buckets.middle((int) (keys[at] % Buckets.COUNT));
        }
    }

    /** The number that {@code part} of a row's numbers don't exceed, by nearest rank; -1 when it has no numbers. */
    public long percentile(Row row, int of, double part) {
        LongTable buckets = tally.buckets(of);
        long first = (long) row.entry * Buckets.COUNT;
        long total = 0;
        for (int i = 0; i < Buckets.COUNT; i++) total += buckets.count(first + i);
        long seen = 0;
        for (int i = 0; i < Buckets.COUNT && total > 0; i++) {
            seen += buckets.count(first + i);
            if (seen >= rank(part, total)) return Buckets.middle(i);
        }
        return -1;
    }

    private static long rank(double part, long total) {
        return Math.max(1, (long) Math.ceil(part * total));
    }
}
